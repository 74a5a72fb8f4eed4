//! Completions and manual pages, both generated from the command line's own definition.

mod args;
mod run;

pub(crate) use args::{CompletionsArgs, ManArgs};
pub(crate) use run::{completions, pages};
