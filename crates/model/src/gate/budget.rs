//! What a budget makes of a comparison: part of `pathmeter.comparison/1`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The limits that were judged, and what was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetReport {
    /// The budget's file, as the user named it.
    pub file: String,
    /// One entry for each event of a path that a rule is about, in the order of the comparison;
    /// and one for each path that is accepted without a rule. Of programs the same for rows, then
    /// for regions.
    pub rows: Vec<BudgetRow>,
}

/// One event of one path, or of one row of a program, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetRow {
    /// The name of the path, or of the row as tables have it.
    pub path: String,
    /// The event's name; `instructions` or `clock` for the path's own numbers.
    pub event: String,
    /// The rule's pattern; null if the path is accepted without a rule.
    pub rule: Option<String>,
    /// The rule's line in the file, from 1, or that of the acceptance.
    pub line: usize,
    /// The value of `base`; null if it has none.
    pub base: Option<u64>,
    /// The value of `new`: the highest typical one if that exceeds `max`, or if the rule has no
    /// other limit; else the one that decides the verdict. Null if it has none.
    pub new: Option<u64>,
    /// The largest value that `new` may have, if there is such a limit.
    pub max: Option<u64>,
    /// By how much it may be higher than `base`, as written, if there is such a limit.
    pub max_increase: Option<String>,
    pub outcome: BudgetOutcome,
    /// Why: of an acceptance its reason, else what keeps it from being judged.
    pub reason: Option<String>,
    /// The last day of the acceptance, if there is one.
    pub expires: Option<String>,
}

impl BudgetRow {
    /// Whether `new` is the value that was compared with `base`; else it is the highest one, which
    /// exceeds `max` or is all that the rule is about.
    pub fn is_of_pair(&self) -> bool {
        let within =
            |max: u64| self.max_increase.is_some() && self.new.is_some_and(|new| new <= max);
        self.max.is_none_or(within)
    }
}

/// Whether a limit is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetOutcome {
    Within,
    Over,
    /// It is not, which the budget accepts for now.
    Accepted,
    /// It is not, and the budget no longer accepts that.
    Expired,
    /// There is nothing to judge.
    NotJudged,
}

impl BudgetOutcome {
    /// Whether it fails a gate.
    pub fn is_worse(self) -> bool {
        matches!(self, Self::Over | Self::Expired)
    }
}

impl fmt::Display for BudgetOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Within => "within",
            Self::Over => "over",
            Self::Accepted => "accepted",
            Self::Expired => "expired",
            Self::NotJudged => "not-judged",
        })
    }
}
