//! A budget: errors name a line that the file has, and checking never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_budget::{parse_budget, today};

const PATHS: [&str; 3] = ["switch.yield", "syscall.getppid", "user.parse"];
const ROWS: [&str; 3] = ["openat", "page fault: write, not present", "own work"];

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let within = |line: Option<usize>| assert!(line.is_none_or(|line| 1 <= line && line <= lines));
    let budget = match parse_budget(bytes) {
        Ok(budget) => budget,
        Err(error) => return within(error.line),
    };
    for checked in [budget.check(&PATHS), budget.check_program(&ROWS, &PATHS)] {
        within(checked.err().and_then(|error| error.line));
    }
    assert!(budget.expired(today()).all(|(line, names, _)| line <= lines && !names.is_empty()));
});
