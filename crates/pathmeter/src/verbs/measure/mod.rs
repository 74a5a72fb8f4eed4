//! `pathmeter measure`: all paths of one subject.

mod args;
mod request;
mod run;

pub(crate) use args::MeasureArgs;
pub(crate) use run::run;
