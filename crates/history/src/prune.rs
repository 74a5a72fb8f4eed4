//! Results are removed, with what only they needed.

use std::collections::HashSet;

use pathmeter_model::KeptResult;

use crate::document::read_layout;
use crate::tables::{ResultRow, SKELETONS, Tables};
use crate::{Date, HistoryError};

/// What [`crate::Store::prune`] removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruned<'a> {
    /// All but so many of the last.
    AllBut(u64),
    /// The results before this date.
    Before(Date),
    /// The results with these numbers.
    Numbered(&'a [u64]),
}

/// Selects the results to remove from `all`, which are in their order; with a label, only among
/// those of this label.
///
/// # Errors
/// There is none of a number.
pub(crate) fn select_results(
    all: &[ResultRow],
    what: Pruned<'_>,
    label: Option<&str>,
) -> Result<Vec<KeptResult>, HistoryError> {
    let labelled = |row: &&ResultRow| label.is_none_or(|label| row.kept.label == label);
    let of_label: Vec<&ResultRow> = all.iter().filter(labelled).collect();
    let gone = match what {
        Pruned::Numbered(numbers) => {
            let lacks = |number: &&u64| !of_label.iter().any(|row| row.kept.number == **number);
            if let Some(&number) = numbers.iter().find(lacks) {
                return Err(HistoryError::NoSuchResult { number });
            }
            let meant = of_label.iter().filter(|row| numbers.contains(&row.kept.number));
            return Ok(meant.map(|row| row.kept.clone()).collect());
        }
        Pruned::AllBut(kept) => {
            of_label.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX))
        }
        Pruned::Before(date) => of_label.partition_point(|row| row.date < date),
    };
    Ok(of_label[..gone].iter().map(|row| row.kept.clone()).collect())
}

/// Removes the results `gone`, some of `all`. What others need is found by their own rows, each of
/// which is whole, so that damage elsewhere removes nothing more.
pub(crate) fn remove(
    tables: Tables<'_>,
    all: &[ResultRow],
    gone: &[KeptResult],
) -> Result<(), HistoryError> {
    let gone: HashSet<u64> = gone.iter().map(|kept| kept.number).collect();
    let (mut parts, mut configurations) = (HashSet::new(), HashSet::new());
    for row in all.iter().filter(|row| !gone.contains(&row.kept.number)) {
        let layout = read_layout(&row.layout).ok_or_else(|| {
            tables.corrupt(format!("the layout of result {} can't be read", row.kept.number))
        })?;
        parts.insert(row.skeleton);
        parts.extend(layout.into_iter().map(|(_, part)| part));
        configurations.insert(row.configuration);
    }
    let failed = |error: rusqlite::Error| tables.failed(&error);
    let needless_paths = count_down(tables, &gone)?;
    delete(tables, "result", gone.iter().map(|number| number.cast_signed())).map_err(failed)?;
    delete(tables, "path", needless_paths.into_iter()).map_err(failed)?;
    let bases = ids(tables, "part", "base").map_err(failed)?;
    let needed = |&(id, base): &(i64, Option<i64>)| parts.contains(&id).then_some(base).flatten();
    let mut kept: HashSet<i64> = bases.iter().filter_map(needed).collect();
    kept.extend(parts.iter().copied());
    let needless = bases.into_iter().map(|(id, _)| id).filter(|id| !kept.contains(id));
    delete(tables, "part", needless).map_err(failed)?;
    let others = ids(tables, "configuration", "NULL").map_err(failed)?;
    let needless = others.into_iter().map(|(id, _)| id).filter(|id| !configurations.contains(id));
    delete(tables, "configuration", needless).map_err(failed)
}

fn delete(
    tables: Tables<'_>,
    table: &str,
    mut ids: impl Iterator<Item = i64>,
) -> rusqlite::Result<()> {
    let mut delete = tables.connection.prepare(&format!("DELETE FROM {table} WHERE id = ?"))?;
    ids.try_for_each(|id| delete.execute([id]).map(drop))
}

/// Removes the rows of all paths in the results `gone`, and writes what is left of the counts. The
/// paths that no result has any more.
fn count_down(tables: Tables<'_>, gone: &HashSet<u64>) -> Result<Vec<i64>, HistoryError> {
    let failed = |error: rusqlite::Error| tables.failed(&error);
    let mut total = tables.total()?;
    let mut delete = tables
        .connection
        .prepare("DELETE FROM measured WHERE path = ? AND result = ?")
        .map_err(failed)?;
    let mut needless = Vec::new();
    for mut path in tables.paths(&total)? {
        let mut removed = 0;
        for number in gone {
            removed += delete.execute([path.id, number.cast_signed()]).map_err(failed)? as u64;
        }
        if path.id == SKELETONS {
            removed = gone.len() as u64;
        }
        path.results = path.results.saturating_sub(removed);
        // What was the base may be gone.
        path.base = None;
        if path.results == 0 && path.id != SKELETONS {
            needless.push(path.id);
        }
        path.write(tables.connection).map_err(failed)?;
    }
    total.results -= gone.len() as u64;
    total.paths -= needless.len() as u64;
    total.write(tables.connection).map_err(failed)?;
    Ok(needless)
}

/// The numbers in a table, each with another column.
fn ids(tables: Tables<'_>, table: &str, column: &str) -> rusqlite::Result<Vec<(i64, Option<i64>)>> {
    let mut query = tables.connection.prepare(&format!("SELECT id, {column} FROM {table}"))?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
