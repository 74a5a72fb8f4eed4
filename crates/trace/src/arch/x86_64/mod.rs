//! x86-64. Sources: Intel SDM volumes 2 and 3, Linux `arch/x86/`.

pub(crate) mod call_stack;
pub(crate) mod census;
pub(crate) mod classes;
pub(crate) mod code;
pub(crate) mod entries;
mod flow;

/// The longest instruction there is, in bytes.
pub const MAX_LENGTH: usize = 15;
