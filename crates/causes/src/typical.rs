//! What most rows, or most calls, have in common.

use std::{cmp::Reverse, collections::BTreeMap};

use pathmeter_model::{CauseInRow, PerCall, Typical};
use pathmeter_trace::EventDifferences;

use crate::{
    field::{Function, extent},
    vector::{Weights, size},
};

/// The most frequent of these that is not 0.
pub(crate) fn typical(differences: &[i64]) -> Typical {
    let differ = differences.iter().copied().filter(|difference| *difference != 0);
    let of = differ.clone().count();
    let most = most_frequent(differ);
    most.map_or_else(Typical::default, |(difference, rows)| Typical { difference, rows, of })
}

/// The most frequent number, of several the smallest without its sign, and how often it is there.
fn most_frequent(numbers: impl Iterator<Item = i64>) -> Option<(i64, usize)> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    numbers.for_each(|number| *counts.entry(number).or_default() += 1);
    counts
        .into_iter()
        .max_by_key(|(number, count)| (*count, Reverse(number.unsigned_abs()), *number))
}

/// What each call of a function differs by, if that is the same in every row in which it differs.
pub(crate) fn per_own_call(function: &Function<'_>) -> Option<i64> {
    let differs = function.change.iter().zip(&function.calls).filter(|(change, _)| **change != 0);
    let mut each = differs.map(|(change, calls)| divided(*change, *calls));
    let first = each.next()??;
    each.all(|one| one == Some(first)).then_some(first)
}

/// The same of a cause: of each call of its first function, the one with the largest difference.
pub(crate) fn per_call(
    weights: &Weights,
    functions: &[&Function<'_>],
    rows: &[CauseInRow],
    paths: &[&str],
) -> Option<PerCall> {
    let first = functions
        .iter()
        .max_by(|one, other| size(weights, &one.extent).total_cmp(&size(weights, &other.extent)))?;
    let calls: BTreeMap<&str, u64> =
        paths.iter().zip(&first.calls).map(|(path, calls)| (*path, *calls)).collect();
    let differ = || rows.iter().filter(|row| extent(row.difference, &row.events) != 0);
    let called: Vec<(&CauseInRow, u64)> = differ()
        .filter_map(|row| Some((row, calls.get(&*row.path).copied().filter(|calls| *calls > 0)?)))
        .collect();
    let is_most = |count: usize| 2 * count > differ().count();
    let each = called.iter().filter_map(|(row, calls)| divided(row.difference, *calls));
    let (difference, rows) = most_frequent(each).filter(|(_, count)| is_most(*count))?;
    let mut by_event: BTreeMap<_, Vec<i64>> = BTreeMap::new();
    for (row, calls) in &called {
        for (event, more) in &row.events {
            by_event.entry(*event).or_default().extend(divided(*more, *calls));
        }
    }
    let most = by_event.into_iter().filter_map(|(event, all)| {
        let (more, count) = most_frequent(all.into_iter())?;
        is_most(count).then_some((event, more))
    });
    let events: EventDifferences = most.collect();
    (called.iter().map(|(_, calls)| calls).sum::<u64>() > 1).then_some(PerCall {
        difference,
        rows,
        events,
    })
}

/// What each of so many has of a number, if that is whole.
fn divided(number: i64, by: u64) -> Option<i64> {
    let by = i64::try_from(by).ok().filter(|by| *by > 0)?;
    (number % by == 0).then_some(number / by)
}
