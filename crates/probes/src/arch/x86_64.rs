//! x86-64.
//!
//! The probes of paths that are x86's own are beside these files, each the part of the crate that
//! its name says (`lib.rs`).

pub(crate) mod call;
pub(crate) mod fault;
pub(crate) mod layout;
pub mod nr;
pub(crate) mod nr32;
pub(crate) mod stamp;
