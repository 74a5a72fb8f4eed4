//! Bounds of what came from outside, and its texts in errors.

use std::collections::HashSet;

use super::limits::{MAX_NAME_BYTES, MAX_PATHS};
use super::parse_error::ParseError;
use crate::text::clean;

/// Most of a foreign text that an error repeats, in characters.
const QUOTED_CHARS: usize = 120;

/// What errors about comparisons call the number of paths, and the length of a name.
pub(crate) const OF_COMPARISONS: [&str; 2] = ["paths", "a path's name, in bytes"];
/// What errors about results and times call them.
pub(crate) const OF_RESULTS: [&str; 2] = ["number of paths", "length of a path's name in bytes"];

/// That there are no more than `limit`.
pub(crate) fn bounded(what: &str, found: usize, limit: usize) -> Result<(), ParseError> {
    if found <= limit {
        return Ok(());
    }
    Err(ParseError::TooLarge { what: what.into(), found: found as u64, limit: limit as u64 })
}

/// That a field is not what a measurement gave.
pub(crate) fn field(field: &str, what: &str) -> ParseError {
    ParseError::Field { field: field.into(), what: what.into() }
}

/// The first of these complaints that holds.
pub(crate) fn first_complaint<T, const N: usize>(complaints: [(bool, T); N]) -> Option<T> {
    complaints.into_iter().find_map(|(holds, what)| holds.then_some(what))
}

/// That there are not too many paths, and that each has a name of its own that is not too long.
/// The words are what errors call the number of paths, and the length of a name.
pub(crate) fn check_names<'a>(
    names: impl ExactSizeIterator<Item = &'a str>,
    [number, length]: [&str; 2],
) -> Result<(), ParseError> {
    bounded(number, names.len(), MAX_PATHS)?;
    let mut seen = HashSet::new();
    for name in names {
        bounded(length, name.len(), MAX_NAME_BYTES)?;
        if !seen.insert(name) {
            return Err(ParseError::DuplicatePath { path: quoted(name) });
        }
    }
    Ok(())
}

/// Foreign text in quotes, fit for a terminal.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// Foreign text, fit for a terminal: control characters escaped, and not too much of it.
pub(crate) fn shortened(text: &str) -> String {
    let short: String = text.chars().take(QUOTED_CHARS).collect();
    let mut short = clean(&short);
    if text.chars().nth(QUOTED_CHARS).is_some() {
        short.push('…');
    }
    short
}
