//! The documents pathmeter writes and reads back, as plain data: no I/O, no opinion on output.
//!
//! - [`Measurement`], `pathmeter.result/1`: every sample of every path of one subject, with the
//!   [`Configuration`] it depends on. Reading one back is [`parse_measurement`], which trusts
//!   nothing.
//! - [`ProgramResult`], `pathmeter.program/1`: what one program cost on one subject, run by run and
//!   row by row; read back by [`parse_program`].
//! - [`Comparison`], `pathmeter.comparison/1`: two measurements, compared path by path; made by
//!   [`compare`] with the rules of `pathmeter_stats`.
//! - [`History`], `pathmeter.history/1`, and [`Blame`], `pathmeter.blame/1`: results over time.
//! - [`ProgramComparison`], `pathmeter.program-comparison/1`: a program on two subjects, compared
//!   row by row; made by [`compare_programs`].
//!
//! Field names are read by others: they change only together with the number in the schema's name.
//! The JSON schemas are generated from the types ([`result_schema`], [`comparison_schema`]) and
//! published in `docs/schemas/`.

mod budget;
mod compare;
mod comparison;
mod configuration;
mod events;
#[cfg(feature = "example")]
pub mod example;
mod function;
mod gate;
mod guest;
mod history;
mod limits;
mod measurement;
mod options;
mod parse;
mod parse_error;
mod program;
mod schema;
mod settings;
mod tail;
mod unit;
mod verdict;

pub use budget::{BudgetOutcome, BudgetReport, BudgetRow};
pub use compare::{Threshold, compare, compare_path, configuration_differences, differences};
pub use comparison::{
    Comparison, ComparisonSchema, DifferenceRange, PathComparison, SideInfo, Summary,
};
pub use configuration::{Configuration, ConfigurationDifference};
pub use events::{EventComparison, Moved, PathEvents};
pub use function::{FunctionChange, FunctionCost};
pub use gate::{Checked, GateReason, GateReport, gate_lines};
pub use guest::{GuestCpu, GuestReport, UnexpectedState};
pub use history::{
    Blame, BlameSchema, FirstPoint, History, HistorySchema, KeptResult, PathHistory, Point, Step,
};
pub use limits::{
    MAX_DOCUMENT_BYTES, MAX_NAME_BYTES, MAX_PATHS, MAX_SAMPLE, MAX_SAMPLES, MAX_SAMPLES_PER_PATH,
};
pub use measurement::{
    Check, Estimate, Measurement, PathResult, ResultSchema, Status, Subject, SubjectKind,
    ValueCount,
};
pub use options::{OptionDifference, option_differences};
pub use parse::{check_comparison, is_document, parse_measurement, parse_path};
pub use parse_error::{Document, Inconsistency, ParseError, RunInconsistency};
pub use pathmeter_stats::LEAST_PAIRS as LEAST_LATER_RUNS;
pub use pathmeter_trace::RowKind;
pub use program::{
    Ended, Output, ProgramResult, ProgramRow, ProgramRun, ProgramSchema, Written,
    command::{Program, command_line},
    compare::{compare_programs, program_differences},
    comparison::{
        CostChange, CostComparison, IdleSteps, ProgramComparison, ProgramComparisonSchema,
        ProgramSummary, RowComparison, RowSummary, SumParts,
    },
    cost::{Calls, RowCost, RowCosts},
    functions::{RowExplanation, RowFunctions},
    measured::{OWN_WORK, SUM, parse_result},
    name::row_name,
    parse::{MAX_PROGRAM_RUNS, MAX_ROWS, parse_program},
};
pub use schema::{
    blame_schema, comparison_schema, history_schema, program_comparison_schema, program_schema,
    result_schema, settings_schema,
};
pub use settings::{
    Baseline, EventChange, EventSpread, FunctionShare, PathSum, RowShare, SettingChange,
    SettingCost, SettingGate, SettingOutcome, SettingRow, SettingsResult, SettingsSchema,
    SettingsSet,
};
pub use unit::Unit;
pub use verdict::Verdict;
