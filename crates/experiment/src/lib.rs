//! Experiments: subjects × paths × expected results, as data; pure.
//!
//! - [`Experiment::parse`] reads one from TOML (`experiments/*.toml`) and checks that all it refers to
//!   is there.
//! - [`Observed`] is what was measured for it, cell by cell; [`ExperimentReport`] puts both together and judges
//!   every expectation.
//!
//! An instruction count is not a cycle: the results that a thread published stand beside ours, never
//! in one column with them.
#![forbid(unsafe_code)]

mod definition;
mod observed;
mod report;

pub use definition::{
    Expectation, Experiment, ExperimentError, ExperimentPath, CellPlace, Published, PublishedRow, Rule,
    ExperimentSubject,
};
pub use observed::{
    ObservedCell, Elapsed, ElapsedCell, ExactCell, Measured, Metric, Observed, ObservedCheck,
};
pub use report::{ExperimentReport, JudgedExpectation, ExpectationOutcome, ReportSchema, report_schema};
