//! The paths of a history that patterns name.

use crate::failure::Failure;
use pathmeter_measure::path::selection::Selection;

/// The names that match one of `patterns`.
pub(super) fn matching<'a>(
    patterns: &[String],
    names: &'a [String],
) -> Result<Vec<&'a str>, Failure> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Selection::new(patterns, &names)?.of(&names))
}
