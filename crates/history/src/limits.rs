//! Which tables a history may have, how long it is waited for, and how much may hang on one row:
//! what several files keep to.

/// The version of the tables that this code makes and knows.
pub const SCHEMA_VERSION: i64 = 4;

/// How long another writer is waited for, in seconds.
pub(crate) const BUSY_SECONDS: u64 = 60;

/// Most results that hang on one part: after so many, every path begins with a part of its own.
pub(crate) const RESULTS_ON_A_PART: u64 = 64;
