//! The seam between the decoder and the guest's architecture. What is in its folder is all that the
//! crate knows of it. A second architecture would have the same modules:
//!
//! - `MAX_LENGTH`, `code`: how long an instruction can be, and what one does to the flow of
//!   control and to memory.
//! - `flow`, `call_stack`: how control goes from one instruction to the next, and where a task's
//!   frames are.
//! - `census`, `classes`: which instructions are events of their own, by name and by bytes.
//! - `entries`: the names of the kernel's entries, of its way from task to task, and of where it
//!   idles.

mod x86_64;

pub use x86_64::MAX_LENGTH;
pub use x86_64::census::SlowInstruction;
pub use x86_64::classes::class_table;
pub(crate) use x86_64::{call_stack, census, classes, code, entries};
