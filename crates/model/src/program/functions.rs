//! Which of the kernel's functions a row's instructions are in, and how two kernels differ in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProgramResult, comparison::RowComparison};
use crate::PathComparison;
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

/// The functions in which these rows differ. None if a side was measured without functions.
pub(crate) fn explain(
    base: &ProgramResult,
    new: &ProgramResult,
    rows: &[RowComparison],
    regions: &[PathComparison],
) -> Option<Vec<RowExplanation>> {
    let (base, new) = (base.functions.as_ref()?, new.functions.as_ref()?);
    let of =
        |side: &'_ [RowFunctions], kind: RowKind, name: &str| -> BTreeMap<String, (u64, u64)> {
            let found = side.iter().find(|one| (one.kind, &*one.name) == (kind, name));
            let functions = found.map(|row| row.functions.as_slice()).unwrap_or_default();
            let cost = |one: &FunctionCost| (one.function.clone(), (one.calls, one.instructions));
            functions.iter().map(cost).collect()
        };
    let explanation = |(kind, name): (RowKind, &str)| {
        let (base, new) = (of(base, kind, name), of(new, kind, name));
        let mut functions: Vec<FunctionChange> = base
            .keys()
            .chain(new.keys().filter(|name| !base.contains_key(*name)))
            .map(|name| {
                let of = |side: &BTreeMap<String, (u64, u64)>| {
                    side.get(name).copied().unwrap_or_default()
                };
                change(name, of(&base), of(&new))
            })
            .filter(|change| change.difference != 0 || change.base_calls != change.new_calls)
            .collect();
        functions.sort_by_key(|one| (Reverse(one.difference.unsigned_abs()), one.function.clone()));
        RowExplanation { kind, name: name.to_owned(), functions }
    };
    let regions = regions.iter().filter(|region| region.difference.is_some_and(|more| more != 0));
    let regions = regions.map(|region| (RowKind::Region, &*region.path));
    let rows = rows.iter().filter(|row| row.cost.judged().difference != 0);
    let rows = rows.map(|row| (row.kind, &*row.name));
    let explained = regions.chain(rows).map(explanation);
    Some(explained.filter(|row| !row.functions.is_empty()).collect())
}

fn change(name: &str, base: (u64, u64), new: (u64, u64)) -> FunctionChange {
    let difference = i128::from(new.1) - i128::from(base.1);
    FunctionChange {
        function: name.to_owned(),
        base_calls: base.0,
        new_calls: new.0,
        base: base.1,
        new: new.1,
        difference: i64::try_from(difference).unwrap_or(if difference < 0 {
            i64::MIN
        } else {
            i64::MAX
        }),
    }
}
