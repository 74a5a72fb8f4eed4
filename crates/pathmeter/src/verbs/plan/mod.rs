//! `pathmeter plan`: many measurements as data, run by as many machines as there are.

mod args;
mod bench;
mod build;
mod cells;
mod commits;
mod conditions;
mod draft;
mod emit;
mod loaded;
mod measured;
mod merge;
mod node;
mod pace;
mod product;
mod recheck;
mod run;
mod share;
mod status;

pub(crate) use args::PlanArgs;
pub(crate) use run::run;
