//! How text may look: decided by the caller, which knows the terminal; and the palette.

use anstyle::{AnsiColor, Style as Paint};
use pathmeter_model::Verdict;

/// What the caller's terminal can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI escape sequences may be used.
    pub colour: bool,
    /// Columns of the terminal: the last column of a table is cut to fit. None for no limit.
    pub width: Option<usize>,
}

/// Text as it is.
pub(crate) const PLAIN: Paint = Paint::new();
/// What is read once: headers and footers.
pub(crate) const QUIET: Paint = Paint::new().dimmed();

/// The colours of verdicts: worse is red, better is green, what needs attention is yellow.
pub(crate) fn of_verdict(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Same => PLAIN,
        Verdict::Higher => AnsiColor::Red.on_default(),
        Verdict::Lower => AnsiColor::Green.on_default(),
        Verdict::ModeAppeared => AnsiColor::Yellow.on_default(),
        Verdict::Unsupported => QUIET,
        Verdict::Broken => AnsiColor::Red.on_default().bold(),
    }
}

impl Style {
    /// `text` in `paint`, if colour is wanted and there is anything to paint.
    pub(crate) fn paint(self, text: &str, paint: Paint) -> String {
        if self.colour && paint != PLAIN && !text.is_empty() {
            format!("{paint}{text}{paint:#}")
        } else {
            text.to_owned()
        }
    }
}
