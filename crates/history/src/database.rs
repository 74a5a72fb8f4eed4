//! The database file: opened with care, its tables made, and checked to be the known ones.
//!
//! The journal is SQLite's rollback journal, not a write-ahead log: it needs no memory shared
//! between processes, so it works wherever files can be locked, and a folder that can't be written
//! to can still be read from. After a kill the next process undoes what was begun; with
//! `synchronous = EXTRA` a change whose end was reported survives a power cut as well.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pathmeter_model::MAX_DOCUMENT_BYTES;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::HistoryError;
use crate::journal::refuse_foreign;
use crate::limits::{BUSY_SECONDS, SCHEMA_VERSION};
use crate::tables::Total;

/// "pmhi", by which `file` and this code know a history (`PRAGMA application_id`).
const APPLICATION_ID: i64 = 0x706d_6869;

/// The tables. No index is relied on: what is found by one is checked, and what must not be missed
/// is counted or listed.
const TABLES: &str = "
CREATE TABLE total (
    id INTEGER PRIMARY KEY,
    results INTEGER NOT NULL,
    last INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE configuration (
    id INTEGER PRIMARY KEY,
    json TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE paths (
    id INTEGER PRIMARY KEY,
    json TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE result (
    id INTEGER PRIMARY KEY,
    date INTEGER NOT NULL,
    label TEXT NOT NULL,
    commit_hash TEXT,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    machine TEXT,
    release TEXT,
    image_sha256 TEXT NOT NULL,
    configuration INTEGER NOT NULL,
    paths INTEGER NOT NULL,
    sha256 BLOB NOT NULL UNIQUE,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    base INTEGER,
    packed BLOB NOT NULL
) STRICT;
CREATE TABLE measured (
    path TEXT NOT NULL,
    result INTEGER NOT NULL,
    cost BLOB NOT NULL,
    status TEXT NOT NULL,
    unit TEXT NOT NULL,
    value INTEGER,
    low INTEGER,
    high INTEGER,
    hash BLOB NOT NULL,
    PRIMARY KEY (path, result)
) STRICT, WITHOUT ROWID;
";

/// A database with the known tables.
pub(crate) struct Database {
    path: PathBuf,
    connection: Connection,
}

impl Database {
    /// Opens the file at `path` to write to it; makes it, and its tables, if it is not there.
    pub(crate) fn create(path: &Path) -> Result<Self, HistoryError> {
        if refuse_what_is_no_file(path)? {
            refuse_foreign(path)?;
        }
        let mut database = Self::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        let journal = |error: &_| HistoryError::sqlite(path, error);
        database.connection.pragma_update(None, "synchronous", "EXTRA").map_err(|e| journal(&e))?;
        if database.is_empty()? {
            database.make()?;
        }
        database.check_tables()?;
        Ok(database)
    }

    /// Opens the file at `path` to read it. It is opened for writing where that is allowed, since a
    /// change that was cut off has to be undone first.
    pub(crate) fn open(path: &Path) -> Result<Self, HistoryError> {
        if !refuse_what_is_no_file(path)? {
            return Err(HistoryError::Missing { path: path.to_owned() });
        }
        refuse_foreign(path)?;
        let database = Self::connect(path, OpenFlags::empty())?;
        // Everything is read of one state.
        let begun = database.connection.execute_batch("BEGIN");
        begun.map_err(|error| HistoryError::sqlite(path, &error))?;
        if is_empty(&database.connection, path)? {
            // Its maker was killed before there was anything in it.
            return Err(HistoryError::Missing { path: path.to_owned() });
        }
        database.check_tables()?;
        let read_only = database.connection.pragma_update(None, "query_only", true);
        read_only.map_err(|error| HistoryError::sqlite(path, &error))?;
        Ok(database)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Begins a change, for which other writers are waited for.
    pub(crate) fn begin(&mut self) -> Result<Transaction<'_>, HistoryError> {
        begin(&mut self.connection, &self.path)
    }

    fn connect(path: &Path, more: OpenFlags) -> Result<Self, HistoryError> {
        let failed = |error: rusqlite::Error| HistoryError::sqlite(path, &error);
        // Names such as `:memory:` mean something to SQLite, and none of them begins with a slash.
        let file = std::path::absolute(path).map_err(|error| HistoryError::io(path, &error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
        restrict(&connection).map_err(failed)?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Whether there is nothing in the file yet. All that tells it is read of one state: another
    /// process may make the tables meanwhile.
    fn is_empty(&self) -> Result<bool, HistoryError> {
        let state = self.connection.unchecked_transaction();
        let state = state.map_err(|error| HistoryError::sqlite(&self.path, &error))?;
        is_empty(&state, &self.path)
    }

    fn make(&mut self) -> Result<(), HistoryError> {
        let path = &self.path;
        let failed = |error: rusqlite::Error| HistoryError::sqlite(path, &error);
        let change = begin(&mut self.connection, path)?;
        // Another process may have been faster.
        if is_empty(&change, path)? {
            make_tables(&change).map_err(failed)?;
        }
        change.commit().map_err(failed)
    }

    /// Finds out whether the tables are the known ones, and nothing else is there: no view, no
    /// trigger, no other definition that SQLite would obey.
    fn check_tables(&self) -> Result<(), HistoryError> {
        let failed = |error: rusqlite::Error| HistoryError::sqlite(&self.path, &error);
        let known = Connection::open_in_memory().map_err(failed)?;
        make_tables(&known).map_err(failed)?;
        if tables(&known).map_err(failed)? == tables(&self.connection).map_err(failed)? {
            return Ok(());
        }
        let what = "its tables are not the ones that pathmeter makes".to_owned();
        Err(HistoryError::Foreign { path: self.path.clone(), what })
    }
}

/// Whether there is a file; what is there and is none would be waited for, or written over.
fn refuse_what_is_no_file(path: &Path) -> Result<bool, HistoryError> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(true),
        Ok(about) => {
            let what = if about.is_dir() { "it is a folder" } else { "it is not a file" };
            Err(HistoryError::Foreign { path: path.to_owned(), what: what.into() })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(HistoryError::io(path, &error)),
    }
}

/// The file may come from anywhere: SQLite trusts no definition in it, and no size.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(BUSY_SECONDS))?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    let longest = i32::try_from(MAX_DOCUMENT_BYTES + (1 << 20)).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

fn begin<'a>(connection: &'a mut Connection, path: &Path) -> Result<Transaction<'a>, HistoryError> {
    connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| HistoryError::sqlite(path, &error))
}

/// Whether there is nothing in the file yet; what is there must be a history of the known version.
fn is_empty(connection: &Connection, path: &Path) -> Result<bool, HistoryError> {
    let pragma = |name: &str| {
        let value = connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        value.map_err(|error| HistoryError::sqlite(path, &error))
    };
    let foreign =
        |what: &str| Err(HistoryError::Foreign { path: path.to_owned(), what: what.to_owned() });
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let path = || path.to_owned();
    match (application, found) {
        (APPLICATION_ID, SCHEMA_VERSION) => Ok(false),
        (APPLICATION_ID, 1..SCHEMA_VERSION) => Err(HistoryError::Older { path: path(), found }),
        (APPLICATION_ID, 1..) => Err(HistoryError::Newer { path: path(), found }),
        (APPLICATION_ID, _) => foreign("its version is none"),
        (0, 0) if pragma("schema_version")? == 0 => Ok(true),
        _ => foreign("it is another program's database"),
    }
}

fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    Total::default().write(connection)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)
}

/// Every definition in the database.
type Definition = (String, String, String, Option<String>);

fn tables(connection: &Connection) -> rusqlite::Result<Vec<Definition>> {
    let mut all = connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    // SQLite's own statistics are nobody's harm.
    let kept = |row: &rusqlite::Result<Definition>| {
        row.as_ref().map_or(true, |(_, name, ..)| !name.starts_with("sqlite_stat"))
    };
    rows.filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_which_there_is_nothing_yet_is_no_history_and_becomes_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.sqlite");
        fs::write(&path, "").unwrap();
        assert!(matches!(Database::open(&path), Err(HistoryError::Missing { .. })));
        drop(Database::create(&path).unwrap());
        Database::open(&path).unwrap();
    }

    #[test]
    fn other_versions_are_refused_by_name_with_the_next_step() {
        let earlier = [1, 2, 3, 4].map(|version| (version, "an earlier"));
        for (version, made) in earlier.into_iter().chain([(6, "a newer")]) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("h.sqlite");
            let database = Database::create(&path).unwrap();
            database.connection.pragma_update(None, "user_version", version).unwrap();
            drop(database);
            let before = fs::read(&path).unwrap();
            for opened in [Database::open(&path), Database::create(&path)] {
                let error = opened.err().unwrap();
                let text = error.to_string();
                let told = format!(
                    "h.sqlite: made by {made} pathmeter: its tables have version {version}, "
                );
                assert!(text.contains(&told), "{text}");
                assert!(error.help().unwrap().contains("pathmeter"));
            }
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn other_definitions_than_the_known_are_refused() {
        for more in [
            "CREATE TRIGGER t AFTER INSERT ON result BEGIN DELETE FROM result; END",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE x (y)",
            "ALTER TABLE result ADD COLUMN z TEXT",
            "CREATE INDEX i ON result (date)",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("h.sqlite");
            drop(Database::create(&path).unwrap());
            Connection::open(&path).unwrap().execute_batch(more).unwrap();
            for opened in [Database::open(&path), Database::create(&path)] {
                let Err(HistoryError::Foreign { what, .. }) = opened else { panic!("{more}") };
                assert!(what.contains("tables"), "{what}");
            }
        }
    }

    #[test]
    fn another_programs_database_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.sqlite");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
        let before = fs::read(&path).unwrap();
        for opened in [Database::open(&path), Database::create(&path)] {
            assert!(matches!(opened, Err(HistoryError::Foreign { .. })));
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
