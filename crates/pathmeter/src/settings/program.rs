//! A program of the user's under each setting.

use pathmeter_model::{
    ProgramResult, SettingCost, SettingOutcome, SettingRow, Threshold, compare_programs,
};

use pathmeter_report::row_name;

use super::obstacle;
use crate::failure::Failure;
use crate::image::Image;
use crate::program::{Asked, ModuleRequest, PackedProgram};
use crate::progress::Board;
use crate::run;
use crate::session::Session;

/// Before the name of a row that fails the gate, so that it is told from a path.
const PROGRAM: &str = "the program's ";

/// What runs the program.
pub(super) struct SettingProgram<'a> {
    pub(super) packed: &'a PackedProgram,
    pub(super) session: &'a Session,
    /// The session with guests that have memory for it.
    pub(super) guests: Session,
    pub(super) board: &'a Board,
}

impl SettingProgram<'_> {
    /// What it costs on this kernel.
    pub(super) fn run(&self, image: &Image) -> Result<ProgramResult, Failure> {
        let asked = Asked {
            packed: self.packed,
            modules: &ModuleRequest { names: &[], folder: None },
            functions: false,
            lines: false,
            regions: &[],
            windows: &[],
        };
        run::one_of([self.session, &self.guests], image, &asked, self.board)
    }

    /// The row with what the setting costs the program. Under some settings it does not end as it
    /// should, which the row then states.
    pub(super) fn beside(
        &self,
        row: SettingRow,
        base: &ProgramResult,
        image: &Image,
    ) -> Result<SettingRow, Failure> {
        let new = match self.run(image) {
            Ok(new) => new,
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(Failure::Kernel { error, .. }) => {
                let (_, reason) = obstacle(&error);
                return Ok(failed(row, &reason));
            }
            Err(failure) => return Ok(failed(row, &failure.to_string())),
        };
        let comparison = compare_programs(base, &new, Threshold::default());
        let mut row = row.with_program(SettingCost::of(&comparison));
        if let Some(gate) = &mut row.gate {
            let worse = comparison.rows.iter().filter(|row| row.is_worse());
            gate.worse
                .extend(worse.map(|row| format!("{PROGRAM}{}", row_name(row.kind, &row.name))));
        }
        Ok(row)
    }
}

fn failed(row: SettingRow, reason: &str) -> SettingRow {
    let reason = Some(format!("the program: {reason}"));
    SettingRow { outcome: SettingOutcome::Failed, reason, ..row }
}
