//! What a row of a program has besides its samples: its kind, its calls, and the first run.

use std::collections::BTreeMap;

use pathmeter_stats::Histogram;
use pathmeter_trace::{Event, RowKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of a row of a program besides its samples, which are the later runs', one each:
/// the first run is cold, and its instructions are a sample only if there is no other run. A run in
/// which the work was not done cost nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    pub kind: RowKind,
    /// How often it was done in each run, the first one included.
    pub calls: Vec<u64>,
    /// What it cost in the first run.
    pub first: FirstRun,
}

/// What work cost in the first run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstRun {
    /// Instructions retired. A repeated string instruction is one.
    pub instructions: u64,
    /// How many there were of each event that was counted, but for those that there were none of.
    #[serde(default)]
    pub events: BTreeMap<Event, u64>,
}

/// How often work was done in some runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// In the run with the fewest calls.
    pub least: u64,
    /// In the run with the most calls.
    pub most: u64,
}

/// The numbers of one row in one run; all 0 in a run without the row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) instructions: u64,
    pub(crate) events: BTreeMap<Event, u64>,
}

impl Calls {
    /// Of runs with so many.
    pub(crate) fn of(runs: &[u64]) -> Self {
        let (least, most) = (runs.iter().min(), runs.iter().max());
        Self { least: least.copied().unwrap_or(0), most: most.copied().unwrap_or(0) }
    }
}

impl Work {
    /// The calls of the runs that the samples are of.
    pub(crate) fn sampled_calls(&self) -> &[u64] {
        if self.calls.len() > 1 { &self.calls[1..] } else { &self.calls }
    }
}

/// Instructions a call, rounded half up; None without calls.
pub(crate) fn per_call(instructions: u64, calls: u64) -> Option<u64> {
    let rounded = u128::from(instructions) + u128::from(calls / 2);
    rounded.checked_div(u128::from(calls)).and_then(|it| u64::try_from(it).ok())
}

/// The lower median of what a call costs in runs with these instructions and calls.
pub(crate) fn typical_per_call(runs: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let each = runs.filter_map(|(instructions, calls)| per_call(instructions, calls));
    each.collect::<Histogram>().median()
}
