//! `pathmeter experiment`: a mechanism's old and new form, measured on the lab kernel, as one page.
//!
//! Every subject is measured as `measure` does it, and if the page shows what only a recording
//! holds, each path of the experiment is recorded as `explain` does. A subject or path that can't
//! run here is a cell that states it, never a number; the other pages are printed all the same.
//! Elapsed times never decide the exit code.
//!
//! With `--counter-examples` each expectation is judged once more, with the subjects that its
//! counter-example names in place of others: then it must fail, or it shows nothing.

mod args;
mod bundled;
mod observe;
mod run;

pub(crate) use args::ExperimentArgs;
pub(crate) use bundled::{GAP, choose, names};
pub(crate) use run::run;
