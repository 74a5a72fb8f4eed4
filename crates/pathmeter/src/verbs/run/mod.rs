//! `pathmeter run`: what a kernel costs a program of the user's, or how two kernels differ in it.

mod args;
mod benchmarks;
mod new_probe;
mod probe_name;
mod program;
mod request;
#[allow(clippy::module_inception, reason = "the steps of every verb are in its run.rs")]
mod run;
mod run_verb;
mod slope;

#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
pub(crate) use run_verb::RunVerb;
