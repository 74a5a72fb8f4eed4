//! Which tables a history may have, how long it is waited for, and how many documents may hang on
//! one.

/// The version of the tables that this code makes and knows.
pub const SCHEMA_VERSION: i64 = 5;

/// How long another writer is waited for, in seconds.
pub(crate) const BUSY_SECONDS: u64 = 60;

/// Most results whose documents hang on that of one of them.
pub(crate) const RESULTS_ON_A_BASE: u64 = 64;
