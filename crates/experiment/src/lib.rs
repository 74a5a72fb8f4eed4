//! Experiments: subjects × paths × expected results, as data; pure.
//!
//! - [`Experiment::parse`] reads one from TOML (`experiments/*.toml`) and checks that all it refers
//!   to is there.
//! - [`Observed`] is what was measured for it, cell by cell; [`ExperimentReport`] puts both
//!   together and judges every expectation.
//!
//! An instruction count is not a cycle: the results that a thread published stand beside ours,
//! never in one column with them.
#![forbid(unsafe_code)]

mod definition;
mod observed;
mod report;

pub use definition::{
    CellPlace, Expectation, Experiment, ExperimentError, ExperimentPath, ExperimentSubject,
    HostRow, HostTable, HostUnit, Published, PublishedRow, Rule,
};
pub use observed::{
    Elapsed, ElapsedCell, ExactCell, Measured, Metric, Observed, ObservedCell, ObservedCheck,
};
pub use report::{
    ExpectationOutcome, ExperimentReport, JudgedCounterExample, JudgedExpectation, ReportSchema,
};
