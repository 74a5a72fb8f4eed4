//! The windows of a witness, a second interpreter, compared with QEMU's: it is Bochs, whose
//! debugger prints each instruction that it executes.

pub(crate) mod bochs_trace;
pub(crate) mod divergence;
pub(crate) mod executions;
pub(crate) mod reconciliation;
