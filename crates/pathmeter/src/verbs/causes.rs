//! Where the differences of a comparison come from: of its explanations, or of the functions that
//! were counted in a program's rows.

use std::collections::HashSet;

use pathmeter_causes::{Row, SymbolNames, causes};
use pathmeter_measure::image::Image;
use pathmeter_measure::session::Session;
use pathmeter_model::{Causes, Comparison, PathComparison, clean};
use pathmeter_trace::{Explain, function_names};

/// The causes of what is explained, with the symbol tables of both kernels as evidence.
///
/// # Errors
/// A kernel has no symbol table: its functions have no names by which to know them in the other
/// one. This says so.
pub(crate) fn of_explanations(
    explanations: &[Explain],
    session: &Session,
    images: [&Image; 2],
) -> Result<Causes, String> {
    if explanations.is_empty() {
        return Ok(Causes::default());
    }
    let [base, new] = images.map(|image| session.symbols(image, &|_| {}).unwrap_or_default());
    let names: SymbolNames<'_> = [&base, &new].map(|it| function_names(it).unwrap_or_default());
    if let Some(side) = names.iter().position(HashSet::is_empty) {
        return Err(format!(
            "{} has no symbol table, so its functions have no names (CONFIG_KALLSYMS)",
            clean(&images[side].subject().name)
        ));
    }
    let rows: Vec<Row<'_>> = explanations.iter().filter_map(Row::explained).collect();
    Ok(causes(&rows, Some(&names)))
}

/// The causes of the differences of a program's rows; none if their functions were not counted.
pub(crate) fn of_rows(comparison: &Comparison) -> Option<Causes> {
    let is_row = |path: &&PathComparison| {
        let of_program = path.work.as_ref().is_some_and(|work| !work.kind.is_total());
        of_program && !path.functions.is_empty()
    };
    let row = |path| {
        let path: &PathComparison = path;
        Row::of_functions(&path.path, path.base.unwrap_or(0), &path.functions)
    };
    let rows: Vec<Row<'_>> = comparison.paths.iter().filter(is_row).map(row).collect();
    (!rows.is_empty()).then(|| causes(&rows, None))
}
