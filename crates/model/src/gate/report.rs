//! What `--check` makes of a document: part of comparisons, and of what it was asked about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BudgetReport;

/// Why the gate fails, or could not judge; nothing of either if it passes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReport {
    /// What is worse: an entry for each event of a path or row, those of one row together.
    pub worse: Vec<GateReason>,
    /// What had to be compared and was not, each with its reason.
    pub unjudged: Vec<String>,
}

/// Why a path or row fails: in which event, by how much, and what is admitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReason {
    /// The name of the path or row; `program` if it ended differently.
    pub row: String,
    /// The event's name; `instructions` or `clock` for the row's own numbers. Null for what has no
    /// number: a path that is broken, a program that ended differently.
    pub event: Option<String>,
    /// The value of `base`; null if it has none.
    pub base: Option<u64>,
    /// The value of `new`; null if it has none. Where `max` is exceeded, its highest typical one.
    pub new: Option<u64>,
    /// `new` − `base` of the values that carry the verdict; null where `max` is what is held
    /// against.
    pub difference: Option<i64>,
    /// The largest value that is admitted, if there is such a limit.
    pub max: Option<u64>,
    /// The largest difference that is admitted, as written: a number or a percentage.
    pub max_increase: Option<String>,
    /// The line of the budget that states the limit; null for what `--check` itself admits.
    pub line: Option<usize>,
    /// All of it in words.
    pub why: String,
}

/// A document of one subject, with what `--check` makes of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}")]
pub struct Checked<T> {
    #[serde(flatten)]
    pub document: T,
    /// What a budget makes of it; absent if the user gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
    /// What `--check` makes of it; absent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
}

/// A line for each row of these reasons, of which those of one row are together:
/// `openat: instructions 7 → 9 (+2, higher); locked …`.
pub fn gate_lines(reasons: &[GateReason]) -> Vec<String> {
    let rows = reasons.chunk_by(|one, next| one.row == next.row);
    let line = |row: &[GateReason]| {
        let why: Vec<&str> = row.iter().map(|reason| reason.why.as_str()).collect();
        let name = row.first().map_or("", |reason| &reason.row);
        format!("{name}: {}", why.join("; "))
    };
    rows.map(line).collect()
}
