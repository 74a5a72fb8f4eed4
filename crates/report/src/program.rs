//! The table of a program's result: a row for each kind of work, the most expensive first.

mod comparison;
mod unseen;

use std::cmp::Reverse;

use pathmeter_model::{
    Calls, FunctionCost, ProgramResult, ProgramRun, RowCost, RowCosts, RowFunctions, RowKind,
    Written, command_line, row_name,
};

pub use comparison::program_comparison_table;

use pathmeter_trace::Event;

use self::unseen::unseen;
use crate::comparison::{MANY_VALUES, ONE_VALUE, fact};
use crate::measurement::{footer, results};
use crate::number::{grouped, plural, share};
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};

/// Which rows of a program are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Those that matter; a line tells how many others there are.
    Folded,
    /// All of them.
    All,
}

/// A row is small if it has less than one part in this many of all instructions.
const SMALL: u64 = 1000;
/// Rows whose functions are shown, and functions of each.
const MOST_ROWS: usize = 5;
const MOST_FUNCTIONS: usize = 8;
/// What a fold says about its rows.
const HOW_TO_UNFOLD: &str = "--all shows them";
/// Headings of one width.
const PROGRAM: &str = "program";
/// What names the steps in which the CPU idled.
const IDLE: &str = "idle";
const ENDED: &str = "ended  ";
/// Stands between the calls of the first run and those of the later ones.
const BEFORE: &str = " / ";
/// Stands in a cell without a number where an empty one could be misread.
const NONE: &str = "-";

/// A row for each kind of work with its calls and instructions in the first run and in the later
/// ones, the sum, the program's own regions, and what was measured on which machine.
pub fn program_table(result: &ProgramResult, rows: Rows, style: Style) -> String {
    [
        command(&result.program.command, style),
        fact(ENDED, &result.ended.to_string(), PLAIN, style),
        written("stdout ", &result.output.stdout, style),
        written("stderr ", &result.output.stderr, style),
        "\n".to_owned(),
        costs(result, rows, style),
        "\n".to_owned(),
        add_up(result, style),
        functions(result, rows, style),
        regions(result, style),
        footer(&result.subject, &result.configuration, &result.notes, style),
    ]
    .concat()
}

/// What was executed.
fn command(words: &[String], style: Style) -> String {
    fact(PROGRAM, &beginning(&command_line(words)), PLAIN, style)
}

/// Characters of a command line or an output that are shown.
const MOST_SHOWN: usize = 400;

/// The beginning of a text, with a mark if there is more of it.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}… (--json has all of it)", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of what the program wrote, and how much that was.
fn written(heading: &str, written: &Written, style: Style) -> String {
    if written.bytes == 0 {
        return String::new();
    }
    let mut lines = written.text.lines();
    let first = lines.next().unwrap_or_default();
    let more = match lines.count() {
        0 => String::new(),
        _ => format!(" … {} bytes: --json has them", grouped(written.bytes)),
    };
    fact(heading, &(beginning(first) + &more), PLAIN, style)
}

/// The functions of the rows that cost most, and of regions, if they were counted.
fn functions(result: &ProgramResult, shown: Rows, style: Style) -> String {
    let Some(all) = &result.functions else { return String::new() };
    let (most_rows, most_functions) = match shown {
        Rows::All => (usize::MAX, usize::MAX),
        Rows::Folded => (MOST_ROWS, MOST_FUNCTIONS),
    };
    let sum = |row: &RowFunctions| row.functions.iter().map(|one| one.instructions).sum::<u64>();
    let mut rows: Vec<&RowFunctions> = all.iter().collect();
    rows.sort_by_key(|row| (row.kind != RowKind::Region, Reverse(sum(row))));
    let table = |row: &RowFunctions| {
        let mut table = Table::new(&[
            (&*row_name(row.kind, &row.name), Align::Left),
            ("instructions", Align::Right),
            ("calls", Align::Right),
            ("share", Align::Right),
        ]);
        let mut functions: Vec<&FunctionCost> = row.functions.iter().collect();
        functions.sort_by_key(|one| (Reverse(one.instructions), &one.function));
        for one in functions.iter().take(most_functions) {
            table.row([
                one.function.as_str().into(),
                grouped(one.instructions).into(),
                grouped(one.calls).into(),
                share(one.instructions, sum(row)).into(),
            ]);
        }
        let more = match functions.len().saturating_sub(most_functions) {
            0 => String::new(),
            more => quiet(&format!("{}: {HOW_TO_UNFOLD}", plural(more, "more function")), style),
        };
        "\n".to_owned() + &table.render(style) + &more
    };
    let more = more_rows(rows.len().saturating_sub(most_rows), style);
    let legend = if rows.is_empty() { String::new() } else { quiet(OF_ONE_RUN, style) };
    rows.into_iter().take(most_rows).map(table).collect::<String>() + &more + "\n" + &legend
}

/// Which calls the functions' numbers are of.
const OF_ONE_RUN: &str = "functions are of all calls in one run, in which the row costs as shown; \
                          of a region, of all its executions";

/// Says that the functions of so many rows are not shown.
fn more_rows(rows: usize, style: Style) -> String {
    match rows {
        0 => String::new(),
        rows => {
            let have = if rows == 1 { "has" } else { "have" };
            let more = plural(rows, "more row");
            "\n".to_owned() + &quiet(&format!("{more} {have} functions: {HOW_TO_UNFOLD}"), style)
        }
    }
}

/// What a row typically costs: the later runs, or the first if there are no others.
fn typical<'a>(row: &'a RowCosts<'_>) -> &'a RowCost {
    row.later.as_ref().unwrap_or(&row.first)
}

/// The rows, the most expensive first; then those that are folded, and the sum.
fn costs(result: &ProgramResult, shown: Rows, style: Style) -> String {
    let sum = result.sum();
    let mut rows = result.costs();
    rows.sort_by_key(|row| Reverse((typical(row).instructions, row.first.instructions)));
    let is_small = |row: &RowCosts| {
        let below = |part: &RowCost, whole: &RowCost| {
            u128::from(part.instructions) * u128::from(SMALL) < u128::from(whole.instructions)
        };
        shown == Rows::Folded && below(&row.first, &sum.first) && below(typical(row), typical(&sum))
    };
    let (small, large): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_small);
    let marked = large.iter().chain([&sum]).any(|row| typical(row).values > 1);
    let mut table = Table::new(&[
        ("what", Align::Left),
        ("calls", Align::Right),
        (if result.runs.len() > 1 { "first" } else { "instructions" }, Align::Right),
        ("later", Align::Right),
        ("per call", Align::Right),
        ("share", Align::Right),
        ("slow", Align::Right),
        ("string bytes", Align::Right),
        ("lines", Align::Right),
    ])
    .sparing(&["lines", "string bytes", "slow"]);
    for row in &large {
        let text = row_name(row.kind, row.name);
        table.row(cells(&text, row, &sum, marked, [row_calls(row), per_call(row)]));
    }
    // Calls of different work don't add up to anything.
    table.row(cells("sum", &sum, &sum, marked, [String::new(), String::new()]));
    let calls_differ = large.iter().any(|row| row.first.calls != typical(row).calls);
    let names = result.runs.iter().flat_map(|run| &run.rows).map(|row| (row.kind, &*row.name));
    let unseen = unseen(names, &[&result.configuration.condition]);
    let legend = legend(result.runs.len(), calls_differ, marked, &unseen, style);
    table.render(style) + &fold(&small, &sum, style) + &legend
}

fn cells(
    text: &str,
    row: &RowCosts<'_>,
    sum: &RowCosts<'_>,
    marked: bool,
    [calls, per_call]: [String; 2],
) -> [Cell; 9] {
    let cost = typical(row);
    let later = row.later.as_ref().map_or_else(String::new, |later| number(later, marked));
    [
        text.into(),
        calls.into(),
        grouped(row.first.instructions).into(),
        later.into(),
        per_call.into(),
        share(cost.instructions, typical(sum).instructions).into(),
        some(slow(cost)).into(),
        some(cost.of_event(Event::StringBytes)).into(),
        some(cost.of_event(Event::DataLines)).into(),
    ]
}

/// Slow instructions of all classes.
fn slow(cost: &RowCost) -> u64 {
    let slow = cost.events.iter().filter(|(event, _)| matches!(event, Event::Slow(_)));
    slow.fold(0, |sum, (_, number)| sum.saturating_add(*number))
}

/// A number, or nothing for none.
fn some(number: u64) -> String {
    if number > 0 { grouped(number) } else { String::new() }
}

/// Instructions, with a marker if they have several values.
fn number(cost: &RowCost, marked: bool) -> String {
    let marker = if cost.values > 1 { MANY_VALUES } else { ONE_VALUE };
    let number = grouped(cost.instructions);
    if marked { format!("{number}{marker}") } else { number }
}

/// `3`, or `3…4` if runs differ.
fn calls(Calls { least, most }: Calls) -> String {
    if least == most { grouped(least) } else { format!("{}…{}", grouped(least), grouped(most)) }
}

/// The calls of a run; those of the first run before the others where they differ.
fn row_calls(row: &RowCosts<'_>) -> String {
    let (first, later) = (row.first.calls, typical(row).calls);
    if first == later { calls(later) } else { format!("{}{BEFORE}{}", calls(first), calls(later)) }
}

/// Instructions a call; the program's own code is not called.
fn per_call(row: &RowCosts<'_>) -> String {
    match typical(row).per_call {
        _ if row.kind == RowKind::User => String::new(),
        number => number.map_or_else(|| NONE.to_owned(), grouped),
    }
}

/// `23 more rows, 0.3 %: --all shows them`.
fn fold(small: &[RowCosts<'_>], sum: &RowCosts<'_>, style: Style) -> String {
    let instructions = small.iter().map(|row| typical(row).instructions);
    let instructions = instructions.fold(0, u64::saturating_add);
    let share = share(instructions, typical(sum).instructions);
    let comma = if share.is_empty() { "" } else { ", " };
    let line = match small.len() {
        0 => return String::new(),
        1 => format!("1 more row{comma}{share}: {HOW_TO_UNFOLD}"),
        rows => format!("{rows} more rows{comma}{share}: {HOW_TO_UNFOLD}"),
    };
    quiet(&line, style)
}

/// What the numbers are.
fn legend(runs: usize, calls_differ: bool, marked: bool, unseen: &[&str], style: Style) -> String {
    let mut lines = match runs {
        0 | 1 => vec!["numbers are instructions, in the only run".to_owned()],
        runs => vec![
            "numbers are instructions; first is the first run".to_owned(),
            format!(
                "later is the median of the {} after it, as are the columns after it",
                runs - 1
            ),
        ],
    };
    if calls_differ {
        lines.push(format!("calls before{BEFORE}are the first run's"));
    }
    if marked {
        lines.push(format!("{MANY_VALUES} has several exact values; shown is their median"));
    }
    let unseen = unseen.iter().map(|line| quiet(line, style));
    lines.iter().map(|line| quiet(line, style)).chain(unseen).collect()
}

/// What the steps of all rows add up to.
fn add_up(result: &ProgramResult, style: Style) -> String {
    let Some((first, later)) = result.runs.split_first() else { return String::new() };
    let steps =
        |run: &ProgramRun| run.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.steps));
    let (sum, clock, idle) = (grouped(steps(first)), grouped(first.clock), grouped(first.idle));
    let first = format!("first run: sum {sum} steps = the guest's clock {clock} less idle {idle}");
    let later = later.iter().map(steps).min().zip(later.iter().map(steps).max());
    let later = later.map(|(least, most)| {
        let steps = calls(Calls { least, most });
        format!("later runs: sum {steps} steps, in each run its clock less idle")
    });
    let step = "a step is an instruction, or an iteration of a string instruction".to_owned();
    let lines = std::iter::once(first).chain(later).chain([step]);
    lines.map(|line| quiet(&line, style)).collect()
}

/// The program's own regions, if it has any.
fn regions(result: &ProgramResult, style: Style) -> String {
    if result.regions.is_empty() {
        return String::new();
    }
    "\n".to_owned() + &results(&result.regions, result.configuration.clock, style)
}

fn quiet(line: &str, style: Style) -> String {
    style.paint(&style.fill(line, 0), QUIET) + "\n"
}
