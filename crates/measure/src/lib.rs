//! Measurements of kernels and programs, as a command or a program that embeds pathmeter asks for
//! them.
//!
//! Contract: nothing here prints, exits or knows a command line. What is asked for is given
//! resolved ([`session::Guests`]); what comes back is a document, or an [`error::MeasureError`]
//! that names the subject and the next step.
//!
//! - [`subject`]: kernels and results, which can be measured or compared.
//! - [`condition`]: the condition that a kernel is measured under.
//! - [`session`]: QEMU, the cache and the guest's settings, and what is measured with them.
//! - [`path`]: the built-in paths, and the rows that are made of what a guest counted of them.
//! - [`program`]: programs of the user's, and what their runs cost.
//! - [`benchmark`]: the benchmarks of a program, and the frameworks that execute them.
//! - [`recording`]: recorded paths, of which call trees are made.
//!
//! All of them use the files beside them.

pub mod benchmark;
pub mod bounded_file;
pub mod condition;
pub mod digest;
pub mod error;
pub mod interrupt;
pub mod path;
pub mod program;
pub mod recording;
pub mod session;
pub mod subject;
pub mod threads;
