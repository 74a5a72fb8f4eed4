//! The rows of a history, read: each as it was written, and all of them, or an error.
//!
//! Beside each row's own hash there are counts: of all results, of all paths, and of the results of
//! each path. A row that is lost is missing there.

use std::collections::HashMap;
use std::path::Path;

use pathmeter_model::{KeptKind, KeptResult, Point, Status, Unit};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::kept_document::Fingerprint;
use crate::row::{self, integer, is_whole, natural, worded};
use crate::{Date, HistoryError};

/// The path under which skeletons are kept: every result has it.
pub(crate) const SKELETONS: i64 = 0;

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
    /// With that of the skeletons.
    pub(crate) paths: u64,
    /// The highest number that a result was given.
    pub(crate) last: u64,
}

pub(crate) struct PathRow {
    pub(crate) id: i64,
    pub(crate) name: String,
    /// How many results have it.
    pub(crate) results: u64,
    /// The part that new ones are packed by, and the result that it was kept for.
    pub(crate) base: Option<(i64, u64)>,
}

pub(crate) struct ResultRow {
    pub(crate) kept: KeptResult,
    pub(crate) date: Date,
    pub(crate) configuration: i64,
    pub(crate) skeleton: i64,
    pub(crate) layout: Vec<u8>,
}

/// A path in a result.
pub(crate) struct Measured {
    pub(crate) result: u64,
    pub(crate) part: i64,
    /// Of the same cost are the same, by every rule.
    pub(crate) cost: Vec<u8>,
    pub(crate) point: Point,
}

impl Total {
    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let numbers = [1, self.results, self.paths, self.last];
        row::replace(connection, "total", numbers.map(integer).to_vec())
    }
}

impl PathRow {
    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let (base, of) = self.base.unzip();
        let of = of.map_or(Value::Null, integer);
        let name = self.name.clone().into();
        let values = vec![self.id.into(), name, integer(self.results), base.into(), of];
        row::replace(connection, "path", values)
    }
}

impl Tables<'_> {
    pub(crate) fn total(self) -> Result<Total, HistoryError> {
        let read = |row: &Row<'_>| {
            Ok(Total { results: natural(row, 1)?, paths: natural(row, 2)?, last: natural(row, 3)? })
        };
        let found = self.all("SELECT * FROM total", [], "the count of results", read)?;
        match found[..] {
            [total] => Ok(total),
            _ => Err(self.corrupt("the count of results is missing")),
        }
    }

    /// All paths, that of the skeletons first.
    pub(crate) fn paths(self, total: &Total) -> Result<Vec<PathRow>, HistoryError> {
        let read = |row: &Row<'_>| {
            let base = row.get::<_, Option<i64>>(3)?;
            let base = base.map(|base| Ok::<_, rusqlite::Error>((base, natural(row, 4)?)));
            Ok(PathRow {
                id: row.get(0)?,
                name: row.get(1)?,
                results: natural(row, 2)?,
                base: base.transpose()?,
            })
        };
        let paths = self.all("SELECT * FROM path ORDER BY id", [], "path", read)?;
        let ids = paths.iter().map(|path| path.id);
        self.complete(ids.is_sorted_by(|one, next| one < next), paths.len(), total.paths, "paths")?;
        if paths.first().is_none_or(|first| first.id != SKELETONS || first.results != total.results)
        {
            return Err(self.corrupt("path 0 and the count of results contradict each other"));
        }
        Ok(paths)
    }

    /// All results, in the order of their dates; those of one date as they were added.
    pub(crate) fn results(self, total: &Total) -> Result<Vec<ResultRow>, HistoryError> {
        let mut all = self.all("SELECT * FROM result ORDER BY id", [], "result", result)?;
        let ascend = all.is_sorted_by(|one, next| one.kept.number < next.kept.number);
        self.complete(ascend, all.len(), total.results, "results")?;
        // What is equal stays in its order.
        all.sort_by_key(|it| it.date);
        self.with_machines(all)
    }

    /// The result whose row has this number, or this document's hash.
    pub(crate) fn result_where(
        self,
        condition: &str,
        value: impl Params,
    ) -> Result<Option<ResultRow>, HistoryError> {
        let sql = format!("SELECT * FROM result WHERE {condition}");
        let found = self.all(&sql, value, "result", result)?;
        Ok(self.with_machines(found)?.pop())
    }

    /// The same, of times with the machine that they were taken on.
    fn with_machines(self, mut rows: Vec<ResultRow>) -> Result<Vec<ResultRow>, HistoryError> {
        let mut timed = rows.iter_mut().filter(|row| row.kept.kind == KeptKind::Host).peekable();
        if timed.peek().is_some() {
            let all: HashMap<i64, Fingerprint> = self.configurations()?.into_iter().collect();
            for row in timed {
                let Some(Fingerprint::Times(times)) = all.get(&row.configuration) else {
                    let number = row.kept.number;
                    return Err(self.corrupt(format!("the machine of result {number} is missing")));
                };
                row.kept.machine = Some(times.machine());
            }
        }
        Ok(rows)
    }

    /// Reads a path's row in each result that has it, in the order of the results' numbers.
    pub(crate) fn read_path_results(self, path: &PathRow) -> Result<Vec<Measured>, HistoryError> {
        let sql = "SELECT * FROM measured WHERE path = ? ORDER BY path, result";
        let all = self.all(sql, [path.id], "a row of path", parse_measured_row)?;
        let ascend = all.is_sorted_by(|one, next| one.result < next.result);
        let what = format!("results of path {}", path.id);
        self.complete(ascend, all.len(), path.results, &what)?;
        Ok(all)
    }

    /// The path in one result.
    pub(crate) fn measured_in(self, path: i64, result: u64) -> Result<(), HistoryError> {
        let sql = "SELECT * FROM measured WHERE path = ? AND result = ?";
        let found =
            self.all(sql, [path, result.cast_signed()], "a row of path", parse_measured_row)?;
        match found[..] {
            [Measured { result: number, .. }] if number == result => Ok(()),
            _ => Err(self.corrupt(format!("path {path} in result {result} is missing"))),
        }
    }

    /// All configuration fingerprints, by their numbers.
    pub(crate) fn configurations(self) -> Result<Vec<(i64, Fingerprint)>, HistoryError> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
        let all = self.all("SELECT * FROM configuration", [], "configuration", read)?;
        let parsed = |(id, json): (i64, String)| match serde_json::from_str(&json) {
            Ok(configuration) => Ok((id, configuration)),
            Err(_) => Err(self.corrupt(format!("configuration {id} can't be read"))),
        };
        all.into_iter().map(parsed).collect()
    }

    /// The number of a configuration fingerprint, if it is kept.
    pub(crate) fn configuration(self, json: &str) -> Result<Option<i64>, HistoryError> {
        let sql = "SELECT * FROM configuration WHERE json = ?";
        let read = |row: &Row<'_>| row.get(0);
        Ok(self.all(sql, [json], "configuration", read)?.pop())
    }

    /// The highest number in a table, 0 if it is empty.
    pub(crate) fn highest(self, table: &str) -> Result<i64, HistoryError> {
        let sql = format!("SELECT max(id) FROM {table}");
        let highest = self.connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0));
        Ok(highest.optional().map_err(|error| self.failed(&error))?.flatten().unwrap_or(0))
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
                let id = row.get::<_, i64>(0).unwrap_or_default();
                return Err(self.corrupt(format!("{what} {id} is not what was written")));
            }
            all.push(read(row).map_err(failed)?);
        }
        Ok(all)
    }

    /// Rows that do not ascend are there twice.
    fn complete(
        self,
        ascend: bool,
        found: usize,
        kept: u64,
        what: &str,
    ) -> Result<(), HistoryError> {
        if ascend && found as u64 == kept {
            return Ok(());
        }
        Err(self.corrupt(format!("{kept} {what} were kept, {found} are found")))
    }

    pub(crate) fn failed(self, error: &rusqlite::Error) -> HistoryError {
        HistoryError::sqlite(self.file, error)
    }

    pub(crate) fn corrupt(self, detail: impl Into<String>) -> HistoryError {
        HistoryError::corrupt(self.file, detail)
    }
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
        machine: None,
        release: row.get(6)?,
        image_sha256: row.get(7)?,
        document_sha256: data_encoding::HEXLOWER.encode(&row.get::<_, Vec<u8>>(9)?),
        ok: natural(row, 11)?,
        failed: natural(row, 12)?,
    };
    let configuration = row.get(8)?;
    Ok(ResultRow { kept, date, configuration, skeleton: row.get(13)?, layout: row.get(14)? })
}

fn parse_measured_row(row: &Row<'_>) -> rusqlite::Result<Measured> {
    let value = |at: usize| match row.get::<_, Option<i64>>(at)? {
        Some(_) => natural(row, at).map(Some),
        None => Ok(None),
    };
    let point = Point {
        status: worded::<Status>(row, 4)?,
        unit: worded::<Unit>(row, 5)?,
        value: value(6)?,
        low: value(7)?,
        high: value(8)?,
    };
    Ok(Measured { result: natural(row, 1)?, part: row.get(2)?, cost: row.get(3)?, point })
}
