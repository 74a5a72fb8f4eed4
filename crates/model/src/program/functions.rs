//! Which of the kernel's functions a row's instructions are in, and how two kernels differ in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RowKind;

/// The functions of one row of the later runs; of the first one, if that is the only one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowFunctions {
    /// The row's kind.
    pub kind: RowKind,
    /// Its name.
    pub name: String,
    /// Its functions, sorted by name; a name occurs once.
    pub functions: Vec<FunctionCost>,
}

/// What a function cost in one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionCost {
    /// The function.
    pub function: String,
    /// How often it was entered at its beginning: the median of the runs.
    pub calls: u64,
    /// Instructions in it, without those of the functions that it calls: the median of the runs.
    pub instructions: u64,
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
