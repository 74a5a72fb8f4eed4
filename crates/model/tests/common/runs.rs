//! A small program's result to vary.

use std::collections::BTreeMap;

pub(crate) use pathmeter_model::example::runs::row;
use pathmeter_model::example::runs::{self as example, ProgramExample};
use pathmeter_model::{Output, Program, ProgramRow, ProgramRun, RowKind, Written};

use pathmeter_trace::{Event, SlowInstruction};

use super::{measurement, path};

pub(crate) fn events<const N: usize>(numbers: [(&str, u64); N]) -> BTreeMap<Event, u64> {
    numbers.into_iter().map(|(name, number)| (Event::from_name(name).unwrap(), number)).collect()
}

/// Events that the results here have counted in rows.
pub(crate) const COUNTED: [Event; 4] = [
    Event::StringBytes,
    Event::DataLines,
    Event::Slow(SlowInstruction::MovToCr3),
    Event::Slow(SlowInstruction::Verw),
];

/// A run of these rows, in which the CPU did not idle.
pub(crate) fn run(rows: &[ProgramRow]) -> ProgramRun {
    example::run(0, rows.to_vec())
}

/// `echo hello` on the kernel in the file `name`.
pub(crate) fn program(name: &str, runs: Vec<ProgramRun>) -> ProgramExample {
    let example = example::program(name, measurement(name, vec![]).configuration, runs);
    let program = Program {
        command: vec!["/bin/echo".into(), "hello".into()],
        environment: vec!["LANG=C".into()],
        ..example.program
    };
    let stdout = Written { text: "hello\n".into(), bytes: 6, truncated: false };
    let output = Output { stdout, stderr: Written::default() };
    ProgramExample { program, output, events: COUNTED.to_vec(), ..example }
}

/// A result with a first and a later run, and a region.
pub(crate) fn whole_program() -> ProgramExample {
    let write = |instructions| ProgramRow {
        steps: instructions + 20,
        events: events([("string-bytes", 160), ("data-lines", 40)]),
        ..row(RowKind::Syscall, "write", 1, instructions)
    };
    let user = row(RowKind::User, "", 1, 5000);
    let tick = row(RowKind::Interrupt, "sysvec_apic_timer_interrupt", 1, 900);
    let first = example::run(300, vec![tick, write(1000), user.clone()]);
    let later = run(&[user, write(800)]);
    let regions = vec![path("user.parse", &[70, 70])];
    ProgramExample { regions, ..program("vmlinuz", vec![first, later]) }
}

/// The same of two processes: the program's code is one's, and `write` the other's.
#[allow(dead_code, reason = "not every test has processes")]
pub(crate) fn two_processes() -> ProgramExample {
    let whole = whole_program();
    let runs = whole.runs.into_iter().map(|run| {
        let own = ProgramRun { rows: sorted(run.rows), ..run };
        example::of_processes(own, &["sh", "sh/echo"])
    });
    ProgramExample { runs: runs.collect(), ..program("vmlinuz", vec![]) }
}

/// The same of one process with two threads: the program's code is one's, and `write` the other's.
#[allow(dead_code, reason = "not every test has threads")]
pub(crate) fn two_threads() -> ProgramExample {
    let whole = two_processes();
    let runs = whole
        .runs
        .into_iter()
        .map(|run| example::of_threads(example::of_processes(run, &["sh"]), &[&["sh", "io"]]));
    ProgramExample { runs: runs.collect(), ..program("vmlinuz", vec![]) }
}

fn sorted(mut rows: Vec<ProgramRow>) -> Vec<ProgramRow> {
    rows.sort_by_key(|row| row.kind);
    rows
}
