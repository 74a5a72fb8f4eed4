//! The processes of a program: a row for each with all its own work, and one for each of its
//! threads.

use pathmeter_model::{
    Calls, Measurement, PathResult, ProcessResult, RowCosts, RowKind, ThreadResult,
};

use super::{HOW_TO_UNFOLD, calls, number};
use crate::number::{grouped, share};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Cell, Table};

/// Most processes that are shown, those that cost most.
const MOST_SHOWN: usize = 16;

/// A process and all its own work.
type Process<'a> = (&'a ProcessResult, RowCosts<'a>);

/// The processes in the order of their tree, if there are several; of many those that cost most. If
/// all rows are shown, then threads too, below their process: those of an only process as well.
pub(super) fn processes(result: &Measurement, shown: Rows, style: Style) -> String {
    let Some(own) = result.total(RowKind::OwnWork) else { return String::new() };
    let costs = |process| Some((process, ProcessResult::own_work(process)?.costs()?));
    let all: Vec<Process<'_>> = result.processes().iter().filter_map(costs).collect();
    let threaded = all.iter().any(|(process, _)| !process.by_thread.is_empty());
    match &all[..] {
        [] => return String::new(),
        [(only, _)] if shown != Rows::All => return threads_of_only(only, style),
        _ => (),
    }
    let (large, more) = parted(all, shown);
    let marked = large.iter().map(|(_, row)| row).chain([&own]).any(|it| it.typical().values > 1);
    let mut table = table(own.later.is_some());
    for (process, row) in &large {
        let words = [process.process.clone(), threads(process), user_code(&process.rows)];
        table.row(cells(words, row, &own, marked));
        for thread in process.by_thread.iter().filter(|_| shown == Rows::All) {
            let Some(row) = thread.own_work().and_then(PathResult::costs) else { continue };
            let words = [place(process, thread), String::new(), user_code(&thread.rows)];
            table.row(cells(words, &row, &own, marked));
        }
    }
    let words = [own.name.to_owned(), String::new(), String::new()];
    table.row(cells(words, &own, &own, marked));
    let more = match more {
        0 => String::new(),
        more => style.quiet(&format!("{more} more of smaller cost: {HOW_TO_UNFOLD}")),
    };
    let about_threads: &[&str] = match shown {
        _ if !threaded => &[],
        Rows::All => WHAT_THREADS_ARE,
        Rows::Folded => HOW_TO_SEE_THREADS,
    };
    let legend: String =
        [WHAT_ELSE].iter().chain(about_threads).map(|it| style.quiet(it)).collect();
    "\n".to_owned() + &table.render(style) + &more + &legend
}

/// Where a thread stands below its process: its number, and what the kernel calls it.
fn place(process: &ProcessResult, thread: &ThreadResult) -> String {
    format!("  {} {}", process.number_of(thread), thread.names.join(", ")).trim_end().to_owned()
}

/// What is said of the threads of a program that has only one process.
fn threads_of_only(process: &ProcessResult, style: Style) -> String {
    let threads = threads(process);
    "\n".to_owned() + &style.quiet(&format!("{threads} threads: --all shows the rows of each"))
}

/// The instructions of the program's own code in these rows.
fn user_code(rows: &[PathResult]) -> String {
    let user = rows.iter().find(|row| row.work_kind() == Some(RowKind::User));
    grouped(user.and_then(|row| Some(row.costs()?.typical().instructions)).unwrap_or(0))
}

/// What is beside the processes, and how to see one of them.
const WHAT_ELSE: &str = "--only-process NAME shows its rows; interrupts, softirqs and \
                         kernel threads belong to no process";

const HOW_TO_SEE_THREADS: &[&str] = &["--all shows the threads of each process"];
const WHAT_THREADS_ARE: &[&str] = &[
    "threads are numbered in the order of their start; their names are those in the kernel",
    "--only-process NAME:NUMBER shows the rows of one thread",
];

/// Those that are shown, in the same order, and how many are not.
fn parted(mut all: Vec<Process<'_>>, shown: Rows) -> (Vec<Process<'_>>, usize) {
    let most = if shown == Rows::All { usize::MAX } else { MOST_SHOWN };
    let cost = |(_, row): &Process<'_>| row.typical().instructions;
    let mut costs: Vec<u64> = all.iter().map(cost).collect();
    costs.sort_unstable_by(|one, other| other.cmp(one));
    let least = costs.get(most.saturating_sub(1)).copied().unwrap_or(0);
    let count = all.len();
    all.retain(|process| cost(process) >= least);
    let more = count - all.len();
    (all, more)
}

fn table(has_later: bool) -> Table {
    let table = Table::new(&[
        ("process", Align::Left),
        ("threads", Align::Right),
        (if has_later { "first" } else { "instructions" }, Align::Right),
        ("later", Align::Right),
        ("share", Align::Right),
        ("user code", Align::Right),
    ]);
    table.sparing(&["user code", "threads"])
}

fn cells(
    [name, threads, user]: [String; 3],
    row: &RowCosts<'_>,
    own: &RowCosts<'_>,
    marked: bool,
) -> [Cell; 6] {
    let later = row.later.as_ref();
    let later = later.map_or_else(String::new, |it| number(it.instructions, it.values, marked));
    [
        name.as_str().into(),
        threads.into(),
        grouped(row.first.instructions).into(),
        later.into(),
        share(row.typical().instructions, own.typical().instructions).into(),
        user.into(),
    ]
}

/// How many threads it had: `3`, or `3…4` if runs differ; nothing if it is several processes.
fn threads(process: &ProcessResult) -> String {
    let (least, most) = (process.threads.iter().min(), process.threads.iter().max());
    match least.zip(most) {
        Some((least, most)) if *most > 0 => calls(Calls { least: *least, most: *most }),
        _ => String::new(),
    }
}
