//! What Bochs' debugger prints of a window: whatever it says, what is made of it adds up.
#![no_main]
#![allow(unreachable_pub, reason = "the tests' helpers are a module here")]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{ExecutedOften, flow_difference, traced};

#[path = "../../../crates/trace/tests/common/mod.rs"]
mod common;

fuzz_target!(|bytes: &[u8]| {
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let (Ok(qemu), Ok(bochs)) = (traced(one), traced(other)) else { return };
    let difference = flow_difference(&qemu, &bochs, &common::names());
    let total = bochs.executions().cast_signed() - qemu.executions().cast_signed();
    let of_divergences: i64 = difference.divergences.iter().map(|one| one.difference).sum();
    let of_functions: i64 = difference.functions.iter().map(ExecutedOften::difference).sum();
    assert_eq!((of_divergences, of_functions), (total, total));
});
