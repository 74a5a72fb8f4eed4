//! `pathmeter list`: what there is to name.

mod args;
pub(crate) mod cpus;
mod functions;
mod paths;
mod run;

pub(crate) use args::ListArgs;
pub(crate) use run::run;
