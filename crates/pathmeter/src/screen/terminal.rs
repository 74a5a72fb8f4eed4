//! What stdout and stderr are connected to, the only way to them, and all that is told on stderr:
//! notes and errors.
//!
//! Contract: stderr is best effort. Errors are drawn for a terminal (`miette`), else one plain line
//! each, with help and console indented below. A terminal that can do no more than print
//! (`TERM=dumb`) gets what a log would. Every text is cleaned here, whoever wrote it, and a message
//! is one line; `clippy.toml` keeps all other files from stdout and stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use crate::failure::{Exit, Failure};
use clap::ColorChoice;
use miette::{GraphicalReportHandler, GraphicalTheme};
use pathmeter_report::Style;

use pathmeter_measure::interrupt;
use pathmeter_model::{clean, clean_lines, shorten};

/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;
/// Columns that tables fit where there is no terminal, unless the variable COLUMNS says otherwise.
const COLUMNS_OF_A_PIPE: usize = 100;

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
    pub(crate) fn new(color: ColorChoice, quiet: bool) -> Self {
        let (stdout, stderr) = (stdout().is_terminal(), stderr().is_terminal());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let lively = stderr && !dumb;
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let theme = if coloured(color, lively) {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let drawing = lively.then(|| {
            GraphicalReportHandler::new_themed(theme).with_width(width.unwrap_or(COLUMNS))
        });
        Self {
            style: Style {
                colour: coloured(color, stdout && !dumb),
                width: width.filter(|_| stdout),
                table_width: read_columns(std::env::var("COLUMNS").ok().as_deref()),
            },
            quiet,
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
        let drawn =
            self.drawing.as_ref().map(|drawing| drawing.render_report(&mut text, &Drawn(failure)));
        if !matches!(drawn, Some(Ok(()))) {
            text = plain(failure);
        }
        if let Some(console) = failure.console() {
            text.extend(["  the end of the guest's console:", &clean_lines(&console), "\n"]);
        }
        // Nobody is left to be told if that fails.
        Ok(interrupt::blocking(|| stderr().lock().write_all(text.as_bytes())).map(drop)?)
    }
}

/// Columns of tables where there is no terminal: what the variable COLUMNS says, 0 for no limit.
fn read_columns(variable: Option<&str>) -> Option<usize> {
    let columns = variable.and_then(|text| text.parse().ok()).unwrap_or(COLUMNS_OF_A_PIPE);
    (columns > 0).then_some(columns)
}

/// Prints a clean line on stderr, after the program's name.
pub(crate) fn print_line(text: &str) {
    // Nobody is left to be told if that fails.
    let _ = writeln!(stderr().lock(), "pathmeter: {}", shorten(&clean(text)));
}

/// Prints on stdout: all lines of a text of ours. What others wrote is not in it, or is shown.
pub(crate) fn write(text: &[u8]) -> io::Result<()> {
    let mut stdout = stdout().lock();
    stdout.write_all(clean_lines(&String::from_utf8_lossy(text)).as_bytes())?;
    stdout.flush()
}

#[expect(clippy::disallowed_methods, reason = "what is written to it here is clean")]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "what is written to it here is clean")]
fn stderr() -> io::Stderr {
    io::stderr()
}

/// A failure as `miette` draws it: with its advice as the help.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.lines().join("\n  "))]
struct Drawn<'a>(&'a Failure);

impl miette::Diagnostic for Drawn<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.0.advice().map(|advice| Box::new(indented(advice)) as Box<dyn Display>)
    }
}

/// An error for a pipe or a log.
fn plain(failure: &Failure) -> String {
    let help = failure.advice().map(indented).map(|advice| format!("  help: {advice}\n"));
    let lines = failure.lines().join("\n  ");
    format!("pathmeter: error: {lines}\n{}", help.unwrap_or_default())
}

/// Advice, of which no line but the first begins in the first column.
fn indented(advice: &str) -> String {
    let lines = advice
        .lines()
        .map(|line| shorten(&clean(line)).into_owned())
        .map(|line| if line.starts_with("  ") { line } else { format!("  {line}") });
    lines.collect::<Vec<_>>().join("\n").trim_start().to_owned()
}

fn coloured(choice: ColorChoice, terminal: bool) -> bool {
    let unwanted = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && !unwanted(),
    }
}
