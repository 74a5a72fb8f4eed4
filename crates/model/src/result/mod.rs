//! `pathmeter.result/1`: every sample of every path of one subject.

pub(crate) mod configuration;
pub(crate) mod function;
pub(crate) mod guest;
pub(crate) mod measurement;
pub(crate) mod parse;
pub(crate) mod path_result;
