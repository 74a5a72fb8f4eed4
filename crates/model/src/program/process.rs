//! The processes of a program: what each of them cost.
//!
//! A process has rows as the program has, but only of own work: interrupts, softirqs and kernel
//! threads belong to no process. What all processes cost together is the program's own work.

use pathmeter_trace::RowKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PathResult;

/// The name of what belongs to processes for which there was no room.
pub const MORE_PROCESSES: &str = "(more processes)";
/// The name of what belongs to processes that the program did not start, or of which the start was
/// not seen.
pub const UNKNOWN_PROCESSES: &str = "(unknown processes)";

/// What stands in the number's place for threads of a process for which there was no room.
pub const MORE_THREADS: &str = "(more threads)";

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
    /// What each of its threads cost; in each run their rows add up to its own. Empty if it never
    /// had more than one, or if they were not told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_thread: Vec<ThreadResult>,
}

/// What a thread of a process cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResult {
    /// Its process, and its number by the order in which the process started its threads:
    /// `sh/redis-server:2`. The first thread of each process has the number 1. Threads for which
    /// there was no room are one entry, `sh/redis-server:(more threads)`.
    pub thread: String,
    /// What the kernel called it when it last ran, in each run that had it, each name once. The
    /// thread may have chosen that name (`prctl`, `pthread_setname_np`).
    pub names: Vec<String>,
    /// Its rows by kind and name, then all its own work, as those of its process.
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

    /// The row of all its own work.
    pub fn own_work(&self) -> Option<&PathResult> {
        own_work(&self.rows)
    }

    /// The number of a thread of it, or what stands in the number's place, after a colon: `:2`.
    pub fn number_of<'a>(&self, thread: &'a ThreadResult) -> &'a str {
        thread.thread.strip_prefix(&self.process).unwrap_or(&thread.thread)
    }
}

impl ThreadResult {
    /// The row of all its own work.
    pub fn own_work(&self) -> Option<&PathResult> {
        own_work(&self.rows)
    }
}

/// All own work in these rows.
fn own_work(rows: &[PathResult]) -> Option<&PathResult> {
    rows.iter().find(|row| row.work_kind() == Some(RowKind::OwnWork))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_of_a_program_whatever_its_number() {
        let program = |process: &str| {
            let process = process.to_owned();
            let (threads, rows, by_thread) = (vec![], vec![], vec![]);
            ProcessResult { process, threads, rows, by_thread }.program().to_owned()
        };
        for (process, name) in
            [("sh", "sh"), ("sh/a[2]", "a"), ("sh[2]/[", "["), ("a[x]", "a[x]"), ("[2]", "[2]")]
        {
            assert_eq!(program(process), name);
        }
    }
}
