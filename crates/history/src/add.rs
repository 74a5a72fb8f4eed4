//! A result is added: its parts and rows are written, then read back, all in one change.

use pathmeter_model::{Configuration, KeptResult, Measurement, PathResult, Status};
use rusqlite::Transaction;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::document::{Layout, Split, split};
use crate::row::{self, integer, word};
use crate::tables::{PathRow, SKELETONS, Tables, Total};
use crate::{Date, HistoryError};

/// Longest label, in characters.
pub const MAX_LABEL_CHARS: usize = 200;

/// Bytes of a digest of a path's cost.
const DIGEST_BYTES: usize = 8;

/// A result to add.
#[derive(Debug, Clone, Copy)]
pub struct NewResult<'a> {
    /// The document.
    pub bytes: &'a [u8],
    /// What to call it; by default its subject's name.
    pub label: Option<&'a str>,
    /// The commit of the kernel's source.
    pub commit: Option<&'a str>,
    /// When it belongs to.
    pub date: Date,
}

/// What came of adding a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It is kept as this one.
    New(KeptResult),
    /// The same document is there already, and stays as it is.
    Known(KeptResult),
}

/// Adds a result within `change`. What was damaged before is an error, and so is what can't be read
/// back: then nothing may be committed.
pub(crate) fn add(
    change: &Transaction<'_>,
    tables: Tables<'_>,
    new: &NewResult<'_>,
    measurement: &Measurement,
) -> Result<Added, HistoryError> {
    let label = label(new, measurement)?;
    let hash = Sha256::digest(new.bytes);
    if let Some(known) = tables.result_where("sha256 = ?", [hash.as_slice()])? {
        read_back(tables, known.kept.number, new.bytes)?;
        return Ok(Added::Known(known.kept));
    }
    let total = tables.total()?;
    let mut addition = Addition {
        number: total.last + 1,
        next_part: tables.highest("part")? + 1,
        paths: tables.paths(&total)?,
        tables,
        total,
    };
    let (skeleton, layout) = addition.parts(new.bytes, measurement)?;
    let configuration = configuration(tables, &measurement.configuration)?;
    let count = |status| measurement.paths.iter().filter(|it| it.status == status).count() as u64;
    let text = |text: Option<&str>| text.map(str::to_owned).map_or(Value::Null, Value::Text);
    let values = vec![
        integer(addition.number),
        new.date.seconds().into(),
        label.into(),
        text(new.commit),
        measurement.subject.name.clone().into(),
        word(&measurement.subject.kind),
        text(measurement.configuration.release.as_deref()),
        measurement.configuration.image_sha256.clone().into(),
        configuration.into(),
        hash.to_vec().into(),
        integer(new.bytes.len() as u64),
        integer(count(Status::Ok)),
        integer(count(Status::Failed)),
        skeleton.into(),
        layout.into_bytes().into(),
    ];
    row::insert(change, "result", values).map_err(|error| tables.failed(&error))?;
    addition.end(measurement, new.bytes)
}

/// Checks and shortens what to call a result.
fn label(new: &NewResult<'_>, measurement: &Measurement) -> Result<String, HistoryError> {
    let given = new.label.unwrap_or(&measurement.subject.name);
    if new.label.is_some_and(str::is_empty) {
        return Err(HistoryError::Label { what: "is empty" });
    }
    if new.label.is_some_and(|label| label.chars().count() > MAX_LABEL_CHARS) {
        return Err(HistoryError::Label { what: "has more than 200 characters" });
    }
    if new.label.is_some_and(|label| label.chars().any(char::is_control)) {
        return Err(HistoryError::Label { what: "has control characters" });
    }
    Ok(given.chars().filter(|c| !c.is_control()).take(MAX_LABEL_CHARS).collect())
}

/// A result that is being added, and the counts that change with it.
struct Addition<'a> {
    tables: Tables<'a>,
    total: Total,
    paths: Vec<PathRow>,
    number: u64,
    next_part: i64,
}

impl Addition<'_> {
    /// Keeps all parts of a document, and the rows of its paths. The skeleton, and the layout.
    fn parts(
        &mut self,
        bytes: &[u8],
        measurement: &Measurement,
    ) -> Result<(i64, Layout), HistoryError> {
        // What was parsed has paths.
        let whole = split(bytes).ok_or_else(|| self.tables.corrupt("a document without paths"))?;
        let Split { skeleton, entries } = whole;
        let skeleton = self.keep("", true, &skeleton)?.1;
        let mut layout = Layout::default();
        for ((gap, entry), result) in entries.into_iter().zip(&measurement.paths) {
            let (path, part) = self.keep(&result.path, false, entry)?;
            layout.push(gap, part);
            let values = measured(path, self.number, part, result);
            let inserted = row::insert(self.tables.connection, "measured", values);
            inserted.map_err(|error| self.tables.failed(&error))?;
        }
        Ok((skeleton, layout))
    }

    /// Keeps a part of a path, or the skeleton, and counts it. The numbers of path and part.
    fn keep(
        &mut self,
        name: &str,
        skeleton: bool,
        bytes: &[u8],
    ) -> Result<(i64, i64), HistoryError> {
        let named = |path: &PathRow| (path.id == SKELETONS) == skeleton && path.name == name;
        let at = self.paths.iter().position(named).unwrap_or_else(|| {
            let id = self.paths.last().map_or(0, |last| last.id) + 1;
            self.paths.push(PathRow { id, name: name.to_owned(), results: 0, base: None });
            self.total.paths += 1;
            self.paths.len() - 1
        });
        let path = &mut self.paths[at];
        let part = self.tables.keep(path, self.number, bytes, &mut self.next_part)?;
        path.results += 1;
        path.write(self.tables.connection).map_err(|error| self.tables.failed(&error))?;
        Ok((path.id, part))
    }

    /// Writes the counts, and reads everything back.
    fn end(mut self, measurement: &Measurement, bytes: &[u8]) -> Result<Added, HistoryError> {
        let tables = self.tables;
        self.total.results += 1;
        self.total.last = self.number;
        self.total.write(tables.connection).map_err(|error| tables.failed(&error))?;
        read_back(tables, self.number, bytes)?;
        let paths = tables.paths(&tables.total()?)?;
        for result in &measurement.paths {
            let path = paths.iter().find(|it| it.id != SKELETONS && it.name == result.path);
            let path = path.ok_or_else(|| tables.corrupt("a path is missing"))?;
            tables.measured_in(path.id, self.number)?;
        }
        let row = tables.result_where("id = ?", [self.number.cast_signed()])?;
        let row = row.ok_or_else(|| tables.corrupt("the new result is missing"))?;
        Ok(Added::New(row.kept))
    }
}

/// What is told to be there can be read.
fn read_back(tables: Tables<'_>, number: u64, bytes: &[u8]) -> Result<(), HistoryError> {
    if tables.document(number)? == bytes {
        return Ok(());
    }
    Err(tables.corrupt(format!("the document of result {number} is another one")))
}

/// The row of a path in a result.
fn measured(path: i64, number: u64, part: i64, result: &PathResult) -> Vec<Value> {
    let estimate = result.estimate.as_ref();
    // Samples are bounded so that they fit.
    let value = |value: Option<&u64>| value.map_or(Value::Null, |&value| integer(value));
    vec![
        path.into(),
        integer(number),
        part.into(),
        cost_digest(result).into(),
        word(&result.status),
        word(&result.unit),
        value(estimate.map(|it| &it.value)),
        value(estimate.and_then(|it| it.typical.first())),
        value(estimate.and_then(|it| it.typical.last())),
    ]
}

/// Two entries of the same digest can't be told apart by a comparison's verdict: they agree in all
/// but where functions stand, and what the probe noticed.
fn cost_digest(result: &PathResult) -> Vec<u8> {
    let mut result = result.clone();
    result.checks.clear();
    if let Some(events) = &mut result.events {
        events.placement.clear();
    }
    // What was parsed can be written.
    let bytes = serde_json::to_vec(&result).unwrap_or_default();
    Sha256::digest(bytes)[..DIGEST_BYTES].to_vec()
}

/// The number of a configuration fingerprint, which is kept if it is new. The kernel's own fields
/// are the result's: what is left is mostly the same in all results.
fn configuration(tables: Tables<'_>, whole: &Configuration) -> Result<i64, HistoryError> {
    let alike = Configuration { image_sha256: String::new(), release: None, ..whole.clone() };
    let json = serde_json::to_string(&alike).unwrap_or_default();
    if let Some(known) = tables.configuration(&json)? {
        return Ok(known);
    }
    let id = tables.highest("configuration")? + 1;
    let inserted = row::insert(tables.connection, "configuration", vec![id.into(), json.into()]);
    inserted.map(|()| id).map_err(|error| tables.failed(&error))
}
