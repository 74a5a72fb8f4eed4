//! The program document, `pathmeter.program/1`: what one program cost on one subject.
//!
//! The program is executed in several perturbed runs, the first of them cold. The guest's clock is
//! read before and after it, and every step between the two readings is in a row, or is idle: the
//! rows of a run add up. Counts are kept whole and as integers.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod comparison;
pub(crate) mod cost;
mod explain;
pub(crate) mod functions;
pub(crate) mod measured;
pub(crate) mod name;
pub(crate) mod parse;

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use pathmeter_trace::{Event, RowKind};

use crate::{Configuration, PathResult, Program, RowFunctions, Subject};

/// The name and version of the program document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProgramSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.program/1")]
    V1,
}

/// All that was measured of one program on one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramResult {
    /// Always `pathmeter.program/1`.
    pub schema: ProgramSchema,
    /// Which kernel executed the program.
    pub subject: Subject,
    /// All that the counts depend on, but for the program.
    pub configuration: Configuration,
    /// What was executed.
    pub program: Program,
    /// How the program ended.
    pub ended: Ended,
    /// What the program wrote in the first run.
    pub output: Output,
    /// The events that were counted in each row, in the order of their documentation; a row names
    /// those that it had any of.
    pub events: Vec<Event>,
    /// What each run cost: the first run, then the later ones. At least one.
    pub runs: Vec<ProgramRun>,
    /// The program's own regions, as paths named `user.NAME`, and the windows of
    /// `program.windows`, by their names; names are unique.
    #[serde(default)]
    pub regions: Vec<PathResult>,
    /// Which functions of the kernel the rows' instructions are in; absent if that was not asked
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<RowFunctions>>,
    /// What a reader must know to judge the counts.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How a program ended.
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
    /// To its standard output.
    pub stdout: Written,
    /// To its standard error.
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

/// What one run of the program cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramRun {
    /// Steps of the guest's clock between the two readings. The rows' steps and `idle` add up to
    /// it.
    pub clock: u64,
    /// Steps that passed while the CPU idled.
    pub idle: u64,
    /// Where the other steps went, sorted by kind and name; a kind has a name once.
    pub rows: Vec<ProgramRow>,
}

/// What one kind of work cost in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramRow {
    /// The kind of work.
    pub kind: RowKind,
    /// Which work of that kind, for example the system call; empty where a kind has one row only.
    pub name: String,
    /// How often it was done.
    pub calls: u64,
    /// Instructions retired. A repeated string instruction is one.
    pub instructions: u64,
    /// Steps of the guest's clock: instructions, and iterations of string instructions.
    pub steps: u64,
    /// How many there were of each event that the result's `events` names, but for those that there
    /// were none of. Lines and pages of data are distinct in each call, and summed over the calls.
    #[serde(default)]
    pub events: BTreeMap<Event, u64>,
}

impl ProgramRun {
    /// A run with these two numbers and these rows, which are sorted here. Whether they add up is
    /// for [`ProgramRun::check`] to say.
    pub fn new(clock: u64, idle: u64, mut rows: Vec<ProgramRow>) -> Self {
        rows.sort_by(|one, next| one.key().cmp(&next.key()));
        Self { clock, idle, rows }
    }

    /// Instructions of all rows.
    pub fn instructions(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.instructions))
    }
}

impl ProgramRow {
    /// How many there were of an event.
    pub fn of_event(&self, event: Event) -> u64 {
        self.events.get(&event).copied().unwrap_or(0)
    }

    /// What tells it from the other rows of its run.
    pub(crate) fn key(&self) -> (RowKind, &str) {
        (self.kind, &self.name)
    }
}
