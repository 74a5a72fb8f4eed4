//! `pathmeter doctor`: what this machine can measure, and what to do where it can't.
//!
//! It looks at what a run needs, and then tries it: the lab kernel is measured twice and recorded.
//! A check is `ok`, `warn` (exact runs work, but something is worth knowing) or `fail` (they
//! don't). Below the checks are the CPU profiles, with what each has less than its machine.

mod args;
mod check;
mod host;
mod profiles;
mod run;

pub(crate) use args::DoctorArgs;
pub(crate) use run::{run, show_disturbances};
