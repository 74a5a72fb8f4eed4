//! An interval of one side's level, whatever statistic the level is: Efron's bootstrap.
//!
//! Replicates are drawn anew from those that there are, as many and with repetition; the interval
//! is that of the statistic's quantiles over all draws (the percentile method: Efron & Tibshirani,
//! "An Introduction to the Bootstrap", 1993, chapter 13). It is for display; verdicts rest on
//! [`super::Location`]. The replicates must be those that had a fresh draw of the level, not their
//! batches: Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.

use super::{Finite, Interval, Numbers};

/// How many draws: quantiles at 2.5 % then have 50 beyond them. Efron & Tibshirani advise 1,000 or
/// more for an interval.
pub const RESAMPLES: usize = 2000;

/// The interval of `statistic` over the replicates, in its unit. None if there are fewer than two
/// replicates, or if the statistic has no value for a draw. With two to five it is narrower than
/// its confidence says, as every bootstrap of so few.
pub fn bootstrap(
    replicates: &Finite,
    statistic: impl Fn(&Finite) -> Option<f64>,
    confidence: f64,
    seed: u64,
) -> Option<Interval> {
    let values = replicates.values();
    if values.len() < 2 {
        return None;
    }
    let mut numbers = Numbers::of(seed);
    let mut draw = || {
        let drawn: Vec<f64> = values.iter().map(|_| values[numbers.below(values.len())]).collect();
        statistic(&Finite::of(&drawn))
    };
    let mut levels: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect::<Option<_>>()?;
    levels.sort_unstable_by(f64::total_cmp);
    let beyond = beyond((1.0 - confidence) / 2.0);
    Some(Interval { low: *levels.get(beyond)?, high: *levels.get(RESAMPLES - 1 - beyond)? })
}

/// How many of the draws lie beyond one end.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is at least 0 and less than half of the draws"
)]
fn beyond(share: f64) -> usize {
    (share.clamp(0.0, 0.5) * RESAMPLES as f64) as usize
}
