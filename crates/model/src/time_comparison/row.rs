//! A path of a comparison of times: its two levels, which differ by its difference, and the
//! verdict.

use pathmeter_stats::time::{Cause, Judgement, Verdict, log_ratio, percent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PathTimes;

/// Percentages that differ by no more differ by rounding alone.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeVerdict {
    Slower,
    Faster,
    /// The two differ by less than the margin.
    Equal,
    Undecidable,
    /// One of the sides has no times.
    Unmeasured,
}

impl TimeVerdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Equal => "equal",
            Self::Undecidable => "undecidable",
            Self::Unmeasured => "unmeasured",
        }
    }
}

/// A path of a comparison. Differences are in percent of base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeRow {
    pub path: String,
    pub verdict: TimeVerdict,
    /// Why it is undecidable, or unmeasured; null otherwise.
    pub reason: Option<String>,
    /// Base's nanoseconds; null without times.
    pub base: Option<f64>,
    /// New's; of pairs, base's changed by the difference.
    pub new: Option<f64>,
    /// New less base, as a share of base; null without times. Of pairs it is the estimate over
    /// them, and otherwise the difference of the two levels.
    pub difference: Option<f64>,
    /// Where the difference is, with a confidence of 95 % for this path alone.
    pub interval: Option<[f64; 2]>,
    /// The probability of such a difference by chance, adjusted for the number of paths.
    pub p: f64,
    /// What base differs from its own copy by in this session, at most.
    pub null: Option<f64>,
    /// The replicates that the verdict rests on.
    pub replicates: usize,
    /// How many more would probably decide; null if that is done, or if no number would.
    pub more: Option<usize>,
}

impl TimeRow {
    /// A row whose two levels differ by its difference.
    pub(crate) fn new(path: &str, judgement: Judgement, [base, new]: [Option<f64>; 2]) -> Self {
        let (verdict, reason) = match judgement.verdict {
            Verdict::Slower => (TimeVerdict::Slower, None),
            Verdict::Faster => (TimeVerdict::Faster, None),
            Verdict::Equal => (TimeVerdict::Equal, None),
            Verdict::Undecidable(cause) => (TimeVerdict::Undecidable, Some(words(cause))),
        };
        let difference = base.zip(new).and_then(|(base, new)| log_ratio(base, new));
        Self {
            path: path.to_owned(),
            verdict,
            reason: reason.map(str::to_owned),
            base,
            new,
            difference: difference.map(percent),
            interval: judgement.interval.map(|it| [percent(it.low), percent(it.high)]),
            p: judgement.p,
            null: judgement.reach.map(percent),
            replicates: judgement.replicates,
            more: judgement.more,
        }
    }

    /// The row without a verdict if its levels differ otherwise than its replicates do by their
    /// ranks, which the verdict is about: then a side has several levels.
    pub(crate) fn hold_to_levels(self) -> Self {
        let is_within = |(difference, [low, high]): (f64, [f64; 2])| {
            (low - ROUNDING..=high + ROUNDING).contains(&difference)
        };
        let decided = self.verdict != TimeVerdict::Undecidable;
        if !decided || self.difference.zip(self.interval).is_none_or(is_within) {
            return self;
        }
        let reason = "the two medians differ otherwise than the replicates: a side has two levels";
        Self {
            verdict: TimeVerdict::Undecidable,
            reason: Some(reason.to_owned()),
            more: None,
            ..self
        }
    }

    /// A row of a path that takes less than the loop around it, on both sides.
    pub(crate) fn of_hidden(path: &str) -> Self {
        let reason = "it takes less than the loop around it".to_owned();
        Self { verdict: TimeVerdict::Undecidable, ..Self::empty(path, Some(reason)) }
    }

    pub(crate) fn unmeasured(
        path: &PathTimes,
        [base, new]: [Option<f64>; 2],
        why: Option<String>,
    ) -> Self {
        let why = why.or_else(|| Some("one side does not have the path".to_owned()));
        Self { base, new, ..Self::empty(&path.path, why) }
    }

    fn empty(path: &str, reason: Option<String>) -> Self {
        Self {
            path: path.to_owned(),
            verdict: TimeVerdict::Unmeasured,
            reason,
            base: None,
            new: None,
            difference: None,
            interval: None,
            p: 1.0,
            null: None,
            replicates: 0,
            more: None,
        }
    }
}

fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::TooFew => "there are too few replicates",
        Cause::NullShifted => "base differs from its own copy: the machine is not still",
        Cause::NullWide => "base may differ from its own copy by as much",
        Cause::IntervalWide => "the difference may be 0, or more than the margin",
    }
}
