//! A result is added: its document and rows are written, then read back, all in one change.

use std::collections::BTreeSet;

use pathmeter_model::{KeptResult, Status};
use rusqlite::{Connection, Transaction};
use sha2::{Digest, Sha256};

use crate::kept_document::{KeptDocument, NewRow, count};
use crate::row::{self, integer, word};
use crate::tables::{Tables, Texts, Total};
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
    new.label.map_or(Ok(()), check_label)?;
    let hash = Sha256::digest(new.bytes);
    if let Some(known) = tables.find_result("sha256 = ?", [hash.as_slice()])? {
        read_back(tables, known.kept.number, new.bytes)?;
        return Ok(Added::Known(known.kept));
    }
    let total = tables.total()?;
    let number = total.last + 1;
    let rows = document.rows(&hash);
    let about = document.describe().ok_or_else(|| tables.corrupt("times without a session"))?;
    let configuration = tables.find_or_insert(Texts::Configuration, &about.fingerprint)?;
    let names: BTreeSet<&str> = rows.iter().map(|row| row.path).collect();
    let paths = tables.find_or_insert(Texts::Paths, &names)?;
    tables.insert_document(number, configuration, new.bytes)?;
    let values = vec![
        integer(number),
        new.date.seconds().into(),
        new.label.map_or_else(|| shorten(&about.subject), str::to_owned).into(),
        new.commit.map(str::to_owned).into(),
        about.subject.into(),
        word(&about.kind),
        about.machine.into(),
        about.release.into(),
        about.image_sha256.into(),
        configuration.into(),
        paths.into(),
        hash.to_vec().into(),
        integer(count(&rows, Status::Ok)),
        integer(count(&rows, Status::Failed)),
    ];
    let total = Total { results: total.results + 1, last: number };
    row::insert(change, "result", values)
        .and_then(|()| rows.iter().try_for_each(|row| insert_measured(change, number, row)))
        .and_then(|()| total.write(change))
        .map_err(|error| tables.failed(&error))?;
    read_back(tables, number, new.bytes)?;
    rows.iter().try_for_each(|row| tables.check_path(row.path, number))?;
    let row = tables.find_result("id = ?", [number.cast_signed()])?;
    let row = row.ok_or_else(|| tables.corrupt("the new result is missing"))?;
    Ok(Added::New(row.kept))
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

/// A subject's name as a label.
fn shorten(subject: &str) -> String {
    subject.chars().filter(|c| !c.is_control()).take(MAX_LABEL_CHARS).collect()
}

/// What is told to be there can be read.
fn read_back(tables: Tables<'_>, number: u64, bytes: &[u8]) -> Result<(), HistoryError> {
    if tables.document(number)? == bytes {
        return Ok(());
    }
    Err(tables.corrupt(format!("the document of result {number} is another one")))
}

/// Inserts the row of a path in one result.
fn insert_measured(change: &Connection, number: u64, row: &NewRow<'_>) -> rusqlite::Result<()> {
    let values = vec![
        row.path.to_owned().into(),
        integer(number),
        row.cost.clone().into(),
        word(&row.point.status),
        word(&row.point.unit),
        row.point.value.map(integer).into(),
        row.point.low.map(integer).into(),
        row.point.high.map(integer).into(),
    ];
    row::insert(change, "measured", values)
}
