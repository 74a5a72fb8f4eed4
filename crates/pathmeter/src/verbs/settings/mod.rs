//! `pathmeter settings`: what each setting of a set costs one kernel, against the default.

mod args;
mod gate;
mod program_cost;
mod request;
mod results;
mod run;
mod set;
mod slope;
mod under;

pub(crate) use args::SettingsArgs;
#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
pub(crate) use set::{BUNDLED, Set};
