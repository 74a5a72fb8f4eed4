//! Which of the kernel's functions a row's instructions are in, and how two kernels differ in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProgramRun;
use crate::RowKind;

/// The functions of one row in one run: the first later run in which the row has its median; the
/// first run, if that is the only one. They add up to the row's instructions in that run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowFunctions {
    /// The row's kind.
    pub kind: RowKind,
    /// Its name.
    pub name: String,
    /// The run, as an index into the result's `runs`.
    pub run: usize,
    /// Its functions, sorted by name; a name occurs once.
    pub functions: Vec<FunctionCost>,
}

/// What a function cost in one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionCost {
    /// The function.
    pub function: String,
    /// How often it was entered at its beginning.
    pub calls: u64,
    /// Instructions in it, without those of the functions that it calls.
    pub instructions: u64,
}

impl RowFunctions {
    /// Whether the functions add up to their row in the run that they are of. A region has no row:
    /// its executions overlap with rows.
    pub(crate) fn check(&self, runs: &[ProgramRun]) -> Result<(), String> {
        let run = runs.get(self.run).ok_or_else(|| format!("there is no run {}", self.run))?;
        if self.kind == RowKind::Region {
            return Ok(());
        }
        let row = run.rows.iter().find(|row| row.key() == (self.kind, &*self.name));
        let counted = row.map_or(0, |row| row.instructions);
        let sum: u128 = self.functions.iter().map(|one| u128::from(one.instructions)).sum();
        if sum == u128::from(counted) {
            return Ok(());
        }
        Err(format!("they add up to {sum}, but the row has {counted} in runs[{}]", self.run))
    }
}

/// How a row differs, function by function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowExplanation {
    /// The row's kind.
    pub kind: RowKind,
    /// Its name.
    pub name: String,
    /// The functions that differ, the largest difference first.
    pub functions: Vec<FunctionChange>,
    /// What the functions lack of the row's difference, because the pair of runs that the row
    /// shows is not the one that the functions are of. Null for a region: its number is one
    /// execution's, and its functions are of all executions in a run.
    pub rest: Option<i64>,
}

/// How a function differs in one row. A side that does not execute it has 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionChange {
    /// The function.
    pub function: String,
    /// How often it was entered on base.
    pub base_calls: u64,
    /// How often it was entered on new.
    pub new_calls: u64,
    /// Instructions in it on base.
    pub base: u64,
    /// Instructions in it on new.
    pub new: u64,
    /// The instructions of `new` − those of `base`.
    pub difference: i64,
}
