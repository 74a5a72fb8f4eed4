//! What other interpreters say of a window, held against QEMU's: Bochs beside all, whose debugger
//! prints what it executes.

pub(crate) mod bochs_trace;
pub(crate) mod crossings;
pub(crate) mod divergence;
pub(crate) mod executions;
pub(crate) mod reconciliation;
