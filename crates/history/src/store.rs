//! A history that is open: results are added, listed, given back and removed.

use std::collections::HashMap;
use std::path::Path;

use pathmeter_model::{History, HistorySchema, KeptResult, PathHistory};

use crate::HistoryError;
use crate::add::{Added, NewResult, add};
use crate::database::Database;
use crate::kept_document::KeptDocument;
use crate::prune::{Pruned, remove, select_results};
use crate::salvage::Found;
use crate::tables::{Measured, PathRow, ResultRow, SKELETONS, Tables};

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
        let mut names: Vec<String> = self.paths()?.into_iter().map(|path| path.name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// All results, or those of one label, in their order.
    pub fn results(&self, label: Option<&str>) -> Result<Vec<KeptResult>, HistoryError> {
        let labelled = |row: &ResultRow| label.is_none_or(|label| row.kept.label == label);
        Ok(self.rows()?.into_iter().filter(labelled).map(|row| row.kept).collect())
    }

    /// All results, or those of one label, with the paths of these names.
    ///
    /// # Errors
    /// The database can't be read, or no result has one of the paths.
    pub fn history(&self, label: Option<&str>, paths: &[&str]) -> Result<History, HistoryError> {
        let results = self.results(label)?;
        let series = |name: &&str| {
            let measured = self.read_path_results(name)?.into_iter();
            let mut points: HashMap<u64, _> = measured.map(|it| (it.result, it.point)).collect();
            let points = results.iter().map(|kept| points.remove(&kept.number)).collect();
            Ok(PathHistory { path: (*name).to_owned(), points })
        };
        let paths = paths.iter().map(series).collect::<Result<_, HistoryError>>()?;
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
                let (found, mut damage) = self.tables().salvaged(label);
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
        let all = tables.results(&tables.total()?)?;
        let gone = select_results(&all, what, label)?;
        if !dry && !gone.is_empty() {
            remove(tables, &all, &gone)?;
            change.commit().map_err(|error| HistoryError::sqlite(&file, &error))?;
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

    /// All results, in their order.
    pub(crate) fn rows(&self) -> Result<Vec<ResultRow>, HistoryError> {
        self.tables().results(&self.tables().total()?)
    }

    /// Reads the rows of the path called `name`, one for each result that has it.
    pub(crate) fn read_path_results(&self, name: &str) -> Result<Vec<Measured>, HistoryError> {
        let path = self.paths()?.into_iter().find(|path| path.name == name);
        let path = path.ok_or_else(|| HistoryError::NoSuchPath { path: name.to_owned() })?;
        self.tables().read_path_results(&path)
    }

    /// All paths but that of the skeletons.
    fn paths(&self) -> Result<Vec<PathRow>, HistoryError> {
        let mut paths = self.tables().paths(&self.tables().total()?)?;
        paths.retain(|path| path.id != SKELETONS);
        Ok(paths)
    }
}
