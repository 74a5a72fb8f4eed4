//! `pathmeter.time-comparison/1`: which paths take longer on one side than on the other.
//!
//! Two conditions of one session are compared in pairs: each replicate executed both within
//! milliseconds. Two documents are compared by the levels of their processes or, if each has
//! several boots, of their boots. `pathmeter_stats::time` has the rules.

use pathmeter_stats::time::{
    Cause, Finite, Judgement, PathLevels, PathPairs, Rules, Verdict, judge_family,
    judge_unpaired_family, log_ratio, median, percent,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Host, PathTimes, Status, Times};

/// A difference below this share of base's time is none, unless the reader says otherwise.
pub const TIME_MARGIN: f64 = 0.02;

/// The name and version of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimeComparisonSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.time-comparison/1")]
    V1,
}

/// Times of two sides, path by path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSide {
    /// The machine and its kernel.
    pub host: Host,
    /// What it was measured under.
    pub condition: String,
    /// How many boots of it were measured.
    pub boots: usize,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
            boots: 1,
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

    /// Compares the sessions of two sides over these paths of base's first: by their processes if
    /// each is one session, and by their boots if each is several. None of other numbers.
    pub fn of_two(
        [base, new]: [&[Times]; 2],
        shown: impl Fn(&str) -> bool,
        margin: f64,
    ) -> Option<Self> {
        let ([first, ..], [of_new, ..]) = (base, new) else { return None };
        let replicates = match (base, new) {
            ([_], [_]) => processes,
            ([_, _, ..], [_, _, ..]) => boots,
            _ => return None,
        };
        let paths: Vec<&PathTimes> = first.paths.iter().filter(|path| shown(&path.path)).collect();
        let levels: Vec<Option<[Vec<f64>; 4]>> =
            paths.iter().map(|path| levels([base, new], &path.path, replicates)).collect();
        let measured: Vec<PathLevels<'_>> = levels
            .iter()
            .flatten()
            .map(|[base, new, even, odd]| PathLevels { base, new, null: [even, odd] })
            .collect();
        let rules = Rules { margin, ..Rules::default() };
        let mut judgements = judge_unpaired_family(&measured, &rules).into_iter();
        let rows = paths.iter().zip(&levels).map(|(path, levels)| {
            let judgement = levels.as_ref().and_then(|_| judgements.next());
            let both = [base, new].map(|side| nanoseconds(side, &path.path));
            let reason_of = |times: &Times| times.path(&path.path)?.reason.clone();
            let reason = path.reason.clone().or_else(|| reason_of(of_new));
            TimeRow::new(&path.path, judgement, both, reason)
        });
        let side = |times: &[Times]| TimeSide {
            host: times[0].host.clone(),
            condition: times[0].conditions.first().cloned().unwrap_or_default(),
            boots: times.len(),
        };
        let said = base.iter().chain(new).flat_map(|times| times.notes.clone());
        let of_sides = [only_in_new(first, of_new, &shown), in_blocks(base, new)];
        let mut notes: Vec<String> = Vec::new();
        for note in said.chain(of_sides.into_iter().flatten()) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Some(Self {
            schema: TimeComparisonSchema::V1,
            base: side(base),
            new: side(new),
            paired: false,
            margin,
            alpha: rules.alpha,
            paths: rows.collect(),
            notes,
        })
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

/// The logarithms of the levels of base, of new, and of two halves of base, a replicate each; None
/// where one has none.
fn levels(
    [base, new]: [&[Times]; 2],
    path: &str,
    replicates: fn(&[Times], &str) -> Vec<f64>,
) -> Option<[Vec<f64>; 4]> {
    // Base and copy alternate in one process, so the null is that of every second replicate from
    // the others.
    let [base, new] = [replicates(base, path), replicates(new, path)];
    let even = base.iter().copied().step_by(2).collect();
    let odd = base.iter().copied().skip(1).step_by(2).collect();
    (!base.is_empty() && !new.is_empty()).then_some([base, new, even, odd])
}

/// The logarithms of a session's levels, a process each, of one side.
fn processes(sessions: &[Times], path: &str) -> Vec<f64> {
    let Some((times, path)) = sessions.first().and_then(|it| Some((it, it.path(path)?))) else {
        return Vec::new();
    };
    let levels = times.executions(path, 0).into_iter().filter(|_| is_measured(path));
    levels.map(|ticks| times.nanoseconds(ticks).ln()).collect()
}

/// The same of sessions, a boot each.
fn boots(sessions: &[Times], path: &str) -> Vec<f64> {
    sessions.iter().filter_map(|times| Some(level_of(times, path)?.ln())).collect()
}

/// The median of a side's sessions.
fn nanoseconds(sessions: &[Times], path: &str) -> Option<f64> {
    let all: Vec<f64> = sessions.iter().filter_map(|times| level_of(times, path)).collect();
    median(&Finite::of(&all))
}

fn level_of(times: &Times, path: &str) -> Option<f64> {
    let path = times.path(path).filter(|path| is_measured(path))?;
    Some(times.nanoseconds(times.level(path, 0)?.ticks))
}

/// The paths of new that base does not have.
fn only_in_new(base: &Times, new: &Times, shown: &impl Fn(&str) -> bool) -> Option<String> {
    let paths = new.paths.iter().map(|path| &*path.path);
    let only: Vec<&str> = paths.filter(|path| shown(path) && base.path(path).is_none()).collect();
    (!only.is_empty()).then(|| format!("only new has {}", only.join(", ")))
}

/// That boots were measured in blocks, if they were: what drifts is then in the difference.
fn in_blocks(base: &[Times], new: &[Times]) -> Option<String> {
    let began = |times: &[Times]| {
        let all = times.iter().map(|times| times.method.began);
        all.clone().min().zip(all.max())
    };
    let ((base_first, base_last), (new_first, new_last)) = (began(base)?, began(new)?);
    let apart = base_last < new_first || new_last < base_first;
    (base.len() > 1 && apart).then(|| {
        "all boots of one side came before all of the other's: boot them by turns, so that what \
         drifts is not in the difference"
            .to_owned()
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    /// Sessions of boots whose levels lie around `ticks`; each began at one of these times.
    fn boots(ticks: u64, began: impl IntoIterator<Item = u64>) -> Vec<Times> {
        let boot = |began: u64| {
            let mut times = example::times(&[("a.b", 1, &[ticks + began % 7; 3])]);
            (times.method.began, times.host.boot_id) = (began, began.to_string());
            times
        };
        began.into_iter().map(boot).collect()
    }

    fn compared(base: &[Times], new: &[Times]) -> TimeComparison {
        TimeComparison::of_two([base, new], |_| true, 0.02).unwrap()
    }

    #[test]
    fn boots_by_turns_show_what_takes_longer_and_the_boot_is_the_replicate() {
        let base = boots(10_000, (0..24).step_by(2));
        let comparison = compared(&base, &boots(10_500, (1..24).step_by(2)));
        let [row] = &comparison.paths[..] else { panic!("{comparison:?}") };
        assert_eq!((row.verdict, row.replicates), (TimeVerdict::Slower, 12));
        assert_eq!((comparison.base.boots, comparison.notes.len()), (12, 0));
    }

    #[test]
    fn boots_in_blocks_are_told_and_a_few_decide_nothing() {
        let comparison = compared(&boots(10_000, 0..4), &boots(10_500, 4..8));
        assert_eq!(comparison.paths[0].verdict, TimeVerdict::Undecidable);
        assert!(comparison.notes[0].contains("by turns"), "{:?}", comparison.notes);
    }

    #[test]
    fn the_readings_of_the_clock_are_no_difference() {
        // 3,000 ticks a call and 50 for the readings; one call in a batch, or ten.
        let session = |calls: u64| {
            let ticks = calls * 3000 + 50;
            let levels: Vec<u64> = (0..20).map(|at| ticks + at % 3).collect();
            [example::times(&[("a.b", calls, &levels)])]
        };
        let comparison = compared(&session(1), &session(10));
        assert_eq!(comparison.paths[0].verdict, TimeVerdict::Equal, "{comparison:?}");
        let difference = comparison.paths[0].difference.unwrap();
        assert!(difference.abs() < 0.1, "{difference} %");
    }

    #[test]
    fn a_note_that_all_boots_have_is_told_once_and_a_path_of_new_alone_is_named() {
        let noted = |mut times: Times| {
            times.notes.push("busy".to_owned());
            [times]
        };
        let base = noted(example::times(&[("a.b", 1, &[90; 3])]));
        let new = noted(example::times(&[("a.b", 1, &[90; 3]), ("a.c", 1, &[90; 3])]));
        assert_eq!(compared(&base, &new).notes, ["busy", "only new has a.c"]);
    }

    #[test]
    fn one_boot_is_not_compared_with_several() {
        let (one, several) = (boots(10_000, 0..1), boots(10_000, 1..5));
        assert!(TimeComparison::of_two([&one, &several], |_| true, 0.02).is_none());
    }
}
