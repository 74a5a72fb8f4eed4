//! The agent: `/init` in a measured guest.
//!
//! It sets the guest up, announces READY, is paused by the host and resumed, then executes the
//! plan: every path once in each perturbed run, and sends what came of it. A perturbed run is a
//! fresh start of this program (new stack and mapping bases, another phase of the timer tick), each
//! probe in it a forked child of its own, so that nothing a probe does outlives it.
//!
//! Without libc and without an allocator: it must run on any kernel, and its instructions are part
//! of what is measured. `main.rs` makes a program of it.
//!
//! The order of functions in the program is that of their names with the modules', and a panic's
//! place has its line: so a function that moves to another module, or by a line, changes bytes.
#![cfg_attr(not(test), no_std)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it ends the agent"
)]
#![allow(clippy::cast_possible_truncation, reason = "usize has 64 bits on the only target")]

mod agent;
mod arch;
mod audit;
mod bpf;
mod btf;
mod cgroup;
mod command;
mod condition;
#[cfg(feature = "program")]
mod devices;
#[cfg(feature = "program")]
mod disk;
mod facts;
mod file;
mod filter;
mod guest;
mod landlock;
mod layers;
mod module;
mod netlink;
mod netns;
mod nft;
mod path;
mod pause;
mod plan;
mod pointers;
mod port;
#[cfg(feature = "program")]
mod program;
mod refusal;
mod restraint;
#[cfg(feature = "program")]
mod root;
mod shared;
mod shown;
mod spent;
mod start;
mod symbols;
mod sysfs;
mod tool;
mod tracing;
mod trouble;
mod unpack;
#[cfg(feature = "program")]
mod uprobe;

pub use agent::enter;
#[cfg(feature = "program")]
pub use agent::enter_program;
