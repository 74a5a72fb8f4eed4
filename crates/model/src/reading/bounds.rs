//! Bounds of what came from outside, and its texts in errors.

use crate::ParseError;
use crate::text::clean;

/// Most of a foreign text that an error repeats, in characters.
const QUOTED_CHARS: usize = 120;

/// That there are no more than `limit`.
pub(crate) fn bounded(what: &str, found: usize, limit: usize) -> Result<(), ParseError> {
    if found <= limit {
        return Ok(());
    }
    Err(ParseError::TooLarge { what: what.into(), found: found as u64, limit: limit as u64 })
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
