//! Two times as one number: the natural logarithm of their ratio.

/// ln(new / base) of two times in one unit. None if either is not above 0, or not finite.
pub fn log_ratio(base: f64, new: f64) -> Option<f64> {
    let is_time = |time: f64| time > 0.0 && time.is_finite();
    (is_time(base) && is_time(new)).then(|| new.ln() - base.ln())
}

/// By how many percent of base new is higher, from the logarithm of their ratio.
pub fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}
