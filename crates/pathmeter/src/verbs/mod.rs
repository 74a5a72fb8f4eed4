//! The verbs of the command: each from its arguments, resolved, to a document that is delivered.

pub(crate) mod benchmarks;
pub(crate) mod bisect;
pub(crate) mod causes;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod explanation;
pub(crate) mod history;
pub(crate) mod host;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod measure;
pub(crate) mod new_probe;
pub(crate) mod pair;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod sides;
mod time_columns;
pub(crate) mod witness;
