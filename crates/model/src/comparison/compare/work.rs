//! The rows of programs, where two results of programs are compared.
//!
//! A row that only one side has cost nothing on the other. If a side has no later runs, the first
//! runs are what is compared. The two totals are shown as of one run where else a part would be
//! more than the whole.

use std::collections::HashSet;

use super::row::Compared;
use crate::comparison::work_comparison::shown_per_call;
use crate::difference::{difference, percent_of, saturated};
use crate::{
    FirstRun, Measurement, PathComparison, PathEvents, PathResult, RowKind, SumParts, Verdict, Work,
};

/// The rows of both sides as they are compared.
pub(super) fn sides(base: &Measurement, new: &Measurement) -> [Vec<PathResult>; 2] {
    let mut sides = [with_absent_rows(base, new), with_absent_rows(new, base)];
    let [of_base, of_new] = [base, new].map(runs);
    if let (Some(of_base), Some(of_new)) = (of_base, of_new)
        && of_base != of_new
        && of_base.min(of_new) == 1
    {
        sides.iter_mut().flatten().for_each(keep_first_run);
    }
    sides
}

/// How many runs the rows of a side are of; None without rows.
fn runs(side: &Measurement) -> Option<usize> {
    side.paths.iter().find_map(|path| path.work.as_ref()).map(|work| work.calls.len())
}

/// The paths of a side, with a row that cost nothing for each row of a program that only the other
/// side has: there the work was not done.
fn with_absent_rows(side: &Measurement, other: &Measurement) -> Vec<PathResult> {
    let mut paths = side.paths.clone();
    let Some(runs) = runs(side) else { return paths };
    let there: HashSet<&str> = side.paths.iter().map(|path| &*path.path).collect();
    let absent = other.paths.iter().filter(|path| !there.contains(&*path.path));
    paths.extend(absent.filter_map(|row| nothing(row, runs)));
    paths
}

/// The same row of so many runs in which it cost nothing; None of what is no row.
fn nothing(row: &PathResult, runs: usize) -> Option<PathResult> {
    let kind = row.work.as_ref()?.kind;
    let samples = runs.saturating_sub(1).max(1);
    let events = row.events.as_ref().map(|events| PathEvents {
        names: events.names.clone(),
        distinct: vec![vec![0; events.names.len()]],
        of_samples: vec![0; samples],
        placement: Vec::new(),
    });
    let work = Work { kind, calls: vec![0; runs], first: FirstRun::default() };
    let nothing = PathResult::ok(&row.path, row.unit, &vec![vec![0]; samples], Vec::new());
    Some(PathResult { events, work: Some(work), ..nothing })
}

/// Makes the first run of a row the only one.
fn keep_first_run(row: &mut PathResult) {
    let Some(work) = &mut row.work else { return };
    work.calls.truncate(1);
    let FirstRun { instructions, events } = &work.first;
    let samples = PathResult::ok(&row.path, row.unit, &[vec![*instructions]], Vec::new());
    if let Some(counted) = &mut row.events {
        *counted = counted.with_one_sample(*instructions, events);
    }
    (row.samples, row.samples_per_run) = (samples.samples, samples.samples_per_run);
    row.estimate = samples.estimate;
    row.functions.clear();
}

/// Shows the two totals as of one run where own work would be more than all work and one run says
/// as much, and finds the parts of both.
pub(super) fn totals(rows: &mut [Compared<'_>]) {
    let place = |rows: &[Compared<'_>], kind| rows.iter().position(|row| row.kind() == Some(kind));
    let places = (place(rows, RowKind::OwnWork), place(rows, RowKind::Sum));
    let (Some(own), Some(sum)) = places else { return };
    let [of_own, of_sum] = [own, sum].map(|at| rows[at].run);
    let sides_at = |at: usize| [rows[at].comparison.base, rows[at].comparison.new];
    let is_more = sides_at(own).into_iter().zip(sides_at(sum)).any(|(part, whole)| part > whole);
    if is_more && !show(&mut rows[own], of_sum) {
        show(&mut rows[sum], of_own);
    }
    for total in [own, sum] {
        let Some((run, kind)) = rows[total].run.zip(rows[total].kind()) else { continue };
        let parts = parts(rows, kind, run);
        if let Some(work) = &mut rows[total].comparison.work {
            work.parts = Some(parts);
        }
    }
}

/// Shows a row as of this run, if its sides differ in it by as much as in the one that is shown.
/// Whether they do.
fn show(row: &mut Compared<'_>, run: Option<usize>) -> bool {
    let Some((run, (base, new))) = run.zip(row.base.zip(row.new)) else { return false };
    // A mode that appeared is shown by the value that appeared.
    if row.comparison.verdict == Verdict::ModeAppeared {
        return row.run == Some(run);
    }
    let there = base.samples.get(run).copied().zip(new.samples.get(run).copied());
    let Some(there) = there.filter(|it| Some(difference(*it)) == row.comparison.difference) else {
        return false;
    };
    let per_call = shown_per_call(base, Some(run)).zip(shown_per_call(new, Some(run)));
    row.run = Some(run);
    let shown = &mut row.comparison;
    (shown.base, shown.new) = (Some(there.0), Some(there.1));
    shown.percent = percent_of(there);
    if let Some(work) = &mut shown.work {
        work.per_call_difference = per_call.map(difference);
    }
    true
}

/// Where the difference of all rows that `total` has together is in one run of each side, by the
/// rows' verdicts.
fn parts(rows: &[Compared<'_>], total: RowKind, run: usize) -> SumParts {
    let mut parts = SumParts::default();
    let wanted = rows.iter().filter(|row| row.kind().is_some_and(|kind| kind.is_part_of(total)));
    for Compared { comparison: PathComparison { verdict, .. }, base, new, .. } in wanted {
        let of = |side: Option<&PathResult>| side.and_then(|row| row.samples.get(run)).copied();
        let difference = i128::from(of(*new).unwrap_or(0)) - i128::from(of(*base).unwrap_or(0));
        let part = parts.of(*verdict);
        *part = part.saturating_add(saturated(difference));
    }
    parts
}
