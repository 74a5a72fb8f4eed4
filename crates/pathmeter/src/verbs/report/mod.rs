//! `pathmeter report`: results, comparisons, explanations and experiments as one page that opens
//! offline.

mod args;
mod input;
mod picture;
mod request;
mod run;
mod sections;
mod timed;

pub(crate) use args::ReportArgs;
#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
