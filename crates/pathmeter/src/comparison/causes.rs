//! Where the differences of a comparison come from: of its explanations, or of the functions that
//! were counted in a program's rows.

use std::collections::HashSet;
use std::sync::PoisonError;

use pathmeter_causes::{Holders, Kernel, Row, causes};
use pathmeter_measure::session::Session;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;
use pathmeter_model::{Causes, Comparison, PathComparison, clean};
use pathmeter_trace::{Explain, function_names};

/// The causes of what is explained, with the symbol tables of both kernels as evidence, and their
/// debug information if it is at hand.
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
    let rows: Vec<Row<'_>> = explanations.iter().filter_map(Row::explained).collect();
    of_kernels(explanations, session, images, |kernels| causes(&rows, Some(kernels)))
}

/// The causes of the difference of a program's row whose trees are known; none if it has no two
/// sides.
///
/// # Errors
/// As [`of_explanations`].
pub(crate) fn of_trees(
    explain: &Explain,
    session: &Session,
    images: [&Image; 2],
) -> Result<Option<Causes>, String> {
    let only = std::slice::from_ref(explain);
    of_kernels(only, session, images, |kernels| pathmeter_causes::of_row(explain, Some(kernels)))
}

/// What is attributed with all that is known of both kernels.
fn of_kernels<T>(
    explanations: &[Explain],
    session: &Session,
    images: [&Image; 2],
    attributed: impl FnOnce(&[Kernel<'_>; 2]) -> T,
) -> Result<T, String> {
    let [base, new] = images.map(|image| session.symbols(image, &|_| {}).unwrap_or_default());
    let names = [&base, &new].map(|it| function_names(it).unwrap_or_default());
    if let Some(side) = names.iter().position(HashSet::is_empty) {
        return Err(format!(
            "{} has no symbol table, so its functions have no names (CONFIG_KALLSYMS)",
            clean(&images[side].subject().name)
        ));
    }
    let [of_base, of_new] = names;
    let kernels = at_once(
        || kernel(images[0], of_base.clone(), explanations),
        || kernel(images[1], of_new.clone(), explanations),
    );
    Ok(attributed(&kernels.into()))
}

/// A kernel with these functions, and where the others are that the explanations have.
fn kernel<'a>(image: &Image, names: HashSet<&'a str>, explanations: &[Explain]) -> Kernel<'a> {
    let differences = explanations.iter().filter_map(|explain| explain.difference.as_ref());
    let executed = differences.flat_map(|it| &it.functions).map(|it| &*it.name);
    let inlined: HashSet<&str> = executed.filter(|name| !names.contains(name)).collect();
    let debug = image.debug_info(&|_| {}).ok().flatten();
    let holders = debug.map(|debug| -> Holders {
        debug.lock().unwrap_or_else(PoisonError::into_inner).holders(inlined)
    });
    Kernel { names, holders: holders.unwrap_or_default() }
}

/// The causes of the differences in a program's own work, since other rows depend on the timer;
/// none if its functions were not counted.
pub(crate) fn of_rows(comparison: &Comparison) -> Option<Causes> {
    let is_row = |path: &&PathComparison| {
        let of_program = path.work.as_ref().is_some_and(|work| !work.kind.is_total());
        of_program && path.is_own_work() && !path.functions.is_empty()
    };
    let row = |path| {
        let path: &PathComparison = path;
        Row::of_functions(&path.path, path.base.unwrap_or(0), &path.functions)
    };
    let rows: Vec<Row<'_>> = comparison.paths.iter().filter(is_row).map(row).collect();
    (!rows.is_empty()).then(|| causes(&rows, None))
}
