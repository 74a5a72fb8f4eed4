//! Which of the kernel's functions a row's instructions are in, and how two kernels differ in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProgramRun;
use crate::{FunctionChange, FunctionCost, RowKind};

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
