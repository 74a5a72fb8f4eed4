//! What `--check` makes of a comparison: part of `pathmeter.comparison/1` and of
//! `pathmeter.program-comparison/1`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a comparison fails the gate, or could not be judged; nothing of either if it passes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReport {
    /// What is worse.
    pub worse: Vec<GateReason>,
    /// What had to be compared and was not, each with its reason.
    pub unjudged: Vec<String>,
}

/// Why a path or row fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReason {
    /// The name of the path or row; `program` if it ended differently.
    pub row: String,
    /// In which event and by how much, or which limit of the budget is not kept.
    pub why: String,
}

impl fmt::Display for GateReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.row, self.why)
    }
}
