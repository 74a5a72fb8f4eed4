//! The documents pathmeter writes and reads back, as plain data: no I/O, no opinion on output.
//!
//! - [`Measurement`], `pathmeter.result/1`: every sample of every path of one subject, or of every
//!   row of a program on it, with the [`Configuration`] it depends on. Reading one back is
//!   [`parse_measurement`], which trusts nothing.
//! - [`Comparison`], `pathmeter.comparison/1`: two measurements, compared path by path; made by
//!   [`compare`] with the rules of `pathmeter_stats`.
//! - [`History`], `pathmeter.history/1`, and [`Blame`], `pathmeter.blame/1`: results over time.
//!
//! Field names are read by others: they change only together with the number in the schema's name.
//! The JSON schemas are generated from the types and published in `docs/schemas/`.

/// Two results, row by row, and all results of two folders.
mod comparison;
#[cfg(any(test, feature = "example"))]
pub mod example;
/// Whether a comparison passes, as documents have it.
mod gate;
/// Results over time, and the steps of a path in them.
mod history;
/// What a result has of a program.
mod program;
/// Reading back: bounds, errors, and what comes before a document's own checks.
mod reading;
/// The result of one subject, its configuration, and reading it back.
mod result;
/// What each setting of a kernel costs.
mod settings;
/// What things cost by a number: of a setting, or among a program's arguments.
mod slope;
/// The times of two sides, alone and with their counts.
mod time_comparison;
/// Times of one machine, in one boot or in several.
mod times;

mod difference;
mod number;
pub mod suggestion;
mod text;
mod unit;

pub use comparison::check::check_comparison;
pub use comparison::compare::{
    MeasuredAlike, Threshold, compare, compare_path, configuration_differences, differences,
};
pub use comparison::document::{
    Comparison, ComparisonSchema, Compilers, PairsCompared, PathComparison, SideInfo, Summary,
};
pub use comparison::events::{EventComparison, Moved, PathEvents};
pub use comparison::folders::{CellPairs, FolderComparison, FolderComparisonSchema};
pub use comparison::options::{OptionDifference, option_differences};
pub use comparison::pair_shown::PairShown;
pub use comparison::sleep_comparison::{SleepComparison, TypicalSleeps, lower_median};
pub use comparison::verdict::Verdict;
pub use comparison::work_comparison::{
    FirstComparison, IdleSteps, ProgramComparison, SumParts, WorkComparison,
};
pub use difference::percent_of;
pub use gate::budget::{BudgetOutcome, BudgetReport, BudgetRow};
pub use gate::report::{Checked, GateReason, GateReport, gate_lines};
pub use history::document::{
    Blame, BlameSchema, FirstPoint, History, HistorySchema, KeptKind, KeptResult, PathHistory,
    Point, Step,
};

pub use number::group_digits;
pub use pathmeter_stats::LEAST_PAIRS as LEAST_LATER_RUNS;
pub use pathmeter_trace::RowKind;
pub use pathmeter_trace::causes::{
    Area, Cause, CauseInRow, CausePart, CauseRow, Causes, CodeMove, EXECUTIONS, MoveKind, PerCall,
    Typical,
};
pub use program::benchmark::{
    KERNEL_PART, OWN_CODE, benchmark_once, benchmark_slope, failed_benchmark,
};
pub use program::check::{MAX_PROGRAM_RUNS, MAX_ROWS};
pub use program::execution::{Ended, Execution, Output, RunClock, Written};
pub use program::identity::{Program, command_line};
pub use program::process::{
    MORE_PROCESSES, MORE_THREADS, ProcessResult, ThreadResult, UNKNOWN_PROCESSES,
};
pub use program::process_rows::process_results;
pub use program::row_costs::{RowCost, RowCosts};
pub use program::row_name::{OWN_WORK, SUM, row_name};
pub use program::rows::{
    ProcessRun, ProgramRow, ProgramRun, RowFunctions, ThreadRun, program_rows,
};
pub use program::sleep::{SleepResult, WokenBy};
pub use program::work::{Calls, FirstRun, Work};
pub use reading::limits::{
    MAX_DOCUMENT_BYTES, MAX_NAME_BYTES, MAX_PATHS, MAX_SAMPLE, MAX_SAMPLES, MAX_SAMPLES_PER_PATH,
};
pub use reading::parse_error::{Inconsistency, ParseError};
pub use reading::read::{is_document, schema_of};
pub use result::configuration::{Configuration, ConfigurationDifference};
pub use result::function::{FunctionChange, FunctionCost};
pub use result::guest::{GuestCpu, GuestReport, UnexpectedState};
pub use result::measurement::{Measurement, ResultSchema, Subject, SubjectKind};
pub use result::parse::parse_measurement;
pub use result::path_result::{Check, Estimate, PathResult, Status, ValueCount};
pub use settings::{
    EventChange, EventSpread, FunctionShare, PathSum, RowShare, SettingChange, SettingCost,
    SettingGate, SettingOutcome, SettingPrice, SettingRow, SettingsResult, SettingsSchema,
    SettingsSet, median_percent,
};
pub use slope::document::{SlopePiece, SlopeResult, SlopeRow, SlopeRows, SlopeSchema};
pub use slope::polynomial::{Polynomial, Ratio, curvature};
pub use slope::program::{LengthStep, ProgramSlopeResult, ProgramSlopeRow, ProgramSlopeSchema};
pub use text::{clean, clean_lines, is_obeyed, shorten};
pub use time_comparison::check::{check_joined, check_time_comparison};
pub use time_comparison::document::{
    MOST_REPLICATES, TIME_MARGIN, TimeComparison, TimeComparisonSchema, TimeSide,
};
pub use time_comparison::joined::{Joined, JoinedRow, JoinedSchema, Meaning};
pub use time_comparison::prices::{Prediction, Price, Prices};
pub use time_comparison::row::{TimeRow, TimeVerdict};
pub use times::boots::{Boots, BootsSchema, parse_boots};
pub use times::configuration::TimesConfiguration;
pub use times::cycle::NoCycle;
pub use times::document::{
    Host, PathTimes, Replicate, SingleCalls, TimeMethod, Times, TimesSchema, float,
};
pub use times::level::{Around, Level};
pub use times::parse::parse_times;
pub use unit::Unit;
