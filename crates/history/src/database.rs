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
use crate::limits::{BUSY_SECONDS, SCHEMA_VERSION};

/// "pmhi", by which `file` and this code know a history (`PRAGMA application_id`).
const APPLICATION_ID: i64 = 0x706d_6869;

/// What makes each version's tables of the one before. Only ever added to: a file of any version
/// becomes one of the newest by the rest of the list.
const MIGRATIONS: [&str; 2] = [VERSION_1, VERSION_2];

const VERSION_1: &str = "
CREATE TABLE configuration (
    id INTEGER PRIMARY KEY,
    json TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE path (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    path INTEGER NOT NULL,
    base INTEGER,
    sha256 BLOB NOT NULL UNIQUE,
    length INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;
CREATE INDEX part_whole ON part (path) WHERE base IS NULL;
CREATE TABLE result (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    date INTEGER NOT NULL,
    label TEXT NOT NULL,
    commit_hash TEXT,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    release TEXT,
    image_sha256 TEXT NOT NULL,
    configuration INTEGER NOT NULL,
    sha256 BLOB NOT NULL UNIQUE,
    length INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    skeleton INTEGER NOT NULL,
    layout BLOB NOT NULL
) STRICT;
CREATE INDEX result_by_date ON result (date, id);
CREATE TABLE measured (
    path INTEGER NOT NULL,
    result INTEGER NOT NULL,
    part INTEGER NOT NULL,
    cost BLOB NOT NULL,
    status TEXT NOT NULL,
    unit TEXT NOT NULL,
    value INTEGER,
    low INTEGER,
    high INTEGER,
    PRIMARY KEY (path, result)
) STRICT, WITHOUT ROWID;
";

/// The same tables. Parts may be in the compact form of `entry.rs`, which version 1 can't read.
const VERSION_2: &str = "";

/// A database with the known tables.
pub(crate) struct Database {
    path: PathBuf,
    connection: Connection,
}

impl Database {
    /// Opens the file at `path` to write to it; makes it, and its tables, if it is not there.
    pub(crate) fn create(path: &Path) -> Result<Self, HistoryError> {
        refuse_what_is_no_file(path)?;
        let mut database = Self::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        let journal = |error: &_| HistoryError::sqlite(path, error);
        database.connection.pragma_update(None, "synchronous", "EXTRA").map_err(|e| journal(&e))?;
        if database.version()? < Some(SCHEMA_VERSION) {
            database.migrate()?;
        }
        database.check_tables(SCHEMA_VERSION)?;
        Ok(database)
    }

    /// Opens the file at `path` to read it. It is opened for writing where that is allowed, since a
    /// change that was cut off has to be undone first.
    pub(crate) fn open(path: &Path) -> Result<Self, HistoryError> {
        if !refuse_what_is_no_file(path)? {
            return Err(HistoryError::Missing { path: path.to_owned() });
        }
        let database = Self::connect(path, OpenFlags::empty())?;
        // Everything is read of one state.
        let begun = database.connection.execute_batch("BEGIN");
        begun.map_err(|error| HistoryError::sqlite(path, &error))?;
        match version(&database.connection, path)? {
            // Its maker was killed before there was anything in it.
            None => return Err(HistoryError::Missing { path: path.to_owned() }),
            Some(version) => database.check_tables(version)?,
        }
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

    /// The version of the tables; None of a file in which there is nothing yet. All that tells it
    /// is read of one state: another process may make the tables meanwhile.
    fn version(&self) -> Result<Option<i64>, HistoryError> {
        let state = self.connection.unchecked_transaction();
        let state = state.map_err(|error| HistoryError::sqlite(&self.path, &error))?;
        version(&state, &self.path)
    }

    /// Makes the tables that are missing.
    fn migrate(&mut self) -> Result<(), HistoryError> {
        let path = &self.path;
        let failed = |error: rusqlite::Error| HistoryError::sqlite(path, &error);
        let change = begin(&mut self.connection, path)?;
        // Another process may have been faster.
        let found = version(&change, path)?.unwrap_or(0);
        make_tables(&change, found, SCHEMA_VERSION).map_err(failed)?;
        change.commit().map_err(failed)
    }

    /// Finds out whether the tables are those of `version`, and nothing else is there: no view, no
    /// trigger, no other definition that SQLite would obey.
    fn check_tables(&self, version: i64) -> Result<(), HistoryError> {
        let failed = |error: rusqlite::Error| HistoryError::sqlite(&self.path, &error);
        let known = Connection::open_in_memory().map_err(failed)?;
        make_tables(&known, 0, version).map_err(failed)?;
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

fn version(connection: &Connection, path: &Path) -> Result<Option<i64>, HistoryError> {
    let pragma = |name: &str| {
        let value = connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        value.map_err(|error| HistoryError::sqlite(path, &error))
    };
    let foreign =
        |what: &str| Err(HistoryError::Foreign { path: path.to_owned(), what: what.to_owned() });
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    match (application, version) {
        (APPLICATION_ID, found) if found > SCHEMA_VERSION => {
            Err(HistoryError::Newer { path: path.to_owned(), found })
        }
        (APPLICATION_ID, 1..) => Ok(Some(version)),
        (APPLICATION_ID, _) => foreign("its version is none"),
        (0, 0) if pragma("schema_version")? == 0 => Ok(None),
        _ => foreign("it is another program's database"),
    }
}

fn make_tables(connection: &Connection, found: i64, wanted: i64) -> rusqlite::Result<()> {
    for (migration, version) in MIGRATIONS.iter().zip(1..=wanted) {
        if version > found {
            connection.execute_batch(migration)?;
        }
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", wanted)
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
    use sha2::{Digest, Sha256};

    /// A file that was made by a version stays readable only if that version's tables stay as they
    /// were: a change is one more migration.
    #[test]
    fn migrations_are_only_ever_added() {
        let known = [0xa161_a46f_ed92_ec80, 0xe3b0_c442_98fc_1c14];
        let hash = |sql: &str| {
            let first = Sha256::digest(sql)[..8].try_into().unwrap();
            u64::from_be_bytes(first)
        };
        assert_eq!(MIGRATIONS.map(hash), known);
        assert_eq!(i64::try_from(known.len()), Ok(SCHEMA_VERSION));
    }

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
    fn a_newer_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.sqlite");
        let database = Database::create(&path).unwrap();
        database.connection.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
        drop(database);
        let before = fs::read(&path).unwrap();
        for opened in [Database::open(&path), Database::create(&path)] {
            assert!(matches!(opened, Err(HistoryError::Newer { found: 3, .. })));
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn other_definitions_than_the_known_are_refused() {
        for more in [
            "CREATE TRIGGER t AFTER INSERT ON result BEGIN DELETE FROM result; END",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE x (y)",
            "ALTER TABLE result ADD COLUMN z TEXT",
            "DROP INDEX result_by_date",
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
