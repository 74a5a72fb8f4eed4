//! A second interpreter, Bochs, as a witness for what QEMU's clock says: the same kernels, words,
//! agent and plans are executed in both, and what they count is compared.
//!
//! Contract: the guest is hostile here as in QEMU, and so is what Bochs prints of it; all of it is
//! bounded and checked. Nothing is printed here, and no result depends on it.

mod bochs;
mod debugger;
mod guest;
mod machine;
mod memory;
mod session;
mod suite;
mod traces;
mod watch;

pub use bochs::Bochs;
pub use machine::WITNESS_CPU;
pub use session::{count, record_witnessed, witness, witness_program, witness_traced};
pub use suite::witness_plan;
pub use traces::TracedWindow;
pub use watch::{Landmarks, Look, MOST_ENTRIES, Stop, StopPlace};
