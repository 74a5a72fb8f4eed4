//! `pathmeter explain`: which functions a path's instructions, or a difference's, are in; or those
//! of a row of a program.

mod args;
mod program;
mod request;
mod run;

pub(crate) use args::ExplainArgs;
#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
