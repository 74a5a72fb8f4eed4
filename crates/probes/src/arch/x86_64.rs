//! x86-64.
//!
//! The probes of paths that are x86's own are beside these files, each the part of the crate that
//! its name says (`lib.rs`).

mod call;
mod layout;
pub mod nr;
pub(crate) mod nr32;
mod stamp;

pub use call::{call, call_code};
pub(crate) use call::{clone_below, clone_onto};
pub(crate) use layout::{MAP_32BIT, RSEQ_SIGNATURE, stat};
pub use stamp::{COUNTER, COUNTER_ADDS, STRAIGHT, marker_code, stamp, straight};
pub(crate) use stamp::{load_after_marker, nops, stamp_code};
