//! Two results of a program to one comparison.
//!
//! The first run is compared number by number. The later ones are judged in pairs, of runs that
//! were disturbed alike ([`pathmeter_stats::judge_pairs`]). Whether the two may be compared at all
//! is the caller's question to [`program_differences`].

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use pathmeter_stats::{self as stats, PairJudgement};
use pathmeter_trace::Event;

use super::comparison::{CostChange, CostComparison, IdleSteps, ProgramComparisonSchema};
use super::cost::{Counts, RowCost, split};
use super::explain::explain;
use crate::compare::{Judges, compare_paths, configuration_differences, percent_of};
use crate::comparison::saturated;
use crate::{
    ConfigurationDifference, DifferenceRange, EventComparison, ProgramComparison, ProgramResult,
    ProgramSummary, RowComparison, RowKind, SideInfo, SumParts, Threshold, Verdict,
};

/// Compares `new` against `base`, row by row. Which verdicts can be believed, with fewer than
/// [`LEAST_PAIRS`](stats::LEAST_PAIRS) later runs of a side, is the caller's question.
pub fn compare_programs(
    base: &ProgramResult,
    new: &ProgramResult,
    threshold: Threshold,
) -> ProgramComparison {
    let one_qemu = base.configuration.qemu == new.configuration.qemu;
    let events = common_events(base, new);
    let rows = compare_rows(base, new, &events, threshold);
    let total = |wanted: fn(RowKind) -> bool| {
        let sides = [base.total(wanted), new.total(wanted)];
        let (cost, run) = compare_costs(&sides[0], &sides[1], &events, threshold);
        Total { sides, cost, run, wanted }
    };
    let (mut sum, mut own_work) = (total(|_| true), total(RowKind::is_own_work));
    // Of one run, so that a part is not more than the whole.
    if !own_work.shown_in(sum.run) {
        sum.shown_in(own_work.run);
    }
    let parts =
        |total: &Total| total.run.map(|run| sum_parts([base, new], run, &rows, total.wanted));
    let (sum_parts, own_work_parts) = (parts(&sum), parts(&own_work));
    let regions = (&base.regions[..], &new.regions[..]);
    let regions = compare_paths(regions, Judges::Pairs, one_qemu, threshold);
    ProgramComparison {
        schema: ProgramComparisonSchema::V1,
        base: SideInfo::of(&base.subject, &base.configuration),
        new: SideInfo::of(&new.subject, &new.configuration),
        command: base.program.command.clone(),
        base_ended: base.ended,
        new_ended: new.ended,
        base_idle: idle(base),
        new_idle: idle(new),
        sum: sum.cost,
        own_work: own_work.cost,
        sum_parts,
        own_work_parts,
        summary: ProgramSummary::of(&rows, &regions),
        explanations: explain(base, new, &rows, &regions),
        rows,
        regions,
        configuration_differences: program_differences(base, new),
        budget: None,
        gate: None,
    }
}

fn idle(result: &ProgramResult) -> IdleSteps {
    let first = result.runs.len().saturating_sub(1).min(1);
    let steps = || result.runs.iter().skip(first).map(|run| run.idle);
    IdleSteps { least: steps().min().unwrap_or(0), most: steps().max().unwrap_or(0) }
}

/// In what else than the kernel the two were measured differently, the program first; empty means
/// that they can be compared. Modules belong to the kernel.
pub fn program_differences(
    base: &ProgramResult,
    new: &ProgramResult,
) -> Vec<ConfigurationDifference> {
    let [of_base, of_new] = [base, new].map(ProgramResult::whole_configuration);
    configuration_differences((&base.subject, &of_base), (&new.subject, &of_new))
}

/// The rows of either side: those that changed, then those that are the same; the largest
/// difference first.
fn compare_rows(
    base: &ProgramResult,
    new: &ProgramResult,
    events: &[Event],
    threshold: Threshold,
) -> Vec<RowComparison> {
    let (of_base, of_new) = (base.series(), new.series());
    let keys: BTreeSet<(RowKind, &str)> = of_base.keys().chain(of_new.keys()).copied().collect();
    let absent = |side: &ProgramResult| vec![Counts::default(); side.runs.len()];
    let (not_in_base, not_in_new) = (absent(base), absent(new));
    let row = |(kind, name): (RowKind, &str)| {
        let base = of_base.get(&(kind, name)).unwrap_or(&not_in_base);
        let new = of_new.get(&(kind, name)).unwrap_or(&not_in_new);
        let (cost, _) = compare_costs(base, new, events, threshold);
        RowComparison { kind, name: name.to_owned(), cost }
    };
    let mut rows: Vec<RowComparison> = keys.into_iter().map(row).collect();
    // Stable, so that rows of one name stay in the order of their kinds.
    rows.sort_by(|one, next| {
        let place = |row: &RowComparison| {
            let size = row.cost.judged().difference.unsigned_abs();
            (row.cost.verdict == Verdict::Same, Reverse(size))
        };
        (place(one), &one.name).cmp(&(place(next), &next.name))
    });
    rows
}

/// Where the difference of all rows of these kinds is in one run of each side, by the rows'
/// verdicts.
fn sum_parts(
    sides: [&ProgramResult; 2],
    run: usize,
    rows: &[RowComparison],
    wanted: fn(RowKind) -> bool,
) -> SumParts {
    let verdicts: BTreeMap<(RowKind, &str), Verdict> =
        rows.iter().map(|row| ((row.kind, &*row.name), row.cost.verdict)).collect();
    let mut parts = SumParts::default();
    for (side, sign) in sides.into_iter().zip([-1, 1]) {
        let rows = side.runs.get(run).into_iter().flat_map(|run| &run.rows);
        for row in rows.filter(|row| wanted(row.kind)) {
            let verdict = verdicts.get(&row.key()).copied().unwrap_or(Verdict::Same);
            let part = parts.of(verdict);
            *part = part.saturating_add(saturated(i128::from(row.instructions) * sign));
        }
    }
    parts
}

/// Compares runs that have the first one at the beginning; and which of them the instructions are
/// of, if that is one.
fn compare_costs(
    base: &[Counts],
    new: &[Counts],
    events: &[Event],
    threshold: Threshold,
) -> (CostComparison, Option<usize>) {
    let (base_first, base_later) = split(base);
    let (new_first, new_later) = split(new);
    let first = change(RowCost::once(&base_first), RowCost::once(&new_first));
    let judged = compare_later(base_later, new_later, threshold);
    let (one, other) = match judged {
        Some(_) => (base_later, new_later),
        None => (&base[..1.min(base.len())], &new[..1.min(new.len())]),
    };
    let calls_differ = base_first.calls != new_first.calls
        || judge_pairs(base_later, new_later, |run| run.calls).is_some_and(|it| differs(&it));
    let events = differing_events(one, other, events);
    let (later, pairs, verdict, run) = match judged {
        Some(Later { change, verdict, pairs, run }) => {
            (Some(change), Some(pairs), verdict, run.map(|run| run + 1))
        }
        None => (None, None, first_verdict(&first, threshold), Some(0)),
    };
    let verdict = match verdict {
        Verdict::Same if events.iter().any(EventComparison::moves_cost) => Verdict::EventsDiffer,
        verdict => verdict,
    };
    (CostComparison { first, later, pairs, verdict, calls_differ, events }, run)
}

/// Rows together, compared.
struct Total {
    sides: [Vec<Counts>; 2],
    cost: CostComparison,
    /// The run that is shown, if it is one.
    run: Option<usize>,
    wanted: fn(RowKind) -> bool,
}

impl Total {
    /// Shows another later run, if the two sides differ in it by as much as in the one that is
    /// shown. Whether they do.
    fn shown_in(&mut self, run: Option<usize>) -> bool {
        let there = run.filter(|run| *run > 0).and_then(|run| {
            let later = self.cost.later.as_ref()?;
            let [base, new] = &self.sides;
            let of = |runs: &[Counts], shown: &RowCost| {
                Some(RowCost { instructions: runs.get(run)?.instructions, ..shown.clone() })
            };
            let there = change(of(base, &later.base)?, of(new, &later.new)?);
            (there.difference == later.difference).then_some(there)
        });
        let found = there.is_some();
        if found {
            (self.cost.later, self.run) = (there, run);
        }
        found
    }
}

/// The verdict on one run of each side.
fn first_verdict(first: &CostChange, threshold: Threshold) -> Verdict {
    match first.difference.cmp(&0) {
        _ if is_small(first.percent, threshold) => Verdict::Same,
        Ordering::Less => Verdict::Lower,
        Ordering::Equal => Verdict::Same,
        Ordering::Greater => Verdict::Higher,
    }
}

/// What comes of the later runs.
struct Later {
    change: CostChange,
    verdict: Verdict,
    pairs: DifferenceRange,
    /// The later run in which the change was counted; none if it comes from sets of runs.
    run: Option<usize>,
}

/// Compares the later runs in pairs; None if a side has none.
fn compare_later(base: &[Counts], new: &[Counts], threshold: Threshold) -> Option<Later> {
    let PairJudgement { judgement, run, range } = judge_pairs(base, new, |run| run.instructions)?;
    let side = |runs: &[Counts], instructions| {
        let typical = RowCost::of(runs)?;
        let per_call = match run {
            Some(run) => runs.get(run)?.per_call(),
            None => typical.per_call,
        };
        Some(RowCost { instructions, per_call, ..typical })
    };
    let change = change(side(base, judgement.base)?, side(new, judgement.new)?);
    let verdict = match judgement.verdict.into() {
        _ if is_small(change.percent, threshold) => Verdict::Same,
        verdict => verdict,
    };
    Some(Later { change, verdict, pairs: DifferenceRange::of(range), run })
}

/// The judgement on a number of these runs, pair by pair; None if a side has none.
fn judge_pairs(
    base: &[Counts],
    new: &[Counts],
    number: impl Fn(&Counts) -> u64,
) -> Option<PairJudgement> {
    let of = |runs: &[Counts]| runs.iter().map(|run| [number(run)]).collect::<Vec<[u64; 1]>>();
    stats::judge_pairs(&of(base), &of(new))
}

fn differs(judged: &PairJudgement) -> bool {
    judged.judgement.verdict != stats::Verdict::Same
}

fn is_small(percent: Option<f64>, threshold: Threshold) -> bool {
    percent.is_some_and(|percent| percent.abs() < threshold.percent)
}

fn change(base: RowCost, new: RowCost) -> CostChange {
    let difference = i128::from(new.instructions) - i128::from(base.instructions);
    let per_call = base.per_call.zip(new.per_call);
    CostChange {
        difference: saturated(difference),
        percent: percent_of(difference, base.instructions),
        per_call_difference: per_call
            .map(|(base, new)| saturated(i128::from(new) - i128::from(base))),
        base,
        new,
    }
}

/// The events in which these runs differ, in the order of [`Event::all`].
fn differing_events(base: &[Counts], new: &[Counts], events: &[Event]) -> Vec<EventComparison> {
    let differing = |event: &Event| {
        let judged = judge_pairs(base, new, |run| run.of(*event))?;
        EventComparison::of(*event, judged.judgement)
    };
    events.iter().filter_map(differing).collect()
}

/// The events that both sides counted, and in the same way.
fn common_events(base: &ProgramResult, new: &ProgramResult) -> Vec<Event> {
    let one_qemu = base.configuration.qemu == new.configuration.qemu;
    let common = |event: &Event| {
        let counted = base.events.contains(event) && new.events.contains(event);
        counted && (one_qemu || !event.depends_on_qemu())
    };
    Event::all().filter(common).collect()
}
