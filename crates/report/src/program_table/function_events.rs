//! Which functions executed the events of a row or region of a program.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pathmeter_model::{PathComparison, PathResult};
use pathmeter_trace::Event;

use super::HOW_TO_UNFOLD;
use crate::number::{grouped, plural, signed};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Most events of a row that are shown, and most functions of each.
const MOST_EVENTS: usize = 8;
const MOST_FUNCTIONS: usize = 3;

/// A function with an event, and how much it has of it.
type Place<'a> = (&'a str, i64);
type Places<'a> = BTreeMap<Event, Vec<Place<'a>>>;

/// The events of a row by function, the most frequent first; nothing if they were not counted.
pub(super) fn events_by_function(row: &PathResult, shown: Rows, style: Style) -> String {
    let mut places = Places::new();
    for one in &row.functions {
        for (event, number) in &one.events {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            places.entry(*event).or_default().push((&one.function, number));
        }
    }
    let text = |number: i64| grouped(number.unsigned_abs());
    by_event(["event", "number"], places, &text, shown, style)
}

/// How much more or less the functions of a row have of an event in new, the largest difference
/// first.
pub(super) fn changed_events(row: &PathComparison, shown: Rows, style: Style) -> String {
    let mut places = Places::new();
    for one in &row.functions {
        for (event, difference) in &one.events {
            places.entry(*event).or_default().push((&one.function, *difference));
        }
    }
    by_event([&row.path, "difference"], places, &signed, shown, style)
}

/// A row for each event, with its number in all functions and those that have the most of it.
fn by_event(
    [event, number]: [&str; 2],
    places: Places<'_>,
    text: &dyn Fn(i64) -> String,
    shown: Rows,
    style: Style,
) -> String {
    let most = if shown == Rows::All { usize::MAX } else { MOST_EVENTS };
    let mut events: Vec<(Event, i64, Vec<Place<'_>>)> = places
        .into_iter()
        .map(|(event, of)| {
            (event, of.iter().fold(0, |sum: i64, one| sum.saturating_add(one.1)), of)
        })
        .collect();
    if events.is_empty() {
        return String::new();
    }
    events.sort_by_key(|(_, sum, _)| Reverse(sum.unsigned_abs()));
    let mut table =
        Table::new(&[(event, Align::Left), (number, Align::Right), ("executed by", Align::Left)])
            .with_whole_remarks();
    let more = events.len().saturating_sub(most);
    for (event, sum, of) in events.into_iter().take(most) {
        table.row([event.word().into(), text(sum).into(), functions(of, text, shown).into()]);
    }
    let more = match more {
        0 => String::new(),
        more => style.quiet(&format!("{}: {HOW_TO_UNFOLD}", plural(more, "more event"))),
    };
    "\n".to_owned() + &table.render(style) + &more
}

/// `vfs_read 4, fput 2, 3 more`.
fn functions(mut of: Vec<Place<'_>>, text: &dyn Fn(i64) -> String, shown: Rows) -> String {
    let most = if shown == Rows::All { usize::MAX } else { MOST_FUNCTIONS };
    of.sort_by_key(|(_, number)| Reverse(number.unsigned_abs()));
    let named = of.iter().take(most).map(|(name, number)| format!("{name} {}", text(*number)));
    let more = of.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("{more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}
