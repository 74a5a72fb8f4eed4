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
//! The JSON schemas are generated from the types ([`result_schema`], [`comparison_schema`]) and
//! published in `docs/schemas/`.

mod benchmark;
mod boots;
mod bounds;
mod budget;
mod compare;
mod comparison;
mod configuration;
mod cycle;
mod difference;
mod event_pairs;
mod events;
#[cfg(any(test, feature = "example"))]
pub mod example;
mod execution;
mod folder_comparison;
mod function;
mod gate;
mod guest;
mod history;
mod joined;
mod level;
mod limits;
mod measurement;
mod number;
mod only_process;
mod options;
mod pair_shown;
mod parse;
mod parse_error;
mod parse_execution;
mod parse_processes;
mod parse_sleeps;
mod parse_time_comparison;
mod parse_times;
mod path_result;
mod polynomial;
mod prices;
mod process;
mod process_rows;
mod program_identity;
mod program_rows;
mod program_slope;
mod row_costs;
mod row_name;
mod schema;
mod settings;
mod sleep;
mod sleep_comparison;
mod slope;
pub mod suggestion;
mod tail;
mod text;
mod time_comparison;
mod time_points;
mod time_row;
mod times;
mod times_configuration;
mod unit;
mod verdict;
mod work;
mod work_comparison;

pub use benchmark::{KERNEL_PART, OWN_CODE, benchmark_once, benchmark_slope, failed_benchmark};
pub use boots::{Boots, BootsSchema, parse_boots};
pub use budget::{BudgetOutcome, BudgetReport, BudgetRow};
pub use compare::{
    MeasuredAlike, Threshold, compare, compare_path, configuration_differences, differences,
};
pub use comparison::{
    Comparison, ComparisonSchema, Compilers, PairsCompared, PathComparison, SideInfo, Summary,
};
pub use configuration::{Configuration, ConfigurationDifference};
pub use cycle::NoCycle;
pub use difference::percent_of;
pub use events::{EventComparison, Moved, PathEvents};
pub use execution::{Ended, Execution, Output, RunClock, Written};
pub use folder_comparison::{CellPairs, FolderComparison, FolderComparisonSchema};
pub use function::{FunctionChange, FunctionCost};
pub use gate::{Checked, GateReason, GateReport, gate_lines};
pub use guest::{GuestCpu, GuestReport, UnexpectedState};
pub use history::{
    Blame, BlameSchema, FirstPoint, History, HistorySchema, KeptKind, KeptResult, PathHistory,
    Point, Step,
};
pub use joined::{Joined, JoinedRow, JoinedSchema, Meaning};
pub use level::{Around, Level};
pub use limits::{
    MAX_DOCUMENT_BYTES, MAX_NAME_BYTES, MAX_PATHS, MAX_SAMPLE, MAX_SAMPLES, MAX_SAMPLES_PER_PATH,
};
pub use measurement::{Measurement, ResultSchema, Subject, SubjectKind};
pub use number::group_digits;
pub use options::{OptionDifference, option_differences};
pub use pair_shown::PairShown;
pub use parse::{check_comparison, is_document, parse_measurement};
pub use parse_error::{Inconsistency, ParseError};
pub use parse_execution::{MAX_PROGRAM_RUNS, MAX_ROWS};
pub use parse_time_comparison::{check_joined, check_time_comparison};
pub use parse_times::parse_times;
pub use path_result::{Check, Estimate, PathResult, Status, ValueCount};
pub use pathmeter_stats::LEAST_PAIRS as LEAST_LATER_RUNS;
pub use pathmeter_trace::RowKind;
pub use pathmeter_trace::causes::{
    Area, Cause, CauseInRow, CausePart, CauseRow, Causes, CodeMove, EXECUTIONS, MoveKind, PerCall,
    Typical,
};
pub use polynomial::{Polynomial, Ratio, curvature};
pub use prices::{Prediction, Price, Prices};
pub use process::{MORE_PROCESSES, MORE_THREADS, ProcessResult, ThreadResult, UNKNOWN_PROCESSES};
pub use process_rows::process_results;
pub use program_identity::{Program, command_line};
pub use program_rows::{ProcessRun, ProgramRow, ProgramRun, RowFunctions, ThreadRun, program_rows};
pub use program_slope::{LengthStep, ProgramSlopeResult, ProgramSlopeRow, ProgramSlopeSchema};
pub use row_costs::{RowCost, RowCosts};
pub use row_name::{OWN_WORK, SUM, row_name};
pub use schema::{
    blame_schema, boots_schema, comparison_schema, folder_comparison_schema, history_schema,
    joined_schema, program_slope_schema, result_schema, settings_schema, slope_schema,
    time_comparison_schema, times_schema,
};
pub use settings::{
    EventChange, EventSpread, FunctionShare, PathSum, RowShare, SettingChange, SettingCost,
    SettingGate, SettingOutcome, SettingPrice, SettingRow, SettingsResult, SettingsSchema,
    SettingsSet, median_percent,
};
pub use sleep::{SleepResult, WokenBy};
pub use sleep_comparison::{SleepComparison, TypicalSleeps, lower_median};
pub use slope::{SlopePiece, SlopeResult, SlopeRow, SlopeRows, SlopeSchema};
pub use text::{clean, clean_lines, is_obeyed, shorten};
pub use time_comparison::{
    MOST_REPLICATES, TIME_MARGIN, TimeComparison, TimeComparisonSchema, TimeSide,
};
pub use time_row::{TimeRow, TimeVerdict};
pub use times::{Host, PathTimes, Replicate, SingleCalls, TimeMethod, Times, TimesSchema, float};
pub use times_configuration::TimesConfiguration;
pub use unit::Unit;
pub use verdict::Verdict;
pub use work::{Calls, FirstRun, Work};
pub use work_comparison::{
    FirstComparison, IdleSteps, ProgramComparison, SumParts, WorkComparison,
};
