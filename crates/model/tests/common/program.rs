//! A small program's result to vary.

use std::collections::BTreeMap;

use pathmeter_model::{
    Ended, Output, Program, ProgramResult, ProgramRow, ProgramRun, ProgramSchema, RowKind, Written,
};

use pathmeter_trace::{Event, SlowInstruction};

use super::{measurement, path};

/// A row of so many calls and instructions, in which no string instruction was executed.
pub(crate) fn row(kind: RowKind, name: &str, calls: u64, instructions: u64) -> ProgramRow {
    ProgramRow {
        kind,
        name: name.into(),
        calls,
        instructions,
        steps: instructions,
        events: BTreeMap::new(),
    }
}

/// Numbers of events.
pub(crate) fn events<const N: usize>(numbers: [(&str, u64); N]) -> BTreeMap<Event, u64> {
    numbers.into_iter().map(|(name, number)| (Event::named(name).unwrap(), number)).collect()
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
    ProgramRun::new(rows.iter().map(|row| row.steps).sum(), 0, rows.to_vec())
}

/// `echo hello` on the kernel in the file `name`.
pub(crate) fn program(name: &str, runs: Vec<ProgramRun>) -> ProgramResult {
    let of_kernel = measurement(name, vec![]);
    let program = Program {
        command: vec!["/bin/echo".into(), "hello".into()],
        environment: vec!["LANG=C".into()],
        packed_sha256: "d3".repeat(32),
        files: 3,
        bytes: 2_000_000,
        modules: vec![],
        windows: vec![],
    };
    let stdout = Written { text: "hello\n".into(), bytes: 6, truncated: false };
    ProgramResult {
        schema: ProgramSchema::V1,
        subject: of_kernel.subject,
        configuration: of_kernel.configuration,
        program,
        ended: Ended::Code(0),
        output: Output { stdout, stderr: Written::default() },
        events: COUNTED.to_vec(),
        runs,
        regions: vec![],
        functions: None,
        notes: vec![],
    }
}

/// A result with a first and a later run, and a region.
pub(crate) fn whole_program() -> ProgramResult {
    let write = |instructions| ProgramRow {
        steps: instructions + 20,
        events: events([("string-bytes", 160), ("data-lines", 40)]),
        ..row(RowKind::Syscall, "write", 1, instructions)
    };
    let user = row(RowKind::User, "", 1, 5000);
    let tick = row(RowKind::Interrupt, "sysvec_apic_timer_interrupt", 1, 900);
    let first = ProgramRun::new(6920 + 300, 300, vec![tick, write(1000), user.clone()]);
    let later = run(&[user, write(800)]);
    let regions = vec![path("user.parse", &[70, 70])];
    ProgramResult { regions, ..program("vmlinuz", vec![first, later]) }
}
