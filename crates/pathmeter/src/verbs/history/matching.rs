//! The paths of a history that patterns name.

use pathmeter_measure::failure::Failure;
use pathmeter_measure::selection::Selection;

/// The names that match one of `patterns`.
pub(super) fn matching<'a>(
    patterns: &[String],
    names: &'a [String],
) -> Result<Vec<&'a str>, Failure> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Selection::new(patterns, &names).map(|selection| selection.of(&names))
}
