//! The rows of a history, read: each as it was written, and all of them, or an error.
//!
//! Beside each row's own hash there is a count of all results, and a list of the paths of each. A
//! row that is lost is missing there.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use pathmeter_model::{KeptKind, KeptResult, Point, Status, Unit};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::kept_document::Fingerprint;
use crate::row::{self, integer, is_whole, natural, worded};
use crate::{Date, HistoryError};

/// The tables of one file.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) file: &'a Path,
}

/// What the history holds altogether.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Total {
    pub(crate) results: u64,
    /// The highest number that a result was given.
    pub(crate) last: u64,
}

/// A table of texts of JSON, each of which is kept once, under a number.
#[derive(Clone, Copy)]
pub(crate) enum Texts {
    Configuration,
    /// Lists of paths: all those of a result.
    Paths,
}

impl Texts {
    fn table(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Paths => "paths",
        }
    }
}

pub(crate) struct ResultRow {
    pub(crate) kept: KeptResult,
    pub(crate) date: Date,
    pub(crate) configuration: i64,
    pub(crate) paths: i64,
}

/// A path in a result.
pub(crate) struct Measured {
    result: u64,
    /// Of the same cost are the same, by every rule.
    pub(crate) cost: Vec<u8>,
    pub(crate) point: Point,
}

impl Total {
    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let numbers = [1, self.results, self.last];
        row::replace(connection, "total", numbers.map(integer).to_vec())
    }
}

impl Tables<'_> {
    pub(crate) fn total(self) -> Result<Total, HistoryError> {
        let read = |row: &Row<'_>| Ok(Total { results: natural(row, 1)?, last: natural(row, 2)? });
        let found = self.all("SELECT * FROM total", [], "the count of results", read)?;
        match found[..] {
            [total] => Ok(total),
            _ => Err(self.corrupt("the count of results is missing")),
        }
    }

    /// All results, in the order of their dates; those of one date as they were added.
    pub(crate) fn results(self) -> Result<Vec<ResultRow>, HistoryError> {
        let kept = self.total()?.results;
        let mut all = self.all("SELECT * FROM result ORDER BY id", [], "result", result)?;
        let found = all.len() as u64;
        // Those that do not ascend are there twice.
        if found != kept || !all.is_sorted_by(|one, next| one.kept.number < next.kept.number) {
            return Err(self.corrupt(format!("{kept} results were kept, {found} are found")));
        }
        let (configurations, lists) = (self.configurations()?, self.path_lists()?);
        let lacks = |row: &&ResultRow| {
            !configurations.contains_key(&row.configuration) || !lists.contains_key(&row.paths)
        };
        if let Some(row) = all.iter().find(lacks) {
            let number = row.kept.number;
            let what = format!("the configuration or the paths of result {number} are missing");
            return Err(self.corrupt(what));
        }
        // What is equal stays in its order.
        all.sort_by_key(|it| it.date);
        Ok(all)
    }

    /// The result whose row has this number, or this document's hash.
    pub(crate) fn find_result(
        self,
        condition: &str,
        value: impl Params,
    ) -> Result<Option<ResultRow>, HistoryError> {
        let sql = format!("SELECT * FROM result WHERE {condition}");
        Ok(self.all(&sql, value, "result", result)?.pop())
    }

    /// Reads the path of this name in each of these results, in their order; None where it is not.
    pub(crate) fn read_path(
        self,
        name: &str,
        results: &[ResultRow],
    ) -> Result<Vec<Option<Measured>>, HistoryError> {
        let lists = self.path_lists()?;
        if !lists.values().any(|list| list.contains(name)) {
            return Err(HistoryError::NoSuchPath { path: name.to_owned() });
        }
        let sql = "SELECT * FROM measured WHERE path = ?";
        let all = self.all(sql, [name], "a row of path", parse_measured_row)?;
        let mut all: HashMap<u64, Measured> = all.into_iter().map(|it| (it.result, it)).collect();
        let of_result = |row: &ResultRow| {
            if !lists.get(&row.paths).is_some_and(|list| list.contains(name)) {
                return Ok(None);
            }
            let number = row.kept.number;
            all.remove(&number).map(Some).ok_or_else(|| self.report_lost_path(name, number))
        };
        results.iter().map(of_result).collect()
    }

    /// Refuses a history that lacks the path in one result.
    pub(crate) fn check_path(self, path: &str, result: u64) -> Result<(), HistoryError> {
        let sql = "SELECT * FROM measured WHERE path = ? AND result = ?";
        let key = (path, result.cast_signed());
        let found = self.all(sql, key, "a row of path", parse_measured_row)?;
        match found[..] {
            [Measured { result: number, .. }] if number == result => Ok(()),
            _ => Err(self.report_lost_path(path, result)),
        }
    }

    fn report_lost_path(self, path: &str, result: u64) -> HistoryError {
        self.corrupt(format!("path {} of result {result} is missing", path.escape_debug()))
    }

    /// All configuration fingerprints, by their numbers.
    pub(crate) fn configurations(self) -> Result<HashMap<i64, Fingerprint>, HistoryError> {
        self.texts(Texts::Configuration)
    }

    /// All lists of paths, by their numbers.
    pub(crate) fn path_lists(self) -> Result<HashMap<i64, BTreeSet<String>>, HistoryError> {
        self.texts(Texts::Paths)
    }

    fn texts<T: DeserializeOwned>(self, texts: Texts) -> Result<HashMap<i64, T>, HistoryError> {
        let table = texts.table();
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
        let all = self.all(&format!("SELECT * FROM {table}"), [], table, read)?;
        let parsed = |(id, json): (i64, String)| match serde_json::from_str(&json) {
            Ok(value) => Ok((id, value)),
            Err(_) => Err(self.corrupt(format!("{table} {id} can't be read"))),
        };
        all.into_iter().map(parsed).collect()
    }

    /// The number of a text, which is kept if it is new.
    pub(crate) fn find_or_insert(
        self,
        texts: Texts,
        value: &impl Serialize,
    ) -> Result<i64, HistoryError> {
        let table = texts.table();
        let json = serde_json::to_string(value).unwrap_or_default();
        let sql = format!("SELECT * FROM {table} WHERE json = ?");
        if let Some(known) = self.all(&sql, [&json], table, |row| row.get(0))?.pop() {
            return Ok(known);
        }
        let highest = format!("SELECT coalesce(max(id), 0) FROM {table}");
        let highest = self.connection.query_row(&highest, [], |row| row.get::<_, i64>(0));
        let inserted = highest.and_then(|highest| {
            let id = highest.saturating_add(1);
            row::insert(self.connection, table, vec![id.into(), json.into()]).map(|()| id)
        });
        inserted.map_err(|error| self.failed(&error))
    }

    /// All rows of a query, each of them whole.
    fn all<T>(
        self,
        sql: &str,
        parameters: impl Params,
        what: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, HistoryError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut query = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query(parameters).map_err(failed)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            if !is_whole(row) {
                let key = key(row).unwrap_or_default();
                return Err(self.corrupt(format!("{what} {key} is not what was written")));
            }
            all.push(read(row).map_err(failed)?);
        }
        Ok(all)
    }

    pub(crate) fn failed(self, error: &rusqlite::Error) -> HistoryError {
        HistoryError::sqlite(self.file, error)
    }

    pub(crate) fn corrupt(self, detail: impl Into<String>) -> HistoryError {
        HistoryError::corrupt(self.file, detail)
    }
}

/// The number or name that a row begins with.
fn key(row: &Row<'_>) -> rusqlite::Result<String> {
    Ok(match row.get_ref(0)? {
        ValueRef::Integer(number) => number.to_string(),
        other => String::from_utf8_lossy(other.as_bytes()?).escape_debug().to_string(),
    })
}

fn result(row: &Row<'_>) -> rusqlite::Result<ResultRow> {
    let date = Date::from_seconds(row.get(1)?)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(1, row.get(1)?))?;
    let kept = KeptResult {
        number: natural(row, 0)?,
        date: date.to_string(),
        label: row.get(2)?,
        commit: row.get(3)?,
        subject: row.get(4)?,
        kind: worded::<KeptKind>(row, 5)?,
        machine: row.get(6)?,
        release: row.get(7)?,
        image_sha256: row.get(8)?,
        document_sha256: data_encoding::HEXLOWER.encode(&row.get::<_, Vec<u8>>(11)?),
        ok: natural(row, 12)?,
        failed: natural(row, 13)?,
    };
    Ok(ResultRow { kept, date, configuration: row.get(9)?, paths: row.get(10)? })
}

fn parse_measured_row(row: &Row<'_>) -> rusqlite::Result<Measured> {
    let value = |at: usize| match row.get::<_, Option<i64>>(at)? {
        Some(_) => natural(row, at).map(Some),
        None => Ok(None),
    };
    let point = Point {
        status: worded::<Status>(row, 3)?,
        unit: worded::<Unit>(row, 4)?,
        value: value(5)?,
        low: value(6)?,
        high: value(7)?,
    };
    Ok(Measured { result: natural(row, 1)?, cost: row.get(2)?, point })
}
