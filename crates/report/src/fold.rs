//! Which rows of a comparison are shown first: those that changed, rows alike as one, the largest
//! change first; and a line for each kind of the others.

use pathmeter_model::{PathComparison, Verdict};
use pathmeter_trace::Role;

use crate::number::plural;

/// As many rows are shown without anything folded.
const FEW: usize = 16;
/// Rows that are shown of those that changed.
const MOST: usize = 12;

/// A row, and how many others are like it.
pub(crate) struct Alike<'a> {
    pub(crate) first: &'a PathComparison,
    pub(crate) others: usize,
}

/// The rows that are shown, and what is said of the others.
pub(crate) struct Fold<'a> {
    pub(crate) rows: Vec<Alike<'a>>,
    /// What is said of the other rows, a line each.
    pub(crate) others: Vec<String>,
}

/// All rows, each by itself.
pub(crate) fn unfolded(paths: &[PathComparison]) -> Fold<'_> {
    let rows = paths.iter().map(|first| Alike { first, others: 0 }).collect();
    Fold { rows, others: Vec::new() }
}

/// The rows that changed most, like ones together; or all rows, if they are few.
pub(crate) fn folded(paths: &[PathComparison]) -> Fold<'_> {
    if paths.len() <= FEW {
        return unfolded(paths);
    }
    let mut rows: Vec<Alike<'_>> = Vec::new();
    for path in paths.iter().filter(|path| is_change(path)) {
        match rows.iter_mut().find(|row| are_alike(row.first, path)) {
            Some(row) => row.others += 1,
            None => rows.push(Alike { first: path, others: 0 }),
        }
    }
    rows.sort_by(|one, other| size(other.first).total_cmp(&size(one.first)));
    let rest = rows.split_off(MOST.min(rows.len()));
    let more: usize = rest.iter().map(|row| row.others + 1).sum();
    let count = |is: fn(&PathComparison) -> bool| paths.iter().filter(|path| is(path)).count();
    let lines = [
        (more, "differs less", "differ less"),
        (count(|path| path.verdict == Verdict::Same), "is the same", "are the same"),
        (count(can_not), "can be executed by neither", "can be executed by neither"),
        (
            count(PathComparison::is_of_one_side),
            "was measured on one side only",
            "were measured on one side only",
        ),
    ];
    let lines = lines.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, several)| {
        let more = if one == "differs less" { "more row" } else { "row" };
        format!("{} {}", plural(count, more), if count == 1 { one } else { several })
    });
    let others: Vec<String> = lines.collect();
    let others = if others.is_empty() { others } else { vec![others.join("; ") + ": --all"] };
    Fold { rows, others }
}

/// Whether neither side can execute it.
fn can_not(path: &PathComparison) -> bool {
    let of_both = |reason: &str| reason.starts_with("both: ") || reason.contains("; new: ");
    path.verdict == Verdict::Unsupported && path.reason.as_deref().is_some_and(of_both)
}

fn is_change(path: &PathComparison) -> bool {
    path.verdict != Verdict::Same && !can_not(path) && !path.is_of_one_side()
}

/// What is broken or missing comes first.
fn size(path: &PathComparison) -> f64 {
    path.percent.map_or(f64::INFINITY, f64::abs)
}

/// Whether two rows differ in the same way: by as many instructions and the same costs.
fn are_alike(one: &PathComparison, other: &PathComparison) -> bool {
    let costs = |path: &PathComparison| -> Vec<_> {
        let events = path.events.iter().filter(|event| event.role() == Role::Cost);
        events.map(|event| (event.event.clone(), event.difference)).collect()
    };
    let bounds = |path: &PathComparison| (path.base_at_least, path.new_at_least);
    one.difference.is_some()
        && (one.verdict, one.unit, one.difference) == (other.verdict, other.unit, other.difference)
        && bounds(one) == bounds(other)
        && one.reason == other.reason
        && costs(one) == costs(other)
}
