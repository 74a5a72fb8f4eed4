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
/// than one, or if some run does not tell them apart. Of each row the events `counted` were counted.
pub fn process_results(runs: &[ProgramRun], counted: &[Event]) -> Vec<ProcessResult> {
    let is_apart = runs.iter().all(|run| !run.processes.is_empty());
    if !is_apart || runs.iter().all(|run| run.processes.len() == 1) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::runs::{of_processes, row as work, run};

    #[test]
    fn processes_are_results_if_there_are_several_and_every_run_tells_them_apart() {
        let run = || run(0, vec![work(RowKind::User, "", 1, 5), work(RowKind::Syscall, "a", 1, 7)]);
        let names = |runs: &[ProgramRun]| -> Vec<String> {
            process_results(runs, &[]).into_iter().map(|process| process.process).collect()
        };
        let (one, two) = (of_processes(run(), &["sh"]), of_processes(run(), &["sh", "sh/a"]));
        assert_eq!(names(&[two.clone(), one.clone()]), ["sh", "sh/a"]);
        assert_eq!(names(&[one.clone(), one]), [""; 0]);
        assert_eq!(names(&[two, run()]), [""; 0]);
    }

    #[test]
    fn a_process_is_of_a_program_whatever_its_number() {
        let program = |process: &str| {
            let process = process.to_owned();
            ProcessResult { process, threads: vec![], rows: vec![] }.program().to_owned()
        };
        for (process, name) in
            [("sh", "sh"), ("sh/a[2]", "a"), ("sh[2]/[", "["), ("a[x]", "a[x]"), ("[2]", "[2]")]
        {
            assert_eq!(program(process), name);
        }
    }
}
