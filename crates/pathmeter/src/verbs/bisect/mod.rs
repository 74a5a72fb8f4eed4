//! `pathmeter bisect`: the first kernel, or commit, in which a path costs something else.
//!
//! Contract: what a step finds follows from one measurement and the rules of `compare`; a kernel
//! that can't be measured decides nothing. At most ⌈log₂ n⌉ of the n kernels after the first are
//! measured, and the first, unless some can't be.

mod args;
mod difference;
mod document;
mod git;
mod meter;
mod order;
mod question;
mod request;
mod run;
mod state;
mod tree;

pub(crate) use args::BisectArgs;
#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
