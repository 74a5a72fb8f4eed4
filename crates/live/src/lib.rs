//! The program that executes paths on the processor and the kernel that it runs on.
//!
//! It is the agent's sibling: no libc, no allocator, the agent's own probes and its way to run
//! them, built by the same compiler with the same flags (`../host/build.rs`). A path that depends
//! on the process, such as a fork, finds one of the agent's shape. `program.rs` makes a program of
//! it, in three builds which differ in the probes' stamps: for times of batches of calls
//! ([`time`]), for the processor's counter of retired instructions, and, to test that, for the
//! clock in its place ([`count`]).
//!
//! Its output is lines of text ([`line`]), for the command that started it.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(any(test, feature = "batch")),
    allow(dead_code, reason = "the builds that count take no times, and have fewer windows")
)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it ends the program"
)]
#![allow(clippy::cast_possible_truncation, reason = "usize has 64 bits on the only target")]

mod count;
mod event;
mod execution;
mod filter;
mod ground;
#[cfg(any(test, feature = "batch"))]
mod insn;
mod left_out;
mod line;
#[path = "../../agent/src/shared.rs"]
mod shared;
#[cfg(any(test, feature = "batch"))]
mod time;
#[path = "../../agent/src/trouble.rs"]
mod trouble;

use pathmeter_probes::sys;

use ground::Refused;
use line::Line;

/// Entered by the program's runtime, with its arguments: the program's name, what it is to do, and
/// with which numbers.
pub fn enter(arguments: &[&[u8]]) -> ! {
    let done = match arguments {
        #[cfg(any(test, feature = "batch"))]
        [_, b"serve", numbers] => time::serve(numbers),
        #[cfg(any(test, feature = "batch"))]
        [_, b"time", numbers] => time::process(numbers),
        [_, modes, cpu] => count::pass(modes, cpu),
        _ => Err(Refused::ARGUMENTS),
    };
    match done {
        Err(Refused { step, error }) => Line::write(format_args!("refused {step} {error}"), []),
        Ok(()) => Line::write(format_args!("end"), []),
    }
    sys::exit(0)
}
