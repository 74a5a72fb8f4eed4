//! What is known of a kernel by its symbol table: names of addresses, its places, and the points
//! between which windows last.

pub(crate) mod functions;
pub(crate) mod kallsyms;
pub(crate) mod names;
pub(crate) mod places;
pub(crate) mod point_window;
pub(crate) mod points;
pub(crate) mod symbols;
