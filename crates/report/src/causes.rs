//! The causes of a comparison: one sentence, and a table of those that matter.

mod areas;
mod evidence;
mod explained;
mod sentence;
mod wording;

use pathmeter_model::{Cause, Causes};

pub use areas::AreaSums;
pub(crate) use areas::{AreaLine, HEADS, area_lines, areas_table};
pub(crate) use evidence::evidence;
pub(crate) use explained::explained;
pub use sentence::sentence;
pub(crate) use sentence::{INSTRUCTIONS, counts, name_causes, name_causes_of_row, origin};
pub(crate) use wording::name as function_name;

use crate::number::{plural, signed};
use crate::style::{QUIET, Style};
use crate::table::{Align, Table};
use wording::{differing, each, events, function, telling};

/// Most causes that are shown, and the share after which no more are.
const MOST: usize = 10;
const ENOUGH: f64 = 0.95;
/// What the numbers are; the same of a single row.
const SUMS: &str = "share: of all differences, each in percent of its row; new, gone: one kernel \
    alone executes it; the causes of a row add up to its recorded difference";
const SHARES: &str = "share: of all differences, whatever their sign; new, gone: one kernel alone \
    executes it";
/// Most functions of a cause that are named.
const MOST_FUNCTIONS: usize = 3;
/// Other events named of each.
const MOST_EVENTS: usize = 3;

/// A cause, as the cells of a table.
pub(crate) struct CauseLine {
    pub(crate) share: String,
    pub(crate) rows: String,
    /// The difference in instructions over all rows.
    pub(crate) in_all: String,
    /// Of each call, or row.
    pub(crate) each: String,
    pub(crate) area: String,
    /// The functions and the other events.
    pub(crate) functions: String,
}

/// The causes that matter, and what is said of the others and of the numbers.
pub(crate) struct CauseLines {
    pub(crate) shown: Vec<CauseLine>,
    pub(crate) notes: Vec<String>,
}

/// The causes that matter, and one line of the others with their sum.
pub(crate) fn lines(causes: &Causes) -> CauseLines {
    let (shown, others) = causes.causes.split_at(enough(causes));
    let notes = rest(others).into_iter().chain([SUMS.to_owned()]);
    CauseLines { shown: shown.iter().map(line).collect(), notes: notes.collect() }
}

fn line(cause: &Cause) -> CauseLine {
    let mut functions: Vec<String> = telling(cause, MOST_FUNCTIONS).map(function).collect();
    let more = cause.parts.len().saturating_sub(MOST_FUNCTIONS);
    functions.extend((more > 0).then(|| format!("{more} more")));
    let (functions, events) = (functions.join(", "), events(cause, MOST_EVENTS));
    CauseLine {
        share: share(cause.share),
        rows: differing(cause).count().to_string(),
        in_all: signed(cause.difference),
        each: each(cause),
        area: cause.area.words().to_owned(),
        functions: if events.is_empty() { functions } else { format!("{functions}; {events}") },
    }
}

/// The table of the causes that matter. Nothing if there is no cause.
pub(crate) fn causes_table(causes: &Causes, style: Style) -> String {
    if causes.causes.is_empty() {
        return String::new();
    }
    let CauseLines { shown, notes } = lines(causes);
    let mut table = Table::new(&[
        ("share", Align::Right),
        ("rows", Align::Right),
        ("instructions", Align::Right),
        ("each", Align::Left),
        ("kind of work", Align::Left),
        ("functions, other events", Align::Left),
    ])
    .with_whole_remarks();
    for CauseLine { share, rows, in_all, each, area, functions } in shown {
        table.row([share, rows, in_all, each, area, functions].map(Into::into));
    }
    let note = |text: &String| style.paint(&style.fill(text, 0), QUIET) + "\n";
    table.render(style) + &notes.iter().map(note).collect::<String>()
}

/// How many of the first causes it takes to have most of the difference.
fn enough(causes: &Causes) -> usize {
    let mut sum = 0.0;
    let enough = causes.causes.iter().position(|cause| {
        sum += cause.share;
        sum >= ENOUGH
    });
    enough.map_or(causes.causes.len(), |last| last + 1).min(MOST)
}

/// `37 more causes: 9 % of the difference, -123 instructions`.
fn rest(rest: &[Cause]) -> Option<String> {
    let share_of_rest: f64 = rest.iter().map(|cause| cause.share).sum();
    let difference = rest.iter().map(|cause| cause.difference).sum();
    (!rest.is_empty()).then(|| {
        format!(
            "{}: {} of the difference, together {} instructions",
            plural(rest.len(), "more cause"),
            share(share_of_rest).trim(),
            signed(difference)
        )
    })
}

/// `37 %`, and `<1 %` rather than a zero.
pub(crate) fn share(share: f64) -> String {
    if share < 0.005 { "<1 %".to_owned() } else { format!("{:.0} %", 100.0 * share) }
}
