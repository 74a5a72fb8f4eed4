//! `pathmeter history`: results are kept, looked at over time, and given back.

mod args;
mod blame;
mod matching;
mod run;

pub(crate) use args::HistoryArgs;
pub(crate) use run::run;
