//! Two results of a program to one comparison.
//!
//! The first run is compared number by number. Of the later ones the values are those that
//! [`pathmeter_stats::judge`] finds in the two sets, and the verdict rests on the pairs of runs
//! that were disturbed alike. Whether the two may be compared at all is the caller's question to
//! [`program_differences`].

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use pathmeter_stats as stats;
use pathmeter_trace::Event;

use super::comparison::{CostChange, CostComparison, ProgramComparisonSchema};
use super::cost::{Counts, RowCost, histogram, split};
use super::functions::explain;
use crate::compare::{compare_paths, configuration_differences, percent_of};
use crate::events::differing_event;
use crate::{
    ConfigurationDifference, EventComparison, Program, ProgramComparison, ProgramResult,
    ProgramSummary, RowComparison, RowKind, SideInfo, Threshold, Verdict, command_line,
};

/// A new mode is one if it lies farther from what base shows than one part in this many of the row,
/// and than base's values from each other: layout alone moves half a percent in two runs of six.
const MODE_PART: u64 = 20;

/// The fewest later runs of each side that a verdict can rest on. Where layout alone decides, all
/// differences of a row have one sign by chance: in 1 case of 2 if there are two pairs of runs, in
/// 1 of 16 if there are five (docs/own-programs.md has what was measured).
pub const LEAST_LATER_RUNS: usize = 5;

/// Compares `new` against `base`, row by row. Which verdicts can be believed, with fewer than
/// [`LEAST_LATER_RUNS`] of a side, is the caller's question.
pub fn compare_programs(
    base: &ProgramResult,
    new: &ProgramResult,
    threshold: Threshold,
) -> ProgramComparison {
    let one_qemu = base.configuration.qemu == new.configuration.qemu;
    let total = |wanted: fn(RowKind) -> bool| {
        compare_costs(&base.total(wanted), &new.total(wanted), one_qemu, threshold)
    };
    let rows = compare_rows(base, new, one_qemu, threshold);
    let regions = compare_paths(&base.regions, &new.regions, one_qemu, Threshold::default());
    ProgramComparison {
        schema: ProgramComparisonSchema::V1,
        base: SideInfo::of(&base.subject, &base.configuration),
        new: SideInfo::of(&new.subject, &new.configuration),
        command: base.program.command.clone(),
        base_ended: base.ended,
        new_ended: new.ended,
        sum: total(|_| true),
        own_work: total(RowKind::is_own_work),
        summary: ProgramSummary::of(&rows, &regions),
        explanations: explain(base, new, &rows, &regions),
        rows,
        regions,
        configuration_differences: program_differences(base, new),
        budget: None,
    }
}

/// In what else than the kernel the two were measured differently, the program first; empty means
/// that they can be compared. Modules belong to the kernel.
pub fn program_differences(
    base: &ProgramResult,
    new: &ProgramResult,
) -> Vec<ConfigurationDifference> {
    let programs = conditions(&base.program).into_iter().zip(conditions(&new.program));
    let mut differences: Vec<ConfigurationDifference> = programs
        .filter(|(base, new)| base != new)
        .map(|((field, base), (_, new))| ConfigurationDifference { field: field.into(), base, new })
        .collect();
    differences.extend(configuration_differences(
        (&base.subject, &base.configuration),
        (&new.subject, &new.configuration),
    ));
    differences
}

/// What makes two programs different. Taken apart whole, so that a field added can't be forgotten.
fn conditions(program: &Program) -> [(&'static str, String); 4] {
    let Program { command, environment, packed_sha256, files: _, bytes: _, modules: _, windows } =
        program;
    [
        ("program.command", command_line(command)),
        ("program.environment", command_line(environment)),
        ("program.packed_sha256", packed_sha256.clone()),
        ("program.windows", windows.join(" ")),
    ]
}

/// The rows of either side, the largest difference first.
fn compare_rows(
    base: &ProgramResult,
    new: &ProgramResult,
    one_qemu: bool,
    threshold: Threshold,
) -> Vec<RowComparison> {
    let (of_base, of_new) = (base.series(), new.series());
    let keys: BTreeSet<(RowKind, &str)> = of_base.keys().chain(of_new.keys()).copied().collect();
    let absent = |side: &ProgramResult| vec![Counts::default(); side.runs.len()];
    let (not_in_base, not_in_new) = (absent(base), absent(new));
    let row = |(kind, name): (RowKind, &str)| {
        let base = of_base.get(&(kind, name)).unwrap_or(&not_in_base);
        let new = of_new.get(&(kind, name)).unwrap_or(&not_in_new);
        let cost = compare_costs(base, new, one_qemu, threshold);
        RowComparison { kind, name: name.to_owned(), cost }
    };
    let mut rows: Vec<RowComparison> = keys.into_iter().map(row).collect();
    // Stable, so that rows of one name stay in the order of their kinds.
    rows.sort_by(|one, next| {
        let largest = |row: &RowComparison| Reverse(row.cost.judged().difference.unsigned_abs());
        (largest(one), &one.name).cmp(&(largest(next), &next.name))
    });
    rows
}

/// Compares runs that have the first one at the beginning.
fn compare_costs(
    base: &[Counts],
    new: &[Counts],
    one_qemu: bool,
    threshold: Threshold,
) -> CostComparison {
    let (base_first, base_later) = split(base);
    let (new_first, new_later) = split(new);
    let judged = compare_later(base_later, new_later, threshold);
    let first = change(RowCost::once(base_first), RowCost::once(new_first));
    let calls_differ =
        base_first.calls != new_first.calls || differ(base_later, new_later, |run| run.calls);
    let (base, new) = match judged {
        Some(_) => (base_later, new_later),
        None => (&[base_first][..], &[new_first][..]),
    };
    let events = differing_events(base, new, one_qemu);
    let verdict = match &judged {
        Some((_, verdict)) => *verdict,
        None => first_verdict(&first, threshold),
    };
    CostComparison { first, later: judged.map(|(later, _)| later), verdict, calls_differ, events }
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

/// Compares the later runs as sets; None if a side has none.
fn compare_later(
    base: &[Counts],
    new: &[Counts],
    threshold: Threshold,
) -> Option<(CostChange, Verdict)> {
    let pairs: Vec<i128> = (base.iter().zip(new))
        .map(|(base, new)| i128::from(new.instructions) - i128::from(base.instructions))
        .collect();
    let instructions = |runs| histogram(runs, |run| Some(run.instructions));
    let judgement = stats::judge(&instructions(base), &instructions(new))?;
    let spread = spread(base.iter().map(|run| run.instructions));
    let base = RowCost { instructions: judgement.base, ..RowCost::of(base)? };
    let new = RowCost { instructions: judgement.new, ..RowCost::of(new)? };
    let change = change(base, new);
    let appeared = judgement.verdict == stats::Verdict::ModeAppeared
        && change.difference.unsigned_abs() > spread.max(change.base.instructions / MODE_PART);
    let verdict = match direction(&pairs) {
        _ if is_small(change.percent, threshold) => Verdict::Same,
        Some(Ordering::Less) => Verdict::Lower,
        Some(Ordering::Greater) => Verdict::Higher,
        _ if appeared => Verdict::ModeAppeared,
        _ => Verdict::Same,
    };
    Some((change, verdict))
}

/// How far these values lie apart.
fn spread(values: impl Iterator<Item = u64> + Clone) -> u64 {
    values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
}

/// Whether these differences, one for each pair of runs, show one change: all of one sign, and no
/// farther from each other than the median of them is from 0. Then their sign.
///
/// Run for run the two kernels were disturbed alike. So a change of what the kernel executes shows
/// in each pair, and by about as much. Half used slabs and page counters move a few instructions
/// between rows, up in one run and down in another, as between kernels that differ in layout only.
fn direction(pairs: &[i128]) -> Option<Ordering> {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    let (least, most) = (sorted.first()?, sorted.last()?);
    let median = sorted.get(sorted.len() / 2)?;
    let one_sign = least.signum() == most.signum();
    (one_sign && most - least <= median.abs()).then(|| median.cmp(&0))
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

/// The difference as it is: counts that were read back are small enough for that.
fn saturated(difference: i128) -> i64 {
    let limit = if difference < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(difference).unwrap_or(limit)
}

/// Whether a number of these runs is another on the two sides; not if a side has no runs.
fn differ(base: &[Counts], new: &[Counts], number: fn(&Counts) -> u64) -> bool {
    let numbers = |runs| histogram(runs, |run| Some(number(run)));
    let judgement = stats::judge(&numbers(base), &numbers(new));
    judgement.is_some_and(|judgement| judgement.verdict != stats::Verdict::Same)
}

/// The events other than instructions in which these runs differ, where both sides counted them.
fn differing_events(base: &[Counts], new: &[Counts], one_qemu: bool) -> Vec<EventComparison> {
    let numbers = |event, run: &Counts| match event {
        Event::StringBytes => Some(run.string_bytes),
        _ => run.lines,
    };
    let compared = |event: &Event| one_qemu || !event.depends_on_qemu();
    let events = [Event::StringBytes, Event::DataLines].into_iter().filter(compared);
    let judged = |event| {
        let of = |runs| histogram(runs, |run| numbers(event, run));
        differing_event(event, &of(base), &of(new))
    };
    events.filter_map(judged).collect()
}
