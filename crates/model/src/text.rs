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

/// The longest word, and the longest text, that an error repeats whole.
const LONGEST_WORD: usize = 400;
const LONGEST_TEXT: usize = 4000;

/// A text for an error, in which words and the whole are cut in their middle if they are too long
/// to be read: it may repeat a value of any length.
pub fn shorten(text: &str) -> Cow<'_, str> {
    if text.chars().nth(LONGEST_WORD).is_none() {
        return Cow::Borrowed(text);
    }
    let words = text.split(' ').map(|word| cut_middle(word, LONGEST_WORD));
    let words = words.collect::<Vec<_>>().join(" ");
    Cow::Owned(cut_middle(&words, LONGEST_TEXT).into_owned())
}

/// The begin and the end of a text that is longer than `most` characters.
fn cut_middle(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (most / 2, most / 4);
    let begin: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    Cow::Owned(format!("{begin}… ({} characters more) …{end}", count - head - tail))
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
    fn what_is_too_long_to_be_read_is_cut_in_its_middle() {
        let short = format!("--under {}: no", "x".repeat(300));
        assert!(matches!(shorten(&short), Cow::Borrowed(_)));
        let paths = ["/a".repeat(150), "/b".repeat(150)].join(" and ");
        assert_eq!(shorten(&paths), paths);
        let word = format!("--under ä{}: no such setting", "x".repeat(100_000));
        let cut = shorten(&word).into_owned();
        assert!(cut.starts_with("--under äxxx") && cut.ends_with("x: no such setting"), "{cut}");
        assert!(cut.contains("… (99702 characters more) …"), "{cut}");
        assert!(cut.len() < 500, "{cut}");
        let words = "ab ".repeat(50_000);
        assert!(shorten(&words).chars().count() < 4000);
        assert_eq!(shorten(&cut), cut);
    }

    #[test]
    fn our_own_texts_keep_their_lines_and_colours_and_nothing_else() {
        let own = "\x1b[1m\x1b[31mfailed\x1b[0m\t1\nnext\n";
        assert_eq!(clean_lines(own), own);
        let hostile = "a\x1b[2Jb\x1b]0;title\u{7}\r\x1b[31m\n";
        assert_eq!(clean_lines(hostile), "a\\u{1b}[2Jb\\u{1b}]0;title\\u{7}\\r\x1b[31m\n");
    }
}
