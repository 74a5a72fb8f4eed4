//! Results, counts and times, kept over time in one SQLite database.
//!
//! What comes out is byte by byte what went in. Beside each document there is a row for each path,
//! by which a path is followed over thousands of results without reading the documents.
//! `docs/guide/history.md` describes the tables.
//!
//! Contract: what [`Store::add`] returned from is on the disk, and a process that is killed leaves
//! a database with or without its last change. The file is untrusted: its tables must be the known
//! ones, every size in it is bounded, every document and every row has its hash, and results are
//! counted and their paths listed: what comes out is what went in, or an error. Nothing here
//! overwrites a file that is not a history.
//!
//! - [`Store`]: a database that is open, to read or to write.
//! - [`blame()`]: the steps of one path, by the rules of `pathmeter_model::compare`; of times by
//!   those of `pathmeter_model::TimeComparison`.
//! - [`Date`]: when a result belongs to.

mod add;
mod blame;
mod database;
mod date;
mod document;
mod error;
mod journal;
mod kept_document;
mod limits;
mod pair;
mod prune;
mod row;
mod salvage;
mod store;
mod tables;

pub use add::{Added, MAX_LABEL_CHARS, NewResult, check_label};
pub use blame::blame;
pub use date::{Date, DateError};
pub use error::HistoryError;
pub use kept_document::KeptDocument;
pub use limits::SCHEMA_VERSION;
pub use prune::Pruned;
pub use salvage::Found;
pub use store::Store;
