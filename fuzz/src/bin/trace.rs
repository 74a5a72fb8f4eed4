//! A recording: its windows add up, and so does the difference of two.
#![no_main]
#![allow(unreachable_pub, reason = "the tests' helpers are a module here")]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{WindowTree, decode, difference};

#[path = "../../../crates/trace/tests/common/mod.rs"]
mod common;

use common::{assert_adds_up, names};

fuzz_target!(|bytes: &[u8]| {
    let recording = decode(bytes, &names());
    assert_eq!(recording.stop.is_some(), recording.fault.is_none());
    for tree in [&recording.representative, &recording.interrupted].into_iter().flatten() {
        assert_adds_up(tree);
    }
    if let (Some(base), Some(new)) = (&recording.representative, &recording.interrupted) {
        assert_exact(base, new);
    }
});

fn assert_exact(base: &WindowTree, new: &WindowTree) {
    let difference = difference(base, new);
    let of_functions: i64 = difference.functions.iter().map(|row| row.difference).sum();
    let total = new.total.cast_signed() - base.total.cast_signed();
    assert_eq!((difference.total, of_functions), (total, total));
}
