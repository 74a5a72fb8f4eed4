//! The agent: what a measured guest executes beside the kernel, as two programs.
//!
//! `/init` sets the guest up, announces START, is paused and handed its parcel by the host and
//! resumed, puts the guest under its condition, announces READY, then has the plan executed: every
//! path once in each perturbed run. A perturbed run
//! is a fresh start of `/paths` (new stack and mapping bases, another phase of the timer tick),
//! each probe in it a forked child of its own, so that nothing a probe does outlives it; it sends
//! what came of each. In place of the plan it may be a program of the user's, which `/init` runs
//! itself.
//!
//! The two are apart because the cost of a fork depends on the size of the process that forks: what
//! is added to `/init`, such as a condition, moves no count.
//!
//! Without libc and without an allocator: they must run on any kernel, and the instructions of
//! `/paths` are part of what is measured. `main.rs` and `main_paths.rs` make programs of the
//! library.
//!
//! The order of functions in the program is that of their names with the modules', and a panic's
//! place has its line: so a function that moves to another module, or by a line, changes bytes.
#![cfg_attr(not(test), no_std)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it ends the agent"
)]
#![allow(clippy::cast_possible_truncation, reason = "usize has 64 bits on the only target")]

mod arch;
#[cfg(feature = "init")]
mod audit;
#[cfg(feature = "init")]
mod bpf;
#[cfg(feature = "init")]
mod btf;
#[cfg(feature = "init")]
mod cgroup;
mod command;
#[cfg(feature = "init")]
mod condition;
#[cfg(feature = "init")]
mod devices;
#[cfg(feature = "init")]
mod disk;
#[cfg(feature = "init")]
mod facts;
mod file;
mod filter;
#[cfg(feature = "init")]
mod folder;
mod guest;
#[cfg(feature = "init")]
mod holders;
#[cfg(feature = "init")]
mod init;
mod landlock;
#[cfg(feature = "init")]
mod layers;
#[cfg(feature = "init")]
mod module;
#[cfg(feature = "init")]
mod netlink;
#[cfg(feature = "init")]
mod netns;
#[cfg(feature = "init")]
mod nft;
#[cfg(feature = "init")]
mod parcel;
mod path;
mod paths;
mod pause;
#[cfg(feature = "init")]
mod perf_maps;
mod plan;
#[cfg(feature = "init")]
mod pointers;
mod port;
#[cfg(feature = "init")]
mod program;
mod refusal;
mod restraint;
#[cfg(feature = "init")]
mod root;
mod ruleset;
mod shared;
#[cfg(feature = "init")]
mod shown;
mod spent;
#[cfg(feature = "init")]
mod start;
#[cfg(feature = "init")]
mod symbols;
#[cfg(feature = "init")]
mod sysfs;
#[cfg(feature = "init")]
mod tool;
#[cfg(feature = "init")]
mod tracing;
mod trouble;
#[cfg(feature = "init")]
mod unpack;
#[cfg(feature = "init")]
mod uprobe;

#[cfg(feature = "init")]
pub use init::enter as enter_init;
pub use paths::enter as enter_paths;
