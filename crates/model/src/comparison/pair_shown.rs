//! The execution whose numbers stand for a row's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An execution of a run, on both sides of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairShown {
    /// The run, from 0.
    pub run: usize,
    /// The execution in the run, from 0: a window of a path. Null if the numbers are medians of
    /// the run, which has more executions on one side.
    pub execution: Option<usize>,
}
