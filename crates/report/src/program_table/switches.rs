//! How often the tasks of a program slept, were preempted and woke others, by row and region.

use std::cmp::Reverse;

use pathmeter_model::{Measurement, OWN_WORK, PathResult, RowKind};
use pathmeter_trace::Event;

use super::{HOW_TO_UNFOLD, some};
use crate::number::plural;
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Most rows that are shown, those with the most switches.
const MOST_SHOWN: usize = 12;
const SWITCHES: [Event; 3] = [Event::Sleeps, Event::Preemptions, Event::WakeUps];

/// The rows and regions in which tasks were switched or woken; nothing if there are none.
pub(super) fn switches(result: &Measurement, shown: Rows, style: Style) -> String {
    let numbers_of = |path: &'_ PathResult| (path.path.clone(), numbers(path));
    let is_one = |path: &&PathResult| !path.work_kind().is_some_and(RowKind::is_total);
    let rows = result.paths.iter().filter(is_one).map(numbers_of);
    let mut rows: Vec<(String, [u64; 3])> = rows.filter(|row| sum(row.1) > 0).collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by_key(|(_, numbers)| Reverse(sum(*numbers)));
    let most = if shown == Rows::All { usize::MAX } else { MOST_SHOWN };
    let mut table = Table::new(&[
        ("switched in", Align::Left),
        ("sleeps", Align::Right),
        ("preemptions", Align::Right),
        ("wake-ups", Align::Right),
    ]);
    let own = result.paths.iter().find(|path| path.work_kind() == Some(RowKind::OwnWork));
    let own = own.map(|own| (OWN_WORK.to_owned(), self::numbers(own)));
    for (name, numbers) in rows.iter().take(most).chain(&own) {
        let [sleeps, preemptions, wake_ups] = numbers.map(some);
        table.row([name.into(), sleeps.into(), preemptions.into(), wake_ups.into()]);
    }
    let more = match rows.len().saturating_sub(most) {
        0 => String::new(),
        more => style.quiet(&format!("{}: {HOW_TO_UNFOLD}", plural(more, "more row"))),
    };
    "\n".to_owned() + &table.render(style) + &more + &style.quiet(LEGEND)
}

const LEGEND: &str = "medians of the runs, of a region of its executions; wake-ups are those of \
                      the program's tasks";

/// Of a row the median of its runs, of a region that of its executions.
fn numbers(path: &PathResult) -> [u64; 3] {
    match path.costs() {
        Some(row) => SWITCHES.map(|event| row.typical().of_event(event)),
        None => SWITCHES.map(|event| path.event(event)),
    }
}

fn sum(numbers: [u64; 3]) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}
