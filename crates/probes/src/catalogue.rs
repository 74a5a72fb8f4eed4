//! What host and guest both know of each path, as plain data: the suites, the groups that share a
//! guest, and the paths of live hosts.
//!
//! How many samples a path gives, in which round it is executed, and whether it can be recorded all
//! follow from its kind ([`crate::Kind`]), in one place. The order of a [`Suite`]'s paths is the
//! order in which they are shown; a path's place in it is its index, by which plan and protocol
//! refer to it.
//!
//! All paths are those of x86-64. On a second architecture most would stay as they are; what is
//! x86's own (`int 0x80` and the 32-bit entries, I/O ports, `flags.*`, `getcpu.lsl` and the
//! instructions beside it) would not be there. That is a matter of availability, so it would
//! become a field of [`crate::Path`] that [`Suite::paths`] selects by: names, kinds and order would
//! still stand in the tables once.

mod group;
mod host;
mod left_out;
mod suite;

pub use group::{GROUPS, Group};
pub use host::{CHAIN_LENGTH, EMPTY, HOST, HostPath, MULTIPLY, ROTATE, UNROLLED};
pub use left_out::left_out;
pub use suite::Suite;
