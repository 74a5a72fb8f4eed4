//! How results are judged and what is said of that: two of them, or one beside itself.

use pathmeter_gate::{BudgetFile, EventGate, Gate, Wanted};
use pathmeter_measure::path::selection::Selection;
use pathmeter_model::{Checked, Comparison, Measurement, Threshold, compare};
use pathmeter_report::{AreaSums, Judged, Outcome, Rows, RowsOf, budget_table, measurement_table};
use pathmeter_trace::Event;

use crate::failure::{Exit, Failure};
use crate::screen::formats::Places;
use crate::screen::output::{self, Screen};

/// What the user wants of a comparison.
pub(crate) struct Judge<'a> {
    /// Which rows are shown and judged.
    pub(crate) selection: Selection,
    /// The events of `--check`, if that was given.
    pub(crate) check: Option<&'a EventGate>,
    /// Of a program, whether only its regions and windows are judged without a rule.
    pub(crate) regions_only: bool,
    pub(crate) budget: Option<BudgetFile>,
    /// The smallest change that counts, in percent.
    pub(crate) threshold: f64,
}

/// The budget in this file, if one is named.
pub(crate) fn budget(
    path: Option<&std::path::Path>,
    screen: &Screen,
) -> Result<Option<BudgetFile>, Failure> {
    let read = |path| BudgetFile::read(path, |note| screen.note(note)).map_err(Failure::from);
    path.map(read).transpose()
}

/// Says which events of the two are not compared.
pub(crate) fn note_uncompared([base, new]: &[Measurement; 2], screen: &Screen) {
    if base.configuration.qemu == new.configuration.qemu {
        return;
    }
    let events: Vec<&str> =
        Event::all().filter(|event| event.depends_on_qemu()).map(Event::word).collect();
    screen.note(&format!(
        "not compared, since two versions of QEMU may count them differently: {}",
        events.join(", ")
    ));
}

impl Judge<'_> {
    /// Compares the two. The comparison has what the budget makes of it, and the gate's report if
    /// it was asked for.
    pub(crate) fn compare(&self, sides: [Measurement; 2]) -> Result<(Comparison, Gate), Failure> {
        if let Some(budget) = &self.budget {
            budget.check(&sides)?;
        }
        let [base, new] = sides.map(|side| self.selection.apply(side));
        let mut comparison = compare(&base, &new, Threshold { percent: self.threshold });
        let usual = EventGate::usual();
        let wanted = Wanted {
            is_named: &|path| self.selection.names(path),
            events: self.check.unwrap_or(&usual),
            regions_only: self.regions_only,
            budget: self.budget.as_ref(),
        };
        let gate = Gate::new(&comparison, [&base, &new], &wanted);
        comparison.budget.clone_from(&gate.budget);
        comparison.gate = self.check.is_some().then(|| gate.report());
        Ok((comparison, gate))
    }

    /// Judges one result by the largest values that a budget states, and puts it out: beside itself
    /// nothing is more than before. Of a program the document has all rows of the `whole`
    /// result, which add up.
    pub(crate) fn alone(
        &self,
        result: &Measurement,
        whole: &Measurement,
        places: &Places<'_>,
        rows: Rows,
        screen: &Screen,
    ) -> Result<(Gate, Result<(), Failure>), Failure> {
        let (mut comparison, gate) = self.compare([result.clone(), result.clone()])?;
        let shown = self.selection.select_shown_paths(result);
        comparison.keep_new(&self.selection.apply(result.clone()));
        let report = gate.report();
        let is_checked = self.check.is_some();
        let checked = Checked {
            document: if whole.execution.is_some() { whole } else { &shown },
            budget: gate.budget.clone(),
            gate: is_checked.then(|| report.clone()),
        };
        let table = |checked: &Checked<&Measurement>, style| {
            let of_budget = |budget| budget_table(budget, checked.gate.as_ref(), style);
            let budget = checked.budget.as_ref().map(of_budget);
            measurement_table(&shown, rows, style) + &budget.unwrap_or_default()
        };
        let judged = Judged {
            of: RowsOf::One,
            comparison: &comparison,
            outcomes: &if is_checked { gate.outcomes.clone() } else { unasked(&gate.outcomes) },
            gate: &report,
            explanations: &[],
            sums: AreaSums::Hidden,
        };
        let delivered = places.deliver(&checked, table, |format| format.render(judged), screen);
        Ok((gate, delivered))
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

/// The same outcomes where nobody asked what passes.
fn unasked(outcomes: &[Outcome]) -> Vec<Outcome> {
    let is_unasked = |outcome: &Outcome| match outcome {
        Outcome::Passed => Outcome::Unasked,
        outcome => *outcome,
    };
    outcomes.iter().map(is_unasked).collect()
}
