//! A second interpreter, Bochs, as a witness for what QEMU's clock says: the same kernels, words,
//! agent and plans are executed in both, and what they count is compared.
//!
//! Contract: the guest is hostile here as in QEMU, and so is what Bochs prints of it; all of it is
//! bounded and checked. Nothing is printed here, and no result depends on it.

mod bochs;
mod both;
mod paths;
mod program;
mod session;
mod table;

pub use bochs::Bochs;
pub use bochs::machine::WITNESS_CPU;
pub use both::{Both, Show};
pub use program::WitnessProgram;
