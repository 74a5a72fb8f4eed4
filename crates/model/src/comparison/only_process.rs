//! The result of one process or thread of a program, or of several together, as that of the
//! program.

use std::collections::BTreeMap;

use pathmeter_trace::RowKind;

use crate::program::rows::row;
use crate::program::work::Counts;
use crate::{
    Configuration, Execution, Measurement, PathResult, ProcessResult, Program, SleepResult,
    ThreadResult,
};

impl Measurement {
    /// The program's processes; none if it had only one, of one thread, or if they were not told
    /// apart.
    pub fn processes(&self) -> &[ProcessResult] {
        self.execution.as_ref().map_or(&[], |execution| &execution.processes)
    }

    /// The process, or thread, that the rows are of, if they are not those of the whole program.
    pub fn only_process(&self) -> Option<&str> {
        self.configuration.program.as_ref()?.process.as_deref()
    }

    /// The result with the rows of these processes in place of the program's, added up where there
    /// are several; `asked` is what the user called them. It has no regions and windows, since
    /// these have the work of all processes.
    #[must_use]
    pub fn of_processes(&self, asked: &str, processes: &[&ProcessResult]) -> Self {
        let is_shown = |sleep: &SleepResult| {
            // A process is named where there are several.
            let of = |process: &&ProcessResult| Some(&process.process) == sleep.process.as_ref();
            let is_of_them = sleep.process.is_none() || processes.iter().any(of);
            sleep.kind != RowKind::Region && is_of_them
        };
        let rows: Vec<&[PathResult]> = processes.iter().map(|process| &*process.rows).collect();
        self.with_rows(asked, &rows, is_shown)
    }

    /// The same of threads. It has no sleeps, since these are told by process; a note says so where
    /// there are some.
    #[must_use]
    pub fn of_threads(&self, asked: &str, threads: &[&ThreadResult]) -> Self {
        let rows: Vec<&[PathResult]> = threads.iter().map(|thread| &*thread.rows).collect();
        let mut result = self.with_rows(asked, &rows, |_| false);
        if self.execution.as_ref().is_some_and(|execution| !execution.sleeps.is_empty()) {
            result.notes.push(SLEEPS_BY_PROCESS.to_owned());
        }
        result
    }

    fn with_rows(
        &self,
        asked: &str,
        parts: &[&[PathResult]],
        is_shown: impl Fn(&SleepResult) -> bool,
    ) -> Self {
        let program = self.configuration.program.clone();
        let program = program.map(|it| Program { process: Some(asked.to_owned()), ..it });
        let configuration = Configuration { program, ..self.configuration.clone() };
        let execution = self.execution.clone().map(|mut it| {
            it.sleeps.retain(is_shown);
            Execution { processes: Vec::new(), ..it }
        });
        let paths = match parts {
            [one] => one.to_vec(),
            several => added(several),
        };
        Self { configuration, paths, execution, ..self.clone() }
    }
}

/// What is said where the rows are a thread's.
const SLEEPS_BY_PROCESS: &str =
    "sleeps are told by process: --only-process with the name of the process shows them";

/// The rows of several parts, those of one name added up; all own work last.
fn added(parts: &[&[PathResult]]) -> Vec<PathResult> {
    let mut sums: BTreeMap<(RowKind, &str), (Vec<Counts>, &PathResult)> = BTreeMap::new();
    for part in parts.iter().copied().flatten() {
        let Some(kind) = part.work_kind() else { continue };
        let nothing = || (vec![Counts::default(); part.counts().len()], part);
        let (sum, _) = sums.entry((kind, &part.path)).or_insert_with(nothing);
        for (sum, run) in sum.iter_mut().zip(part.counts()) {
            sum.include(&run);
        }
    }
    let rows = sums.into_iter();
    rows.map(|((kind, name), (runs, like))| row(name, kind, &runs, &like.further_events()))
        .collect()
}
