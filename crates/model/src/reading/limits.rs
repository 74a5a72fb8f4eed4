//! Bounds on what is read back.

/// Largest result file read, in bytes. A full result of all paths takes about half a mebibyte.
pub const MAX_DOCUMENT_BYTES: usize = 64 << 20;
/// Most paths in a result.
pub const MAX_PATHS: usize = 4096;
/// Longest name of a path, in bytes.
pub const MAX_NAME_BYTES: usize = 128;
/// Most samples of a path, over all runs.
pub const MAX_SAMPLES_PER_PATH: usize = 1 << 16;
/// Most samples in a result; with the bound for a path it bounds the time of a comparison.
pub const MAX_SAMPLES: usize = 1 << 21;
/// Largest sample, so that every difference of two fits a signed 64-bit integer.
pub const MAX_SAMPLE: u64 = i64::MAX as u64;
