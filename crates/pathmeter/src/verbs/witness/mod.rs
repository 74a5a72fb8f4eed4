//! `pathmeter witness`: the paths of a kernel in QEMU and in Bochs, a second interpreter.

mod args;
mod both;
mod outcome;
mod reconciliation;
mod run;
mod runs;

pub(crate) use args::WitnessArgs;
#[cfg(test)]
pub(crate) use run::NEEDS;
pub(crate) use run::run;
