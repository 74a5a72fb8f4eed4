//! The processes of a program: what each of them cost.
//!
//! A process has rows as the program has, but only of own work: interrupts, softirqs and kernel
//! threads belong to no process. What all processes cost together is the program's own work.

use pathmeter_trace::{Event, RowKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program_rows::{row, rows, total};
use crate::row_name::OWN_WORK;
use crate::work::Counts;
use crate::{PathResult, ProcessRun, ProgramRun};

/// The name of what belongs to processes for which there was no room.
pub const MORE_PROCESSES: &str = "(more processes)";
/// The name of what belongs to processes that the program did not start, or of which the start was
/// not seen.
pub const UNKNOWN_PROCESSES: &str = "(unknown processes)";

/// What a process of a program cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessResult {
    /// Its program, by the first 15 bytes of its file's name, after the programs of the processes
    /// that it descends from: `sh/redis-benchmark`. The second process of one name that another
    /// started is `sh/redis-benchmark[2]`.
    pub process: String,
    /// How many threads it had in each run, the first one included. 0 in a run without it, and of
    /// an entry that stands for several processes.
    pub threads: Vec<u64>,
    /// Its rows by kind and name, then all its own work. They are as those of the whole program,
    /// and have the same names.
    pub rows: Vec<PathResult>,
}

impl ProcessResult {
    /// The name of its program, without the processes that it descends from.
    pub fn program(&self) -> &str {
        let last = self.process.rsplit('/').next().unwrap_or_default();
        match last.strip_suffix(']').and_then(|last| last.rsplit_once('[')) {
            Some((name, number)) if number.parse::<u64>().is_ok() && !name.is_empty() => name,
            _ => last,
        }
    }

    /// All its own work.
    pub fn own_work(&self) -> Option<&PathResult> {
        self.rows.iter().find(|row| row.work_kind() == Some(RowKind::OwnWork))
    }
}

/// The processes of these runs, in the order in which the runs have them; none if no run has more
/// than one. Of each row the events `counted` were counted.
pub fn process_results(runs: &[ProgramRun], counted: &[Event]) -> Vec<ProcessResult> {
    if runs.iter().all(|run| run.processes.len() < 2) {
        return Vec::new();
    }
    let mut names: Vec<&str> = Vec::new();
    for process in runs.iter().flat_map(|run| &run.processes) {
        if !names.contains(&&*process.process) {
            names.push(&process.process);
        }
    }
    names.into_iter().map(|name| process_result(name, runs, counted)).collect()
}

fn process_result(name: &str, runs: &[ProgramRun], counted: &[Event]) -> ProcessResult {
    let of_run = |run: &ProgramRun| run.processes.iter().find(|it| it.process == name).cloned();
    let parts: Vec<Option<ProcessRun>> = runs.iter().map(of_run).collect();
    let threads = parts.iter().map(|part| part.as_ref().map_or(0, |part| part.threads)).collect();
    let alone = |(part, run): (Option<ProcessRun>, &ProgramRun)| ProgramRun {
        clock: run.clock,
        rows: part.map(|part| part.rows).unwrap_or_default(),
        processes: Vec::new(),
    };
    let alone: Vec<ProgramRun> = parts.into_iter().zip(runs).map(alone).collect();
    let mut rows = rows(&alone, counted);
    let own: Vec<Counts> = alone.iter().map(|run| total(run, RowKind::OwnWork)).collect();
    rows.push(row(OWN_WORK, RowKind::OwnWork, &own, counted));
    ProcessResult { process: name.to_owned(), threads, rows }
}
