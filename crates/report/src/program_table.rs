//! The table of a program's result: a row for each kind of work, the most expensive first.

mod compared_functions;
mod compared_processes;
mod compared_programs;
mod compared_sleeps;
mod comparison;
mod function_events;
mod next_step;
mod processes;
mod sleeps;
mod switches;
mod unseen;

use std::cmp::Reverse;

use pathmeter_model::{
    Calls, Configuration, Execution, FunctionCost, Measurement, PathResult, RowCost, RowCosts,
    RowKind, Written, clean, command_line,
};

pub(crate) use comparison::program_comparison_table;

use pathmeter_trace::Event;

use self::function_events::events_by_function;
use self::processes::processes;
use self::sleeps::sleeps;
use self::switches::switches;
use self::unseen::unseen;
use crate::comparison::{MANY_VALUES, ONE_VALUE, fact};
use crate::headline::describe_work;
use crate::measurement::{footer, results};
use crate::number::{grouped, plural, share};
use crate::rows::Rows;
use crate::style::{PLAIN, Style};
use crate::table::{Align, Cell, Table};

/// A row is small if it has less than one part in this many of all instructions.
const SMALL: u64 = 1000;
/// Rows whose functions are shown, and functions of each.
const MOST_ROWS: usize = 5;
const MOST_FUNCTIONS: usize = 8;
/// What a fold says about its rows.
const HOW_TO_UNFOLD: &str = "--all shows them";
/// Headings of facts; all have one width.
const PROGRAM: &str = "program";
const PROCESS: &str = "process";
/// What names the steps in which the CPU idled.
const IDLE: &str = "idle";
const ENDED: &str = "ended  ";
const STDOUT: &str = "stdout ";
const STDERR: &str = "stderr ";
/// Stands between the calls of the first run and those of the later ones.
const BEFORE: &str = " / ";
/// Stands in a cell without a number where an empty one could be misread.
const NONE: &str = "-";

/// The answer, then a row for each kind of work with its calls and instructions in the first run
/// and in the later ones, the sum, the program's own regions, and what was measured on which
/// machine.
pub(crate) fn program_table(
    result: &Measurement,
    execution: &Execution,
    rows: Rows,
    style: Style,
) -> String {
    let words = result.configuration.program.as_ref().map(|program| &program.command[..]);
    // Which program it is stands above.
    let configuration = Configuration { program: None, ..result.configuration.clone() };
    let work = describe_work(result)
        .map(|work| style.fill(&format!("The program and its system calls execute {work}."), 0));
    [
        work.map_or_else(String::new, |work| work + "\n"),
        command(words.unwrap_or_default(), style),
        process(result.only_process(), style),
        fact(ENDED, &execution.ended.to_string(), PLAIN, style),
        format_output(STDOUT, &execution.output.stdout, style),
        format_output(STDERR, &execution.output.stderr, style),
        "\n".to_owned(),
        costs(result, rows, style),
        "\n".to_owned(),
        add_up(result, execution, style),
        processes(result, rows, style),
        switches(result, rows, style),
        sleeps(execution, rows, style),
        functions(result, rows, style),
        regions(result, style),
        footer(&result.subject, &configuration, &result.notes, style),
    ]
    .concat()
}

/// The line that tells what was executed.
fn command(words: &[String], style: Style) -> String {
    fact(PROGRAM, &beginning(&command_line(words)), PLAIN, style)
}

/// The process that the rows are of, if they are not the whole program's.
fn process(name: Option<&str>, style: Style) -> String {
    name.map_or_else(String::new, |name| fact(PROCESS, name, PLAIN, style))
}

/// Characters of a command line or an output that are shown.
const MOST_SHOWN: usize = 400;

/// The beginning of a text, with a mark if there is more of it.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}… (--json has more of it)", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of what the program wrote, and how much that was.
fn format_output(heading: &str, written: &Written, style: Style) -> String {
    if written.bytes == 0 {
        return String::new();
    }
    fact(heading, &describe_written(written), PLAIN, style)
}

/// The first line of what the program wrote, and how much there is if there is more.
fn describe_written(written: &Written) -> String {
    let mut lines = written.text.lines();
    let first = lines.next().unwrap_or_default();
    let more = match lines.count() {
        _ if written.truncated => {
            format!(" … {} bytes: --json has the beginning", grouped(written.bytes))
        }
        0 => String::new(),
        _ => format!(" … {} bytes: --json has them", grouped(written.bytes)),
    };
    beginning(&clean(first)) + &more
}

/// The functions of the rows that cost most, and of regions, if they were counted.
fn functions(result: &Measurement, shown: Rows, style: Style) -> String {
    if !result.has_functions() {
        return String::new();
    }
    let (most_rows, most_functions) = match shown {
        Rows::All => (usize::MAX, usize::MAX),
        Rows::Folded => (MOST_ROWS, MOST_FUNCTIONS),
    };
    let some = result.paths.iter().filter(|row| !row.functions.is_empty());
    let mut rows: Vec<&PathResult> = some.collect();
    rows.sort_by_key(|row| (row.work.is_some(), Reverse(in_functions(row))));
    let more = more_rows(rows.len().saturating_sub(most_rows), style);
    let tables = rows.into_iter().take(most_rows).map(|row| {
        row_functions(row, most_functions, style) + &events_by_function(row, shown, style)
    });
    tables.collect::<String>() + &more + "\n" + &style.quiet(OF_ONE_RUN)
}

/// Instructions in the functions of a row.
fn in_functions(row: &PathResult) -> u64 {
    row.functions.iter().fold(0, |sum, one| sum.saturating_add(one.instructions))
}

/// The functions of a row, the most expensive first.
fn row_functions(row: &PathResult, most: usize, style: Style) -> String {
    let mut table = Table::new(&[
        (&*row.path, Align::Left),
        ("instructions", Align::Right),
        ("calls", Align::Right),
        ("share", Align::Right),
    ]);
    let mut functions: Vec<&FunctionCost> = row.functions.iter().collect();
    functions.sort_by_key(|one| (Reverse(one.instructions), &one.function));
    for one in functions.iter().take(most) {
        table.row([
            one.function.as_str().into(),
            grouped(one.instructions).into(),
            grouped(one.calls).into(),
            share(one.instructions, in_functions(row)).into(),
        ]);
    }
    let more = match functions.len().saturating_sub(most) {
        0 => String::new(),
        more => style.quiet(&format!("{}: {HOW_TO_UNFOLD}", plural(more, "more function"))),
    };
    "\n".to_owned() + &table.render(style) + &more
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
            "\n".to_owned() + &style.quiet(&format!("{more} {have} functions: {HOW_TO_UNFOLD}"))
        }
    }
}

/// The rows, the most expensive first; then those that are folded, and the sum.
fn costs(result: &Measurement, shown: Rows, style: Style) -> String {
    let Some(sum) = whole(result) else { return String::new() };
    let mut rows: Vec<RowCosts<'_>> = result.row_costs().collect();
    rows.sort_by_key(|row| Reverse((row.typical().instructions, row.first.instructions)));
    let is_small = |row: &RowCosts| {
        let below = |part: &RowCost, whole: &RowCost| {
            u128::from(part.instructions) * u128::from(SMALL) < u128::from(whole.instructions)
        };
        shown == Rows::Folded
            && below(&row.first, &sum.first)
            && below(row.typical(), sum.typical())
    };
    let (small, large): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_small);
    let marked = large.iter().chain([&sum]).any(|row| row.typical().values > 1);
    let mut table = costs_table(&sum);
    for row in &large {
        table.row(cells(row, &sum, marked, [row_calls(row), per_call(row)]));
    }
    // Calls of different work don't add up to anything.
    table.row(cells(&sum, &sum, marked, [String::new(), String::new()]));
    let calls_differ = large.iter().any(|row| row.first.calls != row.typical().calls);
    let unseen = unseen(result.row_costs().map(|row| row.name), &[&result.configuration.condition]);
    let runs = result.execution.as_ref().map_or(0, |execution| execution.runs.len());
    let legend = legend(runs, calls_differ, marked, &unseen, style);
    let twice = faults_of_qemu(&large, style);
    table.render(style) + &fold(&small, &sum, style) + &legend + &twice
}

/// How many page faults of these rows no processor takes, and why.
fn faults_of_qemu(rows: &[RowCosts<'_>], style: Style) -> String {
    let of_qemu = rows.iter().filter(|row| row.kind == RowKind::InterpreterFault);
    let all: Vec<Calls> = of_qemu.map(|row| row.typical().calls).collect();
    if all.is_empty() {
        return String::new();
    }
    let sum = |of: fn(&Calls) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let number = calls(Calls { least: sum(|it| it.least), most: sum(|it| it.most) });
    style.quiet(&format!("page faults that QEMU alone takes: {number} a run; {FAULTS_OF_QEMU}"))
}

/// Why there are page faults that no processor takes, and what of them is in a program's own work.
const FAULTS_OF_QEMU: &str = "an instruction that changes memory faults once on a processor and \
     twice here, of which own work has the second. Where a huge page is touched first in this way, \
     own work also has the faults of its small pages: boot:transparent_hugepage=never shows how \
     many";

/// All that the rows add up to: of a process it is its own work.
fn whole(result: &Measurement) -> Option<RowCosts<'_>> {
    result.total(RowKind::Sum).or_else(|| result.total(RowKind::OwnWork))
}

fn costs_table(sum: &RowCosts<'_>) -> Table {
    let table = Table::new(&[
        ("what", Align::Left),
        ("calls", Align::Right),
        (if sum.later.is_some() { "first" } else { "instructions" }, Align::Right),
        ("later", Align::Right),
        ("per call", Align::Right),
        ("share", Align::Right),
        ("slow", Align::Right),
        ("string bytes", Align::Right),
        ("lines", Align::Right),
        ("visits", Align::Right),
    ]);
    table.sparing(&["visits", "lines", "string bytes", "slow"])
}

fn cells(
    row: &RowCosts<'_>,
    sum: &RowCosts<'_>,
    marked: bool,
    [calls, per_call]: [String; 2],
) -> [Cell; 10] {
    let cost = row.typical();
    let later = row
        .later
        .as_ref()
        .map_or_else(String::new, |later| number(later.instructions, later.values, marked));
    [
        row.name.into(),
        calls.into(),
        grouped(row.first.instructions).into(),
        later.into(),
        per_call.into(),
        share(cost.instructions, sum.typical().instructions).into(),
        some(slow(cost)).into(),
        some(cost.of_event(Event::StringBytes)).into(),
        some(cost.of_event(Event::DataLines)).into(),
        some(cost.of_event(Event::LineVisits)).into(),
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
fn number(instructions: u64, values: usize, marked: bool) -> String {
    let marker = if values > 1 { MANY_VALUES } else { ONE_VALUE };
    let number = grouped(instructions);
    if marked { format!("{number}{marker}") } else { number }
}

/// `3`, or `3…4` if runs differ.
fn calls(Calls { least, most }: Calls) -> String {
    if least == most { grouped(least) } else { format!("{}…{}", grouped(least), grouped(most)) }
}

/// The calls of a run; those of the first run before the others where they differ.
fn row_calls(row: &RowCosts<'_>) -> String {
    let (first, later) = (row.first.calls, row.typical().calls);
    if first == later { calls(later) } else { format!("{}{BEFORE}{}", calls(first), calls(later)) }
}

/// Instructions a call; the program's own code is not called.
fn per_call(row: &RowCosts<'_>) -> String {
    match row.typical().per_call {
        _ if row.kind == RowKind::User => String::new(),
        number => number.map_or_else(|| NONE.to_owned(), grouped),
    }
}

/// `23 more rows, 0.3 %: --all shows them`.
fn fold(small: &[RowCosts<'_>], sum: &RowCosts<'_>, style: Style) -> String {
    let instructions = small.iter().map(|row| row.typical().instructions);
    let instructions = instructions.fold(0, u64::saturating_add);
    let share = share(instructions, sum.typical().instructions);
    let comma = if share.is_empty() { "" } else { ", " };
    let line = match small.len() {
        0 => return String::new(),
        1 => format!("1 more row{comma}{share}: {HOW_TO_UNFOLD}"),
        rows => format!("{rows} more rows{comma}{share}: {HOW_TO_UNFOLD}"),
    };
    style.quiet(&line)
}

fn legend(runs: usize, calls_differ: bool, marked: bool, unseen: &[&str], style: Style) -> String {
    let mut lines = match runs {
        0 | 1 => vec!["numbers are instructions, in the only run".to_owned()],
        runs => vec![
            "numbers are instructions; first is the first run".to_owned(),
            format!(
                "later, and the columns right of it, are medians of the {} later runs",
                runs - 1
            ),
        ],
    };
    if calls_differ {
        lines.push(format!("N{BEFORE}M calls: N in the first run, M in the later ones"));
    }
    if marked {
        lines.push(format!("{MANY_VALUES} marks several exact values; their median is shown"));
    }
    let unseen = unseen.iter().map(|line| style.quiet(line));
    lines.iter().map(|line| style.quiet(line)).chain(unseen).collect()
}

/// What the steps of all rows add up to.
fn add_up(result: &Measurement, execution: &Execution, style: Style) -> String {
    let (Some(sum), Some(first)) = (whole(result), execution.runs.first()) else {
        return String::new();
    };
    let steps = sum.first.of_event(Event::Clock);
    if result.only_process().is_some() {
        let (steps, all) = (grouped(steps), grouped(first.clock.saturating_sub(first.idle)));
        return style.quiet(&format!(
            "first run: own work {steps} of all {all} steps; the rest belongs to other processes, \
             or to none"
        ));
    }
    let (sum, clock, idle) = (grouped(steps), grouped(first.clock), grouped(first.idle));
    let first = format!("first run: sum {sum} steps = the guest's clock {clock} minus idle {idle}");
    // The rows of each run add up to this.
    let later = || execution.runs.iter().skip(1).map(|run| run.clock.saturating_sub(run.idle));
    let later = later().min().zip(later().max()).map(|(least, most)| {
        let steps = calls(Calls { least, most });
        format!("later runs: sum {steps} steps, in each run its clock minus idle")
    });
    let step = "a step is an instruction, or an iteration of a string instruction".to_owned();
    let lines = std::iter::once(first).chain(later).chain([step]);
    lines.map(|line| style.quiet(&line)).collect()
}

/// The program's own regions, if it has any.
fn regions(result: &Measurement, style: Style) -> String {
    let regions: Vec<&PathResult> = result.paths.iter().filter(|it| it.work.is_none()).collect();
    if regions.is_empty() {
        return String::new();
    }
    "\n".to_owned() + &results(&regions, result.configuration.clock, Rows::All, style)
}
