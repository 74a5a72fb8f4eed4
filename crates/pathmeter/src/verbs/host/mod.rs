//! `pathmeter host`: times on the machine that it runs on.

mod args;
mod compare;
mod condition;
mod experiment;
mod run;
mod session;
mod sides;

pub(crate) use args::{HostArgs, SessionArgs};
pub(crate) use run::run;
pub(crate) use sides::{Side, TimedSides, nothing_to_compare};
