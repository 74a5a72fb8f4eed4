//! Texts that others wrote, made fit for a terminal: the names in documents and files, what guests
//! and tools print. All that is shown to a person passes here, at the latest where it is printed.
//!
//! Contract: what comes out can't move a terminal's cursor, colour it, turn the direction of
//! writing or begin a line. To clean a text twice is to clean it once.

use std::borrow::Cow;

/// Whether a terminal obeys it in place of showing it: control characters, what ends a line by
/// Unicode, and what changes the direction of writing (Unicode UAX #9, table 4 and 2.6).
pub fn is_obeyed(c: char) -> bool {
    let directs = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}');
    c.is_control() || directs || matches!(c, '\u{2028}' | '\u{2029}')
}

/// `text` as one line that shows what a terminal would obey: `\n`, `\u{1b}`.
pub fn clean(text: &str) -> String {
    escaped(text, is_obeyed).into_owned()
}

/// A text of our own that has lines, tabs and colours; all else in it that a terminal would obey is
/// shown.
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    let is_escaped = |c| is_obeyed(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\x1b');
    let mut lines = escaped(parts.next().unwrap_or_default(), is_escaped).into_owned();
    for part in parts {
        lines += if is_colour(part) { "\x1b" } else { "\\u{1b}" };
        lines += &escaped(part, is_escaped);
    }
    Cow::Owned(lines)
}

/// Whether what stands after an escape character is a colour or its end (ECMA-48, SGR).
fn is_colour(text: &str) -> bool {
    let numbers = text
        .strip_prefix('[')
        .map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
    numbers.is_some_and(|rest| rest.starts_with('m'))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => shown.push(c),
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_in_foreign_text() {
        let hostile = "a\x1b[31m\r\nb\u{202e}c\u{9b}2J\u{2028}ä";
        let shown = "a\\u{1b}[31m\\r\\nb\\u{202e}c\\u{9b}2J\\u{2028}ä";
        assert_eq!((&*clean(hostile), &*clean(shown)), (shown, shown));
    }

    #[test]
    fn our_own_texts_keep_their_lines_and_colours_and_nothing_else() {
        let own = "\x1b[1m\x1b[31mfailed\x1b[0m\t1\nnext\n";
        assert_eq!(clean_lines(own), own);
        let hostile = "a\x1b[2Jb\x1b]0;title\u{7}\r\x1b[31m\n";
        assert_eq!(clean_lines(hostile), "a\\u{1b}[2Jb\\u{1b}]0;title\\u{7}\\r\x1b[31m\n");
    }
}
