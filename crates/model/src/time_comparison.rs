//! `pathmeter.time-comparison/1`: which paths take longer on one side than on the other.
//!
//! Two conditions of one session are compared in pairs: each replicate executed both within
//! milliseconds. Two documents, such as those of two boots, are compared by the levels of their
//! processes, or, if each has several boots, of their boots. `pathmeter_stats::time` has the rules.

use pathmeter_stats::time::{
    Cause, Judgement, PathLevels, PathPairs, Rules, Verdict, judge_family, judge_unpaired_family,
    log_ratio, percent,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Host, PathTimes, Status, Times};

/// The name and version of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimeComparisonSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.time-comparison/1")]
    V1,
}

/// Times of two sides, path by path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimeComparison {
    /// Always `pathmeter.time-comparison/1`.
    pub schema: TimeComparisonSchema,
    /// The host of base, and the condition.
    pub base: TimeSide,
    /// The same of new.
    pub new: TimeSide,
    /// Whether each replicate executed both sides within milliseconds.
    pub paired: bool,
    /// A difference below this share of base's time is none: 0.02 is 2 %.
    pub margin: f64,
    /// The probability that any path is called slower or faster though none is.
    pub alpha: f64,
    /// One entry a path, in base's order.
    pub paths: Vec<TimeRow>,
    /// What a reader must know to judge the verdicts.
    pub notes: Vec<String>,
}

/// A side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimeSide {
    /// The machine and its kernel.
    pub host: Host,
    /// What it was measured under.
    pub condition: String,
}

/// A path's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeVerdict {
    /// New takes longer.
    Slower,
    /// New takes less long.
    Faster,
    /// The two differ by less than the margin.
    Equal,
    /// The session can't tell.
    Undecidable,
    /// One of the sides has no times.
    Unmeasured,
}

impl TimeVerdict {
    /// Its word.
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimeRow {
    /// The path's name.
    pub path: String,
    /// The verdict.
    pub verdict: TimeVerdict,
    /// Why it is undecidable, or unmeasured; null otherwise.
    pub reason: Option<String>,
    /// Base's nanoseconds; null without times.
    pub base: Option<f64>,
    /// New's.
    pub new: Option<f64>,
    /// New less base; null without times.
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

impl TimeComparison {
    /// Compares the two conditions of a session, over these paths. None if it has one condition.
    pub fn of_session(times: &Times, shown: impl Fn(&str) -> bool, margin: f64) -> Option<Self> {
        let [base, new] = &times.conditions[..] else { return None };
        let paths: Vec<&PathTimes> = times.paths.iter().filter(|path| shown(&path.path)).collect();
        let measured: Vec<&PathTimes> =
            paths.iter().copied().filter(|it| is_measured(it)).collect();
        let ratios: Vec<[Vec<f64>; 2]> = measured.iter().map(|path| ratios(times, path)).collect();
        let pairs: Vec<PathPairs<'_>> =
            ratios.iter().map(|[pairs, null]| PathPairs { pairs, null }).collect();
        let rules = Rules { margin, ..Rules::default() };
        let mut judgements = judge_family(&pairs, &rules).into_iter();
        let row = |path: &PathTimes| {
            let judgement = is_measured(path).then(|| judgements.next()).flatten();
            let level = |side| Some(times.nanoseconds(times.level(path, side)?.ticks));
            TimeRow::new(&path.path, judgement, [level(0), level(2)], path.reason.clone())
        };
        let side = |condition: &String| TimeSide {
            host: times.host.clone(),
            condition: condition.clone(),
        };
        Some(Self {
            schema: TimeComparisonSchema::V1,
            base: side(base),
            new: side(new),
            paired: true,
            margin,
            alpha: rules.alpha,
            paths: paths.into_iter().map(row).collect(),
            notes: times.notes.clone(),
        })
    }

    /// Compares two documents over these paths of base.
    pub fn of_two([base, new]: [&Times; 2], shown: impl Fn(&str) -> bool, margin: f64) -> Self {
        let paths = base.paths.iter().filter(|path| shown(&path.path));
        let paths: Vec<_> = paths.map(|path| (path, new.path(&path.path))).collect();
        let levels: Vec<Option<[Vec<f64>; 3]>> = paths
            .iter()
            .map(|(of_base, of_new)| levels([base, new], of_base, (*of_new)?))
            .collect();
        let measured: Vec<PathLevels<'_>> = levels
            .iter()
            .flatten()
            .map(|[base, copy, new]| PathLevels { base, new, copy })
            .collect();
        let rules = Rules { margin, ..Rules::default() };
        let mut judgements = judge_unpaired_family(&measured, &rules).into_iter();
        let rows = paths.iter().zip(&levels).map(|((of_base, of_new), levels)| {
            let judgement = levels.as_ref().and_then(|_| judgements.next());
            let ns = |times: &Times, path: &PathTimes| {
                Some(times.nanoseconds(times.level(path, 0)?.ticks))
            };
            let both = [ns(base, of_base), of_new.and_then(|path| ns(new, path))];
            let reason = of_base.reason.clone().or_else(|| of_new.and_then(|it| it.reason.clone()));
            TimeRow::new(&of_base.path, judgement, both, reason)
        });
        let side = |times: &Times| TimeSide {
            host: times.host.clone(),
            condition: times.conditions.first().cloned().unwrap_or_default(),
        };
        Self {
            schema: TimeComparisonSchema::V1,
            base: side(base),
            new: side(new),
            paired: false,
            margin,
            alpha: rules.alpha,
            paths: rows.collect(),
            notes: base.notes.iter().chain(&new.notes).cloned().collect(),
        }
    }

    /// How many paths have this verdict.
    pub fn count(&self, verdict: TimeVerdict) -> usize {
        self.paths.iter().filter(|path| path.verdict == verdict).count()
    }
}

fn is_measured(path: &PathTimes) -> bool {
    path.status == Status::Ok && !path.replicates.is_empty()
}

/// ln(new / base) and ln(copy / base) of each replicate.
fn ratios(times: &Times, path: &PathTimes) -> [Vec<f64>; 2] {
    let [base, copy, new] = [0, 1, 2].map(|side| times.statistics(path, side));
    let ratio = |sides: &[f64]| {
        base.iter().zip(sides).filter_map(|(base, side)| log_ratio(*base, *side)).collect()
    };
    [ratio(&new), ratio(&copy)]
}

/// The logarithms of the levels of base, of its copy and of new, a process each; None where one has
/// none.
fn levels(
    [base, new]: [&Times; 2],
    of_base: &PathTimes,
    of_new: &PathTimes,
) -> Option<[Vec<f64>; 3]> {
    let logarithms = |times: &Times, path: &PathTimes, side: usize| -> Vec<f64> {
        let executions = path.executions();
        let of_process = times.statistics(path, side).into_iter();
        of_process.map(|batch| (times.nanoseconds(batch) / executions).ln()).collect()
    };
    // Base and copy alternate in one process, so the copy's levels are those of other processes:
    // of every second one.
    let all = logarithms(base, of_base, 0);
    let even = all.iter().copied().step_by(2).collect();
    let odd = all.iter().copied().skip(1).step_by(2).collect();
    let found = [even, odd, logarithms(new, of_new, 0)];
    (is_measured(of_base) && is_measured(of_new)).then_some(found)
}

impl TimeRow {
    fn new(
        path: &str,
        judgement: Option<Judgement>,
        [base, new]: [Option<f64>; 2],
        reason: Option<String>,
    ) -> Self {
        let Some(judgement) = judgement else {
            let reason = reason.or_else(|| Some("one side does not have the path".to_owned()));
            return Self::unmeasured(path, [base, new], reason);
        };
        let cause = match judgement.verdict {
            Verdict::Undecidable(cause) => Some(words(cause).to_owned()),
            _ => None,
        };
        Self {
            path: path.to_owned(),
            verdict: match judgement.verdict {
                Verdict::Slower => TimeVerdict::Slower,
                Verdict::Faster => TimeVerdict::Faster,
                Verdict::Equal => TimeVerdict::Equal,
                Verdict::Undecidable(_) => TimeVerdict::Undecidable,
            },
            reason: cause,
            base,
            new,
            difference: judgement.estimate.map(percent),
            interval: judgement.interval.map(|it| [percent(it.low), percent(it.high)]),
            p: judgement.p,
            null: judgement.reach.map(percent),
            replicates: judgement.replicates,
            more: judgement.more,
        }
    }

    fn unmeasured(path: &str, [base, new]: [Option<f64>; 2], reason: Option<String>) -> Self {
        Self {
            path: path.to_owned(),
            verdict: TimeVerdict::Unmeasured,
            reason,
            base,
            new,
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
        Cause::NullShifted => "base differs from its own copy",
        Cause::NullWide => "base may differ from its own copy by as much",
        Cause::IntervalWide => "the difference may be 0, or more than the margin",
    }
}
