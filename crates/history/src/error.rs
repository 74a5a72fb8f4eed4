//! What can go wrong with a history, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use pathmeter_model::ParseError;
use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_READONLY_RECOVERY, SQLITE_READONLY_ROLLBACK};
use thiserror::Error;

use crate::limits::{BUSY_SECONDS, SCHEMA_VERSION};

/// Why a history can't be used.
#[derive(Debug, Error)]
pub enum HistoryError {
    #[error("{}: there is no history yet", .path.display())]
    Missing { path: PathBuf },
    /// The file is something else; it is left as it is.
    #[error("{}: not a history of pathmeter: {what}", .path.display())]
    Foreign {
        path: PathBuf,
        /// What the file is instead of a history.
        what: String,
    },
    /// An earlier pathmeter made it.
    #[error(
        "{}: made by an earlier pathmeter: its tables have version {found}, this one knows {}",
        .path.display(), SCHEMA_VERSION
    )]
    Older {
        path: PathBuf,
        /// The version that the file has.
        found: i64,
    },
    /// A newer pathmeter made it.
    #[error(
        "{}: made by a newer pathmeter: its tables have version {found}, this one knows {}",
        .path.display(), SCHEMA_VERSION
    )]
    Newer {
        path: PathBuf,
        /// The version that the file has.
        found: i64,
    },
    /// The file is damaged; it is left as it is.
    #[error("{}: the history is damaged: {detail}", .path.display())]
    Corrupt {
        path: PathBuf,
        /// What in the file does not fit.
        detail: String,
    },
    /// Somebody else writes for too long.
    #[error("{}: another process has been writing for {BUSY_SECONDS} seconds", .path.display())]
    Busy { path: PathBuf },
    #[error("{}: no room on the disk", .path.display())]
    Full { path: PathBuf },
    /// The file or its folder can't be written to.
    #[error("{}: the history can't be written to: {detail}", .path.display())]
    ReadOnly {
        path: PathBuf,
        /// What SQLite says about the failure.
        detail: String,
    },
    /// The operating system refused something.
    #[error("{}: {detail}", .path.display())]
    System {
        /// The file or folder that it was about.
        path: PathBuf,
        /// What the operating system refused.
        detail: String,
    },
    /// A document is not a result.
    #[error(transparent)]
    Document(#[from] ParseError),
    /// A label can't stand in a history.
    #[error("the label {what}")]
    Label {
        /// What is wrong with it.
        what: &'static str,
    },
    /// No result has the number.
    #[error("there is no result #{number}")]
    NoSuchResult { number: u64 },
    /// No result has the path.
    #[error("{path}: no result of this history has this path")]
    NoSuchPath {
        /// The name of the measured path.
        path: String,
    },
}

impl HistoryError {
    /// What the user can do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing { .. } => "`pathmeter history add RESULT` makes one; --db names another",
            Self::Foreign { .. } => "name another file with --db; this one was not touched",
            Self::Older { .. } => {
                "read it with the pathmeter that made it: `history export -o FOLDER` there, then \
                 `history add` each file here, with its label and date, to another file (--db)"
            }
            Self::Newer { .. } => "use the pathmeter that made it, or a newer one",
            Self::Corrupt { .. } => {
                "it was not touched; restore a copy, or name another file with --db: what \
                 `pathmeter history export` still gives can be added there"
            }
            Self::Busy { .. } => "try again when it is done",
            Self::Full { .. } => "make room there; what was added before is kept",
            Self::ReadOnly { .. } => {
                "check the permissions of the file and of its folder, or name another with --db"
            }
            Self::System { .. } => {
                "check that its folder exists, that you may write there, and the limit on the size \
                 of files (`ulimit -f`)"
            }
            Self::NoSuchResult { .. } => "`pathmeter history show` lists all with their numbers",
            Self::NoSuchPath { .. } => "`pathmeter list paths` lists all paths",
            Self::Document(_) | Self::Label { .. } => return None,
        })
    }

    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull => Self::Full { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path, detail: error.to_string() }
            }
            _ => Self::System { path, detail: error.to_string() },
        }
    }

    pub(crate) fn corrupt(path: &Path, detail: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), detail: detail.into() }
    }

    /// What an error of SQLite's means for the file at `path`.
    pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        // Texts in the file can be in SQLite's messages.
        let detail = error.to_string().escape_debug().to_string();
        let rusqlite::Error::SqliteFailure(failure, _) = error else {
            return Self::Corrupt { path, detail };
        };
        match (failure.code, failure.extended_code) {
            (ErrorCode::NotADatabase, _) => {
                Self::Foreign { path, what: "it is no SQLite database".into() }
            }
            (ErrorCode::DiskFull, _) => Self::Full { path },
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Self::Busy { path },
            (ErrorCode::ReadOnly, SQLITE_READONLY_ROLLBACK | SQLITE_READONLY_RECOVERY) => {
                let detail = "a change that was cut off has to be undone first".into();
                Self::ReadOnly { path, detail }
            }
            (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => {
                Self::ReadOnly { path, detail }
            }
            (
                ErrorCode::CannotOpen
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::NoLargeFileSupport
                | ErrorCode::FileLockingProtocolFailed,
                _,
            ) => Self::System { path, detail },
            _ => Self::Corrupt { path, detail },
        }
    }
}
