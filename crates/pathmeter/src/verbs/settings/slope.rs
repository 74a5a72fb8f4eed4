//! `pathmeter settings --slope`: what a kernel costs by the number of a setting.

use pathmeter_model::{Measurement, SideInfo, SlopeResult, SlopeRows, SlopeSchema};
use pathmeter_vm::Condition;

use super::under::{AT_A_TIME, Under};
use crate::failure::Failure;
use pathmeter_measure::condition::slope::Slope;
use pathmeter_measure::threads::each;

/// What was measured under one number.
type Step = (Measurement, Option<Measurement>);

impl Under<'_> {
    /// The functions of all rows that differ under any of the numbers.
    pub(super) fn slope(&self, slope: &Slope) -> Result<SlopeResult, Failure> {
        let against = self.against()?;
        let steps = each(&slope.steps, AT_A_TIME, |(_, condition)| self.step(condition));
        let steps = steps.into_iter().collect::<Result<Vec<_>, _>>()?;
        let numbers: Vec<u64> = slope.steps.iter().map(|(number, _)| *number).collect();
        let each = || numbers.iter().copied().zip(&steps);
        let paths: Vec<_> = each().map(|(number, (paths, _))| (number, paths)).collect();
        let programs = each().filter_map(|(number, (_, run))| Some((number, run.as_ref()?)));
        let programs: Vec<_> = programs.collect();
        let base = &against.paths;
        Ok(SlopeResult {
            schema: SlopeSchema::V1,
            base: SideInfo::from(base),
            configuration: base.configuration.clone(),
            setting: slope.text.clone(),
            unit: slope.unit.to_owned(),
            paths: SlopeRows::of_paths(base, &paths, |path| self.selection.holds(path)),
            program: self.program.map(|program| program.packed.command().to_vec()),
            program_rows: against.program.map(|base| SlopeRows::of_program(&base, &programs)),
            numbers,
        })
    }

    fn step(&self, condition: &Condition) -> Result<Step, Failure> {
        let image = self.image_with(condition)?;
        Ok((self.measure(&image, None)?, self.run(&image)?))
    }
}
