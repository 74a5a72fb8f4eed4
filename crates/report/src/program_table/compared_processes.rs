//! The processes of a program on two kernels: all own work of each.

use std::cmp::Reverse;

use pathmeter_model::{Comparison, PathComparison, Verdict};

use super::{HOW_TO_UNFOLD, NONE, number};
use crate::comparison::varying;
use crate::number::{percent, signed};
use crate::rows::Rows;
use crate::style::{Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// Most processes that are shown, those that differ most.
const MOST_SHOWN: usize = 12;

/// The processes, those first that differ most; nothing if there is only one.
pub(super) fn compared_processes(comparison: &Comparison, shown: Rows, style: Style) -> String {
    if comparison.processes.is_empty() {
        return String::new();
    }
    let mut all: Vec<&PathComparison> = comparison.processes.iter().collect();
    all.sort_by_key(|row| {
        (row.verdict == Verdict::Same, Reverse(row.difference.unwrap_or(0).unsigned_abs()))
    });
    let most = if shown == Rows::All { usize::MAX } else { MOST_SHOWN };
    let more = all.len().saturating_sub(most);
    let marked = all.iter().any(|row| row.is_many_valued());
    let mut table = table();
    for row in all.into_iter().take(most) {
        table.row(cells(row, marked));
    }
    let more = match more {
        0 => String::new(),
        more => style.quiet(&format!("{more} more that differ by less: {HOW_TO_UNFOLD}")),
    };
    "\n".to_owned() + &table.render(style) + &more + &style.quiet(HOW_TO_JUDGE)
}

const HOW_TO_JUDGE: &str = "all own work of each process; --only-process NAME shows and judges \
                            the rows of one";

fn table() -> Table {
    let table = Table::new(&[
        ("process", Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("percent", Align::Right),
        ("verdict", Align::Left),
        ("pairs", Align::Left),
    ]);
    table.sparing(&["percent", "pairs"]).with_whole_remarks()
}

fn cells(row: &PathComparison, marked: bool) -> [Cell; 7] {
    let side = |side: Option<u64>, values| {
        side.map_or_else(|| NONE.to_owned(), |side| number(side, values, marked))
    };
    let paint = of_verdict(row.verdict);
    let pairs = varying(row.pairs, row.verdict).unwrap_or_default();
    [
        row.path.as_str().into(),
        side(row.base, row.base_values).into(),
        side(row.new, row.new_values).into(),
        Cell::painted(&row.difference.map_or_else(String::new, signed), paint),
        Cell::painted(&row.percent.map_or_else(String::new, percent), paint),
        Cell::painted(&row.verdict.to_string(), paint),
        pairs.into(),
    ]
}
