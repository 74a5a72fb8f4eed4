//! The difference of two counts, as a number and in percent.

/// The difference as it is: counts that were read back are small enough for that.
pub(crate) fn saturated(difference: i128) -> i64 {
    let limit = if difference < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(difference).unwrap_or(limit)
}

pub(crate) fn difference((base, new): (u64, u64)) -> i64 {
    saturated(i128::from(new) - i128::from(base))
}

/// How many percent of `base` the difference is; None of no base. For reading only: counts below
/// 2^53 are exact in it, and verdicts rest on the integers.
#[allow(clippy::cast_precision_loss, reason = "a percentage is shown to a few digits")]
pub fn percent_of((base, new): (u64, u64)) -> Option<f64> {
    let difference = i128::from(new) - i128::from(base);
    (base != 0).then(|| difference as f64 * 100.0 / base as f64)
}
