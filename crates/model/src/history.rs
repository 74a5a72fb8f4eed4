//! The documents of a history of results: `pathmeter.history/1`, what it holds, and
//! `pathmeter.blame/1`, the steps of one path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, ConfigurationDifference, PathComparison, Status, SubjectKind, Unit};

/// The name and version of the document about a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HistorySchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.history/1")]
    V1,
}

/// The name and version of the document about a path's steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BlameSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.blame/1")]
    V1,
}

/// One result of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptResult {
    /// Its number: 1 is the first that was added; none is given twice.
    pub number: u64,
    /// Its date, in UTC: `2026-01-31T12:00:00Z`.
    pub date: String,
    /// What the user called it; by default the subject's name.
    pub label: String,
    /// The commit that the user named.
    pub commit: Option<String>,
    /// The subject's name.
    pub subject: String,
    /// The kind of subject.
    pub kind: SubjectKind,
    /// The kernel's release, if known.
    pub release: Option<String>,
    /// Hash of the kernel image: SHA-256 in lower-case hexadecimal.
    pub image_sha256: String,
    /// SHA-256 of the document's bytes.
    pub document_sha256: String,
    /// Number of paths that are ok.
    pub ok: u64,
    /// Number of paths that are failed.
    pub failed: u64,
}

/// What a history holds: its results, by date, and the chosen paths of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Always `pathmeter.history/1`.
    pub schema: HistorySchema,
    /// By date; those of one date as they were added.
    pub results: Vec<KeptResult>,
    /// The paths that were asked for, by name.
    pub paths: Vec<PathHistory>,
}

impl History {
    /// The same with a path for each unit that its values count: values of different units are
    /// never in one line.
    #[must_use]
    pub fn by_unit(&self) -> Self {
        let paths = self.paths.iter().flat_map(PathHistory::by_unit).collect();
        Self { schema: self.schema, results: self.results.clone(), paths }
    }
}

impl PathHistory {
    fn by_unit(&self) -> Vec<Self> {
        let mut units: Vec<Unit> = Vec::new();
        for point in self.points.iter().flatten().filter(|point| point.value.is_some()) {
            if !units.contains(&point.unit) {
                units.push(point.unit);
            }
        }
        if units.len() < 2 {
            return vec![self.clone()];
        }
        let of = |unit: &Unit| {
            let points = self.points.iter();
            let points = points.map(|point| point.filter(|point| point.unit == *unit));
            Self { path: format!("{} ({unit})", self.path), points: points.collect() }
        };
        units.iter().map(of).collect()
    }
}

/// One path over all results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathHistory {
    /// The path's name.
    pub path: String,
    /// An entry for each of `results`; null where a result does not have the path.
    pub points: Vec<Option<Point>>,
}

/// One path in one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Whether the path ran and was proven.
    pub status: Status,
    /// What the values count.
    pub unit: Unit,
    /// The most frequent value; null without samples.
    pub value: Option<u64>,
    /// The lowest typical value.
    pub low: Option<u64>,
    /// The highest typical value.
    pub high: Option<u64>,
}

/// The steps of one path in a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// Always `pathmeter.blame/1`.
    pub schema: BlameSchema,
    /// The path's name.
    pub path: String,
    /// Number of results that have the path.
    pub results: u64,
    /// The first of them; null if there is none.
    pub first: Option<FirstPoint>,
    /// The first result of each step, by date.
    pub steps: Vec<Step>,
}

/// Where a path's history begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstPoint {
    /// The first result.
    pub result: KeptResult,
    /// The path in it.
    pub point: Point,
}

/// A result whose path is not the same as before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The result with which the path changed.
    pub result: KeptResult,
    /// What it was compared with: the last result before it in which the path ran, or if there is
    /// none, the last one.
    pub against: KeptResult,
    /// The path in both; null if they were not compared, since they were measured differently.
    pub comparison: Option<PathComparison>,
    /// In what else than the kernel the two were measured differently.
    pub configuration_differences: Vec<ConfigurationDifference>,
    /// All rows of the two results; null of the smaller steps if there are many.
    #[serde(default)]
    pub whole: Option<Box<Comparison>>,
}
