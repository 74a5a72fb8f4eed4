//! What each setting costs a program of the user's.

use pathmeter_model::{Measurement, SettingCost, SettingOutcome, SettingRow, Threshold, compare};

use super::under::{Under, obstacle};
use crate::failure::Failure;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::subject::image::Image;

impl Under<'_> {
    /// The row with what the setting costs the program, whose default is `base`. Under some
    /// settings it does not end as it should, which the row then states.
    pub(super) fn beside_program(
        &self,
        row: SettingRow,
        base: &Measurement,
        image: &Image,
    ) -> Result<SettingRow, Failure> {
        let new = match self.run(image) {
            Ok(Some(new)) => new,
            Ok(None) => return Ok(row),
            Err(
                failure
                @ (Failure::Interrupted | Failure::Measure(MeasureError::PlanResult { .. })),
            ) => {
                return Err(failure);
            }
            Err(Failure::Measure(MeasureError::Kernel { error, .. })) => {
                let (_, reason) = obstacle(&error);
                return Ok(failed(row, &reason));
            }
            Err(failure) => return Ok(failed(row, &failure.to_string())),
        };
        let cost = SettingCost::of(&compare(base, &new, Threshold::default()));
        let mut row = cost.map_or(row.clone(), |cost| row.with_program(cost));
        if let (Some(gate), Some(gates)) = (&mut row.gate, self.gates) {
            gates.judge_program(gate, [base, &new]);
        }
        Ok(row)
    }
}

fn failed(row: SettingRow, reason: &str) -> SettingRow {
    let reason = Some(format!("the program: {reason}"));
    SettingRow { outcome: SettingOutcome::Failed, reason, ..row }
}
