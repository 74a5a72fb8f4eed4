//! What whoever waits for a measurement is told.

use std::time::Duration;

/// How far a measurement is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The image is read and unpacked.
    Loading,
    /// Another process is making what is wanted.
    Waiting,
    /// The kernel is being booted.
    Booting,
    /// Groups of paths are measured, each in a guest of its own.
    Groups {
        count: usize,
        /// How long they took the last time, if that is known.
        took: Option<Duration>,
    },
    /// A path is being run.
    Running {
        path: &'a str,
        /// Runs done, over all paths and runs.
        done: u64,
        /// How many runs there are in all.
        of: u64,
    },
    /// The user's program is being run.
    Program {
        /// How many runs are done.
        done: u64,
        /// How many runs there are in all.
        of: u64,
    },
    /// A benchmark of the user's program is being measured.
    Benchmark {
        name: &'a str,
        /// How many benchmarks are done.
        done: u64,
        /// How many benchmarks there are in all.
        of: u64,
    },
    /// Something the user should know.
    Note(&'a str),
}
