//! What a report is made of: kernels, and the documents that other verbs wrote.
//!
//! Contract: a document is checked whole before anything is drawn of it. One of another version or
//! kind is refused, with its schema.

use std::path::{Path, PathBuf};
use std::{iter, slice};

use pathmeter_experiment::ExperimentReport;
use pathmeter_model::{
    Boots, Comparison, History, Joined, MAX_DOCUMENT_BYTES, Measurement, ParseError,
    ProgramSlopeResult, SettingsResult, SlopeResult, TimeComparison, check_comparison,
    check_joined, check_time_comparison, parse_boots, parse_measurement, parse_times, schema_of,
};
use pathmeter_trace::{Explain, SubjectWindow};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::comparison::explanation::ExplainedComparison;
use crate::failure::Failure;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::subject;

/// What stands before JSON that some editors wrote.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The schemas that are read besides a result's.
const COMPARISON: &str = "pathmeter.comparison/1";
const EXPLAINED: &str = "pathmeter.explained-comparison/1";
const EXPLAIN: &str = "pathmeter.explain/1";
const EXPERIMENT: &str = "pathmeter.experiment/1";
const SETTINGS: &str = "pathmeter.settings/1";
const SLOPE: &str = "pathmeter.slope/1";
const PROGRAM_SLOPE: &str = "pathmeter.program-slope/1";
const RESULT: &str = "pathmeter.result/1";
const TIMES: &str = "pathmeter.times/1";
const BOOTS: &str = "pathmeter.boots/1";
const TIME_COMPARISON: &str = "pathmeter.time-comparison/1";
const HISTORY: &str = "pathmeter.history/1";
const JOINED: &str = "pathmeter.joined-comparison/1";

/// Why a document contradicts itself.
const CHANGED: &str = "the file was changed after it was written";

/// What the user named, read and checked.
pub(super) enum Input {
    /// A kernel, not yet read.
    Kernel(PathBuf),
    Result(Box<Measurement>),
    /// Two kernels, and what was recorded of their differences.
    Comparison(Box<Comparison>, Vec<Explain>),
    /// A recorded window or difference by itself.
    Explanation(Box<Explain>),
    /// Experiments, with the judgements of their expectations.
    Experiments(Vec<ExperimentReport>),
    /// What the settings of one kernel cost.
    Settings(Vec<SettingsResult>),
    /// What a kernel costs by the number of a setting.
    Slope(Box<SlopeResult>),
    /// What a program costs by a number among its arguments.
    ProgramSlope(Box<ProgramSlopeResult>),
    History(Box<History>),
    /// Times of a machine: of one session, or of several boots.
    Times(Boots),
    TimeComparison(Box<TimeComparison>),
    /// Counts and times of two sides.
    Joined(Box<Joined>),
}

impl Input {
    /// Finds out what is at `path`, and reads it unless it is a kernel.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let Some(bytes) = subject::documents(path)? else {
            return Ok(Self::Kernel(path.to_owned()));
        };
        parse(&bytes).map_err(|fault| match fault {
            Fault::Result(error) => {
                MeasureError::ResultFile { path: path.to_owned(), error }.into()
            }
            Fault::Document(what) => Failure::Document { path: path.to_owned(), what },
        })
    }

    /// The windows of both sides of what was explained.
    pub(super) fn windows(&self) -> impl Iterator<Item = &SubjectWindow> {
        let explained = match self {
            Self::Comparison(_, explained) => &explained[..],
            Self::Explanation(explain) => slice::from_ref(&**explain),
            _ => &[],
        };
        explained.iter().flat_map(|explain| iter::once(&explain.base).chain(&explain.new))
    }

    /// What the user named, if it is a kernel.
    pub(super) fn kernel(&self) -> Option<&Path> {
        match self {
            Self::Kernel(path) => Some(path),
            _ => None,
        }
    }
}

/// Why a document can't be used.
enum Fault {
    Result(ParseError),
    Document(String),
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Self {
        Self::Result(error)
    }
}

fn parse(bytes: &[u8]) -> Result<Input, Fault> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.len() > MAX_DOCUMENT_BYTES {
        // Its reader names the limit.
        return Ok(Input::Result(Box::new(parse_measurement(bytes)?)));
    }
    if bytes.trim_ascii_start().starts_with(b"[") {
        return list(bytes);
    }
    match schema_of(bytes).as_deref() {
        Some(COMPARISON) => {
            let comparison: Box<Comparison> = read(bytes, COMPARISON)?;
            check_comparison(&comparison)?;
            Ok(Input::Comparison(comparison, Vec::new()))
        }
        Some(EXPLAINED) => {
            let document: ExplainedComparison = read(bytes, EXPLAINED)?;
            check_comparison(&document.comparison)?;
            document.explanations.iter().try_for_each(checked)?;
            Ok(Input::Comparison(Box::new(document.comparison), document.explanations))
        }
        Some(EXPLAIN) => {
            let explain = read(bytes, EXPLAIN)?;
            checked(&explain)?;
            Ok(Input::Explanation(Box::new(explain)))
        }
        Some(TIMES) => {
            let boots = vec![parse_times(bytes)?];
            Ok(Input::Times(Boots { boots, ..Boots::default() }))
        }
        Some(BOOTS) => Ok(Input::Times(parse_boots(bytes)?)),
        Some(TIME_COMPARISON) => {
            let comparison: Box<TimeComparison> = read(bytes, TIME_COMPARISON)?;
            check_time_comparison(&comparison)?;
            Ok(Input::TimeComparison(comparison))
        }
        Some(JOINED) => {
            let joined: Box<Joined> = read(bytes, JOINED)?;
            check_joined(&joined)?;
            Ok(Input::Joined(joined))
        }
        Some(SLOPE) => {
            let slope: Box<SlopeResult> = read(bytes, SLOPE)?;
            slope.check().map_err(|fault| Fault::Document(format!("{fault}; {CHANGED}")))?;
            Ok(Input::Slope(slope))
        }
        Some(PROGRAM_SLOPE) => {
            let slope: Box<ProgramSlopeResult> = read(bytes, PROGRAM_SLOPE)?;
            slope.check().map_err(|fault| Fault::Document(format!("{fault}; {CHANGED}")))?;
            Ok(Input::ProgramSlope(slope))
        }
        Some(HISTORY) => {
            let history: Box<History> = read(bytes, HISTORY)?;
            history.check().map_err(|fault| Fault::Document(format!("{fault}; {CHANGED}")))?;
            Ok(Input::History(history))
        }
        Some(SETTINGS) => of_settings(vec![read(bytes, SETTINGS)?]),
        Some(EXPERIMENT) => Ok(Input::Experiments(vec![read(bytes, EXPERIMENT)?])),
        Some(other) if other != RESULT => Err(Fault::Document(format!(
            "the schema is {other:?}; a report shows {RESULT}, {COMPARISON}, {EXPLAINED}, \
             {EXPLAIN}, {EXPERIMENT}, {SETTINGS}, {SLOPE}, {PROGRAM_SLOPE}, {HISTORY}, {TIMES}, \
             {BOOTS}, {TIME_COMPARISON} and {JOINED}"
        ))),
        _ => Ok(Input::Result(Box::new(parse_measurement(bytes)?))),
    }
}

/// Several documents of one kind.
fn list(bytes: &[u8]) -> Result<Input, Fault> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<String>,
    }
    let headers = serde_json::from_slice::<Vec<Header>>(bytes).unwrap_or_default();
    match headers.first().and_then(|header| header.schema.as_deref()) {
        Some(SETTINGS) => of_settings(read(bytes, SETTINGS)?),
        _ => Ok(Input::Experiments(read(bytes, EXPERIMENT)?)),
    }
}

fn of_settings(results: Vec<SettingsResult>) -> Result<Input, Fault> {
    for result in &results {
        result.check().map_err(|fault| Fault::Document(format!("{fault}; {CHANGED}")))?;
    }
    Ok(Input::Settings(results))
}

fn read<D: DeserializeOwned>(bytes: &[u8], schema: &str) -> Result<D, Fault> {
    serde_json::from_slice(bytes)
        .map_err(|error| Fault::Document(format!("not a whole {schema}: {error}; write it again")))
}

fn checked(explain: &Explain) -> Result<(), Fault> {
    explain.check().map_err(|fault| {
        let what = format!("explanation of {:?}: {fault}", explain.path);
        Fault::Document(format!("{what}; {CHANGED}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_error(text: &str) -> String {
        match parse(text.as_bytes()) {
            Ok(_) => panic!("{text} was taken"),
            Err(Fault::Result(error)) => error.to_string(),
            Err(Fault::Document(what)) => what,
        }
    }

    #[test]
    fn another_schema_is_named_and_so_are_those_that_are_read() {
        let text = parse_error(r#"{"schema": "pathmeter.comparison/2"}"#);
        assert!(text.contains("pathmeter.comparison/2") && text.contains(EXPLAINED), "{text}");
        assert!(parse_error(r#"{"schema": "pathmeter.result/2"}"#).contains("pathmeter.result/2"));
    }

    #[test]
    fn what_is_cut_short_or_no_document_is_refused() {
        for text in ["{", "{}", "[", "[1]", "[[]]", r#"{"schema": "pathmeter.explain/1"}"#] {
            assert!(!parse_error(text).is_empty());
        }
        assert!(parse_error(r#"{"schema": "pathmeter.explain/1"}"#).contains("missing field"));
    }

    #[test]
    fn settings_that_contradict_themselves_are_refused() {
        let document = |left_over: i64| {
            let base = serde_json::json!({
                "name": "k", "release": null, "kind": "kernel-image", "image_sha256": "",
            });
            let sum =
                serde_json::json!({"path": "a.b", "parts": 5, "all": 3, "left_over": left_over});
            let sets = [serde_json::json!({"name": "s", "title": "t", "rows": [], "sums": [sum]})];
            let configuration = pathmeter_model::example::configuration("6.1.0", 2);
            let document = serde_json::json!({
                "schema": SETTINGS, "base": base, "configuration": configuration, "sets": sets,
                "layout": {},
            });
            document.to_string()
        };
        let count = |text: &str| match parse(text.as_bytes()) {
            Ok(Input::Settings(results)) => results.len(),
            _ => 0,
        };
        assert_eq!(count(&document(-2)), 1);
        assert_eq!(count(&format!("[{},{}]", document(-2), document(-2))), 2);
        assert!(parse_error(&document(2)).starts_with("a.b: the sum of the parts"));
    }

    #[test]
    fn no_experiments_are_no_error() {
        assert!(matches!(parse(b" []"), Ok(Input::Experiments(all)) if all.is_empty()));
    }
}
