//! The program that executes paths on the processor and the kernel that it runs on.
//!
//! It is the agent's sibling: no libc, no allocator, the agent's own probes and its way to run
//! them, built by the same compiler with the same flags (`../host/build.rs`). A path that depends
//! on the process, such as a fork, finds one of the agent's shape. `program.rs` makes a program of
//! it, in three builds which differ in the probes' stamps: for times of batches of calls
//! (`time.rs`), for the processor's counter of retired instructions, and, to test that, for the
//! clock in its place (`count.rs`).
//!
//! Its output is lines of text (`line.rs`), for the command that started it.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(any(test, feature = "batch")),
    allow(dead_code, reason = "the builds that count take no times, and have fewer windows")
)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it ends the program"
)]
#![allow(
    clippy::inline_always,
    reason = "what stands in a window must not depend on what the inliner thinks of it"
)]
#![allow(clippy::cast_possible_truncation, reason = "usize has 64 bits on the only target")]

#[cfg(any(test, feature = "batch"))]
mod bpf;
mod count;
mod event;
mod execution;
#[cfg(any(test, feature = "batch"))]
mod failure;
#[cfg(any(test, feature = "batch"))]
mod given;
mod ground;
#[cfg(any(test, feature = "batch"))]
mod guard;
#[path = "../../agent/src/landlock.rs"]
mod landlock;
mod line;
#[cfg(any(test, feature = "batch"))]
mod partner;
#[cfg(any(test, feature = "batch"))]
mod paths;
#[cfg(any(test, feature = "batch"))]
#[path = "arch/x86_64/ports.rs"]
mod ports;
mod restraint;
#[path = "../../agent/src/shared.rs"]
mod shared;
#[cfg(any(test, feature = "batch"))]
mod time;
#[cfg(any(test, feature = "batch"))]
mod tracepoint;
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
        [_, b"time", numbers, given] => time::process(numbers, given),
        #[cfg(any(test, feature = "batch"))]
        [_, b"guard", outermost, depth] => guard::watch(outermost, depth),
        #[cfg(any(test, feature = "batch"))]
        [_, paths::exec::ARGUMENT] => sys::exit(paths::exec::CODE),
        [_, modes, cpu] => count::pass(modes, cpu),
        _ => Err(Refused::ARGUMENTS),
    };
    match done {
        Err(Refused { step, error }) => Line::write(format_args!("refused {step} {error}"), []),
        Ok(()) => Line::write(format_args!("end"), []),
    }
    sys::exit(0)
}
