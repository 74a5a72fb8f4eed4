//! `pathmeter.time-comparison/1`: which paths take longer on one side than on the other.
//!
//! Two conditions of one session are compared in pairs: each replicate executed both within
//! milliseconds. Two documents are compared by the levels of their processes or, if each has
//! several boots, of their boots. `pathmeter_stats::time` has the rules.
//!
//! A row has one difference, and its two levels differ by just that. In pairs, what is measured is
//! the difference: new's level is base's, changed by it, since the machine drifts between pairs.
//! Apart, what is measured are the levels, which are those of the two documents' own tables.

use pathmeter_seal::schema_name;
use pathmeter_stats::time::{
    Finite, PathLevels, PathPairs, Rules, judge_family, judge_unpaired_family, log_ratio, median,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Host, PathTimes, Status, TimeRow, TimeVerdict, Times};

/// A difference below this share of base's time is none, unless the reader says otherwise.
pub const TIME_MARGIN: f64 = 0.02;

/// The most replicates of a path that a session takes.
pub const MOST_REPLICATES: u32 = 1000;

schema_name!(pub TimeComparisonSchema = "pathmeter.time-comparison/1");

/// Times of two sides, path by path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeComparison {
    pub schema: TimeComparisonSchema,
    /// The host of base, and the condition.
    pub base: TimeSide,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSide {
    /// The machine and its kernel.
    pub host: Host,
    /// What it was measured under.
    pub condition: String,
    /// How many boots of it were measured.
    pub boots: usize,
}

impl TimeComparison {
    /// Compares the two conditions of a session, over these paths. None if it has one condition.
    pub fn of_session(times: &Times, shown: impl Fn(&str) -> bool, margin: f64) -> Option<Self> {
        let [base, new] = &times.conditions[..] else { return None };
        let paths: Vec<&PathTimes> = times.paths.iter().filter(|path| shown(&path.path)).collect();
        let ratios: Vec<Option<[Vec<f64>; 2]>> =
            paths.iter().map(|path| ratios(times, path)).collect();
        let pairs: Vec<PathPairs<'_>> =
            ratios.iter().flatten().map(|[pairs, null]| PathPairs { pairs, null }).collect();
        let rules = Rules { margin, ..Rules::default() };
        let mut judgements = judge_family(&pairs, &rules).into_iter();
        let row = |(path, ratios): (&PathTimes, &Option<[Vec<f64>; 2]>)| {
            let level = |side| Some(times.nanoseconds(times.level(path, side)?.ticks));
            match ratios.as_ref().and_then(|_| judgements.next()) {
                Some(judgement) => {
                    let new = level(0).zip(judgement.estimate).map(|(base, by)| base * by.exp());
                    TimeRow::new(&path.path, judgement, [level(0), new])
                }
                None if is_measured(path) => TimeRow::of_hidden(&path.path),
                None => TimeRow::unmeasured(path, [0, 2].map(level), path.reason.clone()),
            }
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
            paths: paths.into_iter().zip(&ratios).map(row).collect(),
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
        let sides = [base, new];
        let levels: Vec<Option<[Vec<f64>; 4]>> = paths
            .iter()
            .map(|path| levels(sides, &path.path, replicates).filter(|_| is_told(sides, path)))
            .collect();
        let measured: Vec<PathLevels<'_>> = levels
            .iter()
            .flatten()
            .map(|[base, new, even, odd]| PathLevels { base, new, null: [even, odd] })
            .collect();
        let rules = Rules { margin, ..Rules::default() };
        let mut judgements = judge_unpaired_family(&measured, &rules).into_iter();
        let rows = paths.iter().zip(&levels).map(|(path, levels)| {
            let both = sides.map(|side| nanoseconds(side, &path.path));
            match levels.as_ref().and_then(|_| judgements.next()) {
                Some(judgement) => TimeRow::new(&path.path, judgement, both).hold_to_levels(),
                None if !is_told(sides, path) => TimeRow::of_hidden(&path.path),
                None => {
                    let of_new = of_new.path(&path.path).and_then(|path| path.reason.clone());
                    TimeRow::unmeasured(path, both, path.reason.clone().or(of_new))
                }
            }
        });
        let side = |times: &[Times]| TimeSide {
            host: times[0].host.clone(),
            condition: times[0].conditions.first().cloned().unwrap_or_default(),
            boots: times.len(),
        };
        let of_sides = [only_in_new(first, of_new, &shown), in_blocks(base, new)];
        Some(Self {
            schema: TimeComparisonSchema::V1,
            base: side(base),
            new: side(new),
            paired: false,
            margin,
            alpha: rules.alpha,
            paths: rows.collect(),
            notes: gather_notes(sides, of_sides.into_iter().flatten()),
        })
    }

    /// How many paths are shown to differ, or not to.
    pub fn count_decided(&self) -> usize {
        let verdicts = [TimeVerdict::Slower, TimeVerdict::Faster, TimeVerdict::Equal];
        verdicts.map(|verdict| self.count(verdict)).iter().sum()
    }

    /// How many paths have this verdict.
    pub fn count(&self, verdict: TimeVerdict) -> usize {
        self.paths.iter().filter(|path| path.verdict == verdict).count()
    }
}

fn is_measured(path: &PathTimes) -> bool {
    path.status == Status::Ok && !path.replicates.is_empty()
}

/// ln(new / base) and ln(copy / base) of each replicate; None without times, and of a path that
/// takes less than the loop around it on both sides.
fn ratios(times: &Times, path: &PathTimes) -> Option<[Vec<f64>; 2]> {
    let is_told = [0, 2].iter().any(|side| times.is_resolved(path, *side));
    let [base, copy, new] = [0, 1, 2].map(|side| times.executions(path, side));
    let ratio = |sides: &[f64]| {
        base.iter().zip(sides).filter_map(|(base, side)| log_ratio(*base, *side)).collect()
    };
    (is_measured(path) && is_told).then(|| [ratio(&new), ratio(&copy)])
}

/// Whether a session of either side has a level of this path that is none of the loop around it.
fn is_told(sides: [&[Times]; 2], path: &PathTimes) -> bool {
    let mut sessions = sides.into_iter().flatten();
    sessions.any(|times| times.path(&path.path).is_none_or(|it| times.is_resolved(it, 0)))
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

/// The notes of both sides' sessions, and those on the sides themselves, each once.
fn gather_notes([base, new]: [&[Times]; 2], of_sides: impl Iterator<Item = String>) -> Vec<String> {
    let said = base.iter().chain(new).flat_map(|times| times.notes.clone());
    let mut notes: Vec<String> = Vec::new();
    for note in said.chain(of_sides) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
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

    fn compare_times(base: &[Times], new: &[Times]) -> TimeComparison {
        TimeComparison::of_two([base, new], |_| true, 0.02).unwrap()
    }

    #[test]
    fn boots_by_turns_show_what_takes_longer_and_the_boot_is_the_replicate() {
        let base = boots(10_000, (0..24).step_by(2));
        let comparison = compare_times(&base, &boots(10_500, (1..24).step_by(2)));
        let [row] = &comparison.paths[..] else { panic!("{comparison:?}") };
        assert_eq!((row.verdict, row.replicates), (TimeVerdict::Slower, 12));
        assert_eq!((comparison.base.boots, comparison.notes.len()), (12, 0));
    }

    #[test]
    fn boots_in_blocks_are_told_and_a_few_decide_nothing() {
        let comparison = compare_times(&boots(10_000, 0..4), &boots(10_500, 4..8));
        assert_eq!(comparison.paths[0].verdict, TimeVerdict::Undecidable);
        assert!(comparison.notes[0].contains("by turns"), "{:?}", comparison.notes);
    }

    /// A session of two conditions in which the machine drifts: a replicate's base takes up to
    /// twice as long as that of another one, and new 2 or 4 % longer than its own base.
    fn make_drifting_session() -> Times {
        let levels: Vec<u64> = (0..30).map(|at| 50 + 10_000 + 1000 * (at * 7 % 11)).collect();
        let mut times = example::times(&[("a.b", 1, &levels), ("clock.empty", 50, &[150; 30])]);
        times.conditions.push("seccomp:docker".to_owned());
        for path in &mut times.paths {
            let last = path.replicates.len() / 2;
            for (at, replicate) in path.replicates.iter_mut().enumerate() {
                let base = replicate.sides[0][0];
                let percent = if at < last { 102 } else { 104 };
                replicate.sides.push(vec![50 + (base - 50) * percent / 100; 4]);
            }
        }
        times
    }

    #[test]
    fn the_levels_of_a_row_differ_by_its_difference() {
        let sessions = |ticks: u64| {
            let levels: Vec<u64> = (0..20).map(|at| ticks + at * at * 7 % 900).collect();
            [example::times(&[("a.b", 1, &levels)])]
        };
        let together =
            TimeComparison::of_session(&make_drifting_session(), |_| true, 0.02).unwrap();
        let apart = compare_times(&sessions(10_000), &sessions(10_700));
        for comparison in [together, apart] {
            let row = &comparison.paths[0];
            let (base, new) = (row.base.unwrap(), row.new.unwrap());
            let by_levels = 100.0 * (new / base - 1.0);
            assert!((by_levels - row.difference.unwrap()).abs() < 1e-9, "{row:?}");
            let [low, high] = row.interval.unwrap();
            assert!((low..=high).contains(&by_levels), "{row:?}");
        }
    }

    /// Nearly half of each side's processes take about 10,000 ticks, and the others 20,000. By
    /// their ranks the two sides are equal, by their medians one takes twice as long as the other.
    #[test]
    fn sides_of_two_levels_each_are_not_decided_by_their_ranks_alone() {
        let session = |of_low: u64| {
            let level = |at: u64| if at * 7 % 60 < of_low { 10_000 + at } else { 20_000 + at };
            [example::times(&[("a.b", 1, &(0..60).map(level).collect::<Vec<_>>())])]
        };
        let row = &compare_times(&session(29), &session(31)).paths[0];
        assert_eq!(row.verdict, TimeVerdict::Undecidable, "{row:?}");
        assert!(row.reason.as_ref().unwrap().contains("two levels"), "{row:?}");
    }

    #[test]
    fn a_path_that_the_loop_hides_is_undecidable_and_has_no_level() {
        let session = |ticks: u64| {
            let of_path = [ticks; 20];
            [example::times(&[("a.b", 100, &of_path[..]), ("clock.empty", 100, &[250; 20])])]
        };
        let hidden = &compare_times(&session(260), &session(300)).paths[0];
        assert_eq!((hidden.verdict, hidden.base), (TimeVerdict::Undecidable, None));
        assert!(hidden.reason.as_ref().unwrap().contains("the loop around it"), "{hidden:?}");
        let shown = &compare_times(&session(260), &session(2050)).paths[0];
        assert_eq!((shown.verdict, shown.new), (TimeVerdict::Slower, Some(18.0)), "{shown:?}");
    }

    #[test]
    fn the_readings_of_the_clock_are_no_difference() {
        // 3,000 ticks a call and 50 for the readings; one call in a batch, or ten.
        let session = |calls: u64| {
            let ticks = calls * 3000 + 50;
            let levels: Vec<u64> = (0..20).map(|at| ticks + at % 3).collect();
            [example::times(&[("a.b", calls, &levels)])]
        };
        let comparison = compare_times(&session(1), &session(10));
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
        assert_eq!(compare_times(&base, &new).notes, ["busy", "only new has a.c"]);
    }

    #[test]
    fn one_boot_is_not_compared_with_several() {
        let (one, several) = (boots(10_000, 0..1), boots(10_000, 1..5));
        assert!(TimeComparison::of_two([&one, &several], |_| true, 0.02).is_none());
    }
}
