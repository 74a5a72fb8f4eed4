//! The parcel: what a guest is to do, and under which condition. It holds the condition's files,
//! and the plan or the user's program ([`crate::job`]).
//!
//! Most parcels are handed over at START ([`crate::Kind::Start`]): while the guest is paused, the
//! host writes the parcel's length and the parcel, an archive ([`crate::archive`]), to memory of
//! the agent's. So one boot of a kernel serves all plans, programs and conditions. A parcel that is
//! larger than [`MAX_PARCEL`], and that of a guest which is not restored, is a part of the
//! initramfs.

/// Largest parcel that is handed over, in bytes.
pub const MAX_PARCEL: usize = 8 << 20;
/// Bytes of the memory for it and its length: whole pages.
pub const ROOM: usize = MAX_PARCEL + 4096;
/// Bytes of a parcel's length before it, little endian.
pub const LENGTH: usize = size_of::<u64>();

/// The file that holds the user's program, without its NUL. The agent leaves its bytes where they
/// are.
pub const PROGRAM: &str = "program";
/// The last file of each initramfs, which is empty: where it is, all of it has arrived.
pub const LAST: &str = "whole";
