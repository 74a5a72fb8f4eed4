//! What was measured for an experiment.

use std::collections::BTreeMap;

use pathmeter_trace::{MeasuredWith, WindowTree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be shown of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// What the path's samples count, instructions or steps of the clock: the median over all
    /// windows of all runs.
    #[default]
    Instructions,
    /// The same: the most in any window of any run.
    Worst,
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
            Self::Worst => "instructions, worst case",
            Self::DataLines => "lines of data touched (64 bytes each)",
            Self::CodeLines => "lines of code executed (64 bytes each)",
            Self::RepBytes => "bytes moved by rep strings",
            Self::Census => "slow instructions met",
        }
    }

    /// Whether it takes a recorded window; the others are the samples' own.
    pub fn recorded(self) -> bool {
        !matches!(self, Self::Instructions | Self::Worst)
    }
}

/// What a path did in a subject. What only a recording tells is null if none was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Median over all samples.
    pub instructions: u64,
    /// The highest sample.
    pub worst: u64,
    /// Whether these two are steps of the guest's clock, in which the CPU may have idled, and not
    /// instructions.
    #[serde(default)]
    pub in_steps: bool,
    /// See [`Metric::DataLines`].
    pub data_lines: Option<u64>,
    /// See [`Metric::CodeLines`].
    pub code_lines: Option<u64>,
    /// See [`Metric::RepBytes`].
    pub rep_bytes: Option<u64>,
    /// Slow instructions by name, without those never met.
    pub census: Option<BTreeMap<String, u64>>,
}

impl Measured {
    /// From the median and the highest of the path's samples.
    pub fn new(median: u64, worst: u64) -> Self {
        Self { instructions: median, worst, ..Self::default() }
    }

    /// The same, of a path whose samples are steps of the clock if `in_steps`.
    #[must_use]
    pub fn in_steps(self, in_steps: bool) -> Self {
        Self { in_steps, ..self }
    }

    /// The same, with what its recorded window tells.
    #[must_use]
    pub fn recorded(self, window: &WindowTree) -> Self {
        let functions = window.functions.iter();
        let census = window.census.iter().map(|(slow, count)| (slow.word().to_owned(), *count));
        Self {
            data_lines: Some(window.footprint.data_lines),
            code_lines: Some(window.footprint.code_lines),
            rep_bytes: Some(functions.map(|function| function.counts.rep_bytes).sum()),
            census: Some(census.collect()),
            ..self
        }
    }

    /// How often slow instructions of these classes were met, or of all if none is named; none if
    /// there is no recording.
    pub fn met(&self, classes: &[String]) -> Option<u64> {
        let counted = |class: &String| classes.is_empty() || classes.contains(class);
        let met = self.census.as_ref()?.iter().filter(|(class, _)| counted(class));
        Some(met.map(|(_, count)| count).sum())
    }

    /// The metric as a number; none if it takes a recording and there is none.
    pub fn value(&self, metric: Metric) -> Option<u64> {
        match metric {
            Metric::Instructions => Some(self.instructions),
            Metric::Worst => Some(self.worst),
            Metric::DataLines => self.data_lines,
            Metric::CodeLines => self.code_lines,
            Metric::RepBytes => self.rep_bytes,
            Metric::Census => self.met(&[]),
        }
    }
}

/// What calls took by the host's clock, in batches by one CPU alone and by two at once in turn. It
/// depends on the host. What disturbs a batch only ever adds time, so the fastest is what the
/// mechanism costs; how much was disturbed, the quartiles tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Elapsed {
    /// Nanoseconds a call in the fastest batch by one CPU alone.
    pub one_ns: u64,
    /// Nanoseconds until two CPUs at once have made a call each, in their fastest batch.
    pub two_ns: u64,
    /// The fastest batch by two in percent of the fastest by one.
    pub percent: u64,
    /// The lower quartile of all pairs: a batch by two in percent of that by one before it.
    pub low_percent: u64,
    /// Their upper quartile.
    pub high_percent: u64,
}

/// The result of one path in one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ObservedCellOf{T}")]
pub enum ObservedCell<T> {
    Measured(T),
    /// It can't run here, and why.
    Unsupported(String),
    /// It was tried and failed, and how.
    Failed(String),
    /// The path is not for this subject.
    NotAsked,
}

impl<T> ObservedCell<T> {
    /// Why there are no results, if there should be.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Unsupported(reason) | Self::Failed(reason) => Some(reason),
            Self::Measured(_) | Self::NotAsked => None,
        }
    }
}

/// A cell of the exact tables.
pub type ExactCell = ObservedCell<Measured>;
/// A cell of the table of elapsed times.
pub type ElapsedCell = ObservedCell<Elapsed>;

/// The value of a subject's check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedCheck {
    pub name: String,
    pub value: String,
}

/// All that was measured for an experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// For each subject, for each path, in the experiment's order.
    pub cells: Vec<Vec<ExactCell>>,
    /// For each subject, for each path of `elapsed`, in the experiment's order.
    pub elapsed: Vec<Vec<ElapsedCell>>,
    /// For each subject, the checks of `checks_of`.
    pub checks: Vec<Vec<ObservedCheck>>,
    /// What each subject was measured with, as far as it was.
    #[serde(default)]
    pub measured_with: Vec<MeasuredWith>,
}
