//! `pathmeter compare`: which paths of NEW cost something else than BASE's, and by how much.

mod args;
mod folders;
mod request;
mod run;
mod time_columns;

pub(crate) use args::CompareArgs;
#[cfg(test)]
pub(crate) use request::NEEDS;
pub(crate) use run::run;
