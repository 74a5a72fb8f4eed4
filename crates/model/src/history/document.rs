//! The documents of a history of results: `pathmeter.history/1`, what it holds, and
//! `pathmeter.blame/1`, the steps of one path.

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Comparison, ConfigurationDifference, PathComparison, Status, SubjectKind, TimeRow, Unit,
};

schema_name!(
    /// The name and version of the document about a history.
    pub HistorySchema = "pathmeter.history/1"
);

schema_name!(
    /// The name and version of the document about a path's steps.
    pub BlameSchema = "pathmeter.blame/1"
);

/// The subject of a result: a kernel in a guest, or the machine that pathmeter ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptKind {
    /// A kernel image file, or a package that holds one: counts.
    KernelImage,
    /// The lab kernel that comes with pathmeter: counts.
    Lab,
    /// A machine with its own kernel: times.
    Host,
}

impl From<SubjectKind> for KeptKind {
    fn from(kind: SubjectKind) -> Self {
        match kind {
            SubjectKind::KernelImage => Self::KernelImage,
            SubjectKind::Lab => Self::Lab,
        }
    }
}

impl KeptKind {
    /// The kind of subject; None of times.
    pub fn subject(self) -> Option<SubjectKind> {
        match self {
            Self::KernelImage => Some(SubjectKind::KernelImage),
            Self::Lab => Some(SubjectKind::Lab),
            Self::Host => None,
        }
    }
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
    pub subject: String,
    pub kind: KeptKind,
    /// Of times the machine that they were taken on, its hypervisor and the CPU; counts have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The kernel's release, if known.
    pub release: Option<String>,
    /// Hash of the kernel image: SHA-256 in lower-case hexadecimal; empty of times.
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
    pub schema: HistorySchema,
    /// By date; those of one date as they were added.
    pub results: Vec<KeptResult>,
    /// The paths that were asked for, by name.
    pub paths: Vec<PathHistory>,
}

impl History {
    /// Whether each of its paths has an entry for each of its results.
    ///
    /// # Errors
    /// The path that has another number of them.
    pub fn check(&self) -> Result<(), String> {
        let results = self.results.len();
        match self.paths.iter().find(|path| path.points.len() != results) {
            Some(PathHistory { path, points }) => {
                Err(format!("{path} has {} entries for {results} results", points.len()))
            }
            None => Ok(()),
        }
    }

    /// The same with a path for each unit that its values count, and for each machine that its
    /// times were taken on: what can't be compared is never in one line.
    #[must_use]
    pub fn by_series(&self) -> Self {
        let paths = self.paths.iter().flat_map(|path| path.by_series(&self.results)).collect();
        Self { schema: self.schema, results: self.results.clone(), paths }
    }
}

/// What values must have in common to be in one line: the unit, and the machine of times.
type Series<'a> = (Unit, Option<&'a str>);

impl PathHistory {
    fn by_series(&self, results: &[KeptResult]) -> Vec<Self> {
        let mut found: Vec<(Series<'_>, &KeptResult)> = Vec::new();
        for (point, kept) in self.points.iter().zip(results) {
            let Some(point) = point.filter(|point| point.value.is_some()) else { continue };
            let series = (point.unit, kept.machine.as_deref());
            if !found.iter().any(|(known, _)| *known == series) {
                found.push((series, kept));
            }
        }
        let timed = found.iter().filter(|((unit, _), _)| *unit == Unit::Ps).count();
        match found[..] {
            [((Unit::Ps, _), _)] => vec![Self { path: self.qualify_path("ns"), ..self.clone() }],
            [] | [_] => vec![self.clone()],
            _ => found.iter().map(|(of, first)| self.of(*of, first, timed, results)).collect(),
        }
    }

    /// The values of one series of several; `timed` of them are times.
    fn of(
        &self,
        (unit, machine): Series<'_>,
        first: &KeptResult,
        timed: usize,
        results: &[KeptResult],
    ) -> Self {
        let what = match unit {
            Unit::Ps if timed > 1 => format!("ns, machine of #{}", first.number),
            Unit::Ps => "ns".to_owned(),
            other => other.to_string(),
        };
        let points = self.points.iter().zip(results).map(|(point, kept)| {
            point.filter(|point| point.unit == unit && kept.machine.as_deref() == machine)
        });
        Self { path: self.qualify_path(&what), points: points.collect() }
    }

    /// The path's name with what tells this series from its others in parentheses.
    fn qualify_path(&self, what: &str) -> String {
        format!("{} ({what})", self.path)
    }
}

/// One path over all results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathHistory {
    pub path: String,
    /// An entry for each of `results`; null where a result does not have the path.
    pub points: Vec<Option<Point>>,
}

/// One path in one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Whether the path ran and was proven.
    pub status: Status,
    pub unit: Unit,
    /// The row's value in the result, or the level of times; null without samples.
    pub value: Option<u64>,
    /// The lowest typical value; of times the lower end of the level's interval, or the lowest of
    /// several boots.
    pub low: Option<u64>,
    pub high: Option<u64>,
}

/// The steps of one path in a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    pub schema: BlameSchema,
    pub path: String,
    /// Number of results that have the path.
    pub results: u64,
    /// The first of them; null if there is none.
    pub first: Option<FirstPoint>,
    /// The first result of each step, by date.
    pub steps: Vec<Step>,
    /// Notes that a reader needs in order to judge the steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Where a path's history begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstPoint {
    pub result: KeptResult,
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
    /// The path's times in both, in place of that; left out of counts, and null likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<TimeRow>,
    /// In what else than the kernel the two were measured differently.
    pub configuration_differences: Vec<ConfigurationDifference>,
    /// All rows of the two results; null of the smaller steps if there are many.
    #[serde(default)]
    pub whole: Option<Box<Comparison>>,
}
