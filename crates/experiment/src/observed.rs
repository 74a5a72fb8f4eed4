//! What was measured for an experiment.

use std::collections::BTreeMap;

use pathmeter_trace::{Slow, WindowTree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be shown of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Instructions executed: the median over all windows of all starts.
    #[default]
    Instructions,
    /// Distinct lines of data touched, of 64 bytes.
    DataLines,
    /// Distinct lines of code executed, of 64 bytes.
    CodeLines,
    /// Bytes moved by rep strings.
    RepBytes,
    /// How often each slow instruction was met; as a number, of all together.
    Census,
}

impl Metric {
    /// What it counts, for people.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::DataLines => "lines of data touched (64 bytes each)",
            Self::CodeLines => "lines of code executed (64 bytes each)",
            Self::RepBytes => "bytes moved by rep strings",
            Self::Census => "slow instructions met",
        }
    }
}

/// What a path did in a subject.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Median over all samples.
    pub instructions: u64,
    /// See [`Metric::DataLines`].
    pub data_lines: u64,
    /// See [`Metric::CodeLines`].
    pub code_lines: u64,
    /// See [`Metric::RepBytes`].
    pub rep_bytes: u64,
    /// Slow instructions by name, without those never met.
    pub census: BTreeMap<String, u64>,
}

impl Measured {
    /// From the median of the path's samples and the window that was recorded.
    pub fn new(median: u64, window: &WindowTree) -> Self {
        let census = |slow: &(Slow, u64)| (slow.0.word().to_owned(), slow.1);
        Self {
            instructions: median,
            data_lines: window.footprint.data_lines,
            code_lines: window.footprint.code_lines,
            rep_bytes: window.functions.iter().map(|function| function.counts.rep_bytes).sum(),
            census: window.census.iter().map(|(slow, count)| census(&(*slow, *count))).collect(),
        }
    }

    /// The metric as a number.
    pub fn value(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Instructions => self.instructions,
            Metric::DataLines => self.data_lines,
            Metric::CodeLines => self.code_lines,
            Metric::RepBytes => self.rep_bytes,
            Metric::Census => self.census.values().sum(),
        }
    }
}

/// What came of one path in one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// It was walked and recorded.
    Measured(Measured),
    /// It can't be walked here, and why.
    Unsupported(String),
    /// It was tried and failed, and how.
    Failed(String),
}

/// What a check of a subject said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedCheck {
    /// The check's name.
    pub name: String,
    /// What was seen.
    pub value: String,
}

/// All that was measured for an experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// For each subject, for each path, in the experiment's order.
    pub cells: Vec<Vec<Cell>>,
    /// For each subject, the checks of `checks_of`.
    pub checks: Vec<Vec<ObservedCheck>>,
}
