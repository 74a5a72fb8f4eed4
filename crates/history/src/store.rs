//! A history that is open: results are added, listed, given back and removed.

use std::path::Path;

use pathmeter_model::{
    Configuration, History, HistorySchema, KeptResult, MAX_DOCUMENT_BYTES, Measurement,
    PathHistory, PathResult, Point, Status, SubjectKind, Unit, parse_measurement,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::database::Database;
use crate::document::{Layout, Split, read_layout, split};
use crate::entry::word;
use crate::pack::{pack, unpack};
use crate::{Date, HistoryError, entry};

/// Longest label, in characters.
pub const MAX_LABEL_CHARS: usize = 200;

/// The path under which skeletons are kept.
const NO_PATH: i64 = 0;

/// The columns of [`kept`].
const KEPT: &str = "result.id, result.date, label, commit_hash, subject, kind, release, \
                    image_sha256, result.sha256, ok, failed";
/// The order of results.
const IN_ORDER: &str = "ORDER BY result.date, result.id";

/// A history in a file.
pub struct Store {
    pub(crate) database: Database,
}

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

/// What [`Store::prune`] removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruned {
    /// All but so many of the last.
    AllBut(u64),
    /// Those before a date.
    Before(Date),
}

impl Store {
    /// Opens a history to change it; makes it if the file is not there.
    pub fn create(path: &Path) -> Result<Self, HistoryError> {
        Database::create(path).map(|database| Self { database })
    }

    /// Opens a history to read it.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        Database::open(path).map(|database| Self { database })
    }

    /// Adds a result. It is on the disk when this returns.
    pub fn add(&mut self, new: NewResult<'_>) -> Result<Added, HistoryError> {
        let measurement = parse_measurement(new.bytes)?;
        let label = label(&new, &measurement)?;
        let path = self.database.path().to_owned();
        let failed = |error: rusqlite::Error| HistoryError::sqlite(&path, &error);
        let change = self.database.begin()?;
        let hash = Sha256::digest(new.bytes);
        let sql = format!("SELECT {KEPT} FROM result WHERE sha256 = ?");
        let known = change.query_row(&sql, [hash.as_slice()], kept).optional().map_err(failed)?;
        if let Some(known) = known {
            return Ok(Added::Known(known));
        }
        let (skeleton, layout, rows) = parts(&change, &path, new.bytes, &measurement)?;
        let configuration =
            intern_configuration(&change, &measurement.configuration).map_err(failed)?;
        let count = |status| measurement.paths.iter().filter(|it| it.status == status).count();
        change
            .execute(
                "INSERT INTO result (date, label, commit_hash, subject, kind, release, \
                 image_sha256, configuration, sha256, length, ok, failed, skeleton, layout) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    new.date.seconds(),
                    label,
                    new.commit,
                    measurement.subject.name,
                    word(&measurement.subject.kind),
                    measurement.configuration.release,
                    measurement.configuration.image_sha256,
                    configuration,
                    hash.as_slice(),
                    integer(new.bytes.len()),
                    integer(count(Status::Ok)),
                    integer(count(Status::Failed)),
                    skeleton,
                    layout.bytes(),
                ],
            )
            .map_err(failed)?;
        let number = change.last_insert_rowid();
        insert_rows(&change, number, &rows).map_err(failed)?;
        let sql = format!("SELECT {KEPT} FROM result WHERE id = ?");
        let kept = change.query_row(&sql, [number], kept).map_err(failed)?;
        change.commit().map_err(failed)?;
        Ok(Added::New(kept))
    }

    /// The names of all paths that any result has, by name.
    pub fn path_names(&self) -> Result<Vec<String>, HistoryError> {
        let connection = self.database.connection();
        let names = connection.prepare("SELECT name FROM path ORDER BY name").and_then(|mut it| {
            let names = it.query_map([], |row| row.get(0))?;
            names.collect::<rusqlite::Result<_>>()
        });
        names.map_err(|error| self.failed(&error))
    }

    /// All results, or those of one label, in their order.
    pub fn results(&self, label: Option<&str>) -> Result<Vec<KeptResult>, HistoryError> {
        results(self.database.connection(), label).map_err(|error| self.failed(&error))
    }

    /// All results, or those of one label, with the paths of these names.
    ///
    /// # Errors
    /// The database can't be read, or no result has one of the paths.
    pub fn history(&self, label: Option<&str>, paths: &[&str]) -> Result<History, HistoryError> {
        let results = self.results(label)?;
        let series = |name: &&str| {
            let id = self.path_id(name)?;
            let points = self.points(id, label).map_err(|error| self.failed(&error))?;
            if points.len() != results.len() {
                return Err(self.corrupt("results changed while they were read"));
            }
            Ok(PathHistory { path: (*name).to_owned(), points })
        };
        let paths = paths.iter().map(series).collect::<Result<_, _>>()?;
        Ok(History { schema: HistorySchema::V1, results, paths })
    }

    /// The document of a result, byte by byte as it was added.
    pub fn document(&self, number: u64) -> Result<Vec<u8>, HistoryError> {
        let query = "SELECT length, sha256, skeleton, layout FROM result WHERE id = ?";
        let (length, hash, skeleton, layout): (i64, Vec<u8>, i64, Vec<u8>) = self
            .database
            .connection()
            .query_row(query, [i64::try_from(number).unwrap_or(i64::MAX)], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .map_err(|error| self.failed(&error))?;
        let damaged = || self.corrupt(&format!("the document of result {number} is not whole"));
        let length = usize::try_from(length).ok().filter(|&length| length <= MAX_DOCUMENT_BYTES);
        let length = length.ok_or_else(damaged)?;
        let skeleton = self.part(skeleton)?;
        let (mut bytes, mut rest) = (Vec::new(), &skeleton[..]);
        for (gap, part) in read_layout(&layout).ok_or_else(damaged)? {
            let (before, after) = rest.split_at_checked(gap).ok_or_else(damaged)?;
            bytes.extend_from_slice(before);
            bytes.extend(entry::text(self.part(part)?).ok_or_else(damaged)?);
            rest = after;
            if bytes.len() > length {
                return Err(damaged());
            }
        }
        bytes.extend_from_slice(rest);
        let whole = bytes.len() == length && Sha256::digest(&bytes).as_slice() == hash;
        if whole { Ok(bytes) } else { Err(damaged()) }
    }

    /// Removes results, of one label if that is given; `dry` only finds out which.
    ///
    /// # Errors
    /// The database can't be changed; then nothing is removed.
    pub fn prune(
        &mut self,
        what: Pruned,
        label: Option<&str>,
        dry: bool,
    ) -> Result<Vec<KeptResult>, HistoryError> {
        let path = self.database.path().to_owned();
        let failed = |error: rusqlite::Error| HistoryError::sqlite(&path, &error);
        let change = self.database.begin()?;
        let mut gone = results(&change, label).map_err(failed)?;
        match what {
            Pruned::AllBut(kept) => {
                let kept = usize::try_from(kept).unwrap_or(usize::MAX);
                gone.truncate(gone.len().saturating_sub(kept));
            }
            Pruned::Before(date) => {
                // They are in the order of their dates.
                let first =
                    gone.partition_point(|it| it.date.parse().is_ok_and(|it: Date| it < date));
                gone.truncate(first);
            }
        }
        if dry || gone.is_empty() {
            return Ok(gone);
        }
        remove(&change, &gone).map_err(failed)?;
        change.commit().map_err(failed)?;
        Ok(gone)
    }

    /// Gives the room of removed results back to the disk, for which it needs as much again for a
    /// while.
    pub fn shrink(&self) -> Result<(), HistoryError> {
        self.database.connection().execute_batch("VACUUM").map_err(|error| self.failed(&error))
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> HistoryError {
        HistoryError::sqlite(self.database.path(), error)
    }

    pub(crate) fn corrupt(&self, detail: &str) -> HistoryError {
        HistoryError::corrupt(self.database.path(), detail)
    }

    pub(crate) fn path_id(&self, name: &str) -> Result<i64, HistoryError> {
        let query = "SELECT id FROM path WHERE name = ?";
        let id = self.database.connection().query_row(query, [name], |row| row.get(0)).optional();
        id.map_err(|error| self.failed(&error))?
            .ok_or_else(|| HistoryError::NoSuchPath { path: name.to_owned() })
    }

    fn points(&self, path: i64, label: Option<&str>) -> rusqlite::Result<Vec<Option<Point>>> {
        let query = format!(
            "SELECT status, unit, value, low, high FROM result \
             LEFT JOIN measured ON measured.path = ?1 AND measured.result = result.id \
             WHERE ?2 IS NULL OR label = ?2 {IN_ORDER}"
        );
        let mut statement = self.database.connection().prepare(&query)?;
        let points = statement.query_map(params![path, label], |row| {
            row.get::<_, Option<String>>(0)?.map(|_| point(row, 0)).transpose()
        })?;
        points.collect()
    }

    /// The bytes of a part.
    pub(crate) fn part(&self, id: i64) -> Result<Vec<u8>, HistoryError> {
        let path = self.database.path();
        read_part(self.database.connection(), path, id).map(|(bytes, _)| bytes)
    }
}

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

/// A row of `measured`, to be.
struct MeasuredRow<'a> {
    path: i64,
    part: i64,
    cost: Vec<u8>,
    result: &'a PathResult,
}

/// Keeps all parts of a document: its skeleton, the layout, and the rows of its paths.
fn parts<'a>(
    change: &Transaction<'_>,
    path: &Path,
    bytes: &[u8],
    measurement: &'a Measurement,
) -> Result<(i64, Layout, Vec<MeasuredRow<'a>>), HistoryError> {
    // What was parsed has paths.
    let Split { skeleton, entries } =
        split(bytes).ok_or_else(|| HistoryError::corrupt(path, "a document without paths"))?;
    let skeleton = keep_part(change, path, NO_PATH, &skeleton)?;
    let mut layout = Layout::default();
    let mut rows = Vec::with_capacity(entries.len());
    for ((gap, entry), result) in entries.into_iter().zip(&measurement.paths) {
        let of_path = intern_path(change, &result.path)
            .map_err(|error| HistoryError::sqlite(path, &error))?;
        let part = keep_part(change, path, of_path, &entry::stored(entry, result))?;
        layout.push(gap, part);
        rows.push(MeasuredRow { path: of_path, part, cost: cost_digest(result), result });
    }
    Ok((skeleton, layout, rows))
}

/// Bytes of a digest. Earlier versions wrote 16: an older row's digest is then another one, and the
/// two are compared instead of taken for the same.
const DIGEST_BYTES: usize = 8;

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

/// The number of a part with these bytes, which is kept if none is there.
fn keep_part(
    change: &Transaction<'_>,
    path: &Path,
    of_path: i64,
    bytes: &[u8],
) -> Result<i64, HistoryError> {
    let failed = |error: rusqlite::Error| HistoryError::sqlite(path, &error);
    let hash = Sha256::digest(bytes);
    let known = change
        .prepare_cached("SELECT id FROM part WHERE sha256 = ?")
        .and_then(|mut it| it.query_row([hash.as_slice()], |row| row.get(0)).optional());
    if let Some(known) = known.map_err(failed)? {
        return Ok(known);
    }
    let base: Option<i64> = change
        .prepare_cached("SELECT max(id) FROM part WHERE path = ? AND base IS NULL")
        .and_then(|mut it| it.query_row([of_path], |row| row.get(0)))
        .map_err(failed)?;
    let base =
        base.map(|base| read_part(change, path, base).map(|(bytes, packed)| (base, bytes, packed)));
    let (base, packed) = packed_by(bytes, base.transpose()?)
        .ok_or_else(|| HistoryError::corrupt(path, "a part can't be compressed"))?;
    change
        .prepare_cached(
            "INSERT INTO part (path, base, sha256, length, packed) VALUES (?, ?, ?, ?, ?)",
        )
        .and_then(|mut it| {
            it.execute(params![of_path, base, hash.as_slice(), integer(bytes.len()), packed])
        })
        .map_err(failed)?;
    Ok(change.last_insert_rowid())
}

/// `bytes` packed by what they have in common with `base`, or by themselves if that is not much;
/// with a base comes its packed length.
fn packed_by(bytes: &[u8], base: Option<(i64, Vec<u8>, usize)>) -> Option<(Option<i64>, Vec<u8>)> {
    if let Some((base, dictionary, its_packed)) = base {
        let packed = pack(bytes, &dictionary)?;
        if packed.len() * 2 <= its_packed {
            return Some((Some(base), packed));
        }
    }
    Some((None, pack(bytes, &[])?))
}

/// The bytes of a part, and how many they are packed.
fn read_part(
    connection: &Connection,
    path: &Path,
    id: i64,
) -> Result<(Vec<u8>, usize), HistoryError> {
    let raw = RawPart::read(connection, id).map_err(|error| HistoryError::sqlite(path, &error))?;
    let base = raw.base.map(|base| {
        let base = RawPart::read(connection, base);
        let base = base.map_err(|error| HistoryError::sqlite(path, &error))?;
        base.unpacked(&[]).ok_or_else(|| HistoryError::corrupt(path, not_whole(id)))
    });
    let bytes = raw.unpacked(&base.transpose()?.unwrap_or_default());
    let packed = raw.packed.len();
    bytes.map(|bytes| (bytes, packed)).ok_or_else(|| HistoryError::corrupt(path, not_whole(id)))
}

fn not_whole(id: i64) -> String {
    format!("part {id} is not whole")
}

/// A part as it is in the database.
pub(crate) struct RawPart {
    pub(crate) base: Option<i64>,
    sha256: Vec<u8>,
    length: usize,
    packed: Vec<u8>,
}

impl RawPart {
    pub(crate) fn read(connection: &Connection, id: i64) -> rusqlite::Result<Self> {
        let mut query = connection
            .prepare_cached("SELECT base, sha256, length, packed FROM part WHERE id = ?")?;
        query.query_row([id], |row| {
            let length = usize::try_from(row.get::<_, i64>(2)?).unwrap_or(usize::MAX);
            Ok(Self { base: row.get(0)?, sha256: row.get(1)?, length, packed: row.get(3)? })
        })
    }

    /// None if it is damaged.
    pub(crate) fn unpacked(&self, dictionary: &[u8]) -> Option<Vec<u8>> {
        let length = Some(self.length).filter(|&length| length <= MAX_DOCUMENT_BYTES)?;
        let bytes = unpack(&self.packed, dictionary, length)?;
        (Sha256::digest(&bytes).as_slice() == self.sha256).then_some(bytes)
    }
}

fn insert_rows(
    change: &Transaction<'_>,
    number: i64,
    rows: &[MeasuredRow<'_>],
) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(
        "INSERT INTO measured (path, result, part, cost, status, unit, value, low, high) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for MeasuredRow { path, part, cost, result } in rows {
        let estimate = result.estimate.as_ref();
        // Samples are bounded so that they fit.
        let value = |value: Option<&u64>| value.map(|&value| value.cast_signed());
        insert.execute(params![
            path,
            number,
            part,
            cost,
            word(&result.status),
            word(&result.unit),
            value(estimate.map(|it| &it.value)),
            value(estimate.and_then(|it| it.typical.first())),
            value(estimate.and_then(|it| it.typical.last())),
        ])?;
    }
    Ok(())
}

fn intern_path(change: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
    change.prepare_cached("INSERT OR IGNORE INTO path (name) VALUES (?)")?.execute([name])?;
    let mut query = change.prepare_cached("SELECT id FROM path WHERE name = ?")?;
    query.query_row([name], |row| row.get(0))
}

/// The kernel's own fields are the result's: what is left is mostly the same in all results.
fn intern_configuration(
    change: &Transaction<'_>,
    configuration: &Configuration,
) -> rusqlite::Result<i64> {
    let alike =
        Configuration { image_sha256: String::new(), release: None, ..configuration.clone() };
    let json = serde_json::to_string(&alike).unwrap_or_default();
    change.execute("INSERT OR IGNORE INTO configuration (json) VALUES (?)", [&json])?;
    let query = "SELECT id FROM configuration WHERE json = ?";
    change.query_row(query, [&json], |row| row.get(0))
}

/// Removes results, then what only they needed.
fn remove(change: &Transaction<'_>, gone: &[KeptResult]) -> rusqlite::Result<()> {
    let mut result = change.prepare("DELETE FROM result WHERE id = ?")?;
    for kept in gone {
        result.execute([kept.number.cast_signed()])?;
    }
    change.execute_batch(
        "DELETE FROM measured WHERE result NOT IN (SELECT id FROM result);
         DELETE FROM part WHERE base IS NOT NULL
             AND id NOT IN (SELECT part FROM measured)
             AND id NOT IN (SELECT skeleton FROM result);
         DELETE FROM part WHERE base IS NULL
             AND id NOT IN (SELECT part FROM measured)
             AND id NOT IN (SELECT skeleton FROM result)
             AND id NOT IN (SELECT base FROM part WHERE base IS NOT NULL);
         DELETE FROM path WHERE id NOT IN (SELECT path FROM measured);
         DELETE FROM configuration WHERE id NOT IN (SELECT configuration FROM result);",
    )
}

fn results(connection: &Connection, label: Option<&str>) -> rusqlite::Result<Vec<KeptResult>> {
    let sql = format!("SELECT {KEPT} FROM result WHERE ?1 IS NULL OR label = ?1 {IN_ORDER}");
    let mut statement = connection.prepare(&sql)?;
    let results = statement.query_map([label], kept)?;
    results.collect()
}

/// A row of the columns [`KEPT`].
pub(crate) fn kept(row: &Row<'_>) -> rusqlite::Result<KeptResult> {
    let date = Date::from_seconds(row.get(1)?)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(1, row.get(1)?))?;
    Ok(KeptResult {
        number: natural(row, 0)?,
        date: date.to_string(),
        label: row.get(2)?,
        commit: row.get(3)?,
        subject: row.get(4)?,
        kind: worded::<SubjectKind>(row, 5)?,
        release: row.get(6)?,
        image_sha256: row.get(7)?,
        document_sha256: data_encoding::HEXLOWER.encode(&row.get::<_, Vec<u8>>(8)?),
        ok: natural(row, 9)?,
        failed: natural(row, 10)?,
    })
}

/// The columns of a [`Point`], from `at` on: status, unit, value, low, high.
pub(crate) fn point(row: &Row<'_>, at: usize) -> rusqlite::Result<Point> {
    let value = |at: usize| match row.get::<_, Option<i64>>(at)? {
        Some(_) => natural(row, at).map(Some),
        None => Ok(None),
    };
    Ok(Point {
        status: worded::<Status>(row, at)?,
        unit: worded::<Unit>(row, at + 1)?,
        value: value(at + 2)?,
        low: value(at + 3)?,
        high: value(at + 4)?,
    })
}

fn natural(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(at)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, value))
}

fn worded<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    let word: String = row.get(at)?;
    serde_json::from_value(serde_json::Value::String(word)).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, error.into())
    })
}

/// Sizes here are bounded far below.
fn integer(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The columns of a result, for queries elsewhere.
pub(crate) fn kept_columns() -> (&'static str, &'static str) {
    (KEPT, IN_ORDER)
}
