//! In which of the kernel's functions the rows of a program differ.

use crate::comparison::saturated;
use crate::function::function_changes;
use crate::{
    FunctionChange, PathComparison, ProgramResult, RowComparison, RowExplanation, RowFunctions,
    RowKind,
};

/// The functions in which these rows differ. None if a side was measured without functions.
pub(crate) fn explain(
    base: &ProgramResult,
    new: &ProgramResult,
    rows: &[RowComparison],
    regions: &[PathComparison],
) -> Option<Vec<RowExplanation>> {
    let (base, new) = (base.functions.as_ref()?, new.functions.as_ref()?);
    let of = |side: &'_ [RowFunctions], kind: RowKind, name: &str| {
        let found = side.iter().find(|one| (one.kind, &*one.name) == (kind, name));
        found.map(|row| row.functions.clone()).unwrap_or_default()
    };
    let explanation = |(kind, name, whole): (RowKind, &str, Option<i64>)| {
        let functions = function_changes(&of(base, kind, name), &of(new, kind, name));
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
