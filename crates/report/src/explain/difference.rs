//! The difference between two windows: by function, of the memory touched, of slow instructions.

use pathmeter_trace::{
    Change, Counts, Difference, Footprint, FunctionDifference, Side, SlowInstruction, WindowTree,
};

use super::head::counts_of;
use super::limits::Least;
use super::tree::more;
use crate::number::{grouped, signed};
use crate::style::{QUIET, Style, of_verdict};
use crate::table::{Align, Cell, Table};
use anstyle::Style as Paint;
use pathmeter_model::Verdict;

/// Two windows and what differs.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    pub(super) base: &'a WindowTree,
    pub(super) new: &'a WindowTree,
    pub(super) difference: &'a Difference,
}

/// A row for each function that executes more or less itself, by at least `least`; one for the
/// others that do; one for those that don't; and the total, to which all add up.
pub(super) fn functions_table(compared: Compared<'_>, least: Least, style: Style) -> String {
    let mut table = Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("data lines", Align::Right),
        ("rep bytes", Align::Right),
        ("change", Align::Left),
        ("function", Align::Left),
    ])
    .sparing(&["rep bytes", "data lines", "change"]);
    let whole = compared.base.total.max(compared.new.total);
    // Those that differ most come first.
    let functions: Vec<&FunctionDifference> = compared.difference.functions.iter().collect();
    let (changes, same) = functions.split_at(functions.partition_point(|it| it.difference != 0));
    let is_shown =
        |it: &&&FunctionDifference| least.is_reached(it.difference.unsigned_abs(), whole);
    let (shown, cut) = changes.split_at(changes.iter().take_while(is_shown).count());
    for function in shown {
        table.row(function_row(function));
    }
    if !cut.is_empty() {
        table.row(sum_row(cut, &more(cut.len())));
    }
    if !same.is_empty() {
        table.row(sum_row(same, &format!("… {} without difference", same.len())));
    }
    table.row(total_row(compared));
    table.render(style)
}

fn function_row(function: &FunctionDifference) -> [Cell; 7] {
    let (base, new) = (function.base.as_ref(), function.new.as_ref());
    let (word, paint) = described(function.change);
    let both = |of: fn(&Side) -> u64| (base.map_or(0, of), new.map_or(0, of));
    let (lines, bytes) =
        (both(|side| side.footprint.data_lines), both(|side| side.counts.rep_bytes));
    let executed = |side: Option<&Side>| {
        side.map_or_else(String::new, |side| grouped(side.counts.instructions))
    };
    [
        executed(base).into(),
        executed(new).into(),
        Cell::painted(&signed(function.difference), paint),
        unless_same(lines).into(),
        unless_same(bytes).into(),
        Cell::painted(word, paint),
        (&function.name).into(),
    ]
}

/// What is not shown by itself.
fn sum_row(cut: &[&FunctionDifference], name: &str) -> [Cell; 7] {
    let executed = |side: &Option<Side>| side.as_ref().map_or(0, |it| it.counts.instructions);
    let base = cut.iter().map(|function| executed(&function.base)).sum();
    let new = cut.iter().map(|function| executed(&function.new)).sum();
    let difference: i64 = cut.iter().map(|function| function.difference).sum();
    let texts = [
        grouped(base),
        grouped(new),
        signed(difference),
        String::new(),
        String::new(),
        String::new(),
        name.to_owned(),
    ];
    texts.map(|text| Cell::painted(&text, QUIET))
}

fn total_row(compared: Compared<'_>) -> [Cell; 7] {
    let (base, new) = (compared.base, compared.new);
    let (base_counts, new_counts) = (counts_of(base), counts_of(new));
    let texts = [
        grouped(base.total),
        grouped(new.total),
        signed(compared.difference.total),
        unless_same((base.footprint.data_lines, new.footprint.data_lines)),
        unless_same((base_counts.rep_bytes, new_counts.rep_bytes)),
        String::new(),
        "total".to_owned(),
    ];
    texts.map(|text| Cell::painted(&text, QUIET))
}

/// The word for a change, in the colours of the verdict that it speaks for.
fn described(change: Change) -> (&'static str, Paint) {
    let (word, verdict) = match change {
        Change::Appeared => ("appeared", Verdict::Higher),
        Change::Grew => ("grew", Verdict::Higher),
        Change::Vanished => ("vanished", Verdict::Lower),
        Change::Shrank => ("shrank", Verdict::Lower),
        Change::Same => ("same", Verdict::Same),
    };
    (word, of_verdict(verdict))
}

/// What a window touches, as a table has it: a name, and where the number is.
type Measure = (&'static str, fn(&Footprint, &Counts) -> u64);

const MEASURES: [Measure; 9] = [
    ("lines of code (64 bytes each)", |lines, _| lines.code_lines),
    ("lines of data", |lines, _| lines.data_lines),
    ("  read", |lines, _| lines.read_lines),
    ("  written", |lines, _| lines.written_lines),
    ("loads", |_, counts| counts.loads),
    ("  bytes", |_, counts| counts.bytes_loaded),
    ("stores", |_, counts| counts.stores),
    ("  bytes", |_, counts| counts.bytes_stored),
    ("bytes by rep strings", |_, counts| counts.rep_bytes),
];

/// What the two windows touch.
pub(super) fn footprint_table(compared: Compared<'_>, style: Style) -> String {
    let mut table = Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("footprint", Align::Left),
    ]);
    let (base_counts, new_counts) = (counts_of(compared.base), counts_of(compared.new));
    for (name, of) in MEASURES {
        let base = of(&compared.base.footprint, &base_counts);
        let new = of(&compared.new.footprint, &new_counts);
        table.row([
            grouped(base).into(),
            grouped(new).into(),
            unless_same((base, new)).into(),
            name.into(),
        ]);
    }
    table.render(style)
}

/// A row for each kind of slow instruction that one window meets more often, with the functions
/// that it is in; nothing if there is none.
pub(super) fn census_table(compared: Compared<'_>, style: Style) -> String {
    let mut table = Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("slow instruction", Align::Left),
        ("in", Align::Left),
    ]);
    let count = |tree: &WindowTree, slow| grouped(tree.census.get(&slow).copied().unwrap_or(0));
    for (&slow, &difference) in &compared.difference.census {
        table.row([
            count(compared.base, slow).into(),
            count(compared.new, slow).into(),
            signed(difference).into(),
            slow.word().into(),
            places(compared.difference, slow).into(),
        ]);
    }
    if compared.difference.census.is_empty() {
        return "slow instructions: as many in both\n".to_owned();
    }
    table.render(style)
}

/// `native_load_tls +2, __schedule -1`.
fn places(difference: &Difference, slow: SlowInstruction) -> String {
    let met = |side: &Option<Side>| {
        side.as_ref().and_then(|side| side.census.get(&slow)).copied().unwrap_or(0)
    };
    let changed = difference.functions.iter().filter_map(|function| {
        let change = minus(met(&function.base), met(&function.new));
        (change != 0).then(|| format!("{} {}", function.name, signed(change)))
    });
    changed.collect::<Vec<_>>().join(", ")
}

/// The difference between base and new, or nothing.
fn unless_same((base, new): (u64, u64)) -> String {
    if base == new { String::new() } else { signed(minus(base, new)) }
}

/// `new` − `base`. Counts of a window are far below 2^63.
fn minus(base: u64, new: u64) -> i64 {
    new.wrapping_sub(base).cast_signed()
}
