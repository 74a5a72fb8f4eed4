//! The result of one process of a program, or of several together, as that of the program.

use std::collections::BTreeMap;

use pathmeter_trace::RowKind;

use crate::program_rows::row;
use crate::work::Counts;
use crate::{
    Configuration, Execution, Measurement, PathResult, ProcessResult, Program, SleepResult,
};

impl Measurement {
    /// The program's processes; none if it had only one, or if they were not told apart.
    pub fn processes(&self) -> &[ProcessResult] {
        self.execution.as_ref().map_or(&[], |execution| &execution.processes)
    }

    /// The process that the rows are of, if they are not those of the whole program.
    pub fn only_process(&self) -> Option<&str> {
        self.configuration.program.as_ref()?.process.as_deref()
    }

    /// The result with the rows of these processes in place of the program's, added up where there
    /// are several; `asked` is what the user called them. It has no regions and windows, since
    /// these have the work of all processes.
    #[must_use]
    pub fn of_processes(&self, asked: &str, processes: &[&ProcessResult]) -> Self {
        let program = self.configuration.program.clone();
        let program = program.map(|it| Program { process: Some(asked.to_owned()), ..it });
        let configuration = Configuration { program, ..self.configuration.clone() };
        let is_shown = |sleep: &SleepResult| {
            let of = |process: &&ProcessResult| Some(&process.process) == sleep.process.as_ref();
            sleep.kind != RowKind::Region && processes.iter().any(of)
        };
        let execution = self.execution.clone().map(|mut it| {
            it.sleeps.retain(is_shown);
            Execution { processes: Vec::new(), ..it }
        });
        let paths = match processes {
            [one] => one.rows.clone(),
            several => added(several),
        };
        Self { configuration, paths, execution, ..self.clone() }
    }
}

/// The rows of several processes, those of one name added up; all own work last.
fn added(processes: &[&ProcessResult]) -> Vec<PathResult> {
    let mut sums: BTreeMap<(RowKind, &str), (Vec<Counts>, &PathResult)> = BTreeMap::new();
    for part in processes.iter().flat_map(|process| &process.rows) {
        let Some(kind) = part.work_kind() else { continue };
        let nothing = || (vec![Counts::default(); part.counts().len()], part);
        let (sum, _) = sums.entry((kind, &part.path)).or_insert_with(nothing);
        for (sum, run) in sum.iter_mut().zip(part.counts()) {
            sum.include(&run);
        }
    }
    let rows = sums.into_iter();
    rows.map(|((kind, name), (runs, like))| row(name, kind, &runs, &like.counted())).collect()
}
