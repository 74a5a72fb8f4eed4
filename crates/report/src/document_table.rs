//! The table of a result and that of a comparison, of paths and of programs.

use pathmeter_model::{Comparison, Measurement};

use crate::causes::AreaSums;
use crate::comparison::{Placement, path_comparison_table};
use crate::measurement::path_table;
use crate::program_table::{program_comparison_table, program_table};
use crate::rows::Rows;
use crate::style::Style;

/// What a table shows of what it can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Of paths, where functions stand.
    pub placement: Placement,
    pub rows: Rows,
    /// Whether causes are also summed up.
    pub sums: AreaSums,
}

/// A row for each path, or for each kind of work of a program, then the notes and what was measured
/// on which machine.
pub fn measurement_table(measurement: &Measurement, rows: Rows, style: Style) -> String {
    match &measurement.execution {
        Some(execution) => program_table(measurement, execution, rows, style),
        None => path_table(measurement, rows, style),
    }
}

/// The two kernels, a row for each path or kind of work, what else differed between the
/// measurements, and how many rows have each verdict.
pub fn comparison_table(comparison: &Comparison, shown: Shown, style: Style) -> String {
    match &comparison.program {
        Some(program) => {
            program_comparison_table(comparison, program, (shown.rows, shown.sums), style)
        }
        None => path_comparison_table(comparison, shown.placement, (shown.rows, shown.sums), style),
    }
}
