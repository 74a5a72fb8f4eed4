//! How much is read of a kernel file, and how much is held while it is unpacked.

/// The largest kernel file read: a vmlinux with its debug information fits.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// The largest kernel, after it is unpacked.
pub const MAX_KERNEL_BYTES: u64 = 512 << 20;
/// The largest window or dictionary a decoder may allocate. Linux packs with 128 MiB at most, and
/// the LZMA decoder wants a little more than its dictionary.
pub const MAX_WINDOW_MIB: u32 = 256;
