//! Where text goes: results to stdout or a file, the rest to stderr.
//!
//! Contract: a reader that closes its end of stdout has seen enough, which is no error; one that
//! does not read is waited for until a signal comes; stderr is best effort. Errors are drawn for a
//! terminal (`miette`), else one plain line each, with help and console indented below. A terminal
//! that can do no more than print (`TERM=dumb`) gets what a log would.

use std::io::{self, ErrorKind, IsTerminal, Write};

use clap::ColorChoice;
use miette::{GraphicalReportHandler, GraphicalTheme};
use pathmeter_report::Style;
use serde::Serialize;

use crate::cli::{DocumentArgs, Look};
use crate::destination::Destination;
use crate::failure::{Exit, Failure};
use crate::interrupt;

/// Reasons that are printed why a check fails.
const MOST_REASONS: usize = 50;
/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// What stdout and stderr are connected to.
pub(crate) struct Screen {
    style: Style,
    quiet: bool,
    /// Whether text on stderr can be moved and painted.
    lively: bool,
    /// How errors are drawn; none draws them plainly.
    drawing: Option<GraphicalReportHandler>,
}

impl Screen {
    /// Looks at stdout and stderr, once.
    pub(crate) fn new(look: &Look) -> Self {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let lively = stderr && !dumb;
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let theme = if coloured(look.color, lively) {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let drawing = lively.then(|| {
            GraphicalReportHandler::new_themed(theme).with_width(width.unwrap_or(COLUMNS))
        });
        Self {
            style: Style {
                colour: coloured(look.color, stdout && !dumb),
                width: width.filter(|_| stdout),
            },
            quiet: look.quiet,
            lively,
            drawing,
        }
    }

    /// How text on stdout may look.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Whether the user wants results and errors only.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether text on stderr can be moved and painted.
    pub(crate) fn lively(&self) -> bool {
        self.lively
    }

    /// Puts a document out as the user asked: JSON to a file or stdout, the table to stdout.
    ///
    /// # Errors
    /// The file can't be written, or stdout can't.
    pub(crate) fn deliver<D: Serialize>(
        &self,
        args: &DocumentArgs,
        file: Option<&Destination>,
        document: &D,
        table: impl FnOnce(&D, Style) -> String,
    ) -> Result<(), Failure> {
        // The table is not lost with the file.
        let written = self::document(args, file, document);
        let printed =
            if args.json { Ok(()) } else { print(table(document, self.style).as_bytes()) };
        match (written, printed) {
            (Err(written), Err(printed)) => Err(Failure::all(vec![written, printed])),
            (written, printed) => written.and(printed),
        }
    }

    /// Prints something worth knowing that is no error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            print_line(&format!("note: {text}"));
        }
    }

    /// Prints why there is no result.
    pub(crate) fn report(&self, failure: &Failure) -> Exit {
        if matches!(failure, Failure::Interrupted) {
            print_line(&failure.to_string());
            return failure.exit();
        }
        for single in failure.each() {
            if let Err(interrupted) = self.report_single(single) {
                return self.report(&interrupted);
            }
        }
        failure.exit()
    }

    /// The error is that a signal came before.
    fn report_single(&self, failure: &Failure) -> Result<(), Failure> {
        let mut text = String::new();
        let drawn = self.drawing.as_ref().map(|drawing| drawing.render_report(&mut text, failure));
        if !matches!(drawn, Some(Ok(()))) {
            text = plain(failure);
        }
        if let Some(console) = failure.console() {
            text.extend(["  the end of the guest's console:", &console, "\n"]);
        }
        // Nobody is left to be told if that fails.
        interrupt::blocking(|| io::stderr().lock().write_all(text.as_bytes())).map(drop)
    }
}

/// Puts the JSON document out, if the user asked for it: to a file or stdout.
pub(crate) fn document<D: Serialize>(
    args: &DocumentArgs,
    file: Option<&Destination>,
    document: &D,
) -> Result<(), Failure> {
    match (file, args.json) {
        (Some(file), _) => file.write(&json(document)?),
        (None, true) => print(&json(document)?),
        (None, false) => Ok(()),
    }
}

/// Prints a result.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match interrupt::blocking(|| stdout.write_all(bytes).and_then(|()| stdout.flush()))? {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::File { doing: "writing", path: "standard output".into(), error })
        }
        _ => Ok(()),
    }
}

/// Prints why `--check` fails, a line for each thing that does: whatever else is put out, and last
/// of all.
pub(crate) fn fails(why: &[String]) {
    for text in why.iter().take(MOST_REASONS) {
        print_line(&format!("--check fails: {text}"));
    }
    if let Some(more) = why.len().checked_sub(MOST_REASONS).filter(|more| *more > 0) {
        print_line(&format!("--check fails: {more} more"));
    }
}

/// A line on stderr.
pub(crate) fn print_line(text: &str) {
    // Nobody is left to be told if that fails.
    let _ = writeln!(io::stderr().lock(), "pathmeter: {text}");
}

/// An error for a pipe or a log.
fn plain(failure: &Failure) -> String {
    let help = failure.advice().map(|advice| format!("  help: {advice}\n")).unwrap_or_default();
    format!("pathmeter: error: {failure}\n{help}")
}

fn coloured(choice: ColorChoice, terminal: bool) -> bool {
    let unwanted = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && !unwanted(),
    }
}

/// `document` as one line.
pub(crate) fn json<D: Serialize>(document: &D) -> Result<Vec<u8>, Failure> {
    let mut bytes = serde_json::to_vec(document)
        .map_err(|error| Failure::System { doing: "writing JSON", error: error.into() })?;
    bytes.push(b'\n');
    Ok(bytes)
}
