//! A budget: errors name a line that the file has, and checking never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_gate::budget::{parse_budget, today};
use pathmeter_model::example::{self, runs};
use pathmeter_model::{Measurement, PathResult, RowKind, Unit};

const PATHS: [&str; 3] = ["switch.yield", "syscall.getppid", "user.parse"];

/// A result of these paths.
fn of_paths(names: &[&str]) -> Measurement {
    let path = |name: &&str| PathResult::ok(name, Unit::Instructions, &[vec![100]], Vec::new());
    let paths = names.iter().map(path).collect();
    example::measurement("bzImage", example::configuration("6.1.0", 2), paths)
}

/// A result of a program with rows.
fn of_program() -> Measurement {
    let rows = vec![
        runs::row(RowKind::Syscall, "openat", 1, 100),
        runs::row(RowKind::PageFault, "write, not present", 1, 100),
    ];
    runs::program("bzImage", example::configuration("6.1.0", 2), vec![runs::run(0, rows)]).result()
}

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let within = |line: Option<usize>| assert!(line.is_none_or(|line| 1 <= line && line <= lines));
    let budget = match parse_budget(bytes) {
        Ok(budget) => budget,
        Err(error) => return within(error.line),
    };
    let of_kernel = of_paths(&PATHS);
    let mut of_program = of_program();
    of_program.paths.extend(of_kernel.paths.clone());
    for side in [of_kernel, of_program] {
        let checked = budget.check(&[side.clone(), side]);
        within(checked.err().and_then(|error| error.line));
    }
    assert!(budget.expired(today()).all(|(line, names, _)| line <= lines && !names.is_empty()));
});
