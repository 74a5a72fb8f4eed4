//! The units of measurements.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a path's samples count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Retired instructions: exact, and not a time. A repeated string instruction is one.
    Instructions,
    /// Steps of the guest's clock: instructions, iterations of string instructions, and the time
    /// in which the CPU idles.
    Clock,
    /// Cycles of the time stamp counter.
    Cycles,
    /// Nanoseconds.
    Ns,
    /// Picoseconds: of times that are kept as whole numbers, and shown in nanoseconds.
    Ps,
    /// Nothing: the path is a check that passes or fails, and has no cost.
    Check,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Instructions => "instructions",
            Self::Clock => "clock",
            Self::Cycles => "cycles",
            Self::Ns => "ns",
            Self::Ps => "ps",
            Self::Check => "check",
        })
    }
}
