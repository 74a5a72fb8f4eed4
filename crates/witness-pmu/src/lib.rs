//! The counting program: executes every path on the processor that it runs on, and writes what the
//! processor's counter of retired instructions said of each window.
//!
//! It is the agent's sibling: no libc, no allocator, the agent's own probes and its way to run
//! them, built by the same compiler with the same flags (`build.rs`). So its windows hold the same
//! instructions as the agent's, but for the stamps (`tests/windows.rs`), and a path that depends on
//! the process, such as a fork, finds one of the same shape. `program.rs` makes a program of it.
//!
//! What it writes are lines of text ([`line`]), for the command that started it (`host/`).
#![cfg_attr(not(test), no_std)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it ends the program"
)]
#![allow(clippy::cast_possible_truncation, reason = "usize has 64 bits on the only target")]

mod count;
mod event;
mod filter;
mod ground;
mod left_out;
mod line;
#[path = "../../agent/src/shared.rs"]
mod shared;
#[path = "../../agent/src/trouble.rs"]
mod trouble;

pub use count::enter;
