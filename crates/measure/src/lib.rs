//! Measurements of kernels and programs, as a command or a program that embeds pathmeter asks for
//! them.
//!
//! Contract: nothing here prints, exits or knows a command line. What is asked for is given
//! resolved ([`session::Guests`]); what comes back is a document, or a [`error::MeasureError`] that
//! names the subject and the next step.

/// The benchmarks of a program, and the frameworks that execute them.
pub mod benchmark;
/// Files of the user's that are read whole, and so with a bound.
pub mod bounded_file;
/// The condition that a kernel is measured under.
pub mod condition;
/// The digest that names the content of files and texts.
pub mod digest;
/// Why there is no measurement, and what to do about it.
pub mod error;
/// Signals, which end a measurement.
pub mod interrupt;
/// The built-in paths and the rows that are made of what a guest counted of them.
pub mod path;
/// Programs of the user's, and what their runs cost.
pub mod program;
/// Recorded paths, from which call trees are made.
pub mod recording;
/// Sessions: QEMU, the cache and the guest's settings, and what is measured with them.
pub mod session;
/// Kernels and results: what can be measured or compared.
pub mod subject;
/// Work that is done at once where threads can be had.
pub mod threads;
