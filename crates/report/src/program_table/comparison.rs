//! The table of a program on two kernels: the later runs, then the first one.

use std::cmp::Reverse;

use anstyle::Style as Paint;
use pathmeter_model::{
    Calls, Comparison, EventComparison, FirstComparison, PathComparison, ProgramComparison,
    RowKind, SideInfo, SumParts, Verdict, WorkComparison,
};

use pathmeter_trace::MeasuredWith;

use super::compared_functions::compared_functions;
use super::compared_processes::compared_processes;
use super::compared_programs::{describe_programs, is_of_program};
use super::compared_sleeps::compared_sleeps;
use super::next_step::next_step;
use super::unseen::unseen;
use super::{FAULTS_OF_QEMU, HOW_TO_UNFOLD, NONE, PROGRAM, calls, number};
use crate::budget::budget_table;
use crate::causes::AreaSums;
use crate::comparison::{VARYING, causes, differences, paths, sides, tally, varying};
use crate::headline::write_first_line;
use crate::measured_with;
use crate::number::{grouped, percent, plural, share, signed};
use crate::rows::Rows;
use crate::style::{QUIET, Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// What the marker for several values means here.
const OF_A_PAIR: &str = "~ has several exact values; those of a typical run are shown";
const FIRST_RUN: &str = "first run";
/// Rows that are shown of those that changed, in the later runs and in the first one.
const MOST_CHANGED: usize = 12;
const MOST_CHANGED_FIRST: usize = 4;

/// The rows of a program's comparison.
struct Parted<'a> {
    comparison: &'a Comparison,
    /// All but the totals: those that changed, then those that are the same; of either the largest
    /// difference first, of equal ones by name.
    rows: Vec<Row<'a>>,
    /// Own work, and the sum.
    totals: Vec<Row<'a>>,
    /// The program's regions and windows.
    regions: Vec<&'a PathComparison>,
}

/// A row of a program, with what else is known of it.
#[derive(Clone, Copy)]
struct Row<'a> {
    path: &'a PathComparison,
    work: &'a WorkComparison,
}

impl<'a> Parted<'a> {
    fn new(comparison: &'a Comparison) -> Self {
        let row = |path: &'a PathComparison| Some(Row { path, work: path.work.as_ref()? });
        let all = comparison.paths.iter().filter_map(row);
        let (totals, mut rows): (Vec<_>, Vec<_>) = all.partition(|row| row.work.kind.is_total());
        rows.sort_by_key(|row| {
            (row.path.verdict == Verdict::Same, Reverse(row.size()), &row.path.path)
        });
        let regions = comparison.paths.iter().filter(|path| path.work.is_none()).collect();
        Self { comparison, rows, totals, regions }
    }

    fn sum(&self) -> Option<Row<'a>> {
        self.totals.iter().copied().find(|row| row.work.kind == RowKind::Sum)
    }

    fn all(&self) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().chain(&self.totals)
    }

    /// Regions and windows, then rows; no totals.
    fn in_order(&self) -> impl Iterator<Item = &'a PathComparison> {
        self.regions.iter().copied().chain(self.rows.iter().map(|row| row.path))
    }

    fn is_marked(&self) -> bool {
        self.all().any(|row| row.path.is_many_valued())
    }
}

impl Row<'_> {
    fn size(&self) -> u64 {
        self.path.difference.unwrap_or(0).unsigned_abs()
    }
}

/// What the comparison comes to; the two kernels; a row for each kind of work in the later runs,
/// those that changed first; the same for the first run; the program's own regions, and how many
/// rows have each verdict.
pub(crate) fn program_comparison_table(
    comparison: &Comparison,
    program: &ProgramComparison,
    (rows, sums): (Rows, AreaSums),
    style: Style,
) -> String {
    let parted = Parted::new(comparison);
    let all = comparison.configuration_differences.iter();
    let others: Vec<_> = all.filter(|it| !is_of_program(it)).cloned().collect();
    let of_first = if program.later_runs > 0 { first(&parted, rows, style) } else { String::new() };
    [
        write_first_line(comparison, style),
        sides(&comparison.base, &comparison.new, PROGRAM.len(), style),
        describe_programs(comparison, program, style),
        causes(comparison, sums, style),
        judged(&parted, program, rows, style),
        of_first,
        compared_processes(comparison, rows, style),
        compared_sleeps(program, rows, style),
        legend(&parted, rows, style),
        compared_functions(parted.in_order(), rows, style),
        regions(&parted.regions, style),
        next_step(comparison, program, parted.in_order(), style),
        comparison
            .budget
            .as_ref()
            .map_or_else(String::new, |it| budget_table(it, comparison.gate.as_ref(), style)),
        differences(&others, style),
        measured_with::lines(
            &without_program(&comparison.base),
            &without_program(&comparison.new),
            style,
        ),
        summary(&parted, style),
    ]
    .concat()
}

/// A side without its program, which the head shows.
fn without_program(side: &SideInfo) -> SideInfo {
    let with = side.measured_with.clone();
    let measured_with = with.map(|with| MeasuredWith { program: None, ..with });
    SideInfo { measured_with, ..side.clone() }
}

/// The rows by where they are shown.
struct Split<'a> {
    /// Those that are shown, the largest difference first.
    changed: Vec<Row<'a>>,
    rest: Vec<Row<'a>>,
    /// Rows that changed and are not the program's work.
    others: Vec<Row<'a>>,
    /// The program's rows that are the same.
    same: Vec<Row<'a>>,
}

fn split<'a>(parted: &Parted<'a>, shown: Rows) -> Split<'a> {
    let is_hidden = |row: &Row<'_>| shown == Rows::Folded && is_same(*row);
    let (mut same, mut changed): (Vec<_>, Vec<_>) =
        parted.rows.iter().copied().partition(is_hidden);
    same.retain(|row| row.path.is_own_work());
    let others = not_own_work(&mut changed, shown);
    let rest = rest(&mut changed, shown, MOST_CHANGED);
    Split { changed, rest, others, same }
}

/// The runs that carry the verdict, what changed first; what is the same is folded.
fn judged(parted: &Parted<'_>, program: &ProgramComparison, shown: Rows, style: Style) -> String {
    let heading = if program.later_runs > 0 { "later runs" } else { FIRST_RUN };
    let marked = parted.is_marked();
    let Split { changed, rest, others, same } = split(parted, shown);
    let mut table = table(heading);
    for row in changed {
        let remark = join_parts([Some(remark(row)), range(row.path)]);
        table.row(judged_cells(row, marked, paint_of(row), &remark));
    }
    for row in &parted.totals {
        let remark = join_parts([Some(events(&row.path.events)), range(row.path)]);
        let cells = judged_cells(*row, marked, of_verdict(row.path.verdict), &remark);
        table.row(without_calls(cells));
    }
    let base = |row: &Row<'_>| row.path.base.unwrap_or(0);
    let same = same.iter().map(base);
    let fold = fold(same, parted.sum().as_ref().map_or(0, base), style);
    let difference = |row: &Row<'_>| row.path.difference.unwrap_or(0);
    let more = more(&rest, difference, style) + &others_line(&others, difference, style);
    "\n".to_owned() + &table.render(style) + &parts(parted, style) + &more + &fold
}

/// Where the sums' differences are: `own work: -90 is -100 of lower rows, +10 of same ones`.
fn parts(parted: &Parted<'_>, style: Style) -> String {
    let mut last = None;
    let line = |row: &Row<'_>| {
        let SumParts { higher, lower, mode_appeared, same } = row.work.parts?;
        // Of two sums with one verdict the first says it all.
        if last.replace(row.path.verdict) == Some(row.path.verdict) {
            return None;
        }
        let parts = [
            ("higher", higher),
            ("mode-appeared", mode_appeared),
            ("lower", lower),
            ("other", same),
        ];
        let some = parts.into_iter().filter(|(_, part)| *part != 0);
        let some: Vec<String> =
            some.map(|(rows, part)| format!("{} in {rows} rows", signed(part))).collect();
        let difference = signed(row.path.difference.unwrap_or(0));
        let text = format!("{}: {difference} is {}", row.path.path, some.join(", "));
        (some.len() > 1).then(|| style.quiet(&text))
    };
    parted.totals.iter().filter_map(line).collect()
}

/// Takes away the rows that are not the program's work, unless all are shown: how much the timer,
/// kernel threads and pathmeter's own agent execute is no finding about the program.
fn not_own_work<'a>(rows: &mut Vec<Row<'a>>, shown: Rows) -> Vec<Row<'a>> {
    let is_shown = |row: &Row<'_>| shown == Rows::All || row.path.is_own_work();
    rows.extract_if(.., |row| !is_shown(row)).collect()
}

/// `3 rows that are not the program's work differ by +1,531 in all: --all shows them`.
fn others_line(rows: &[Row<'_>], difference: impl Fn(&Row<'_>) -> i64, style: Style) -> String {
    let sum = signed(rows.iter().fold(0_i64, |sum, row| sum.saturating_add(difference(row))));
    let text = match rows.len() {
        0 => return String::new(),
        1 => format!("1 row that is not the program's work differs by {sum}"),
        many => format!("{many} rows that are not the program's work differ by {sum} in all"),
    };
    style.quiet(&format!("{text}: {HOW_TO_UNFOLD}"))
}

/// Takes away what is not shown of rows that are sorted.
fn rest<'a>(rows: &mut Vec<Row<'a>>, shown: Rows, most: usize) -> Vec<Row<'a>> {
    match shown {
        Rows::All => Vec::new(),
        Rows::Folded => rows.split_off(most.min(rows.len())),
    }
}

/// How far pairs of runs differ, where they are no one change.
fn range(path: &PathComparison) -> Option<String> {
    varying(path.pairs, path.verdict)
}

fn join_parts(parts: impl IntoIterator<Item = Option<String>>) -> String {
    let some = parts.into_iter().flatten().filter(|part| !part.is_empty());
    some.collect::<Vec<_>>().join(", ")
}

/// `23 more rows differ by +1,234 instructions in all: --all shows them`.
fn more(rows: &[Row<'_>], difference: impl Fn(&Row<'_>) -> i64, style: Style) -> String {
    let sum = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(difference(row)));
    let sum = signed(sum);
    match rows.len() {
        0 => String::new(),
        1 => style.quiet(&format!("1 more row differs by {sum}: {HOW_TO_UNFOLD}")),
        more => style.quiet(&format!("{more} more rows differ by {sum} in all: {HOW_TO_UNFOLD}")),
    }
}

/// The first run, where it is not the only one; what is the same is folded.
fn first(parted: &Parted<'_>, shown: Rows, style: Style) -> String {
    let is_hidden = |row: &Row<'_>| shown == Rows::Folded && is_first_same(&row.work.first);
    let (mut same, mut changed): (Vec<_>, Vec<_>) =
        parted.rows.iter().copied().partition(is_hidden);
    same.retain(|row| row.path.is_own_work());
    changed.sort_by_key(|row| Reverse(row.work.first.difference.unsigned_abs()));
    let others = not_own_work(&mut changed, shown);
    let rest = rest(&mut changed, shown, MOST_CHANGED_FIRST);
    let mut table = table(FIRST_RUN);
    for row in changed {
        table.row(first_cells(row, &first_remark(&row.work.first)));
    }
    for row in &parted.totals {
        table.row(without_calls(first_cells(*row, "")));
    }
    let same = same.iter().map(|row| row.work.first.base);
    let fold = fold(same, parted.sum().map_or(0, |row| row.work.first.base), style);
    let difference = |row: &Row<'_>| row.work.first.difference;
    let more = more(&rest, difference, style) + &others_line(&others, difference, style);
    "\n".to_owned() + &table.render(style) + &more + &fold
}

fn table(heading: &str) -> Table {
    let table = Table::new(&[
        (heading, Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("percent", Align::Right),
        ("per call", Align::Right),
        ("verdict", Align::Left),
        ("calls, other events", Align::Left),
    ]);
    table.sparing(&["percent"]).with_whole_remarks()
}

fn judged_cells(row: Row<'_>, marked: bool, paint: Paint, remark: &str) -> [Cell; 8] {
    let Row { path, work } = row;
    let side = |side: Option<u64>, values| {
        side.map_or_else(String::new, |side| number(side, values, marked))
    };
    [
        path.path.as_str().into(),
        side(path.base, path.base_values).into(),
        side(path.new, path.new_values).into(),
        Cell::painted(&path.difference.map_or_else(String::new, signed), paint),
        Cell::painted(&path.percent.map_or_else(String::new, percent), paint),
        per_call(work.per_call_difference),
        Cell::painted(&verdict(row), paint),
        remark.into(),
    ]
}

/// None of what is not the program's work: it is no finding.
fn verdict(Row { path, work }: Row<'_>) -> String {
    let is_judged = work.kind.is_total() || path.is_own_work();
    if is_judged { path.verdict.to_string() } else { String::new() }
}

fn first_cells(Row { path, work }: Row<'_>, remark: &str) -> [Cell; 8] {
    let first = &work.first;
    [
        path.path.as_str().into(),
        grouped(first.base).into(),
        grouped(first.new).into(),
        signed(first.difference).into(),
        first.percent.map_or_else(String::new, percent).into(),
        per_call(first.per_call_difference),
        "".into(),
        remark.into(),
    ]
}

fn per_call(difference: Option<i64>) -> Cell {
    difference.map_or_else(|| NONE.to_owned(), signed).into()
}

/// Calls of different work don't add up to anything.
fn without_calls(mut cells: [Cell; 8]) -> [Cell; 8] {
    cells[5] = "".into();
    cells
}

/// The verdict's colour, except where the timer decides how much work there is.
fn paint_of(row: Row<'_>) -> Paint {
    if row.path.is_own_work() { of_verdict(row.path.verdict) } else { QUIET }
}

/// Whether there is nothing to show of a row in the runs that carry the verdict.
fn is_same(row: Row<'_>) -> bool {
    row.path.verdict == Verdict::Same && remark(row).is_empty()
}

fn is_first_same(first: &FirstComparison) -> bool {
    first.difference == 0 && first_remark(first).is_empty()
}

/// As [`remark`], of one run on each side.
fn first_remark(first: &FirstComparison) -> String {
    let calls = |calls| Calls { least: calls, most: calls };
    let calls = differing_calls(calls(first.base_calls), calls(first.new_calls));
    join_parts([calls, Some(events(&first.events))])
}

/// How often the work was done where that differs, and the other events that differ:
/// `calls 10 → 12, string-bytes +4,096`.
fn remark(Row { path, work }: Row<'_>) -> String {
    let calls = work.calls_differ.then(|| differing_calls(work.base_calls, work.new_calls));
    join_parts([calls.flatten(), Some(events(&path.events))])
}

fn events(events: &[EventComparison]) -> String {
    let shown = events.iter().filter(|event| event.is_shown());
    let text = |event: &EventComparison| format!("{} {}", event.event, signed(event.difference));
    shown.map(text).collect::<Vec<_>>().join(", ")
}

fn differing_calls(base: Calls, new: Calls) -> Option<String> {
    (base != new).then(|| format!("calls {} → {}", calls(base), calls(new)))
}

/// `41 rows are the same, 93.2 % of base: --all shows them`, of rows with so many instructions.
fn fold(same: impl Iterator<Item = u64>, sum: u64, style: Style) -> String {
    let (rows, instructions) =
        same.fold((0_usize, 0_u64), |(rows, sum), row| (rows + 1, sum.saturating_add(row)));
    let share = share(instructions, sum);
    let share = if share.is_empty() { share } else { format!(", {share} of base") };
    match rows {
        0 => String::new(),
        1 => style.quiet(&format!("1 row is the same{share}: {HOW_TO_UNFOLD}")),
        rows => style.quiet(&format!("{rows} rows are the same{share}: {HOW_TO_UNFOLD}")),
    }
}

fn legend(parted: &Parted<'_>, shown: Rows, style: Style) -> String {
    let has_first = parted.comparison.program.as_ref().is_some_and(|it| it.later_runs > 0);
    let rows = split(parted, shown).changed;
    let varies = rows.iter().chain(&parted.totals).any(|row| range(row.path).is_some());
    let lines = [
        Some("numbers are instructions; per call is the difference of what a call costs"),
        Some("own work: the program and its system calls; the sum has the timer's work as well"),
        has_first.then_some(
            "later runs, which the verdicts are of, find files and pages in memory; the first run \
             does not",
        ),
        parted.is_marked().then_some(OF_A_PAIR),
        varies.then_some(VARYING),
        is_apart(parted).then_some("own work and the sum are of different runs"),
        (!adds_up(parted))
            .then_some("each row shows its own typical run: the rows do not add up to own work"),
    ];
    let names = parted.rows.iter().map(|row| row.path.path.as_str());
    let sides = [&parted.comparison.base, &parted.comparison.new];
    let with = sides.map(|side| side.measured_with.as_ref());
    let conditions = with.map(|with| with.map_or("", |with| &with.condition));
    let of_qemu = parted.comparison.paths.iter().filter_map(|path| path.work.as_ref());
    let of_qemu = of_qemu.map(|work| work.kind).any(|kind| kind == RowKind::InterpreterFault);
    let of_qemu = of_qemu.then(|| format!("QEMU's page faults: {FAULTS_OF_QEMU}"));
    let lines = lines.into_iter().flatten().chain(unseen(names, &conditions));
    let lines = lines.chain(of_qemu.as_deref());
    "\n".to_owned() + &lines.map(|line| style.quiet(line)).collect::<String>()
}

/// Whether the rows of own work have its difference together.
fn adds_up(parted: &Parted<'_>) -> bool {
    let difference = |row: &Row<'_>| row.path.difference.unwrap_or(0);
    let own = parted.totals.iter().find(|row| row.work.kind == RowKind::OwnWork);
    let rows = parted.rows.iter().filter(|row| row.path.is_own_work());
    own.is_none_or(|own| difference(own) == rows.map(difference).fold(0, i64::saturating_add))
}

/// Whether own work is shown as more than the sum that it is a part of.
fn is_apart(parted: &Parted<'_>) -> bool {
    match &parted.totals[..] {
        [own, sum] => own.path.base > sum.path.base || own.path.new > sum.path.new,
        _ => false,
    }
}

/// The program's own regions, if it has any.
fn regions(regions: &[&PathComparison], style: Style) -> String {
    if regions.is_empty() {
        return String::new();
    }
    "\n".to_owned() + &paths(regions, style)
}

/// How many rows of own work and how many regions have each verdict, and how many others there are.
fn summary(parted: &Parted<'_>, style: Style) -> String {
    let (own, others): (Vec<_>, Vec<_>) =
        parted.rows.iter().map(|row| row.path).partition(|path| path.is_own_work());
    let own = tally(own.into_iter(), ["row of own work", "rows of own work"], style);
    let others = match others.len() {
        0 => String::new(),
        rows => format!("{}, which the program does not cause\n", plural(rows, "other row")),
    };
    let regions = (!parted.regions.is_empty())
        .then(|| tally(parted.regions.iter().copied(), ["region", "regions"], style));
    own + &others + &regions.unwrap_or_default()
}
