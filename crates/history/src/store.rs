//! A history that is open: results are added, listed, given back and removed.

use std::collections::BTreeSet;
use std::path::Path;

use pathmeter_model::{History, HistorySchema, KeptResult, PathHistory};

use crate::HistoryError;
use crate::add::{Added, NewResult, add};
use crate::database::Database;
use crate::kept_document::KeptDocument;
use crate::prune::{Pruned, remove, select_results};
use crate::salvage::Found;
use crate::tables::{ResultRow, Tables};

/// A history in a file.
pub struct Store {
    database: Database,
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

    /// Adds a result. It is on the disk when this returns, and was read back.
    ///
    /// # Errors
    /// It is neither a result nor times, the database can't be changed, or something is damaged
    /// that the result would hang on. Then nothing is changed.
    pub fn add(&mut self, new: NewResult<'_>) -> Result<Added, HistoryError> {
        let document = KeptDocument::parse(new.bytes)?;
        let file = self.database.path().to_owned();
        let change = self.database.begin()?;
        let tables = Tables { connection: &change, file: &file };
        let added = add(&change, tables, &new, &document)?;
        change.commit().map_err(|error| HistoryError::sqlite(&file, &error))?;
        Ok(added)
    }

    /// The names of all paths that any result has, by name.
    pub fn path_names(&self) -> Result<Vec<String>, HistoryError> {
        // No path of a result is missed, for all results have their lists.
        self.rows(None)?;
        let names: BTreeSet<String> = self.tables().path_lists()?.into_values().flatten().collect();
        Ok(names.into_iter().collect())
    }

    /// All results, or those of one label, in their order.
    pub fn results(&self, label: Option<&str>) -> Result<Vec<KeptResult>, HistoryError> {
        Ok(self.rows(label)?.into_iter().map(|row| row.kept).collect())
    }

    /// All results, or those of one label, with the paths of these names.
    ///
    /// # Errors
    /// The database can't be read, or no result has one of the paths.
    pub fn history(&self, label: Option<&str>, paths: &[&str]) -> Result<History, HistoryError> {
        let rows = self.rows(label)?;
        let series = |name: &&str| {
            let measured = self.tables().read_path(name, &rows)?;
            let points = measured.into_iter().map(|it| it.map(|it| it.point)).collect();
            Ok(PathHistory { path: (*name).to_owned(), points })
        };
        let paths = paths.iter().map(series).collect::<Result<_, HistoryError>>()?;
        let results = rows.into_iter().map(|row| row.kept).collect();
        Ok(History { schema: HistorySchema::V1, results, paths })
    }

    /// Finds all results, or those of one label, in their order, and what is damaged. If something
    /// is damaged, the results are in the order of their numbers, and a row that is damaged itself
    /// may have any label.
    pub fn find_results(&self, label: Option<&str>) -> (Vec<Found>, Vec<HistoryError>) {
        // A page in which one row is damaged gives its others: each has its hash. Where this can't
        // be set, less is found.
        let _ = self.tables().connection.pragma_update(None, "cell_size_check", false);
        match self.results(label) {
            Ok(results) => {
                let found = |kept: KeptResult| Found { number: kept.number, subject: kept.subject };
                (results.into_iter().map(found).collect(), Vec::new())
            }
            Err(error) => {
                let (found, mut damage) = self.tables().salvage(label);
                damage.insert(0, error);
                (found, damage)
            }
        }
    }

    /// The document of a result, byte by byte as it was added.
    pub fn document(&self, number: u64) -> Result<Vec<u8>, HistoryError> {
        self.tables().document(number)
    }

    /// Removes results, of one label if that is given; `dry` only finds out which.
    ///
    /// # Errors
    /// The database can't be changed, is damaged, or has no result of a number; then nothing is
    /// removed.
    pub fn prune(
        &mut self,
        what: Pruned<'_>,
        label: Option<&str>,
        dry: bool,
    ) -> Result<Vec<KeptResult>, HistoryError> {
        let file = self.database.path().to_owned();
        let change = self.database.begin()?;
        let tables = Tables { connection: &change, file: &file };
        let gone = select_results(&tables.results()?, what, label)?;
        if !dry && !gone.is_empty() {
            let total = tables.total()?;
            remove(&change, total, &gone)
                .and_then(|()| change.commit())
                .map_err(|error| HistoryError::sqlite(&file, &error))?;
        }
        Ok(gone)
    }

    /// Gives the room of removed results back to the disk, for which it needs as much again for a
    /// while.
    pub fn shrink(&self) -> Result<(), HistoryError> {
        let tables = self.tables();
        tables.connection.execute_batch("VACUUM").map_err(|error| tables.failed(&error))
    }

    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables { connection: self.database.connection(), file: self.database.path() }
    }

    /// All results, or those of one label, in their order.
    pub(crate) fn rows(&self, label: Option<&str>) -> Result<Vec<ResultRow>, HistoryError> {
        let mut rows = self.tables().results()?;
        rows.retain(|row| label.is_none_or(|label| row.kept.label == label));
        Ok(rows)
    }
}
