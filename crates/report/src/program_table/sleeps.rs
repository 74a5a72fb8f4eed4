//! Where a program's tasks slept: a row for each row and region with sleeps, and who ended them.

use std::cmp::Reverse;

use pathmeter_model::{
    Execution, OWN_WORK, RowKind, SleepResult, TypicalSleeps, WokenBy, lower_median,
};

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
    places.retain(|(_, sleeps)| TypicalSleeps::of(sleeps).sleeps > 0);
    if places.is_empty() {
        return String::new();
    }
    places.sort_by_key(|(_, sleeps)| Reverse(TypicalSleeps::of(sleeps).sleeps));
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
        row(&mut table, &name(place), &TypicalSleeps::of(sleeps), &wakers(sleeps, shown));
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

/// The legend of the table of sleeps.
pub(super) const WHAT_IT_IS: [&str; 2] = [
    "a sleep ends when the task is woken; to run is the mean number of steps until it runs",
    "idle is the number of steps in which the CPU waited while the task slept",
];

/// It is said where a number is missing.
pub(super) const UNKNOWN_IDLE: &str =
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

fn row(
    table: &mut Table,
    name: &str,
    TypicalSleeps { sleeps, to_run, idle }: &TypicalSleeps,
    wakers: &str,
) {
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
fn all(execution: &Execution) -> TypicalSleeps {
    let sleeps = execution.sleeps.iter().filter(|sleep| sleep.kind != RowKind::Region);
    let sleeps: Vec<&SleepResult> = sleeps.collect();
    let first = usize::from(execution.runs.len() > 1);
    let idle = lower_median(execution.runs.iter().skip(first).map(|run| run.idle));
    TypicalSleeps { idle: Some(idle), ..TypicalSleeps::of(&sleeps) }
}

/// `sh/reader: read`; without a process `read`.
pub(super) fn name((process, _, row): &(Option<&str>, RowKind, &str)) -> String {
    process.map_or_else(|| (*row).to_owned(), |process| format!("{process}: {row}"))
}

/// Who ended the sleeps, the most frequent first, with how often if there are several.
fn wakers(sleeps: &[&SleepResult], shown: Rows) -> String {
    let mut wakers: Vec<(u64, String)> = sleeps
        .iter()
        .map(|sleep| (TypicalSleeps::of(&[sleep]).sleeps, waker(&sleep.woken_by)))
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
