//! A budget: errors name a line that the file has, and checking never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_gate::budget::{parse_budget, today};
use pathmeter_model::{Measurement, PathResult, RowKind, Unit, example};

const PATHS: [&str; 3] = ["switch.yield", "syscall.getppid", "user.parse"];
const ROWS: [&str; 3] = ["openat", "page fault: write, not present", "own work"];

/// A result of these paths, or of these rows of a program.
fn measurement(names: &[&str], work: Option<RowKind>) -> Measurement {
    let path = |name: &&str| {
        let path = PathResult::ok(name, Unit::Instructions, &[vec![100]], Vec::new());
        PathResult { work, ..path }
    };
    let paths = names.iter().map(path).collect();
    example::measurement("bzImage", example::configuration("6.1.0", 2), paths)
}

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let within = |line: Option<usize>| assert!(line.is_none_or(|line| 1 <= line && line <= lines));
    let budget = match parse_budget(bytes) {
        Ok(budget) => budget,
        Err(error) => return within(error.line),
    };
    let of_kernel = measurement(&PATHS, None);
    let mut of_program = measurement(&ROWS, Some(RowKind::Syscall));
    of_program.paths.extend(of_kernel.paths.clone());
    for side in [of_kernel, of_program] {
        let checked = budget.check(&[side.clone(), side]);
        within(checked.err().and_then(|error| error.line));
    }
    assert!(budget.expired(today()).all(|(line, names, _)| line <= lines && !names.is_empty()));
});
