//! Where the differences of a comparison come from: of its explanations, or of the functions that
//! were counted in a program's rows.

use pathmeter_causes::{Row, SymbolNames, causes};
use pathmeter_measure::image::Image;
use pathmeter_measure::session::Session;
use pathmeter_model::{Causes, Comparison, PathComparison};
use pathmeter_trace::{Explain, function_names};

/// The causes of what is explained, with the symbol tables of both kernels as evidence where they
/// can be had.
pub(crate) fn of_explanations(
    explanations: &[Explain],
    session: &Session,
    images: [&Image; 2],
) -> Causes {
    let rows: Vec<Row<'_>> = explanations.iter().filter_map(Row::explained).collect();
    let [base, new] = images.map(|image| session.symbols(image, &|_| {}).unwrap_or_default());
    let names = function_names(&base).ok().zip(function_names(&new).ok());
    let names: Option<SymbolNames<'_>> = names.map(|(base, new)| [base, new]);
    causes(&rows, names.as_ref())
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
