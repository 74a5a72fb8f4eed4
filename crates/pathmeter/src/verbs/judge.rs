//! How results are judged and what is said of that: two of them, or one beside itself.

use pathmeter_gate::{BudgetFile, EventGate, Gate, Wanted};
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::selection::Selection;
use pathmeter_model::{Comparison, Measurement, Threshold, compare};

use crate::screen::output::{self, Screen};

/// What the user wants of a comparison.
pub(crate) struct Judge<'a> {
    /// Which rows are shown and judged.
    pub(crate) selection: &'a Selection,
    /// The events of `--check`, if that was given.
    pub(crate) check: Option<&'a EventGate>,
    /// Of a program, whether only its regions and windows are judged without a rule.
    pub(crate) regions_only: bool,
    /// The user's limits.
    pub(crate) budget: Option<&'a BudgetFile>,
    /// The smallest change that counts, in percent.
    pub(crate) threshold: f64,
}

/// The budget in this file, if one is named.
pub(crate) fn budget(
    path: Option<&std::path::Path>,
    screen: &Screen,
) -> Result<Option<BudgetFile>, Failure> {
    path.map(|path| BudgetFile::read(path, |note| screen.note(note))).transpose()
}

impl Judge<'_> {
    /// Compares the two. The comparison has what the budget makes of it, and the gate's report if
    /// it was asked for.
    pub(crate) fn compare(&self, sides: [Measurement; 2]) -> Result<(Comparison, Gate), Failure> {
        if let Some(budget) = self.budget {
            budget.check(&sides)?;
        }
        let [base, new] = sides.map(|side| self.selection.apply(side));
        let mut comparison = compare(&base, &new, Threshold { percent: self.threshold });
        let usual = EventGate::usual();
        let wanted = Wanted {
            selection: self.selection,
            events: self.check.unwrap_or(&usual),
            regions_only: self.regions_only,
            budget: self.budget,
        };
        let gate = Gate::new(&comparison, [&base, &new], &wanted);
        comparison.budget.clone_from(&gate.budget);
        comparison.gate = self.check.is_some().then(|| gate.report());
        Ok((comparison, gate))
    }

    /// Judges one result by the largest values that a budget states: beside itself nothing is more
    /// than before.
    pub(crate) fn alone(&self, result: &Measurement) -> Result<(Comparison, Gate), Failure> {
        self.compare([result.clone(), result.clone()])
    }

    /// What the gate says, even if not all could be put out; that counts unless NEW is worse.
    /// Without `--check`, whether all could be put out.
    pub(crate) fn exit(
        &self,
        gate: &Gate,
        delivered: Result<(), Failure>,
        screen: &Screen,
    ) -> Result<Exit, Failure> {
        if self.check.is_none() {
            return delivered.map(|()| Exit::Done);
        }
        let delivered = match delivered {
            Ok(()) => Exit::Done,
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => screen.report(&failure),
        };
        if delivered == Exit::Interrupted {
            return Ok(delivered);
        }
        Ok(match output::gate(gate, screen) {
            Exit::Done => delivered,
            judged => judged,
        })
    }
}
