//! Pure functions over samples: the summary of a set of exact values, and the verdict of two.
//!
//! Nothing here reads, prints, or knows what a path or a kernel is. Values are counts in whatever
//! unit the caller has (instructions, cycles, nanoseconds) and stay integers throughout, so every
//! answer is the same on every machine. Times that a live host measured are the exception: they are
//! noisy, and have a module of their own.
//!
//! - [`Histogram`]: exact values with their frequencies, their median and typical set.
//! - [`tail`]: the values of one set that are far beyond all of another's.
//! - [`judge`]: whether the set of one kernel is the same as, lower or higher than another's.
//! - [`judge_pairs`]: the same of runs, each of which has its counterpart in the other's.
//! - [`time`]: times, as logarithms of ratios with intervals, and verdicts against a null.

mod histogram;
mod judge;
mod pairs;
mod tail;
pub mod time;

pub use histogram::{Histogram, TYPICAL_PERCENT};
pub use judge::{
    CLEAN_SHIFT_PERCENT, DIFFUSE_VALUES, Judgement, MOVED_SET_PERCENT, NEW_MODE_PERCENT,
    OVERLAP_PERCENT, REACH_GAPS, SHIFT_GAIN, Verdict, judge,
};
pub use pairs::{
    COMMON_PERCENT, LEAST_PAIRS, MODE_PART, PairJudgement, Place, STRAY_PART, judge_pairs,
    judge_pairs_by,
};
pub use tail::{FAR, TAIL_RUNS, Tail, tail};
