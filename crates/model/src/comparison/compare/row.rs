//! One path of two results, judged.

use std::cmp::Ordering;

use pathmeter_stats::{self as stats, Judgement, Place};
use pathmeter_trace::Event;

use super::{MeasuredAlike, Threshold};
use crate::{
    EventComparison, Moved, PairsCompared, PathComparison, PathResult, RowKind, Status, Unit,
    Verdict, WorkComparison,
    comparison::event_pairs::EventPairs,
    comparison::events::{EventsByRun, differing_as_sets, differing_in_both, moved},
    comparison::tail::TailVerdict,
    difference::percent_of,
    result::function::function_changes,
};

/// Why a row has nothing on a side whose result has no such row.
const NOT_MEASURED: &str = "not measured";

impl PathComparison {
    /// Whether one side's result lacks the row, as one of fewer paths does.
    pub fn is_of_one_side(&self) -> bool {
        let reason = self.reason.as_deref().unwrap_or_default();
        let of = |side: &str| reason.strip_prefix(side) == Some(NOT_MEASURED);
        self.verdict == Verdict::Unsupported && (of("base: ") || of("new: "))
    }
}

/// What all rows of a comparison are judged by.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) alike: MeasuredAlike,
    /// Whether the rows are benchmarks, whose events vary as those of a program's rows do.
    pub(super) benchmarks: bool,
    /// Whether functions were counted on both sides.
    pub(super) functions: bool,
    /// Whether events were counted in functions on both sides.
    pub(super) function_events: bool,
    pub(super) threshold: Threshold,
}

/// One path on the sides that have it; at least one does.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) base: Option<&'a PathResult>,
    pub(super) new: Option<&'a PathResult>,
    pub(super) rules: Rules,
}

/// The comparison of a path, with its results on both sides.
pub(super) struct Compared<'a> {
    pub(super) comparison: PathComparison,
    pub(super) base: Option<&'a PathResult>,
    pub(super) new: Option<&'a PathResult>,
    /// The sampled run that the numbers are of, if they are of one.
    pub(super) run: Option<usize>,
}

impl Compared<'_> {
    /// The kind of work, if this is a row of a program.
    pub(super) fn kind(&self) -> Option<RowKind> {
        self.comparison.work.as_ref().map(|work| work.kind)
    }
}

impl<'a> Row<'a> {
    pub(super) fn compare(self) -> Option<Compared<'a>> {
        let Self { base, new, rules } = self;
        let compared = |comparison, run| Some(Compared { comparison, base, new, run });
        let blank = self.blank()?;
        if let Some((verdict, reason)) = self.obstacle() {
            return compared(PathComparison { verdict, reason: Some(reason), ..blank }, None);
        }
        let events = self.judge_events();
        let pairs = self.judge_in_pairs(events.as_ref());
        let judgement = pairs.map(|it| it.judgement);
        let judgement = judgement.or_else(|| stats::judge(&base?.histogram(), &new?.histogram()));
        let place = pairs.and_then(|it| it.place);
        let run = place.map(|place| place.run);
        let blank = PathComparison {
            pairs: pairs.as_ref().map(PairsCompared::of),
            work: WorkComparison::of(base?, new?, run, rules.alike.one_qemu),
            ..blank
        };
        let blank = PathComparison {
            events: self.compare_events(events.filter(|_| pairs.is_some()), place),
            moved: self.count_moved(),
            ..blank
        };
        let blank = with_functions(blank, base?, new?, rules);
        let Some(judgement) = judgement else { return compared(blank, run) };
        // What is beyond all values of a side is no more than its lower bounds tell.
        let with_verdict = |judgement: Judgement, [base_most, new_most]: [u64; 2], verdict| {
            let is_bound = |side, values: [u64; 2]| {
                values.into_iter().any(|value| at_least(side, Some(value)))
            };
            let base_at_least = is_bound(base, [judgement.base, base_most]);
            let new_at_least = is_bound(new, [judgement.new, new_most]);
            let sides = PathComparison { base_at_least, new_at_least, ..blank.clone() };
            judged(sides, judgement, verdict, rules)
        };
        let row =
            with_verdict(judgement, [judgement.base, judgement.new], judgement.verdict.into());
        let tail = TailVerdict::of(base?, new?, [judgement.base, judgement.new]);
        let Some(tail) = tail.filter(|it| it.leads(&row)) else { return compared(row, run) };
        let pair = Judgement { base: tail.base, new: tail.new, ..judgement };
        let row_of_tail = with_verdict(pair, tail.highest, tail.verdict);
        let of_tail = PathComparison { unit: tail.unit, ..row_of_tail };
        compared(tail.explain(of_tail, &row), run)
    }

    /// The path with the values of both sides, not judged.
    fn blank(self) -> Option<PathComparison> {
        let Self { base, new, .. } = self;
        let values =
            |path: Option<&PathResult>| path.map_or(0, |path| path.histogram().typical().len());
        Some(PathComparison {
            path: base.or(new)?.path.clone(),
            unit: base.or(new)?.unit,
            base: base.and_then(PathResult::value),
            new: new.and_then(PathResult::value),
            base_at_least: at_least(base, base.and_then(PathResult::value)),
            new_at_least: at_least(new, new.and_then(PathResult::value)),
            difference: None,
            percent: None,
            verdict: Verdict::Same,
            reason: None,
            base_values: values(base),
            new_values: values(new),
            events: Vec::new(),
            moved: None,
            pairs: None,
            work: None,
            functions: Vec::new(),
        })
    }

    /// The events of both sides, where both have some.
    fn events_by_run(self) -> Option<[EventsByRun<'a>; 2]> {
        let of = |side: &'a PathResult| Some((side.events.as_ref()?, &side.samples_per_run[..]));
        Some([of(self.base?)?, of(self.new?)?])
    }

    /// Whether its events are those of a path; those of programs vary more.
    fn is_path(self) -> bool {
        self.base.is_some_and(|base| base.work.is_none()) && !self.rules.benchmarks
    }

    /// The events of a path, judged in pairs.
    fn judge_events(self) -> Option<EventPairs> {
        let sides = self.events_by_run().filter(|_| self.is_path())?;
        Some(EventPairs::of(sides, self.rules.alike.one_qemu))
    }

    /// The events in which the sides differ; `place` is the pair that the row shows.
    fn compare_events(
        self,
        pairs: Option<EventPairs>,
        place: Option<Place>,
    ) -> Vec<EventComparison> {
        let one_qemu = self.rules.alike.one_qemu;
        match (pairs, self.events_by_run()) {
            (Some(pairs), _) => pairs.compare(place),
            (None, Some(sides)) if self.is_path() => differing_as_sets(sides, one_qemu),
            (None, Some(sides)) => differing_in_both(sides, one_qemu),
            (None, None) => Vec::new(),
        }
    }

    /// How far the functions that a path enters have moved.
    fn count_moved(self) -> Option<Moved> {
        let [(base, _), (new, _)] = self.events_by_run().filter(|_| self.is_path())?;
        moved(base, new)
    }

    /// The judgement by pairs: None if the two were perturbed differently, or have no pair; medians
    /// of runs with different numbers of windows say less than the sets of a path. The pair is
    /// one that has the differences of the `events` too, if there is one.
    fn judge_in_pairs(self, events: Option<&EventPairs>) -> Option<stats::PairJudgement> {
        let (base, new) = (self.base?, self.new?);
        if base.work.is_none() && !self.rules.alike.one_agent {
            return None;
        }
        let agreement = |place| events.map_or(0, |events| events.agreement(place));
        let judged = stats::judge_pairs_by(&base.runs(), &new.runs(), agreement)?;
        // The executions of a region may be as many as the program likes; a path's are not.
        let has_pairs = judged.of > 0 || base.is_region() || self.rules.benchmarks;
        has_pairs.then_some(judged)
    }

    /// What keeps the two from being judged: a failure before anything else, since it shows that a
    /// kernel does not do what it should.
    fn obstacle(self) -> Option<(Verdict, String)> {
        let (failed, unsupported) = (self.with(Status::Failed), self.with(Status::Unsupported));
        if let Some(reason) = failed {
            return Some((Verdict::Broken, reason));
        }
        if let Some(reason) = unsupported {
            return Some((Verdict::Unsupported, reason));
        }
        let (base, new) = (self.base?.unit, self.new?.unit);
        let reason = || format!("units differ: {base} in base, {new} in new");
        (base != new).then(|| (Verdict::Unsupported, reason()))
    }

    /// Which sides have `status`, and why; None if neither has.
    fn with(self, status: Status) -> Option<String> {
        match (trouble(self.base, status), trouble(self.new, status)) {
            (Some(base), Some(new)) if base == new => Some(format!("both: {base}")),
            (Some(base), Some(new)) => Some(format!("base: {base}; new: {new}")),
            (Some(base), None) => Some(format!("base: {base}")),
            (None, Some(new)) => Some(format!("new: {new}")),
            (None, None) => None,
        }
    }
}

/// Why the path has `status`, if it has. One that a side lacks, or that has no samples though it is
/// not a check, is unsupported there.
fn trouble(path: Option<&PathResult>, status: Status) -> Option<&str> {
    let (found, reason) = match path {
        None => (Status::Unsupported, NOT_MEASURED),
        Some(path) if path.status == Status::Ok && path.unit == Unit::Check => return None,
        Some(path) if path.status == Status::Ok && path.samples.is_empty() => {
            (Status::Unsupported, "no samples")
        }
        Some(path) => (path.status, path.reason.as_deref().unwrap_or("no reason given")),
    };
    (found == status).then_some(reason)
}

/// The functions in which the sides differ, if they were counted on both. A side that does not
/// execute the row has none of them.
fn with_functions(
    blank: PathComparison,
    base: &PathResult,
    new: &PathResult,
    rules: Rules,
) -> PathComparison {
    let counted = rules.functions && !(base.functions.is_empty() && new.functions.is_empty());
    let has_counted = |event: Event| {
        let counts = |side: &PathResult| side.events.as_ref().is_some_and(|it| it.has(event));
        rules.function_events && counts(base) && counts(new)
    };
    let changes = || function_changes([&base.functions, &new.functions], has_counted);
    PathComparison { functions: if counted { changes() } else { Vec::new() }, ..blank }
}

fn judged(
    blank: PathComparison,
    judgement: Judgement,
    verdict: Verdict,
    rules: Rules,
) -> PathComparison {
    let difference = i128::from(judgement.new) - i128::from(judgement.base);
    let percent = percent_of((judgement.base, judgement.new));
    let small = percent.is_some_and(|percent| percent.abs() < rules.threshold.percent);
    let open = open_side(&blank, &judgement, small);
    let verdict = if small { Verdict::Same } else { verdict };
    let costly = |event: &EventComparison| match blank.work {
        None if !rules.benchmarks => {
            event.counts() || (difference == 0 && event.has_moved_detail())
        }
        _ => event.moves_cost(),
    };
    let costly = blank.events.iter().any(costly);
    PathComparison {
        base: Some(judgement.base),
        new: Some(judgement.new),
        difference: i64::try_from(difference).ok(),
        percent,
        verdict: match verdict {
            _ if open.is_some() => Verdict::Unsupported,
            Verdict::Same if costly => Verdict::EventsDiffer,
            verdict => verdict,
        },
        reason: open.map(|side| {
            format!("{side} is a lower bound: its value may be higher, so there is no verdict")
        }),
        ..blank
    }
}

/// A side whose value is a lower bound where a higher one would give another verdict.
fn open_side(sides: &PathComparison, judgement: &Judgement, small: bool) -> Option<&'static str> {
    let (base, new) = (sides.base_at_least, sides.new_at_least);
    match judgement.new.cmp(&judgement.base) {
        // The same was seen of both.
        Ordering::Equal if base && new => None,
        Ordering::Greater if !base && !small => None,
        Ordering::Less if !new && !small => None,
        _ if base => Some("base"),
        _ => new.then_some("new"),
    }
}

fn at_least(path: Option<&PathResult>, value: Option<u64>) -> bool {
    path.zip(value).is_some_and(|(path, value)| path.is_lower_bound(value))
}
