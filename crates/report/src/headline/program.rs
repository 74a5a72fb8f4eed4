//! What a program's comparison comes to, in a sentence: how much more or less its own work costs,
//! and what has the difference.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pathmeter_model::{Comparison, Measurement, PathComparison, RowCosts, RowKind, Verdict, clean};

use super::{describe_row, is_different};
use crate::number::{grouped, percent, plural, signed};
use crate::severity::worst_first;

/// `The program and its system calls cost 4,692 instructions more (+2.96 %), 158,514 → 163,206:
/// +138 a call in 14 of 15 rows that differ; most in openat, +690.` The regions that differ follow.
/// None if own work was not judged.
pub(super) fn describe_program(comparison: &Comparison) -> Option<String> {
    let kind = |row: &PathComparison| row.work.as_ref().map(|work| work.kind);
    let own = comparison.paths.iter().find(|row| kind(row) == Some(RowKind::OwnWork))?;
    let text = match (describe_own_work(own)?, comparison.threshold_percent) {
        (text, Some(threshold)) if own.verdict == Verdict::Same => {
            format!("{text}, by the threshold of {threshold} %")
        }
        (text, _) => text,
    };
    let rows = comparison.paths.iter().filter(|row| row.work.is_some() && row.is_own_work());
    let changed: Vec<&PathComparison> = rows.filter(|row| is_changed(row)).collect();
    let place = find_place(&changed).filter(|_| own.verdict != Verdict::EventsDiffer);
    let text = place.map_or_else(|| text.clone(), |place| format!("{text}: {place}"));
    let most = changed.iter().max_by_key(|row| size_of(row));
    let is_doubtful = most.is_some_and(|row| kind(row) == Some(RowKind::PageFault))
        && comparison.paths.iter().any(|row| kind(row) == Some(RowKind::InterpreterFault));
    let doubt = if is_doubtful { DOUBT } else { "" };
    let regions: Vec<&PathComparison> =
        comparison.paths.iter().filter(|path| path.work.is_none()).collect();
    let regions = describe_regions(&regions).map_or_else(String::new, |text| format!(" {text}"));
    Some(format!("{text}.{doubt}{regions}"))
}

/// `1,200,000 instructions, most in openat (300,000)`: a program's own work. None of paths.
pub(crate) fn describe_work(result: &Measurement) -> Option<String> {
    let own = result.total(RowKind::OwnWork)?;
    let rows = result.row_costs().filter(|row| row.kind.is_own_work());
    let cost = |row: &RowCosts<'_>| row.typical().instructions;
    let most = rows.max_by_key(cost);
    let most = most.map(|row| format!(", most in {} ({})", clean(row.name), grouped(cost(&row))));
    Some(format!("{} instructions{}", grouped(cost(&own)), most.unwrap_or_default()))
}

/// Said where page faults that no processor takes may be in the answer.
const DOUBT: &str = " A processor may take other page faults than QEMU.";

fn size_of(row: &PathComparison) -> u64 {
    row.difference.unwrap_or(0).unsigned_abs()
}

/// What all own work costs more or less.
fn describe_own_work(own: &PathComparison) -> Option<String> {
    let difference = own.difference?;
    let share = own.percent.map(percent).filter(|text| !text.is_empty());
    let share = share.map_or_else(String::new, |share| format!(" ({share})"));
    let word = if difference < 0 { "less" } else { "more" };
    let costs = || format!("{} instructions {word}{share}", grouped(difference.unsigned_abs()));
    let sides = own.base.zip(own.new);
    let sides = sides.map(|(base, new)| format!(", {} → {}", grouped(base), grouped(new)));
    let sides = sides.unwrap_or_default();
    let events = || {
        let shown = own.events.iter().filter(|event| event.is_shown());
        let all = shown.map(|it| format!(", {} {}", clean(&it.event), signed(it.difference)));
        all.collect::<String>()
    };
    match own.verdict {
        Verdict::Higher | Verdict::Lower => {
            Some(format!("The program and its system calls cost {}{sides}", costs()))
        }
        Verdict::ModeAppeared => {
            Some(format!("The program and its system calls cost at times {}", costs()))
        }
        Verdict::EventsDiffer if difference == 0 => Some(format!(
            "The program and its system calls execute as many instructions{}",
            events()
        )),
        Verdict::EventsDiffer => Some(format!(
            "The program and its system calls {}{}",
            describe_undecided(own),
            events()
        )),
        Verdict::Same => Some("The program and its system calls cost the same".to_owned()),
        _ => None,
    }
}

/// How pairs of runs differ that have no verdict.
fn describe_undecided(own: &PathComparison) -> String {
    let Some(pairs) = own.pairs else { return "cost about the same".to_owned() };
    let [near, far] = [pairs.least, pairs.most].map(i64::unsigned_abs).map(grouped);
    match (pairs.least.signum(), pairs.most.signum()) {
        (1, 1) => format!("cost {near} to {far} instructions more, too unlike for a verdict"),
        (-1, -1) => format!("cost {far} to {near} instructions less, too unlike for a verdict"),
        _ => "cost neither more nor less in all pairs of runs".to_owned(),
    }
}

fn is_changed(row: &PathComparison) -> bool {
    let changed = [Verdict::Higher, Verdict::Lower, Verdict::ModeAppeared];
    changed.contains(&row.verdict) && row.difference.is_some_and(|difference| difference != 0)
}

/// Where the difference of these rows is: `most in openat, +5,822`, after `+138 a call in 14 of 15
/// rows that differ` if at least half of them differ by as much a call. None without rows.
fn find_place(changed: &[&PathComparison]) -> Option<String> {
    let per_call = |row: &PathComparison| row.work.as_ref()?.per_call_difference;
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for by in changed.iter().filter_map(|row| per_call(row)).filter(|by| *by != 0) {
        *counts.entry(by).or_default() += 1;
    }
    let most = changed.iter().max_by_key(|row| size_of(row))?;
    let most = format!("most in {}, {}", clean(&most.path), signed(most.difference.unwrap_or(0)));
    let common = counts.into_iter().max_by_key(|&(by, count)| (count, Reverse(by.abs())));
    if let Some((by, count)) =
        common.filter(|(_, count)| *count >= 2.max(changed.len().div_ceil(2)))
    {
        let all = changed.len();
        let rows = if count == all { format!("all {all}") } else { format!("{count} of {all}") };
        return Some(format!("{} a call in {rows} rows that differ; {most}", signed(by)));
    }
    Some(most)
}

/// `1 of 2 regions differs: user.merge +12 instructions (+0.02 %).`
fn describe_regions(regions: &[&PathComparison]) -> Option<String> {
    let all: Vec<PathComparison> = regions.iter().copied().cloned().collect();
    let changed: Vec<&PathComparison> =
        worst_first(&all).into_iter().filter(|path| is_different(path)).collect();
    let worst = changed.first()?;
    let verb = if changed.len() == 1 { "differs" } else { "differ" };
    let of = plural(all.len(), "region");
    Some(format!("{} of {of} {verb}: {}.", changed.len(), describe_row(worst)))
}
