//! What each setting costs a program of the user's.

use pathmeter_model::{Measurement, SettingCost, SettingOutcome, SettingRow, Threshold, compare};

use super::gate::SettingGates;
use super::obstacle;
use crate::screen::progress::Board;
use crate::verbs::run;
use pathmeter_measure::failure::Failure;
use pathmeter_measure::image::Image;
use pathmeter_measure::packed_program::PackedProgram;
use pathmeter_measure::program_result::Asked;
use pathmeter_measure::session::Session;

/// What runs the program.
pub(super) struct SettingProgram<'a> {
    pub(super) packed: &'a PackedProgram,
    pub(super) session: &'a Session,
    /// The session with guests that have memory for it.
    pub(super) guests: Session,
    pub(super) board: &'a Board,
    /// What settings may cost, with `--check`.
    pub(super) gates: Option<&'a SettingGates>,
}

impl SettingProgram<'_> {
    /// What it costs on this kernel.
    pub(super) fn run(&self, image: &Image) -> Result<Measurement, Failure> {
        let asked = Asked::rows(self.packed);
        let sessions = [self.session, &self.guests];
        self.board.during(image.subject().name, |it| run::one_of(sessions, image, &asked, it))
    }

    /// The row with what the setting costs the program. Under some settings it does not end as it
    /// should, which the row then states.
    pub(super) fn beside(
        &self,
        row: SettingRow,
        base: &Measurement,
        image: &Image,
    ) -> Result<SettingRow, Failure> {
        let new = match self.run(image) {
            Ok(new) => new,
            Err(failure @ (Failure::Interrupted | Failure::PlanResult { .. })) => {
                return Err(failure);
            }
            Err(Failure::Kernel { error, .. }) => {
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
