//! What differs between two neighbours of a bisection, and in which functions.

use pathmeter_model::Comparison;
use pathmeter_report::{AreaSums, Placement, Rows, Shown, comparison_table};

use super::document::{Difference, Put};
use super::meter::{Measured, Meter};
use super::question::Question;
use crate::arguments::ExplainOutput;
use crate::failure::Failure;

/// What differs between two neighbours, and in which functions; printed as it is found.
pub(super) fn difference(
    question: Question<'_>,
    [base, new]: [&Measured; 2],
    meter: &Meter<'_>,
    put: &Put<'_>,
) -> Result<Difference, Failure> {
    let comparison = question.comparison(&base.result, &new.result);
    let pairs = comparison.paths.first().and_then(|row| row.pairs);
    let (explanation, causes) = meter.explained((question.path, pairs), [base, new])?.unzip();
    let comparison = Comparison { causes: causes.flatten(), ..comparison };
    let shown = Shown { placement: Placement::Hidden, rows: Rows::Folded, sums: AreaSums::Hidden };
    put.text(|style| format!("\n{}", comparison_table(&comparison, shown, style)))?;
    if let Some(explained) = &explanation {
        let output = ExplainOutput::default();
        put.text(|style| format!("\n{}", output.tables(explained, style)))?;
    }
    Ok(Difference { comparison: Some(comparison), explanation })
}
