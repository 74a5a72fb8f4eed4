//! How much is packed at most.

/// The largest file that is packed: 1 GiB.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// The most that all files may have together: 2 GiB.
pub const MAX_TOTAL_BYTES: u64 = 2 << 30;
/// The most files, folders and links.
pub const MAX_ENTRIES: usize = 1 << 19;
/// The longest path, with its final NUL: the kernel leaves out what has a longer one.
pub(crate) const MAX_PATH_BYTES: usize = 4096;
/// The most modules that are loaded.
pub(crate) const MAX_MODULES: usize = 512;
