//! Checks of the processes and threads of a program's result that came from outside: sizes are
//! bounded, and in every run each row of own work is what the processes' rows of its name add up
//! to, and each of a process what its threads' rows do.

use std::collections::{BTreeMap, HashSet};

use pathmeter_trace::RowKind;

use crate::program::check::check_row;
use crate::program::work::Counts;
use crate::reading::bounds::{bounded, field, quoted};
use crate::reading::limits::MAX_NAME_BYTES;
use crate::{Measurement, ParseError, PathResult, ProcessResult, ThreadResult};

/// Most processes in a program's result, and most rows of all of them.
const MAX_PROCESSES: usize = 1 << 12;
const MAX_PROCESS_ROWS: usize = 1 << 16;
/// Most threads of all processes, and most rows of all of them.
const MAX_THREADS: usize = 1 << 12;
const MAX_THREAD_ROWS: usize = 1 << 16;
/// Longest name of a thread: its process's, and what tells it from others.
const MAX_THREAD_BYTES: usize = MAX_NAME_BYTES + 32;
/// Longest name that the kernel has for a thread, in bytes: 15 of any value, each of which may have
/// been replaced by three.
const MAX_KERNEL_NAME_BYTES: usize = 45;

/// By kind and name: the numbers of each run.
type Sums<'a> = BTreeMap<(RowKind, &'a str), Vec<Counts>>;

/// Checks what the result has of processes. The rest was checked before, and so were the paths of
/// each process.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do.
pub(crate) fn check_processes(result: &Measurement) -> Result<(), ParseError> {
    let processes = result.processes();
    let runs = result.execution.as_ref().map_or(0, |execution| execution.runs.len());
    check_bounds(processes)?;
    if processes.is_empty() {
        return Ok(());
    }
    for process in processes {
        let name = format!("process {}", quoted(&process.process));
        check_process(process, runs).map_err(|what| field(&name, &what))?;
    }
    match differing(&result.paths, processes.iter().flat_map(|process| &process.rows), runs) {
        Some(name) => {
            let what = format!("{} is not what the processes have of it", quoted(name));
            Err(field("execution.processes", &what))
        }
        None => Ok(()),
    }
}

/// A row of own work that is not what the parts of its name add up to.
fn differing<'a>(
    whole: &'a [PathResult],
    parts: impl Iterator<Item = &'a PathResult>,
    runs: usize,
) -> Option<&'a str> {
    let (whole, parts) = (sums(whole, runs), sums(parts, runs));
    let odd = parts.iter().find(|(key, numbers)| whole.get(key) != Some(numbers));
    let odd = odd.map(|(key, _)| key).or_else(|| whole.keys().find(|it| !parts.contains_key(it)));
    odd.map(|(_, name)| *name)
}

fn check_bounds(processes: &[ProcessResult]) -> Result<(), ParseError> {
    bounded("number of processes", processes.len(), MAX_PROCESSES)?;
    let rows = processes.iter().map(|process| process.rows.len()).sum();
    bounded("number of rows of all processes", rows, MAX_PROCESS_ROWS)?;
    let longest = processes.iter().map(|process| process.process.len()).max().unwrap_or(0);
    bounded("length of a process's name in bytes", longest, MAX_NAME_BYTES)?;
    let threads = || processes.iter().flat_map(|process| &process.by_thread);
    bounded("number of threads", threads().count(), MAX_THREADS)?;
    let rows = threads().map(|thread| thread.rows.len()).sum();
    bounded("number of rows of all threads", rows, MAX_THREAD_ROWS)?;
    let longest = threads().map(|thread| thread.thread.len()).max().unwrap_or(0);
    bounded("length of a thread's place in bytes", longest, MAX_THREAD_BYTES)?;
    let longest = threads().flat_map(|thread| &thread.names).map(String::len).max().unwrap_or(0);
    bounded("length of a thread's name in bytes", longest, MAX_KERNEL_NAME_BYTES)?;
    let mut seen = HashSet::new();
    match processes.iter().find(|process| !seen.insert(process.process.as_str())) {
        Some(twice) => {
            let what = format!("{} is there twice", quoted(&twice.process));
            Err(field("execution.processes", &what))
        }
        None => Ok(()),
    }
}

/// That a process has rows of own work, which add up to all of it, and that its threads' rows add
/// up to them, if it has such.
fn check_process(process: &ProcessResult, runs: usize) -> Result<(), String> {
    if process.threads.len() != runs {
        return Err(format!("it does not have the threads of {runs} runs"));
    }
    check_rows(&process.rows, runs)?;
    if process.by_thread.is_empty() {
        return Ok(());
    }
    let mut seen = HashSet::new();
    for thread in &process.by_thread {
        let what = |what: String| format!("thread {}: {what}", quoted(&thread.thread));
        check_thread(thread, &process.process, runs).map_err(what)?;
        if !seen.insert(&thread.thread) {
            return Err(what("it is there twice".to_owned()));
        }
    }
    let parts = process.by_thread.iter().flat_map(|thread| &thread.rows);
    match differing(&process.rows, parts, runs) {
        Some(name) => Err(format!("{} is not what the threads have of it", quoted(name))),
        None => Ok(()),
    }
}

/// That a thread is one of this process, and its rows add up to all of its own work.
fn check_thread(thread: &ThreadResult, process: &str, runs: usize) -> Result<(), String> {
    let number = thread.thread.strip_prefix(process).and_then(|rest| rest.strip_prefix(':'));
    if number.is_none_or(str::is_empty) {
        return Err("it is not called by its process and a number".to_owned());
    }
    if thread.names.len() > runs {
        return Err(format!("it has more names than {runs} runs"));
    }
    check_rows(&thread.rows, runs)
}

/// That these are rows of own work, which add up to all of it.
fn check_rows(rows: &[PathResult], runs: usize) -> Result<(), String> {
    for row in rows {
        let kind = row.work_kind();
        if !kind.is_some_and(|kind| kind == RowKind::OwnWork || kind.is_own_work()) {
            return Err(format!("{} is no row of own work", quoted(&row.path)));
        }
        check_row(row, runs).map_err(|what| format!("{}: {what}", quoted(&row.path)))?;
    }
    let is_total = |row: &&PathResult| row.work_kind() == Some(RowKind::OwnWork);
    let own = rows.iter().find(is_total).map(PathResult::counts);
    let parts = rows.iter().filter(|row| !is_total(row));
    let mut sum = vec![Counts::default(); runs];
    parts.for_each(|row| include(&mut sum, row));
    if own != Some(sum) {
        return Err("its own work is not what its rows add up to".to_owned());
    }
    Ok(())
}

/// The rows of own work and their total, those of one kind and name added up.
fn sums<'a>(rows: impl IntoIterator<Item = &'a PathResult>, runs: usize) -> Sums<'a> {
    let mut sums = Sums::new();
    for row in rows {
        let kind = row.work_kind().filter(|it| *it == RowKind::OwnWork || it.is_own_work());
        let Some(kind) = kind else { continue };
        let sum = sums.entry((kind, &row.path)).or_insert_with(|| vec![Counts::default(); runs]);
        include(sum, row);
    }
    sums
}

/// Adds the numbers of a row, run by run.
fn include(sum: &mut [Counts], row: &PathResult) {
    sum.iter_mut().zip(row.counts()).for_each(|(sum, run)| sum.include(&run));
}
