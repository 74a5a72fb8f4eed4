//! How text may look: decided by the caller, which knows the terminal; and the palette.

use anstyle::{AnsiColor, Style as Paint};
use pathmeter_model::{Verdict, clean};
use textwrap::{Options, WordSeparator, WordSplitter};

/// What the caller's terminal can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI escape sequences may be used.
    pub colour: bool,
    /// Columns of the terminal, which tables and other lines are made to fit. None for no limit.
    pub width: Option<usize>,
    /// Columns that tables are made to fit where other lines have no limit, as in a pipe.
    pub table_width: Option<usize>,
}

/// Columns of text that a line has on a terminal of any width.
const LEAST_LINE: usize = 20;

/// The paint that leaves text as it is.
pub(crate) const PLAIN: Paint = Paint::new();
/// What is read once: headers and footers.
pub const QUIET: Paint = Paint::new().dimmed();

/// The colours of verdicts: worse is red, better is green, what needs attention is yellow.
pub fn of_verdict(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Same => PLAIN,
        Verdict::Higher | Verdict::LongerTail => AnsiColor::Red.on_default(),
        Verdict::Lower | Verdict::ShorterTail => AnsiColor::Green.on_default(),
        Verdict::ModeAppeared | Verdict::EventsDiffer => AnsiColor::Yellow.on_default(),
        Verdict::Unsupported => QUIET,
        Verdict::Broken => AnsiColor::Red.on_default().bold(),
    }
}

/// Lines of this width that end at spaces only: the name of an event, such as `mul-64`, or that of
/// a file is one word.
pub(crate) fn keep_words(width: usize) -> Options<'static> {
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

impl Style {
    /// `text`, whoever wrote it, on lines that fit the terminal: the first begins after `indent`
    /// columns, and so do the others.
    pub fn fill(self, text: &str, indent: usize) -> String {
        let text = clean(text);
        let Some(width) = self.width else { return text };
        let lines = textwrap::wrap(&text, keep_words(width.saturating_sub(indent).max(LEAST_LINE)));
        lines.join(&format!("\n{}", " ".repeat(indent)))
    }

    /// A line, or several, of the small print.
    pub fn quiet(self, text: &str) -> String {
        self.paint(&self.fill(text, 0), QUIET) + "\n"
    }

    /// `text` in `paint`, if colour is wanted and there is anything to paint.
    pub fn paint(self, text: &str, paint: Paint) -> String {
        if self.colour && paint != PLAIN && !text.is_empty() {
            format!("{paint}{text}{paint:#}")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_at_a_space_and_never_inside_a_name() {
        assert_eq!(textwrap::wrap("rep +1, mul-64 +8", keep_words(12)), ["rep +1,", "mul-64 +8"]);
    }
}
