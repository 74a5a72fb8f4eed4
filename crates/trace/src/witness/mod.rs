//! The windows of other interpreters compared with QEMU's: above all those of Bochs, whose debugger
//! prints each instruction that it executes.

pub(crate) mod bochs_trace;
pub(crate) mod crossings;
pub(crate) mod divergence;
pub(crate) mod executions;
pub(crate) mod reconciliation;
