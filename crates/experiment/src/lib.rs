//! Experiments: subjects × paths × what must come out, as data; pure.
//!
//! - [`Experiment::parse`] reads one from TOML (`experiments/*.toml`) and checks that all it refers
//!   to is there.
//! - [`Observed`] is what was measured for it, cell by cell; [`ExperimentReport`] puts both
//!   together and judges every expectation.
//!
//! An instruction count is not a cycle: the figures that a thread published stand beside ours,
//! never in one column with them.
#![forbid(unsafe_code)]

mod definition;
mod observed;
mod report;

pub use definition::{
    Expectation, Experiment, ExperimentError, PathOf, Place, Published, PublishedRow, Rule,
    SubjectOf,
};
pub use observed::{
    Cell, Elapsed, ElapsedCell, ExactCell, Measured, Metric, Observed, ObservedCheck,
};
pub use report::{ExperimentReport, Judged, Judgement, ReportSchema, report_schema};
