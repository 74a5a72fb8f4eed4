//! `pathmeter witness`: the paths of a kernel in QEMU and in Bochs, a second interpreter.

mod args;
mod request;
mod run;

pub(crate) use args::WitnessArgs;
#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
