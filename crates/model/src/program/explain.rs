//! In which of the kernel's functions the rows of a program differ.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::comparison::saturated;
use crate::{
    FunctionChange, FunctionCost, PathComparison, ProgramResult, RowComparison, RowExplanation,
    RowFunctions, RowKind,
};

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
    let explanation = |(kind, name, whole): (RowKind, &str, Option<i64>)| {
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
        let rest = whole.map(|whole| rest(whole, &functions));
        RowExplanation { kind, name: name.to_owned(), functions, rest }
    };
    let regions = regions.iter().filter(|region| region.difference.is_some_and(|more| more != 0));
    let regions = regions.map(|region| (RowKind::Region, &*region.path, None));
    let rows = rows.iter().map(|row| (row.kind, &*row.name, row.cost.judged().difference));
    let rows = rows.filter(|row| row.2 != 0).map(|(kind, name, all)| (kind, name, Some(all)));
    let explained = regions.chain(rows).map(explanation);
    Some(explained.filter(|row| !row.functions.is_empty()).collect())
}

/// What these functions lack of the whole difference.
fn rest(whole: i64, functions: &[FunctionChange]) -> i64 {
    let sum: i128 = functions.iter().map(|one| i128::from(one.difference)).sum();
    saturated(i128::from(whole) - sum)
}

fn change(name: &str, base: (u64, u64), new: (u64, u64)) -> FunctionChange {
    let difference = i128::from(new.1) - i128::from(base.1);
    FunctionChange {
        function: name.to_owned(),
        base_calls: base.0,
        new_calls: new.0,
        base: base.1,
        new: new.1,
        difference: saturated(difference),
    }
}
