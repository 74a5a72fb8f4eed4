//! How a program of the user's was executed: how it ended, what it wrote, and the clock of each
//! run.
//!
//! The program is executed in several perturbed runs, the first of them cold. The guest's clock is
//! read before and after it, and every step between the two readings is in a row of the result, or
//! is idle: the rows of a run add up.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProcessResult, SleepResult};

/// How the program of a result was executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    pub ended: Ended,
    /// What the program wrote in the first run.
    pub output: Output,
    /// The clock of each run: the first run, then the later ones. At least one.
    pub runs: Vec<RunClock>,
    /// What each of the program's processes cost; their own work adds up to the program's. Empty
    /// if it had only one, of one thread, or if they were not told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessResult>,
    /// Where the program's tasks slept, and who woke them. Empty if none did, or if that is not
    /// known; then a note says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sleeps: Vec<SleepResult>,
}

/// The guest's clock in one run of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunClock {
    /// Steps between the two readings. The rows' steps and `idle` add up to it.
    pub clock: u64,
    /// Steps that passed while the CPU idled.
    pub idle: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with this exit code.
    Code(u8),
    /// By the signal of this number.
    Signal(u8),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// What the program wrote in the first run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    pub stdout: Written,
    pub stderr: Written,
}

/// What was written to one of a program's streams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// Its beginning as text; what is not UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// Number of bytes written.
    pub bytes: u64,
    /// Whether more was written than `text` holds.
    pub truncated: bool,
}
