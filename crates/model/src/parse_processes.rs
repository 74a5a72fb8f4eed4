//! Checks of the processes of a program's result that came from outside: sizes are bounded, and in
//! every run each row of own work is what the processes' rows of its name add up to.

use std::collections::{BTreeMap, HashSet};

use pathmeter_trace::RowKind;

use crate::bounds::{bounded, quoted};
use crate::limits::MAX_NAME_BYTES;
use crate::parse_execution::{check_row, field};
use crate::work::Counts;
use crate::{Measurement, ParseError, PathResult, ProcessResult};

/// Most processes in a program's result, and most rows of all of them.
const MAX_PROCESSES: usize = 1 << 12;
const MAX_PROCESS_ROWS: usize = 1 << 16;

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
    let whole = sums(&result.paths, runs);
    let parts = sums(processes.iter().flat_map(|process| &process.rows), runs);
    let differs =
        |(key, numbers): &(&(RowKind, &str), &Vec<Counts>)| whole.get(key) != Some(numbers);
    let odd = parts.iter().find(differs).map(|(key, _)| key);
    match odd.or_else(|| whole.keys().find(|key| !parts.contains_key(key))) {
        Some((_, name)) => {
            let what = format!("{} is not what the processes have of it", quoted(name));
            Err(field("execution.processes", &what))
        }
        None => Ok(()),
    }
}

fn check_bounds(processes: &[ProcessResult]) -> Result<(), ParseError> {
    bounded("number of processes", processes.len(), MAX_PROCESSES)?;
    let rows = processes.iter().map(|process| process.rows.len()).sum();
    bounded("number of rows of all processes", rows, MAX_PROCESS_ROWS)?;
    let longest = processes.iter().map(|process| process.process.len()).max().unwrap_or(0);
    bounded("length of a process's name in bytes", longest, MAX_NAME_BYTES)?;
    let mut seen = HashSet::new();
    match processes.iter().find(|process| !seen.insert(process.process.as_str())) {
        Some(twice) => {
            let what = format!("{} is there twice", quoted(&twice.process));
            Err(field("execution.processes", &what))
        }
        None => Ok(()),
    }
}

/// That a process has rows of own work, which add up to all of it.
fn check_process(process: &ProcessResult, runs: usize) -> Result<(), String> {
    if process.threads.len() != runs {
        return Err(format!("it does not have the threads of {runs} runs"));
    }
    for row in &process.rows {
        let kind = row.work_kind();
        if !kind.is_some_and(|kind| kind == RowKind::OwnWork || kind.is_own_work()) {
            return Err(format!("{} is no row of own work", quoted(&row.path)));
        }
        check_row(row, runs).map_err(|what| format!("{}: {what}", quoted(&row.path)))?;
    }
    let own = process.own_work().map(PathResult::counts);
    let parts = process.rows.iter().filter(|row| row.work_kind() != Some(RowKind::OwnWork));
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
