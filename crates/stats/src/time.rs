//! Times measured on a live host: two sides compared by replicates, with intervals and verdicts.
//!
//! A time is noisy where a count is exact, so nothing here is certain, and everything says how
//! uncertain it is. The *replicate* is what had a fresh draw of all that decides the level: a pair
//! of neighbours in time within one process, a process, or a boot. A replicate's statistic is a
//! low quantile of its batches ([`level`]); two sides are compared by the natural logarithm of
//! the ratio ([`log_ratio`]), so that 0.01 is about 1 % and swapping the sides negates.
//!
//! 1. [`Location`]: by how much the sides differ, with an interval and a p-value, from signs and
//!    ranks alone: no outlier decides, and no distribution is assumed.
//! 2. [`holm`]: the p-values of all paths of a session, adjusted for their number.
//! 3. [`judge_family`]: slower, faster, equal or undecidable, against what the base kernel shows
//!    when it is compared with a copy of itself in the same session (the *null*).
//!
//! Numbers that are not finite are left out and counted ([`Finite`]). Everything is a function of
//! its input, the bootstrap too: its random numbers come from a seed.

mod bootstrap;
mod family;
mod finite;
mod fit;
mod interval;
mod location;
mod normal;
mod quantile;
mod random;
mod ratio;
mod sums;
mod verdict;

pub use bootstrap::{RESAMPLES, bootstrap};
pub use family::holm;
pub use finite::Finite;
pub use fit::nonnegative_fit;
pub use interval::{CONFIDENCE, Interval};
pub use location::{Location, hodges_lehmann, is_narrower, median};
pub use quantile::{Quantile, level, quantile};
pub use random::Numbers;
pub use ratio::{log_ratio, percent};
pub use verdict::{
    Cause, FLAT_PART, Judgement, PathLevels, PathPairs, Rules, Verdict, judge_family,
    judge_unpaired_family,
};
