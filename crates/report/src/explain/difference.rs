//! The difference between two windows: by function, by event, of the memory touched, and which
//! functions only moved.

use std::cmp::Reverse;

use pathmeter_trace::{
    Change, Counts, Difference, Event, Footprint, FunctionDifference, Role, Side, WindowTree,
};

use super::head::counts_of;
use super::limits::Limits;
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

/// Said of lines that functions touch.
const SHARED_LINES: &str =
    "a line that several functions touch counts in each of them, and once in the total";
/// Most functions that are named for an event, and most that are named as moved.
const MOST_NAMED: usize = 8;

/// A row for each function that executes more or less itself, by at least the limit; one for the
/// others that do; if asked for, one for each that only moved; one for those that execute as much;
/// and the total, to which all add up.
pub(super) fn functions_table(compared: Compared<'_>, limits: Limits, style: Style) -> String {
    let mut table = table();
    let whole = compared.base.total.max(compared.new.total);
    // Those that differ most come first.
    let functions: Vec<&FunctionDifference> = compared.difference.functions.iter().collect();
    let (changes, same) = functions.split_at(functions.partition_point(|it| it.difference != 0));
    let is_shown =
        |it: &&&FunctionDifference| limits.least.is_reached(it.difference.unsigned_abs(), whole);
    let enough = changes.iter().take_while(is_shown).count();
    let (shown, cut) = changes.split_at(enough.min(limits.most.unwrap_or(usize::MAX)));
    for function in shown {
        table.row(function_row(function, limits.placement));
    }
    if !cut.is_empty() {
        let how = if limits.most.is_some() { "; --min 1 shows all" } else { "" };
        table.row(sum_row(cut, &(more(cut.len()) + how)));
    }
    let is_moved = |it: &&FunctionDifference| limits.placement && it.moved;
    let (moved, same): (Vec<_>, Vec<_>) = same.iter().copied().partition(is_moved);
    for function in moved {
        table.row(function_row(function, limits.placement));
    }
    if !same.is_empty() {
        table.row(sum_row(&same, &format!("… {} with equal counts", same.len())));
    }
    table.row(total_row(compared));
    let touch = |function: &&FunctionDifference| {
        let lines = |side: &Option<Side>| side.as_ref().map_or(0, |it| it.footprint.data_lines);
        lines(&function.base) != lines(&function.new)
    };
    let note = shown.iter().any(touch).then(|| style.quiet(SHARED_LINES));
    table.render(style) + &note.unwrap_or_default()
}

fn table() -> Table {
    Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("data lines", Align::Right),
        ("rep bytes", Align::Right),
        ("entry", Align::Right),
        ("code lines", Align::Right),
        ("code pages", Align::Right),
        ("change", Align::Left),
        ("function", Align::Left),
    ])
    .sparing(&["rep bytes", "data lines", "change"])
}

fn function_row(function: &FunctionDifference, placement: bool) -> [Cell; 10] {
    let (base, new) = (function.base.as_ref(), function.new.as_ref());
    let (word, paint) = described(function);
    let [entry, code_lines, code_pages] =
        if placement { placed(function) } else { Default::default() };
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
        entry.into(),
        code_lines.into(),
        code_pages.into(),
        Cell::painted(word, paint),
        (&function.name).into(),
    ]
}

/// Where a function stands in base and in new: its entry in its line, lines and pages of code.
fn placed(function: &FunctionDifference) -> [String; 3] {
    let place: [fn(&Side) -> Option<u64>; 3] = [
        |side| side.entry_in_line.map(u64::from),
        |side| Some(side.footprint.code_lines),
        |side| Some(side.footprint.code_pages),
    ];
    place.map(|of| {
        let number = |side: &Option<Side>| side.as_ref().and_then(of);
        match (number(&function.base), number(&function.new)) {
            (Some(base), Some(new)) if base != new => arrow(base, new),
            (base, new) => base.or(new).map_or_else(String::new, grouped),
        }
    })
}

/// `16 → 32`.
fn arrow(base: u64, new: u64) -> String {
    format!("{} → {}", grouped(base), grouped(new))
}

/// What is not shown by itself.
fn sum_row(cut: &[&FunctionDifference], name: &str) -> [Cell; 10] {
    let executed = |side: &Option<Side>| side.as_ref().map_or(0, |it| it.counts.instructions);
    let base = cut.iter().map(|function| executed(&function.base)).sum();
    let new = cut.iter().map(|function| executed(&function.new)).sum();
    let difference: i64 = cut.iter().map(|function| function.difference).sum();
    quiet_row([base, new], difference, Default::default(), name)
}

fn total_row(compared: Compared<'_>) -> [Cell; 10] {
    let (base, new) = (compared.base, compared.new);
    let lines = unless_same((base.footprint.data_lines, new.footprint.data_lines));
    let bytes = unless_same((counts_of(base).rep_bytes, counts_of(new).rep_bytes));
    quiet_row([base.total, new.total], compared.difference.total, [lines, bytes], "total")
}

fn quiet_row(
    [base, new]: [u64; 2],
    difference: i64,
    [lines, bytes]: [String; 2],
    name: &str,
) -> [Cell; 10] {
    let (base, new, difference) = (grouped(base), grouped(new), signed(difference));
    [&base, &new, &difference, &lines, &bytes, "", "", "", "", name]
        .map(|text| Cell::painted(text, QUIET))
}

/// The word for a change, in the colours of the verdict that it speaks for.
fn described(function: &FunctionDifference) -> (&'static str, Paint) {
    let (word, verdict) = match function.change {
        Change::Appeared => ("appeared", Verdict::Higher),
        Change::Grew => ("grew", Verdict::Higher),
        Change::Vanished => ("vanished", Verdict::Lower),
        Change::Shrank => ("shrank", Verdict::Lower),
        Change::Same if function.moved => ("moved", Verdict::Same),
        Change::Same => ("same", Verdict::Same),
    };
    (word, of_verdict(verdict))
}

/// What a window touches, as a table has it: a name, and where the number is.
type Measure = (&'static str, fn(&Footprint, &Counts) -> u64);

const MEASURES: [Measure; 12] = [
    ("lines of code (64 bytes each)", |lines, _| lines.code_lines),
    ("lines of data", |lines, _| lines.data_lines),
    ("  read", |lines, _| lines.read_lines),
    ("  written", |lines, _| lines.written_lines),
    ("pages of code (4 KiB each)", |lines, _| lines.code_pages),
    ("pages of data", |lines, _| lines.data_pages),
    ("loads", |_, counts| counts.loads),
    ("  bytes", |_, counts| counts.bytes_loaded),
    ("stores", |_, counts| counts.stores),
    ("  bytes", |_, counts| counts.bytes_stored),
    ("bytes by rep strings", |_, counts| counts.rep_bytes),
    ("branches taken", |_, counts| counts.taken_branches),
];

/// Those that a screen has room for.
const OF_A_SCREEN: [&str; 4] = [MEASURES[0].0, MEASURES[1].0, MEASURES[4].0, MEASURES[5].0];

/// What the two windows touch; where there is room for little, only lines and pages that differ.
pub(super) fn footprint_table(compared: Compared<'_>, limits: Limits, style: Style) -> String {
    let mut table = Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("footprint", Align::Left),
    ]);
    let (base_counts, new_counts) = (counts_of(compared.base), counts_of(compared.new));
    let numbers = MEASURES.map(|(name, of)| {
        let base = of(&compared.base.footprint, &base_counts);
        (name, base, of(&compared.new.footprint, &new_counts))
    });
    let is_shown = |(name, base, new): &(&str, u64, u64)| {
        limits.most.is_none() || base != new && OF_A_SCREEN.contains(name)
    };
    let shown: Vec<_> = numbers.into_iter().filter(is_shown).collect();
    if shown.is_empty() {
        return String::new();
    }
    for (name, base, new) in shown {
        table.row([
            grouped(base).into(),
            grouped(new).into(),
            unless_same((base, new)).into(),
            name.into(),
        ]);
    }
    table.render(style)
}

/// A row for each event with a cost of its own that one window has more of, with the functions that
/// it is in; nothing but a line if there is none.
pub(super) fn events_table(compared: Compared<'_>, limits: Limits, style: Style) -> String {
    let mut table = Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("event", Align::Left),
        ("in", Align::Left),
    ]);
    let costs = |event: Event| matches!(event.role(), Role::Cost | Role::Footprint);
    let mut events = compared.difference.events.iter().filter(|(event, _)| costs(**event));
    let Some(first) = events.next() else {
        return "events with a cost of their own: no difference\n".to_owned();
    };
    let all: Vec<_> = std::iter::once(first).chain(events).collect();
    let (shown, cut) = all.split_at(all.len().min(limits.most.unwrap_or(usize::MAX)));
    for &(&event, &difference) in shown {
        table.row([
            grouped(compared.base.typical(event)).into(),
            grouped(compared.new.typical(event)).into(),
            signed(difference).into(),
            event.word().into(),
            places(compared.difference, event).into(),
        ]);
    }
    if !cut.is_empty() {
        let text = Cell::painted(&more(cut.len()), QUIET);
        table.row(["".into(), "".into(), "".into(), text, "".into()]);
    }
    table.render(style)
}

/// `native_load_tls +2, __schedule -1`, those that differ most first.
fn places(difference: &Difference, event: Event) -> String {
    let change = |function: &FunctionDifference| function.events.get(&event).copied();
    let mut changed: Vec<(&str, i64)> = difference
        .functions
        .iter()
        .filter_map(|function| Some((function.name.as_str(), change(function)?)))
        .collect();
    changed.sort_by_key(|(_, change)| Reverse(change.unsigned_abs()));
    list_names(&changed, |(name, change)| format!("{name} {}", signed(*change)))
}

/// The first of `all` by name, and how many more there are.
fn list_names<T>(all: &[T], name: impl Fn(&T) -> String) -> String {
    let names = all.iter().take(MOST_NAMED).map(name);
    let rest = all.len().checked_sub(MOST_NAMED + 1).map(|rest| more(rest + 1));
    names.chain(rest).collect::<Vec<_>>().join(", ")
}

/// The functions that execute as much and stand elsewhere, those first that execute most; nothing
/// if there are none.
pub(super) fn moved_line(compared: Compared<'_>, style: Style) -> Option<String> {
    let functions = compared.difference.functions.iter();
    let mut moved: Vec<&FunctionDifference> = functions.filter(|function| function.moved).collect();
    if moved.is_empty() {
        return None;
    }
    let executed = |function: &FunctionDifference| {
        function.new.as_ref().map_or(0, |side| side.counts.instructions)
    };
    moved.sort_by_key(|function| Reverse(executed(function)));
    let names = list_names(&moved, |function| format!("{} ({})", function.name, moves(function)));
    let heading = "moved";
    let text = style.fill(&names, heading.len() + 2);
    Some(format!("{}  {text}\n", style.paint(heading, QUIET)))
}

/// `entry 0 → 16, 3 → 4 lines`.
fn moves(function: &FunctionDifference) -> String {
    let (Some(base), Some(new)) = (&function.base, &function.new) else { return String::new() };
    let entry = |side: &Side| side.entry_in_line.map_or(0, u64::from);
    let numbers = [
        ("entry ", [entry(base), entry(new)], ""),
        ("", [base.footprint.code_lines, new.footprint.code_lines], " lines"),
        ("", [base.footprint.code_pages, new.footprint.code_pages], " pages"),
    ];
    let changes = numbers.into_iter().filter(|(_, [base, new], _)| base != new);
    let texts =
        changes.map(|(before, [base, new], after)| format!("{before}{}{after}", arrow(base, new)));
    texts.collect::<Vec<_>>().join(", ")
}

/// The difference between base and new, or nothing.
fn unless_same((base, new): (u64, u64)) -> String {
    if base == new { String::new() } else { signed(minus(base, new)) }
}

/// `new` − `base`. Counts of a window are far below 2^63.
fn minus(base: u64, new: u64) -> i64 {
    new.wrapping_sub(base).cast_signed()
}
