//! What can be measured or compared: a kernel image, or the result of an earlier measurement.
//!
//! A file whose first character other than white space is `{`, also after a byte-order mark, is a
//! result; no kernel begins so. All else is taken for a kernel, whose reader reports what is wrong
//! with it.
//!
//! Contract: every document that the user names is read here, where its seal is checked. One that
//! is not what pathmeter wrote is refused, or, after [`accept_edited`], marked as edited.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use pathmeter_model::{
    Boots, MAX_DOCUMENT_BYTES, Measurement, command_line, is_document, parse_boots,
    parse_measurement, parse_times,
};
use pathmeter_plan::FileStep;
use pathmeter_probes::Suite;

use pathmeter_seal::{SealError, mark_edited, unsealed};
use serde::de::IgnoredAny;

use crate::error::MeasureError;

pub mod builds;
pub(crate) mod debug;
pub mod image;
mod lab;
pub mod modules;
pub mod named_kernel;
pub mod points;

/// How far the first byte of a document is looked for.
const SNIFFED: u64 = 4096;

/// Whether documents are taken that were edited.
static ACCEPTS_EDITED: AtomicBool = AtomicBool::new(false);

/// From here on, a document that was edited is taken, and its subjects are marked as edited.
pub fn accept_edited() {
    ACCEPTS_EDITED.store(true, Ordering::Relaxed);
}

/// A subject, as its file was found to be.
pub enum Subject {
    /// A kernel, not yet read, as the user named it.
    Kernel(PathBuf),
    /// A result, read and checked.
    Result(Box<Measurement>),
}

impl Subject {
    /// Finds out what the file at `path` is, and reads it if it is a result.
    pub fn open(path: &Path) -> Result<Self, MeasureError> {
        if is_host(path) {
            return Err(refused_host());
        }
        if is_timed(path) {
            return Err(refused_times(path));
        }
        let Some(bytes) = document(path)? else { return Ok(Self::Kernel(path.to_owned())) };
        match parse_measurement(&bytes) {
            Ok(measurement) => Ok(Self::Result(Box::new(measurement))),
            Err(error) => Err(MeasureError::ResultFile { path: path.to_owned(), error }),
        }
    }

    /// What the user named, if it is a kernel.
    pub fn kernel(&self) -> Option<&Path> {
        match self {
            Self::Kernel(name) => Some(name),
            Self::Result(_) => None,
        }
    }

    /// The program with its arguments, if it is the result of one.
    pub fn command(&self) -> Option<String> {
        let Self::Result(result) = self else { return None };
        result.configuration.program.as_ref().map(|program| command_line(&program.command))
    }

    /// The names of the paths that it has, or will have once measured.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Kernel(_) => Suite::Exact.paths().iter().map(|path| path.name).collect(),
            Self::Result(result) => result.paths.iter().map(|path| path.path.as_str()).collect(),
        }
    }
}

/// What is explained is recorded, so a kernel is needed.
pub fn refuse_results(
    subjects: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), MeasureError> {
    match subjects.into_iter().find(|path| is_result(path.as_ref())) {
        None => Ok(()),
        Some(path) => Err(MeasureError::Request {
            message: format!("{}: a result does not hold a kernel to run", path.as_ref().display()),
            help: "name the kernel image that the result was measured of".to_owned(),
        }),
    }
}

/// The words for the lab kernel, if `subject` names it: `lab`, or `lab:word=value,…`. A file
/// of such a name is meant with a folder: `./lab`.
pub fn lab_words(subject: &Path) -> Option<&str> {
    let text = subject.to_str()?;
    if text == "lab" { Some("") } else { text.strip_prefix("lab:") }
}

/// Whether `subject` names the machine that pathmeter runs on. A file of such a name is meant with
/// a folder: `./host`.
pub fn is_host(subject: &Path) -> bool {
    subject == Path::new("host")
}

/// That this machine was named where a kernel or a result is taken.
pub fn refused_host() -> MeasureError {
    MeasureError::Request {
        message: "host is this machine, on which paths are measured in time".to_owned(),
        help: "`pathmeter host` measures it, and report and history take the file that `pathmeter \
               host -o FILE` writes; name a file of this name ./host"
            .to_owned(),
    }
}

/// That a document of times was named where one of counts is taken.
fn refused_times(path: &Path) -> MeasureError {
    let name = path.display();
    MeasureError::Request {
        message: format!("{name} has times, which are not counts"),
        help: format!(
            "`pathmeter host {name}` shows them, and `pathmeter host compare` compares two"
        ),
    }
}

/// Whether it is this machine, or a document of times.
pub fn is_timed(subject: &Path) -> bool {
    is_host(subject) || is_boots(subject) || has_schema(subject, "pathmeter.times/")
}

fn is_boots(subject: &Path) -> bool {
    has_schema(subject, "pathmeter.boots/")
}

/// Whether the file is a document of this schema: by its beginning, where pathmeter writes the
/// schema, or by the whole document, whose fields another tool may have sorted.
fn has_schema(path: &Path, schema: &str) -> bool {
    let mut first = String::new();
    let is_first = begins(path, |bytes| {
        first = String::from_utf8_lossy(bytes).into_owned();
        is_document(bytes)
    });
    if !is_first || first.contains("\"schema\"") {
        return is_first && first.contains(&format!("\"{schema}"));
    }
    let named = read_bounded(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    named.is_some_and(|named: Named| named.schema.starts_with(schema))
}

/// The field of a document that names its schema.
#[derive(serde::Deserialize)]
struct Named {
    schema: String,
}

/// Reads the times in the file at `path`: one session, or one of each of several boots.
pub fn times(path: &Path) -> Result<Boots, MeasureError> {
    let bytes = document(path)?.unwrap_or_default();
    let read = if is_boots(path) {
        parse_boots(&bytes)
    } else {
        parse_times(&bytes).map(|times| Boots { boots: vec![times], ..Boots::default() })
    };
    read.map_err(|error| MeasureError::ResultFile { path: path.to_owned(), error })
}

/// Whether it begins like a document; a file that can't be read does not.
fn is_result(path: &Path) -> bool {
    begins(path, is_document)
}

/// Whether the beginning of a file is like this; that of a file that can't be read is not.
fn begins(path: &Path, mut like: impl FnMut(&[u8]) -> bool) -> bool {
    // Opening a pipe would wait for its writer.
    if lab_words(path).is_some() || is_host(path) || !path.is_file() {
        return false;
    }
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFFED).read_to_end(&mut beginning));
    read.is_ok() && like(&beginning)
}

/// Whether it begins like a document, or like an array of documents.
pub fn is_document_file(path: &Path) -> bool {
    is_result(path) || begins(path, is_array)
}

fn is_array(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

/// The bytes of the document at `path`, with its seal; `None` if what is there is none.
pub fn sealed_document(path: &Path) -> Result<Option<Vec<u8>>, MeasureError> {
    let Some(bytes) = document_like(path, is_document)? else { return Ok(None) };
    whole(path, bytes).map(Some)
}

/// The content of the document at `path`; `None` if what is there is none.
fn document(path: &Path) -> Result<Option<Vec<u8>>, MeasureError> {
    content(path, is_document)
}

/// The content of the document at `path`, or of an array of documents, as `experiment` prints them.
pub fn documents(path: &Path) -> Result<Option<Vec<u8>>, MeasureError> {
    content(path, if begins(path, is_array) { is_array } else { is_document })
}

/// The bytes of a file, if it begins so, without the seal.
fn content(path: &Path, like: fn(&[u8]) -> bool) -> Result<Option<Vec<u8>>, MeasureError> {
    let Some(bytes) = document_like(path, like)? else { return Ok(None) };
    let bytes = whole(path, bytes)?;
    unsealed(&bytes)
        .map(|content| Some(content.into_owned()))
        .map_err(|error| refuse_edited(path, error))
}

/// The document that pathmeter wrote, or, if the user accepts it, one that says that it was edited.
fn whole(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, MeasureError> {
    match unsealed(&bytes).map(drop) {
        Ok(()) => Ok(bytes),
        Err(_) if ACCEPTS_EDITED.load(Ordering::Relaxed) => {
            Ok(mark_edited(&bytes).unwrap_or(bytes))
        }
        Err(error) => Err(refuse_edited(path, error)),
    }
}

fn refuse_edited(path: &Path, error: SealError) -> MeasureError {
    MeasureError::Edited { path: path.to_owned(), error }
}

/// Whether the file at `path` holds one document, whoever wrote it.
pub fn is_one_document(path: &Path) -> Result<bool, MeasureError> {
    let bytes = document_like(path, is_document)?.unwrap_or_default();
    Ok(serde_json::from_slice::<IgnoredAny>(&bytes).is_ok())
}

/// The file's bytes, if it begins so: enough of too large a file for its reader to refuse it.
fn document_like(path: &Path, like: fn(&[u8]) -> bool) -> Result<Option<Vec<u8>>, MeasureError> {
    if !begins(path, like) {
        return Ok(None);
    }
    let failed =
        |error| MeasureError::File { doing: FileStep::Reading, path: path.to_owned(), error };
    read_bounded(path).map(Some).map_err(failed)
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_DOCUMENT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lab_kernel_goes_by_its_name() {
        let words = |subject| lab_words(Path::new(subject));
        assert_eq!((words("lab"), words("lab:a=b,c=d")), (Some(""), Some("a=b,c=d")));
        assert_eq!((words("./lab"), words("label"), words("lab/x")), (None, None, None));
    }

    #[test]
    fn the_host_goes_by_its_name_and_times_by_their_schema() {
        assert!(is_timed(Path::new("host")) && !is_host(Path::new("./host")));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), br#"{ "schema": "pathmeter.times/1" "#).unwrap();
        assert!(is_timed(file.path()) && times(file.path()).is_err());
        std::fs::write(file.path(), br#"{ "schema": "pathmeter.result/1" "#).unwrap();
        assert!(!is_timed(file.path()));
    }

    #[test]
    fn a_document_whose_fields_were_sorted_is_known_by_its_schema() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (schema, expected) in [("pathmeter.times/1", true), ("pathmeter.result/1", false)] {
            let host = "x".repeat(usize::try_from(2 * SNIFFED).unwrap());
            std::fs::write(file.path(), format!(r#"{{"host":"{host}","schema":"{schema}"}}"#))
                .unwrap();
            assert_eq!(is_timed(file.path()), expected, "{schema}");
        }
    }

    fn seen(bytes: &[u8]) -> bool {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        is_result(file.path())
    }

    #[test]
    fn a_result_begins_with_a_brace() {
        assert!(seen(b"{}") && seen(b" \n\t{\"schema\""));
        assert!(seen(b"\xef\xbb\xbf{}") && seen(b"\xff\xfe{\0}\0") && seen(b"{\0}\0"));
        assert!(!seen(b"") && !seen(b"  ") && !seen(b"MZ{") && !seen(b"!<arch>\n"));
    }

    #[test]
    fn what_is_no_file_is_left_to_the_reader_of_kernels() {
        assert!(!is_result(Path::new("/")) && !is_result(Path::new("/nonexistent")));
    }
}
