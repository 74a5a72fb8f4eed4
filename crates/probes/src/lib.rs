//! Probes: each walks one kernel hot path between two timestamps and *proves* that it did.
//!
//! A probe that can't walk its path on this kernel says [`Failure::Unsupported`] and why; one whose
//! proof fails says [`Failure::Broken`]. Neither ever yields a number.
//!
//! The crate has no libc, allocates nothing and speaks to the kernel by raw system calls, so that the
//! agent (which is /init in a guest) can run it on any kernel. Contract of every probe: it is called
//! in a process of its own (forked for it, so it may change flags, bitmaps and scheduling at will),
//! pinned to one CPU, in a fresh process group, under an alarm.
#![cfg_attr(not(test), no_std)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it is made once a probe"
)]
#![allow(
    clippy::inline_always,
    reason = "what stands in a window must not depend on what the inliner thinks of it"
)]

pub mod clock;
mod compat32;
pub mod elapsed;
mod file;
mod flags;
mod getcpu;
mod ioctl;
mod ipc;
mod lab;
mod memory;
mod process;
mod report;
mod signal;
mod softirq;
mod switch;
pub mod sys;
mod syscall;
pub mod task;
mod tcp;
pub mod text;
mod tracefs;
pub mod vdso;

pub use report::{Check, MAX_CHECKS, MAX_SAMPLES, Report, Status, WARMUP};
use text::Text;

/// Longest reason a probe gives, in bytes.
pub const REASON: usize = 200;

/// Why a probe has no samples.
#[derive(Debug)]
pub enum Failure {
    /// This kernel or CPU can't walk the path.
    Unsupported(Text<REASON>),
    /// The path was walked, but not as the probe must prove.
    Broken(Text<REASON>),
}

impl Failure {
    /// [`Failure::Unsupported`] with a formatted reason.
    pub(crate) fn unsupported(reason: core::fmt::Arguments<'_>) -> Self {
        Self::Unsupported(Text::format(reason))
    }

    /// [`Failure::Broken`] with a formatted reason.
    pub(crate) fn broken(reason: core::fmt::Arguments<'_>) -> Self {
        Self::Broken(Text::format(reason))
    }
}

/// What a probe returns.
pub type Outcome = Result<(), Failure>;

/// One hot path and the probe that walks it.
pub struct Path {
    /// `group.what[+variant]`.
    pub name: &'static str,
    /// What is measured, in one line.
    pub about: &'static str,
    /// Windows recorded in each start; 0 marks a check, which has no cost.
    pub windows: u32,
    /// Whether the CPU idles while the path is walked. Such paths come after all others, in a second
    /// round of starts: QEMU's clock is exact as long as the CPU is busy (`docs/exactness.md`).
    pub idles: bool,
    /// The probe.
    pub probe: fn(&mut Report) -> Outcome,
}

/// Tables of paths, group by group; the plan refers to paths by name.
pub static GROUPS: &[&[Path]] = &[
    syscall::PATHS,
    file::PATHS,
    switch::PATHS,
    ioctl::PATHS,
    flags::PATHS,
    getcpu::PATHS,
    softirq::PATHS,
    process::PATHS,
    memory::PATHS,
    signal::PATHS,
    ipc::PATHS,
    tcp::PATHS,
];

/// All paths; in this order they are shown, and walked within each start.
pub fn paths() -> impl Iterator<Item = &'static Path> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// What a guest walks; the plan says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Every path, window by window.
    Exact,
    /// The batches of [`elapsed`]: two CPUs at once against one, in nanoseconds.
    Elapsed,
}

impl Suite {
    /// Its paths; outcomes refer to them by their place in this order.
    pub fn paths(self) -> impl Iterator<Item = &'static Path> {
        static ELAPSED: &[&[Path]] = &[elapsed::PATHS];
        let groups = match self {
            Self::Exact => GROUPS,
            Self::Elapsed => ELAPSED,
        };
        groups.iter().flat_map(|group| group.iter())
    }
}

/// `Err(Failure::Unsupported)` with a formatted reason.
macro_rules! unsupported {
    ($($arg:tt)*) => { Err($crate::Failure::unsupported(format_args!($($arg)*))) };
}

/// `Err(Failure::Broken)` with a formatted reason.
macro_rules! broken {
    ($($arg:tt)*) => { Err($crate::Failure::broken(format_args!($($arg)*))) };
}

/// A proof: broken with the reason unless the condition holds.
macro_rules! prove {
    ($holds:expr, $($arg:tt)*) => { if !$holds { return $crate::broken!($($arg)*); } };
}

pub(crate) use {broken, prove, unsupported};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SUITES: [Suite; 2] = [Suite::Exact, Suite::Elapsed];

    #[test]
    fn names_are_unique_and_have_a_group() {
        for suite in SUITES {
            let names: BTreeSet<_> = suite.paths().map(|path| path.name).collect();
            assert_eq!(names.len(), suite.paths().count(), "{suite:?}");
            assert!(names.iter().all(|name| {
                name.split_once('.').is_some_and(|(g, w)| !g.is_empty() && !w.is_empty())
            }));
        }
    }

    #[test]
    fn every_path_fits_its_report() {
        let mut paths = SUITES.into_iter().flat_map(Suite::paths);
        assert!(paths.all(|path| path.windows as usize <= MAX_SAMPLES));
    }
}
