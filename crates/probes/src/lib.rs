//! Probes: each executes one kernel hot path between two timestamps and *proves* that it did.
//!
//! A probe that can't execute its path on this kernel returns [`Failure::Unsupported`] and why; one
//! whose proof fails returns [`Failure::Broken`]. Neither ever yields a number.
//!
//! The crate has no libc, allocates nothing and speaks to the kernel by raw system calls, so that
//! the agent (which is /init in a guest) can run it on any kernel. Contract of every probe: it is
//! called in a process of its own (so it may change flags, bitmaps and scheduling at will), pinned
//! to one CPU, in a fresh process group, under an alarm. It shares its memory with the process that
//! waits for it, so all that it maps it gets from [`sys::map`], which knows what to unmap.
//!
//! Three layers, each using only those below it: a file a group of paths, with its table `PROBES`
//! of names, kinds, descriptions and probes;
//! what several groups share (partners, sockets, what is echoed, the lab kernel's own);
//! and system calls, the clock, the report. What knows the processor is in `arch`: instructions,
//! numbers and layouts as its module, and the groups of paths that are an architecture's own as
//! modules beside the others, since by its modules' names functions are put in order in the agent.
#![cfg_attr(not(test), no_std)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it is made once a probe"
)]
#![allow(
    clippy::inline_always,
    reason = "what stands in a window must not depend on what the inliner thinks of it"
)]

mod action;
mod arch;
pub mod batch;
pub mod btf;
mod call;
mod catalogue;
pub mod clock;
#[path = "arch/x86_64/compat32.rs"]
mod compat32;
pub mod descriptor;
mod echo;
mod elapsed;
mod failure;
pub mod far;
#[path = "arch/x86_64/fast32.rs"]
mod fast32;
mod file;
#[path = "arch/x86_64/flags.rs"]
mod flags;
mod folder;
#[path = "arch/x86_64/getcpu.rs"]
mod getcpu;
#[path = "arch/x86_64/int80.rs"]
mod int80;
#[path = "arch/x86_64/ioctl/mod.rs"]
mod ioctl;
mod ipc;
mod lab;
mod mapping;
mod memory;
mod network;
mod path;
mod points;
mod poll;
mod probe;
mod process;
mod report;
mod rseq;
mod semaphore;
mod signal;
pub mod socket;
mod softirq;
mod switch;
pub mod sys;
mod syscall;
pub mod task;
mod tcp;
pub mod text;
mod time_of_day;
mod uring;
pub mod vdso;
mod wait;
pub mod window;

use probe::{Probes, count, paths, probes};

pub use catalogue::{
    CHAIN_LENGTH, EMPTY, GROUPS, Group, HOST, HostPath, MULTIPLY, ROTATE, Suite, UNROLLED, left_out,
};
pub use failure::{Failure, Outcome, REASON, tried};
pub use path::{CALLS_PER_BATCH, Kind, Path, Round, WARMUP};
pub use points::{Origin, WAITS, Wait, WaitPoint};
pub use probe::Probe;
pub use report::{MAX_CHECKS, MAX_SAMPLES, ProbeCheck, ProbeReport, ProbeStatus};
pub use semaphore::set_semaphores_end;
pub use switch::ring::ring;

/// The tables of all groups of exact runs, in the order in which they are executed and shown. What
/// is executed before decides in which state a fork finds the kernel's allocators, and so which of
/// their values it has: a new group goes to the end, before the waits. Forks come before the
/// switches, in whose group they are: tasks that end are freed at a later tick.
const EXACT: &[Probes] = &[
    syscall::PROBES,
    file::PROBES,
    process::PROBES,
    switch::PROBES,
    switch::ports::PROBES,
    switch::PROBES_AFTER_PORTS,
    switch::ports::CALLS,
    ioctl::PROBES,
    flags::PROBES,
    getcpu::PROBES,
    softirq::PROBES,
    memory::PROBES,
    signal::PROBES,
    ipc::PROBES,
    tcp::PROBES,
    folder::PROBES,
    poll::PROBES,
    action::PROBES,
    mapping::PROBES,
    network::PROBES,
    semaphore::PROBES,
    time_of_day::PROBES,
    uring::PROBES,
    call::PROBES,
    switch::ring::PROBES,
    wait::PROBES,
];

/// Those of what is measured in elapsed time: two CPUs at once against one.
const ELAPSED: &[Probes] = &[elapsed::PROBES];

/// All paths of exact runs; a path's place here is its index.
pub const EXACT_PATHS: [Path; count(EXACT)] = paths(EXACT);
/// Their probes, in the same order.
pub static EXACT_PROBES: [Probe; count(EXACT)] = probes(EXACT);
/// The paths in elapsed time.
pub const ELAPSED_PATHS: [Path; count(ELAPSED)] = paths(ELAPSED);
/// The probes of these paths, in their order.
pub static ELAPSED_PROBES: [Probe; count(ELAPSED)] = probes(ELAPSED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_fits_its_report() {
        let mut paths = EXACT_PATHS.into_iter().chain(ELAPSED_PATHS);
        assert!(paths.all(|path| path.kind.samples() as usize <= MAX_SAMPLES));
    }

    #[test]
    fn every_path_has_a_probe_of_its_own() {
        for probes in [&EXACT_PROBES[..], &ELAPSED_PROBES] {
            let mut places: Vec<usize> = probes.iter().map(|probe| *probe as usize).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), probes.len());
        }
    }
}
