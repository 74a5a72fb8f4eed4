//! A result is added: its parts and rows are written, then read back, all in one change.

use std::collections::HashMap;

use pathmeter_model::{KeptResult, Status};
use rusqlite::Transaction;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::document::{Layout, Split, split};
use crate::kept_document::{Fingerprint, KeptDocument, NewRow, count};
use crate::row::{self, integer, word};
use crate::tables::{PathRow, SKELETONS, Tables, Total};
use crate::{Date, HistoryError};

pub const MAX_LABEL_CHARS: usize = 200;

#[derive(Debug, Clone, Copy)]
pub struct NewResult<'a> {
    /// The bytes of the result's document.
    pub bytes: &'a [u8],
    /// What to call it; by default its subject's name.
    pub label: Option<&'a str>,
    /// The commit of the kernel's source.
    pub commit: Option<&'a str>,
    /// The date that the result belongs to.
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
    document: &KeptDocument,
) -> Result<Added, HistoryError> {
    let label = label(new, document)?;
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
    let rows = document.rows(&hash);
    let (skeleton, layout) = addition.parts(new.bytes, document, &rows)?;
    let configuration = configuration(tables, document.fingerprint().as_ref())?;
    let text = |text: Option<&str>| text.map(str::to_owned).map_or(Value::Null, Value::Text);
    let values = vec![
        integer(addition.number),
        new.date.seconds().into(),
        label.into(),
        text(new.commit),
        document.subject().to_owned().into(),
        word(&document.kind()),
        text(document.release()),
        document.image_sha256().to_owned().into(),
        configuration.into(),
        hash.to_vec().into(),
        integer(new.bytes.len() as u64),
        integer(count(&rows, Status::Ok)),
        integer(count(&rows, Status::Failed)),
        skeleton.into(),
        layout.into_bytes().into(),
    ];
    row::insert(change, "result", values).map_err(|error| tables.failed(&error))?;
    addition.end(&rows, new.bytes)
}

/// Refuses what can't be a label, before a history is made for it.
///
/// # Errors
/// Why not.
pub fn check_label(label: &str) -> Result<(), HistoryError> {
    if label.is_empty() {
        return Err(HistoryError::Label { what: "is empty" });
    }
    if label.chars().count() > MAX_LABEL_CHARS {
        return Err(HistoryError::Label { what: "has more than 200 characters" });
    }
    if label.chars().any(char::is_control) {
        return Err(HistoryError::Label { what: "has control characters" });
    }
    Ok(())
}

/// Checks and shortens what to call a result.
fn label(new: &NewResult<'_>, document: &KeptDocument) -> Result<String, HistoryError> {
    let given = new.label.unwrap_or(document.subject());
    new.label.map_or(Ok(()), check_label)?;
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
        document: &KeptDocument,
        rows: &[NewRow<'_>],
    ) -> Result<(i64, Layout), HistoryError> {
        // What was parsed has paths.
        let whole = split(bytes).ok_or_else(|| self.tables.corrupt("a document without paths"))?;
        let Split { skeleton, entries } = whole;
        let skeleton = self.keep("", true, true, &skeleton)?.1;
        let mut layout = Layout::default();
        let mut rows: HashMap<&str, &NewRow<'_>> = rows.iter().map(|row| (row.path, row)).collect();
        for ((gap, entry), path) in entries.into_iter().zip(document.entries()) {
            // Of several boots the first entry of a path stands for it.
            let row = rows.remove(path);
            let (id, part) = self.keep(path, false, row.is_some(), entry)?;
            layout.push(gap, part);
            if let Some(row) = row {
                let values = measured_row_values(id, self.number, part, row);
                let inserted = row::insert(self.tables.connection, "measured", values);
                inserted.map_err(|error| self.tables.failed(&error))?;
            }
        }
        Ok((skeleton, layout))
    }

    /// Keeps a part of a path, or the skeleton, and counts the result if it is the first part. The
    /// numbers of path and part.
    fn keep(
        &mut self,
        name: &str,
        skeleton: bool,
        first: bool,
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
        path.results += u64::from(first);
        path.write(self.tables.connection).map_err(|error| self.tables.failed(&error))?;
        Ok((path.id, part))
    }

    /// Writes the counts, and reads everything back.
    fn end(mut self, rows: &[NewRow<'_>], bytes: &[u8]) -> Result<Added, HistoryError> {
        let tables = self.tables;
        self.total.results += 1;
        self.total.last = self.number;
        self.total.write(tables.connection).map_err(|error| tables.failed(&error))?;
        read_back(tables, self.number, bytes)?;
        let paths = tables.paths(&tables.total()?)?;
        for row in rows {
            let path = paths.iter().find(|it| it.id != SKELETONS && it.name == row.path);
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

/// The values of a row of the table `measured`, which holds a path of one result.
fn measured_row_values(path: i64, number: u64, part: i64, row: &NewRow<'_>) -> Vec<Value> {
    // Values are bounded so that they fit.
    let value = |value: Option<u64>| value.map_or(Value::Null, integer);
    vec![
        path.into(),
        integer(number),
        part.into(),
        row.cost.clone().into(),
        word(&row.point.status),
        word(&row.point.unit),
        value(row.point.value),
        value(row.point.low),
        value(row.point.high),
    ]
}

/// The number of a configuration fingerprint, which is kept if it is new.
fn configuration(
    tables: Tables<'_>,
    fingerprint: Option<&Fingerprint>,
) -> Result<i64, HistoryError> {
    let json = serde_json::to_string(&fingerprint).unwrap_or_default();
    if let Some(known) = tables.configuration(&json)? {
        return Ok(known);
    }
    let id = tables.highest("configuration")? + 1;
    let inserted = row::insert(tables.connection, "configuration", vec![id.into(), json.into()]);
    inserted.map(|()| id).map_err(|error| tables.failed(&error))
}
