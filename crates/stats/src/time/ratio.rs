//! Two times as one number: the natural logarithm of their ratio.

/// ln(new / base) of two times in one unit. None if either is 0, which no path takes.
#[allow(clippy::cast_precision_loss, reason = "a time of 2^53 ns is 104 days")]
pub fn log_ratio(base: u64, new: u64) -> Option<f64> {
    (base > 0 && new > 0).then(|| (new as f64 / base as f64).ln())
}

/// By how many percent of base new is higher, from the logarithm of their ratio.
pub fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}
