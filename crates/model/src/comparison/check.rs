//! Comparisons that came from a file: as of a result, what the rest relies on is checked.

use crate::difference::{difference, percent_of};
use crate::reading::bounds::{
    OF_COMPARISONS, bounded, check_names, field, first_complaint, quoted,
};
use crate::{Causes, Comparison, MAX_PATHS, ParseError, PathComparison, Summary};

/// Checks a comparison that came from a file: its bounds, that no path is there twice, that
/// differences and summary are those of its paths, and that its causes add up.
///
/// # Errors
/// Any [`ParseError`] but those of reading.
pub fn check_comparison(comparison: &Comparison) -> Result<(), ParseError> {
    check_names(comparison.paths.iter().map(|row| &*row.path), OF_COMPARISONS)?;
    bounded("processes", comparison.processes.len(), MAX_PATHS)?;
    for row in comparison.paths.iter().chain(&comparison.processes) {
        if let Some((number, what)) = contradiction(row) {
            return Err(field(&format!("{number} of {}", quoted(&row.path)), what));
        }
    }
    if let Some(what) = comparison.causes.as_ref().and_then(Causes::contradiction) {
        return Err(field("causes", what));
    }
    if comparison.summary == Summary::of(&comparison.paths) {
        return Ok(());
    }
    Err(field("summary", "is not that of the paths"))
}

/// Which number of a row does not follow from base and new, and what it should be.
fn contradiction(row: &PathComparison) -> Option<(&'static str, &'static str)> {
    let sides = row.base.zip(row.new);
    let is_of = |one: i64, (base, new): (u64, u64)| one == difference((base, new));
    let less = "is not new less base";
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs();
    first_complaint([
        (
            row.difference.is_some_and(|it| !sides.is_some_and(|sides| is_of(it, sides))),
            ("difference", less),
        ),
        (
            row.percent.is_some_and(|it| {
                !sides.and_then(percent_of).is_some_and(|percent| close(it, percent))
            }),
            ("percent", "is not the difference in percent of base"),
        ),
        (
            row.events.iter().any(|it| !is_of(it.difference, (it.base, it.new))),
            ("an event's difference", less),
        ),
        (
            row.functions.iter().any(|it| !is_of(it.difference, (it.base, it.new))),
            ("a function's difference", less),
        ),
    ])
}
