//! Where a program's tasks slept: a row for each row and region with sleeps, and who ended them.

use std::cmp::Reverse;

use pathmeter_model::{Execution, OWN_WORK, RowKind, SleepResult, WokenBy};

use super::{HOW_TO_UNFOLD, IDLE, NONE};
use crate::number::grouped;
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Most rows that are shown, those with the most sleeps; and most wakers of each.
const MOST_SHOWN: usize = 12;
const MOST_WAKERS: usize = 2;

/// Sleeps in one row or region, by who ended them.
type Place<'a> = ((Option<&'a str>, RowKind, &'a str), Vec<&'a SleepResult>);

/// The rows and regions in which tasks slept, the most sleeps first; nothing without sleeps.
pub(super) fn sleeps(execution: &Execution, shown: Rows, style: Style) -> String {
    let mut places = places(&execution.sleeps);
    places.retain(|(_, sleeps)| typical(sleeps).sleeps > 0);
    if places.is_empty() {
        return String::new();
    }
    places.sort_by_key(|(_, sleeps)| Reverse(typical(sleeps).sleeps));
    let most = if shown == Rows::All { usize::MAX } else { MOST_SHOWN };
    let mut table = Table::new(&[
        ("slept in", Align::Left),
        ("sleeps", Align::Right),
        ("to run", Align::Right),
        (IDLE, Align::Right),
        ("woken by", Align::Left),
    ])
    .sparing(&[IDLE]);
    for (place, sleeps) in places.iter().take(most) {
        row(&mut table, &name(place), &typical(sleeps), &wakers(sleeps, shown));
    }
    row(&mut table, OWN_WORK, &all(execution), "");
    let more = match places.len().saturating_sub(most) {
        0 => String::new(),
        more => style.quiet(&format!("{more} more with fewer sleeps: {HOW_TO_UNFOLD}")),
    };
    let is_unknown = |sleep: &SleepResult| sleep.sampled().any(|(.., idle)| idle.is_none());
    let unknown = execution.sleeps.iter().any(is_unknown).then_some(UNKNOWN_IDLE);
    let legend: String = WHAT_IT_IS.into_iter().chain(unknown).map(|it| style.quiet(it)).collect();
    "\n".to_owned() + &table.render(style) + &more + &legend
}

/// The legend.
const WHAT_IT_IS: [&str; 2] = [
    "a sleep ends when the task is woken; to run is the mean number of steps until it runs",
    "idle is the number of steps in which the CPU waited while the task slept",
];

/// It is said where a number is missing.
const UNKNOWN_IDLE: &str =
    "idle is - where this QEMU does not tell how long the CPU waited each time";

fn places(sleeps: &[SleepResult]) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    for sleep in sleeps {
        let key = (sleep.process.as_deref(), sleep.kind, sleep.slept_in.as_str());
        match places.iter_mut().find(|(place, _)| *place == key) {
            Some((_, known)) => known.push(sleep),
            None => places.push((key, vec![sleep])),
        }
    }
    places
}

fn row(table: &mut Table, name: &str, Typical { sleeps, to_run, idle }: &Typical, wakers: &str) {
    let idle = match idle {
        Some(0) => String::new(),
        idle => idle.map_or_else(|| NONE.to_owned(), grouped),
    };
    table.row([
        name.into(),
        grouped(*sleeps).into(),
        grouped(*to_run).into(),
        idle.into(),
        wakers.into(),
    ]);
}

/// What the sleeps of all rows come to; the CPU idled as long as the clock says, since tasks that
/// sleep at the same time each have the same steps.
fn all(execution: &Execution) -> Typical {
    let sleeps = execution.sleeps.iter().filter(|sleep| sleep.kind != RowKind::Region);
    let sleeps: Vec<&SleepResult> = sleeps.collect();
    let first = usize::from(execution.runs.len() > 1);
    let idle = median(execution.runs.iter().skip(first).map(|run| run.idle));
    Typical { idle: Some(idle), ..typical(&sleeps) }
}

/// The numbers of sleeps in a run: of the later runs, or of the only one, the lower medians.
struct Typical {
    sleeps: u64,
    /// The mean of the steps to run.
    to_run: u64,
    /// None if that of some run is unknown.
    idle: Option<u64>,
}

fn typical(sleeps: &[&SleepResult]) -> Typical {
    let runs = sleeps.iter().map(|sleep| sleep.sampled().count()).max().unwrap_or(0);
    let mut sums = vec![(0_u64, 0_u64, Some(0_u64)); runs];
    for (at, (count, steps, idle)) in sleeps.iter().flat_map(|sleep| sleep.sampled().enumerate()) {
        if let Some(sum) = sums.get_mut(at) {
            let idle = sum.2.zip(idle).map(|(sum, idle)| sum.saturating_add(idle));
            *sum = (sum.0.saturating_add(count), sum.1.saturating_add(steps), idle);
        }
    }
    let means = sums.iter().filter_map(|(count, steps, _)| steps.checked_div(*count));
    let idle: Option<Vec<u64>> = sums.iter().map(|sum| sum.2).collect();
    Typical {
        sleeps: median(sums.iter().map(|sum| sum.0)),
        to_run: median(means),
        idle: idle.map(|idle| median(idle.into_iter())),
    }
}

/// The lower one of the two in the middle, if there are two.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// `sh/reader: read`; without a process `read`.
fn name((process, _, row): &(Option<&str>, RowKind, &str)) -> String {
    process.map_or_else(|| (*row).to_owned(), |process| format!("{process}: {row}"))
}

/// Who ended the sleeps, the most frequent first, with how often if there are several.
fn wakers(sleeps: &[&SleepResult], shown: Rows) -> String {
    let mut wakers: Vec<(u64, String)> = sleeps
        .iter()
        .map(|sleep| (typical(&[sleep]).sleeps, waker(&sleep.woken_by)))
        .filter(|(count, _)| *count > 0)
        .collect();
    wakers.sort_by(|one, other| other.cmp(one));
    if let [(_, only)] = &wakers[..] {
        return only.clone();
    }
    let most = if shown == Rows::All { usize::MAX } else { MOST_WAKERS };
    let mut texts: Vec<String> = wakers
        .iter()
        .take(most)
        .map(|(count, waker)| format!("{waker} {}", grouped(*count)))
        .collect();
    if let Some(more) = wakers.len().checked_sub(most).filter(|more| *more > 0) {
        texts.push(format!("{more} more"));
    }
    texts.join(", ")
}

/// `sh/writer: write`; without a process `write`.
fn waker(by: &WokenBy) -> String {
    name(&(by.process.as_deref(), RowKind::OwnWork, by.work.as_str()))
}
