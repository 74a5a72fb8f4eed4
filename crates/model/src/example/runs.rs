//! The runs of a program to vary, for the tests of every crate that takes results.

use std::collections::BTreeMap;

use pathmeter_trace::{Event, RowKind};

use crate::{
    Configuration, Ended, Execution, Measurement, Output, PathResult, ProcessRun, Program,
    ProgramRow, ProgramRun, ResultSchema, RowFunctions, RunClock, SleepResult, Subject, ThreadRun,
    WokenBy, process_results, program_rows,
};

/// The runs of a program to vary, of which a result is made last.
#[derive(Clone, Debug)]
pub struct ProgramExample {
    pub subject: Subject,
    /// How it was measured, but for the program.
    pub configuration: Configuration,
    pub program: Program,
    pub ended: Ended,
    pub output: Output,
    /// The events that were counted in each row.
    pub events: Vec<Event>,
    /// The first run, then the later ones.
    pub runs: Vec<ProgramRun>,
    /// The functions of the rows and regions.
    pub functions: Vec<RowFunctions>,
    pub regions: Vec<PathResult>,
    pub sleeps: Vec<SleepResult>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// `/bin/true` on the kernel in the file `name`.
#[must_use]
pub fn program(name: &str, configuration: Configuration, runs: Vec<ProgramRun>) -> ProgramExample {
    let program = Program {
        command: vec!["/bin/true".into()],
        packed_sha256: "d3".repeat(32),
        files: 1,
        bytes: 2_000,
        ..Program::default()
    };
    ProgramExample {
        subject: Subject::kernel_image(name),
        configuration,
        program,
        ended: Ended::Code(0),
        output: Output::default(),
        events: vec![],
        runs,
        functions: vec![],
        regions: vec![],
        sleeps: vec![],
        notes: vec![],
    }
}

impl ProgramExample {
    /// The result of these runs.
    #[must_use]
    pub fn result(&self) -> Measurement {
        let (functions, regions) = (self.functions.clone(), self.regions.clone());
        let execution = Execution {
            ended: self.ended,
            output: self.output.clone(),
            runs: self.runs.iter().map(|run| run.clock).collect(),
            processes: process_results(&self.runs, &self.events),
            sleeps: self.sleeps.clone(),
        };
        Measurement {
            schema: ResultSchema::V1,
            subject: self.subject.clone(),
            configuration: Configuration {
                program: Some(self.program.clone()),
                ..self.configuration.clone()
            },
            guest: None,
            paths: program_rows(&self.runs, &self.events, functions, regions),
            execution: Some(execution),
            notes: self.notes.clone(),
        }
    }
}

/// A row of so many calls and instructions, in which no string instruction was executed.
#[must_use]
pub fn row(kind: RowKind, name: &str, calls: u64, instructions: u64) -> ProgramRow {
    let (name, steps) = (name.to_owned(), instructions);
    ProgramRow { kind, name, calls, instructions, steps, events: BTreeMap::new() }
}

/// A run of these rows, in which the CPU idled for so many steps.
#[must_use]
pub fn run(idle: u64, rows: Vec<ProgramRow>) -> ProgramRun {
    let steps: u64 = rows.iter().map(|row| row.steps).sum();
    ProgramRun { clock: RunClock { clock: steps + idle, idle }, rows, processes: Vec::new() }
}

/// The same run of these processes, to which the rows of own work belong by turns.
#[must_use]
pub fn of_processes(run: ProgramRun, names: &[&str]) -> ProgramRun {
    let own = || run.rows.iter().filter(|row| row.kind.is_own_work());
    let process = |(at, name): (usize, &&str)| ProcessRun {
        process: (*name).to_owned(),
        threads: 1,
        rows: own().skip(at).step_by(names.len()).cloned().collect(),
        by_thread: Vec::new(),
    };
    let processes = names.iter().enumerate().map(process).collect();
    ProgramRun { processes, ..run }
}

/// The same run, in which each process has the threads of these names, to which its rows belong by
/// turns.
#[must_use]
pub fn of_threads(run: ProgramRun, names: &[&[&str]]) -> ProgramRun {
    let with_threads = |(process, names): (ProcessRun, &&[&str])| {
        let thread = |(at, name): (usize, &&str)| ThreadRun {
            thread: format!("{}:{}", process.process, at + 1),
            name: (*name).to_owned(),
            rows: process.rows.iter().skip(at).step_by(names.len()).cloned().collect(),
        };
        let by_thread = names.iter().enumerate().map(thread).collect();
        ProcessRun { threads: names.len() as u64, by_thread, ..process }
    };
    let processes = run.processes.into_iter().zip(names).map(with_threads).collect();
    ProgramRun { processes, ..run }
}

/// Sleeps of a process in a system call, so many in each of these runs, which the process `by`
/// ended in `work`; from each wake-up it is 100 steps until the task runs.
#[must_use]
pub fn sleep(
    process: &str,
    slept_in: &str,
    by: Option<&str>,
    work: &str,
    runs: &[u64],
) -> SleepResult {
    SleepResult {
        kind: RowKind::Syscall,
        slept_in: slept_in.to_owned(),
        process: Some(process.to_owned()),
        woken_by: WokenBy { process: by.map(str::to_owned), work: work.to_owned() },
        sleeps: runs.to_vec(),
        steps_to_run: runs.iter().map(|sleeps| sleeps * 100).collect(),
        idle: runs.iter().map(|_| Some(0)).collect(),
    }
}
