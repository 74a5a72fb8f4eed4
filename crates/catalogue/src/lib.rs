//! The catalogue of paths: what host and guest both know of each, as plain data.
//!
//! A [`Path`] is a name, a line of text and a [`Kind`]; it stands beside its probe, in the table of
//! its group (crate `probes`). How many samples a path gives, in which round it is executed, and
//! whether it can be recorded all follow from its kind, in one place. The order of a [`Suite`]'s
//! paths is the order in which they are shown; a path's place in it is its index, by which plan and
//! protocol refer to it.
//!
//! All paths are those of x86-64. On a second architecture most would stay as they are; what is
//! x86's own (`int 0x80` and the 32-bit entries, I/O ports, `flags.*`, `getcpu.lsl` and the
//! instructions beside it) would not be there. That is a matter of availability, so it would
//! become a field of [`Path`] that [`Suite::paths`] selects by: names, kinds and order would
//! still stand in the tables once.
#![cfg_attr(not(test), no_std)]

mod group;
mod host;
mod left_out;
mod suite;

pub use group::{GROUPS, Group};
pub use host::{CHAIN_LENGTH, EMPTY, HOST, HostPath, MULTIPLY, ROTATE, UNROLLED};
pub use left_out::left_out;
pub use pathmeter_probes::{
    CALLS_PER_BATCH, Kind, Origin, Path, Round, WAITS, WARMUP, Wait, WaitPoint,
};
pub use suite::Suite;
