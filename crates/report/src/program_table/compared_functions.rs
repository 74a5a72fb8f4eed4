//! The functions in which a program's rows differ between two kernels.

use pathmeter_model::{FunctionChange, PathComparison, Verdict};

use super::function_events::changed_events;
use super::{HOW_TO_UNFOLD, more_rows};
use crate::number::{grouped, plural, signed};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Rows that are explained, and functions that are shown of each.
const MOST_EXPLAINED: usize = 5;
const MOST_FUNCTIONS: usize = 6;
/// Names what the functions of a row lack of its difference.
const OTHER_RUNS: &str = "(the row's numbers are of other runs)";

/// The functions in which the rows and regions that changed differ, in instructions and in events,
/// regions first.
pub(super) fn compared_functions<'a>(
    rows: impl Iterator<Item = &'a PathComparison>,
    shown: Rows,
    style: Style,
) -> String {
    let most = if shown == Rows::All { usize::MAX } else { MOST_EXPLAINED };
    let has_changed = |row: &&PathComparison| {
        row.difference.is_some_and(|it| it != 0) || row.verdict == Verdict::EventsDiffer
    };
    let explained: Vec<&PathComparison> =
        rows.filter(has_changed).filter(|row| !row.functions.is_empty()).collect();
    let more = more_rows(explained.len().saturating_sub(most), style);
    let tables = explained
        .into_iter()
        .take(most)
        .map(|row| row_functions(row, shown, style) + &changed_events(row, shown, style));
    tables.collect::<String>() + &more
}

fn row_functions(row: &PathComparison, shown: Rows, style: Style) -> String {
    let functions: Vec<&FunctionChange> =
        row.functions.iter().filter(|one| one.has_moved()).collect();
    if functions.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        (&*row.path, Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("calls", Align::Left),
    ]);
    let most = if shown == Rows::All { usize::MAX } else { MOST_FUNCTIONS };
    for one in functions.iter().take(most) {
        let calls = match (one.base_calls, one.new_calls) {
            (base, new) if base == new => grouped(base),
            (base, new) => format!("{} → {}", grouped(base), grouped(new)),
        };
        table.row([
            one.function.as_str().into(),
            grouped(one.base).into(),
            grouped(one.new).into(),
            signed(one.difference).into(),
            calls.into(),
        ]);
    }
    if let Some(rest) = rest_of(row).filter(|rest| *rest != 0) {
        table.row([OTHER_RUNS.into(), "".into(), "".into(), signed(rest).into(), "".into()]);
    }
    let rest = functions.get(most..).unwrap_or_default();
    "\n".to_owned() + &table.render(style) + &more_functions(rest, style)
}

/// By how much the functions that are not shown differ.
fn more_functions(functions: &[&FunctionChange], style: Style) -> String {
    let sum = functions.iter().fold(0_i64, |sum, one| sum.saturating_add(one.difference));
    let differ = match functions.len() {
        0 => return String::new(),
        1 => "differs",
        _ => "differ",
    };
    let more = plural(functions.len(), "more function");
    style.quiet(&format!("{more} {differ} by {} in all: {HOW_TO_UNFOLD}", signed(sum)))
}

/// What the functions of a row lack of its difference, since the pair of runs that the row shows
/// is not the one that they are of. None of a region: its number is one execution's, and its
/// functions are of all executions in a run.
fn rest_of(row: &PathComparison) -> Option<i64> {
    row.work.as_ref()?;
    let sum: i128 = row.functions.iter().map(|one| i128::from(one.difference)).sum();
    i64::try_from(i128::from(row.difference?) - sum).ok()
}
