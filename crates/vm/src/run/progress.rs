//! What whoever waits for a measurement is told.

use std::time::Duration;

/// How far a measurement is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The image is read and unpacked.
    Loading,
    /// Another process is making what is wanted.
    Waiting,
    /// The kernel boots.
    Booting,
    /// Groups of paths are measured, each in a guest of its own.
    Groups {
        /// How many.
        count: usize,
        /// How long they took the last time, if that is known.
        took: Option<Duration>,
    },
    /// A path is being run.
    Running {
        /// The path's name.
        path: &'a str,
        /// Runs done, over all paths and runs.
        done: u64,
        /// Runs to do.
        of: u64,
    },
    /// The user's program is being run.
    Program {
        /// Runs done.
        done: u64,
        /// Runs to do.
        of: u64,
    },
    /// A benchmark of the user's program is being measured.
    Benchmark {
        /// Its name.
        name: &'a str,
        /// Benchmarks done.
        done: u64,
        /// Benchmarks to do.
        of: u64,
    },
    /// Something the user should know.
    Note(&'a str),
}
