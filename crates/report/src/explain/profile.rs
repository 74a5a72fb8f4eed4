//! The functions of a window by what they executed themselves, with the memory that each touched.

use std::cmp::Reverse;

use pathmeter_model::clean;
use pathmeter_trace::{Counts, Footprint, Function, SourceLine, WindowTree};

use super::limits::Limits;
use super::name_of;
use super::tree::more;
use crate::number::{grouped, share};
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};

/// A row for each function with enough instructions of its own for the limit, most expensive first,
/// one for the others, and the window's total. A line of memory counts once in each function that
/// touches it, so lines don't add up to the window's.
pub(super) fn profile_table(tree: &WindowTree, limits: Limits, style: Style) -> String {
    let mut table = table();
    let mut functions: Vec<&Function> =
        tree.functions.iter().filter(|it| does_anything(it)).collect();
    functions.sort_by_key(|function| Reverse(function.counts.instructions));
    let is_shown = |it: &&&Function| limits.least.is_reached(it.counts.instructions, tree.total);
    let (shown, cut) = functions.split_at(functions.iter().take_while(is_shown).count());
    for function in shown {
        let footprint = Some(&function.footprint);
        let place = limits.placement.then(|| place(function));
        table.row(row(
            &format_sourced_name(function),
            &function.counts,
            footprint,
            place,
            tree.total,
            PLAIN,
        ));
    }
    if !cut.is_empty() {
        let counts = sum(cut.iter().map(|function| &function.counts));
        table.row(row(&more(cut.len()), &counts, None, None, tree.total, QUIET));
    }
    let counts = sum(functions.iter().map(|function| &function.counts));
    let place = limits.placement.then(|| [String::new(), unless_none(tree.footprint.code_pages)]);
    table.row(row("total", &counts, Some(&tree.footprint), place, tree.total, QUIET));
    table.render(style)
}

fn table() -> Table {
    Table::new(&[
        ("self", Align::Right),
        ("percent", Align::Right),
        ("loads", Align::Right),
        ("stores", Align::Right),
        ("rep bytes", Align::Right),
        ("entry", Align::Right),
        ("code pages", Align::Right),
        ("code lines", Align::Right),
        ("lines read", Align::Right),
        ("written", Align::Right),
        ("function", Align::Left),
    ])
    .sparing(&[
        "written",
        "lines read",
        "code lines",
        "code pages",
        "entry",
        "rep bytes",
        "stores",
        "loads",
        "percent",
    ])
}

/// Where a function's entry is in its line, and in how many pages what is executed of it stands.
fn place(function: &Function) -> [String; 2] {
    let entry = function.entry_in_line.map_or_else(String::new, |entry| entry.to_string());
    [entry, unless_none(function.footprint.code_pages)]
}

/// A function's name and, where it is known, where it begins in the source.
fn format_sourced_name(function: &Function) -> String {
    let name = name_of(function);
    match &function.source {
        Some(SourceLine { file, line }) => format!("{name} at {}:{line}", clean(file)),
        None => name,
    }
}

/// Functions that only stand in the tree (tasks) have nothing to show.
fn does_anything(function: &Function) -> bool {
    function.counts != Counts::default()
}

fn sum<'a>(parts: impl Iterator<Item = &'a Counts>) -> Counts {
    let mut sum = Counts::default();
    parts.for_each(|counts| sum += *counts);
    sum
}

fn row(
    name: &str,
    counts: &Counts,
    footprint: Option<&Footprint>,
    place: Option<[String; 2]>,
    total: u64,
    paint: anstyle::Style,
) -> [Cell; 11] {
    let lines = |lines: fn(&Footprint) -> u64| footprint.map_or(0, lines);
    let numbers = [
        counts.loads,
        counts.stores,
        counts.rep_bytes,
        lines(|footprint| footprint.code_lines),
        lines(|footprint| footprint.read_lines),
        lines(|footprint| footprint.written_lines),
    ];
    let [loads, stores, rep_bytes, code, read, written] = numbers.map(unless_none);
    let own = grouped(counts.instructions);
    let percent = share(counts.instructions, total);
    let [entry, pages] = place.unwrap_or_default();
    [&own, &percent, &loads, &stores, &rep_bytes, &entry, &pages, &code, &read, &written, name]
        .map(|text| Cell::painted(text, paint))
}

/// A number, or nothing for 0, so that what is there stands out.
fn unless_none(number: u64) -> String {
    if number == 0 { String::new() } else { grouped(number) }
}
