//! What the comparison of two folders comes to, in a sentence: how many cells were compared, how
//! many rows differ, and which differs worst.

use pathmeter_model::{Comparison, FolderComparison, PathComparison, Verdict};

use super::{BETTER, WORSE, conjugate_cost, describe_row, is_different};
use crate::number::plural;
use crate::severity::{severity, worst_first};

/// `2 of 3 cells compared: 3 of 8 paths cost more, 2 less; the worst, in zen2, is switch.yield +33
/// instructions (+1.00 %). Only in BASE: 1 cell.` The names are those of the comparisons.
pub(crate) fn describe_folders(document: &FolderComparison, names: &[String]) -> String {
    let FolderComparison { comparisons, only_base, only_new, .. } = document;
    let cells = plural(comparisons.len() + only_base.len() + only_new.len(), "cell");
    let worst = find_worst(comparisons).map(|(at, row)| {
        let word = if BETTER.contains(&row.verdict) { "the largest change" } else { "the worst" };
        format!("; {word}, in {}, is {}", names[at], describe_row(row))
    });
    let alone = [("BASE", only_base.len()), ("NEW", only_new.len())].into_iter();
    let alone = alone.filter(|(_, count)| *count > 0);
    let alone: Vec<String> =
        alone.map(|(side, count)| format!(" Only in {side}: {}.", plural(count, "cell"))).collect();
    format!(
        "{} of {cells} compared: {}{}.{}",
        comparisons.len(),
        describe_counts(comparisons),
        worst.unwrap_or_default(),
        alone.concat()
    )
}

/// `3 of 8 paths cost more, 2 less, 1 differs in other events`.
fn describe_counts(comparisons: &[Comparison]) -> String {
    let summaries: Vec<_> = comparisons.iter().map(Comparison::own_summary).collect();
    let count = |verdicts: &[Verdict]| -> usize {
        summaries.iter().map(|it| verdicts.iter().map(|one| it.count(*one)).sum::<usize>()).sum()
    };
    let paths: usize = summaries.iter().map(|it| it.paths).sum();
    let is_of_program = comparisons.iter().any(|it| it.program.is_some());
    let what = if is_of_program { "row" } else { "path" };
    let executed = plural(paths - count(&[Verdict::Unsupported]), what);
    let (higher, lower) = (count(&WORSE), count(&BETTER));
    let [events, broken] = [Verdict::EventsDiffer, Verdict::Broken].map(|it| count(&[it]));
    if higher + lower + events + broken == 0 {
        return format!("nothing differs in {executed}");
    }
    let mut parts = vec![match (higher, lower) {
        (0, 0) => format!("nothing costs more or less in {executed}"),
        (0, lower) => {
            format!("nothing costs more, {lower} of {executed} {} less", conjugate_cost(lower))
        }
        (higher, 0) => format!("{higher} of {executed} {} more", conjugate_cost(higher)),
        (higher, lower) => {
            format!("{higher} of {executed} {} more, {lower} less", conjugate_cost(higher))
        }
    }];
    let verb = if events == 1 { "differs" } else { "differ" };
    parts.extend((events > 0).then(|| format!("{events} {verb} in other events")));
    let verb = if broken == 1 { "is" } else { "are" };
    parts.extend((broken > 0).then(|| format!("{broken} {verb} broken")));
    parts.join(", ")
}

/// The row that differs worst over all comparisons, with the place of its comparison; of a
/// program its own work. None if nothing differs.
fn find_worst(comparisons: &[Comparison]) -> Option<(usize, &PathComparison)> {
    let first = |comparison| {
        let rows = worst_first(comparison).into_iter();
        rows.filter(|row| row.is_own_work()).find(|row| is_different(row))
    };
    let worst = comparisons.iter().enumerate();
    let worst = worst.filter_map(|(at, comparison)| Some((at, first(&comparison.paths)?)));
    worst.min_by_key(|(_, row)| severity(row))
}
