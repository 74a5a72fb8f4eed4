//! Where text goes: results to stdout or a file, the rest to stderr.
//!
//! Contract: a file appears whole or not at all. A reader that closes its end of stdout has seen
//! enough, which is no error; stderr is best effort. Errors are drawn for a terminal
//! (`miette`), else one plain line each, with help and console indented below.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::ColorChoice;
use miette::{GraphicalReportHandler, GraphicalTheme};
use pathmeter_report::Style;
use serde::Serialize;

use crate::cli::{Look, OutputArgs};
use crate::failure::{Exit, Failure};

/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// What stdout and stderr are connected to.
pub(crate) struct Screen {
    style: Style,
    quiet: bool,
    /// How errors are drawn; none draws them plainly.
    drawing: Option<GraphicalReportHandler>,
}

impl Screen {
    /// Looks at stdout and stderr, once.
    pub(crate) fn new(look: &Look) -> Self {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let theme = if coloured(look.color, stderr) {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let drawing = stderr.then(|| {
            GraphicalReportHandler::new_themed(theme).with_width(width.unwrap_or(COLUMNS))
        });
        Self {
            style: Style { colour: coloured(look.color, stdout), width: width.filter(|_| stdout) },
            quiet: look.quiet,
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

    /// Puts a document out as the user asked: JSON to a file or stdout, the table to stdout.
    pub(crate) fn deliver<D: Serialize>(
        &self,
        args: &OutputArgs,
        document: &D,
        table: fn(&D, Style) -> String,
    ) -> Result<(), Failure> {
        self::document(args, document)?;
        if args.json { Ok(()) } else { print(table(document, self.style).as_bytes()) }
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
            self.report_single(single);
        }
        failure.exit()
    }

    fn report_single(&self, failure: &Failure) {
        let mut text = String::new();
        let drawn = self.drawing.as_ref().map(|drawing| drawing.render_report(&mut text, failure));
        if !matches!(drawn, Some(Ok(()))) {
            text = plain(failure);
        }
        if let Some(console) = failure.console() {
            text.extend(["  the end of the guest's console:", &console, "\n"]);
        }
        // Nobody is left to be told if that fails.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Puts the JSON document out, if the user asked for it: to a file or stdout.
pub(crate) fn document<D: Serialize>(args: &OutputArgs, document: &D) -> Result<(), Failure> {
    match (&args.output, args.json) {
        (Some(path), _) => save(path, &json(document)?),
        (None, true) => print(&json(document)?),
        (None, false) => Ok(()),
    }
}

/// Prints a result.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::File { doing: "writing", path: "standard output".into(), error })
        }
        _ => Ok(()),
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

/// Finds out before a long run whether its result can be written to `path`.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let checked = if is_special(path) {
        File::options().write(true).open(path).map(drop)
    } else {
        temporary_beside(&target(path)).map(drop)
    };
    checked.map_err(|error| writing(path, error))
}

/// Writes `bytes` to `path`, whole or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let saved = if is_special(path) {
        File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes))
    } else {
        replace(&target(path), bytes)
    };
    saved.map_err(|error| writing(path, error))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary_beside(path)?;
    file.write_all(bytes)?;
    // Or a crash could leave the new name without the bytes.
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mode = fs::metadata(path).map_or(0o666, |about| about.permissions().mode());
    tempfile::Builder::new()
        .prefix(".pathmeter-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// The file that `path` leads to, so that a link to a file stays one.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A device or a pipe, which must be written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

fn writing(path: &Path, error: io::Error) -> Failure {
    Failure::File { doing: "writing", path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        for text in ["first", "second"] {
            save(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save(&link, b"text").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    }

    #[test]
    fn a_full_disk_is_named() {
        let failure = save(Path::new("/dev/full"), b"text").unwrap_err();
        assert!(failure.to_string().starts_with("writing /dev/full: "), "{failure}");
        assert!(is_special(Path::new("/dev/full")));
    }

    #[test]
    fn a_folder_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_writable(folder.path()).is_err());
        assert!(check_writable(&folder.path().join("missing/file")).is_err());
        assert!(check_writable(&folder.path().join("file")).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
