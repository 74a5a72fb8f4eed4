//! Why a gate has no answer, or a budget can't be used.

use std::io;
use std::path::PathBuf;

/// Why a gate has no answer, or a budget can't be used.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The file of a budget can't be read.
    #[error("reading {}: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
    /// A budget has a rule that is wrong, or that holds for nothing that is measured.
    #[error("{message}")]
    Budget {
        /// What is wrong, with the file and the line.
        message: String,
        /// What would be right instead of it.
        help: String,
    },
    /// Something had to be compared and was not.
    #[error("{0}")]
    Unchecked(String),
}
