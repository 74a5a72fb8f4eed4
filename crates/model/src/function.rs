//! The kernel's functions that work is in, and how two kernels differ in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// In which functions two sides differ, the largest difference first.
pub(crate) fn function_changes(base: &[FunctionCost], new: &[FunctionCost]) -> Vec<FunctionChange> {
    let of = |side: &[FunctionCost]| -> BTreeMap<String, (u64, u64)> {
        let cost = |one: &FunctionCost| (one.function.clone(), (one.calls, one.instructions));
        side.iter().map(cost).collect()
    };
    let (base, new) = (of(base), of(new));
    let names = base.keys().chain(new.keys().filter(|name| !base.contains_key(*name)));
    let mut functions: Vec<FunctionChange> = names
        .map(|name| {
            let cost =
                |side: &BTreeMap<String, (u64, u64)>| side.get(name).copied().unwrap_or_default();
            change(name, cost(&base), cost(&new))
        })
        .filter(|change| change.difference != 0 || change.base_calls != change.new_calls)
        .collect();
    functions.sort_by_key(|one| (Reverse(one.difference.unsigned_abs()), one.function.clone()));
    functions
}

fn change(name: &str, base: (u64, u64), new: (u64, u64)) -> FunctionChange {
    let difference = i128::from(new.1) - i128::from(base.1);
    FunctionChange {
        function: name.to_owned(),
        base_calls: base.0,
        new_calls: new.0,
        base: base.1,
        new: new.1,
        // Both are bounded far below when they are read.
        difference: i64::try_from(difference).unwrap_or(i64::MAX),
    }
}
