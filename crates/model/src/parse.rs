//! Reading a result back.
//!
//! A result file comes from outside: it may be truncated, edited, hostile or of another version.
//! Everything that the rest of the program relies on is checked here, once: sizes are bounded, the
//! estimates follow from the samples, every path has one row. Nothing in a file makes this panic.

use std::collections::HashSet;
use std::str::{self, Utf8Error};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::error::Category;

use crate::bounds::{bounded, quoted, shortened};
use crate::difference::{difference, percent_of};
use crate::parse_execution::check_execution;
use crate::parse_processes::check_processes;
use crate::parse_sleeps::check_sleeps;
use crate::{
    Causes, Comparison, Estimate, GuestReport, Inconsistency, MAX_DOCUMENT_BYTES, MAX_NAME_BYTES,
    MAX_PATHS, MAX_SAMPLE, MAX_SAMPLES, MAX_SAMPLES_PER_PATH, Measurement, ParseError,
    PathComparison, PathResult, Status, Summary, Unit,
};

/// The schema of a result.
const SCHEMA: &str = "pathmeter.result/1";
/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a result from the bytes of a file.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do. The caller adds the file's name.
pub fn parse_measurement(bytes: &[u8]) -> Result<Measurement, ParseError> {
    let mut measurement: Measurement = read(bytes, SCHEMA)?;
    let clock = measurement.configuration.clock;
    check_paths(&mut measurement.paths, clock)?;
    check_execution(&measurement)?;
    let execution = measurement.execution.iter_mut();
    for process in execution.flat_map(|execution| &mut execution.processes) {
        check_paths(&mut process.rows, clock)?;
        for thread in &mut process.by_thread {
            check_paths(&mut thread.rows, clock)?;
        }
    }
    check_processes(&measurement)?;
    check_sleeps(&measurement)?;
    if measurement.guest.as_ref().is_some_and(GuestReport::has_control_characters) {
        let what = "a text has control characters".to_owned();
        return Err(ParseError::Field { field: "guest".to_owned(), what });
    }
    Ok(measurement)
}

/// Checks a comparison that came from a file: its bounds, that no path is there twice, that
/// differences and summary are those of its paths, and that its causes add up.
///
/// # Errors
/// Any [`ParseError`] but those of reading.
pub fn check_comparison(comparison: &Comparison) -> Result<(), ParseError> {
    bounded("paths", comparison.paths.len(), MAX_PATHS)?;
    bounded("processes", comparison.processes.len(), MAX_PATHS)?;
    let mut seen = HashSet::new();
    for path in &comparison.paths {
        bounded("a path's name, in bytes", path.path.len(), MAX_NAME_BYTES)?;
        if !seen.insert(path.path.as_str()) {
            return Err(ParseError::DuplicatePath { path: quoted(&path.path) });
        }
    }
    for row in comparison.paths.iter().chain(&comparison.processes) {
        if let Some((number, what)) = contradiction(row) {
            let field = format!("{number} of {}", quoted(&row.path));
            return Err(ParseError::Field { field, what: what.to_owned() });
        }
    }
    if let Some(what) = comparison.causes.as_ref().and_then(Causes::contradiction) {
        return Err(ParseError::Field { field: "causes".to_owned(), what: what.to_owned() });
    }
    if comparison.summary == Summary::of(&comparison.paths) {
        return Ok(());
    }
    let what = "is not that of the paths".to_owned();
    Err(ParseError::Field { field: "summary".to_owned(), what })
}

/// Which number of a row does not follow from base and new, and what it should be.
fn contradiction(row: &PathComparison) -> Option<(&'static str, &'static str)> {
    let sides = row.base.zip(row.new);
    let is_of = |one: i64, (base, new): (u64, u64)| one == difference((base, new));
    let less = "is not new less base";
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs();
    let complaints = [
        (
            row.difference.is_some_and(|it| !sides.is_some_and(|sides| is_of(it, sides))),
            ("difference", less),
        ),
        (
            row.percent.is_some_and(|it| {
                !sides.and_then(percent_of).is_some_and(|percent| close(it, percent))
            }),
            ("percent", "is not the difference in percent of base"),
        ),
        (
            row.events.iter().any(|it| !is_of(it.difference, (it.base, it.new))),
            ("an event's difference", less),
        ),
        (
            row.functions.iter().any(|it| !is_of(it.difference, (it.base, it.new))),
            ("a function's difference", less),
        ),
    ];
    complaints.into_iter().find(|(holds, _)| *holds).map(|(_, what)| what)
}

/// Reads a document of this schema; nothing of what it contains has been checked.
pub(crate) fn read<T: DeserializeOwned>(
    bytes: &[u8],
    schema: &'static str,
) -> Result<T, ParseError> {
    bounded("the file's size in bytes", bytes.len(), MAX_DOCUMENT_BYTES)?;
    if is_utf16(bytes) {
        return Err(ParseError::Utf16);
    }
    // Editors on Windows put it there; it says nothing that JSON does not.
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    // Also in fields that are not read: what keeps the document's text takes it for text.
    let text = str::from_utf8(bytes).map_err(|e| not_utf8(&e))?;
    check_schema(bytes, schema)?;
    serde_json::from_str(text).map_err(|e| unreadable(&e, schema))
}

fn not_utf8(error: &Utf8Error) -> ParseError {
    ParseError::NotJson { detail: format!("no UTF-8 from byte {} on", error.valid_up_to()) }
}

/// Checks paths that were measured by `clock`, and gives each the value of its row by the rule of
/// this version.
fn check_paths(paths: &mut [PathResult], clock: Unit) -> Result<(), ParseError> {
    check_sizes(paths)?;
    check_names(paths)?;
    for path in paths {
        let inconsistent = |what| ParseError::Inconsistent { path: quoted(&path.path), what };
        check_consistency(path, clock).map_err(inconsistent)?;
        path.estimate = Estimate::of(&path.samples);
    }
    Ok(())
}

/// Whether a document's first character, a byte-order mark or a brace, is in UTF-16.
fn is_utf16(bytes: &[u8]) -> bool {
    [[0xff, 0xfe], [0xfe, 0xff], [b'{', 0], [0, b'{']].iter().any(|first| bytes.starts_with(first))
}

/// Whether a file that begins with `bytes` is meant as a document: its first character, after
/// white space or a byte-order mark, is a brace. [`parse_measurement`] says whether it is one.
pub fn is_document(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'{') || is_utf16(bytes)
}

/// Reads the schema alone, so that a file of another version is reported as that, not as malformed.
fn check_schema(bytes: &[u8], wanted: &'static str) -> Result<(), ParseError> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<serde_json::Value>,
    }
    let first_two = || serde_json::Deserializer::from_slice(bytes).into_iter::<Header>().take(2);
    let header: Header = serde_json::from_slice(bytes).map_err(|e| {
        if first_two().flatten().count() == 2 {
            ParseError::Several
        } else {
            unreadable(&e, wanted)
        }
    })?;
    let found = match header.schema {
        Some(serde_json::Value::String(schema)) if schema == wanted => return Ok(()),
        Some(serde_json::Value::String(schema)) => quoted(&schema),
        Some(_) => "not a string".into(),
        None => "missing".into(),
    };
    Err(ParseError::OtherSchema { wanted, found })
}

fn check_sizes(paths: &[PathResult]) -> Result<(), ParseError> {
    bounded("number of paths", paths.len(), MAX_PATHS)?;
    let mut total = 0;
    for PathResult { path, samples, .. } in paths {
        bounded("length of a path's name in bytes", path.len(), MAX_NAME_BYTES)?;
        let of_path = |what: &str| format!("{what} of path {}", quoted(path));
        bounded(&of_path("number of samples"), samples.len(), MAX_SAMPLES_PER_PATH)?;
        let largest = samples.iter().copied().max().unwrap_or(0);
        if largest > MAX_SAMPLE {
            let what = of_path("a sample");
            return Err(ParseError::TooLarge { what, found: largest, limit: MAX_SAMPLE });
        }
        total += samples.len();
    }
    bounded("number of samples", total, MAX_SAMPLES)
}

fn check_names(paths: &[PathResult]) -> Result<(), ParseError> {
    let mut seen = HashSet::new();
    match paths.iter().find(|path| !seen.insert(path.path.as_str())) {
        Some(twice) => Err(ParseError::DuplicatePath { path: quoted(&twice.path) }),
        None => Ok(()),
    }
}

fn check_consistency(path: &PathResult, clock: Unit) -> Result<(), Inconsistency> {
    let sum: u64 = path.samples_per_run.iter().map(|&samples| u64::from(samples)).sum();
    let (is_ok, is_check) = (path.status == Status::Ok, path.unit == Unit::Check);
    let samples = path.samples.len();
    let other =
        path.events.as_ref().is_some_and(|events| !events.is_consistent_with(&path.samples));
    let estimated = match (&path.estimate, Estimate::of(&path.samples)) {
        (Some(read), Some(own)) => read.is_of(&own),
        (read, own) => read.is_none() && own.is_none(),
    };
    let complaints = [
        (sum != samples as u64, Inconsistency::Runs { sum, samples }),
        (!are_positions(&path.lower_bounds, samples), Inconsistency::LowerBounds),
        (!estimated, Inconsistency::Estimate),
        (is_ok && !is_check && samples == 0, Inconsistency::NoSamples),
        (is_check && samples > 0, Inconsistency::SampledCheck),
        (other, Inconsistency::Events),
        (![Unit::Check, Unit::Clock, clock].contains(&path.unit), Inconsistency::Unit),
        (!is_ok && path.reason.is_none(), Inconsistency::NoReason),
    ];
    complaints.into_iter().find(|&(holds, _)| holds).map_or(Ok(()), |(_, what)| Err(what))
}

/// Whether `positions` ascend and are below `length`.
fn are_positions(positions: &[u32], length: usize) -> bool {
    positions.is_sorted_by(|one, next| one < next)
        && positions.last().is_none_or(|&last| (last as usize) < length)
}

fn unreadable(error: &serde_json::Error, schema: &'static str) -> ParseError {
    let detail = shortened(&error.to_string());
    match error.classify() {
        Category::Data => ParseError::Malformed { schema, detail },
        Category::Syntax | Category::Eof | Category::Io => ParseError::NotJson { detail },
    }
}
