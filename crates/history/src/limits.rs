//! Which tables a history may have, and how long it is waited for: the database keeps to both, and
//! errors name them.

/// The version of the tables that this code makes and knows.
pub const SCHEMA_VERSION: i64 = 2;

/// How long another writer is waited for, in seconds.
pub(crate) const BUSY_SECONDS: u64 = 60;
