//! Gates: whether a comparison passes, by the events that fail one and by a budget of the user's.
//!
//! Contract: one judgement for every kind of row, whatever verb asks; what was not compared does
//! not pass for unchanged. Nothing here prints: what a gate finds is told by its caller.

pub mod budget;
mod budget_file;
mod error;
mod event_gate;
mod gate;

pub use budget_file::{BUDGET_EXAMPLE, BudgetFile};
pub use error::GateError;
pub use event_gate::{EventGate, USUAL};
pub use gate::{Gate, Wanted, judge};
