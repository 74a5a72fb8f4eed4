//! `run --check`: whether a program on two kernels passes as a gate.
//!
//! Contract: a rule of the budget decides about its row or region alone; what no rule is about is
//! judged as without a budget. Nothing accepts a program that ended differently.

use pathmeter_budget::{CostOfRow, Sides};
use pathmeter_model::{
    BudgetOutcome, BudgetRow, CostComparison, PathComparison, ProgramComparison, ProgramResult,
    RowKind,
};
use pathmeter_report::{OWN_WORK, SUM, row_name};

use crate::budget::Limited;
use crate::cli::Checked;
use crate::failure::{Exit, Failure};
use crate::gate::told;
use crate::gated::{self, GatedEvents};
use crate::output::{self, Screen};

/// What a gate makes of the comparison of a program.
pub(crate) struct ProgramGate {
    /// What is worse, in what and by how much.
    worse: Vec<String>,
    /// Limits that could not be judged, with the reason.
    missing: Vec<String>,
}

/// A row of the comparison, or several together, with what the gate makes of it without a budget.
struct Row<'a> {
    name: String,
    cost: &'a CostComparison,
    highest: u64,
    worse: bool,
}

impl ProgramGate {
    /// Judges the comparison of these two sides, and leaves in it what the budget makes of it.
    pub(crate) fn new(
        comparison: &mut ProgramComparison,
        sides: [&ProgramResult; 2],
        checked: Checked,
        budget: Option<&Limited>,
    ) -> Result<Self, Failure> {
        let gated = GatedEvents::instructions();
        let mut gate = Self { worse: Vec::new(), missing: Vec::new() };
        if checked == Checked::All && comparison.base_ended != comparison.new_ended {
            let (base, new) = (comparison.base_ended, comparison.new_ended);
            gate.worse.push(format!("the program ended with {new}, and on BASE with {base}"));
        }
        let rows = rows(comparison, sides[1], checked);
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        let regions: Vec<&str> = comparison.regions.iter().map(|one| &*one.path).collect();
        if let Some(budget) = budget {
            budget.check_program(&names, &regions)?;
        }
        let mut judged = Vec::new();
        for row in &rows {
            let Row { name, cost, highest, worse } = row;
            let of_row = CostOfRow { name, cost, highest: *highest };
            let outcome = budget.and_then(|budget| budget.judge_row(of_row, *worse));
            if outcome.as_ref().map_or(*worse, |it| it.outcome.is_worse()) {
                let why = if outcome.is_none() { vec![why_of(cost)] } else { Vec::new() };
                gate.worse.push(told(name, why, outcome.as_slice()));
            }
            judged.extend(outcome);
        }
        for region in &comparison.regions {
            let fails = |region: &PathComparison| gated.is_worse(region);
            let (outcomes, worse) = match budget {
                Some(budget) => budget.judge(region, Sides::of_program(sides), fails),
                None => (Vec::new(), fails(region)),
            };
            if worse {
                let own = budget.map_or_else(|| region.clone(), |budget| budget.uncovered(region));
                gate.worse.push(told(&region.path, gated.why(&own), &outcomes));
            }
            gate.missing.extend(outcomes.iter().filter_map(missing));
            judged.extend(outcomes);
        }
        comparison.budget = budget.map(|budget| budget.report(judged));
        Ok(gate)
    }

    /// The exit code; tells what could not be judged.
    pub(crate) fn tell(&self, screen: &Screen) -> Exit {
        let unjudged = (!self.missing.is_empty()).then(|| {
            let message = format!("--check could not compare {}", self.missing.join(", "));
            screen.report(&Failure::Unchecked { message })
        });
        output::fails(&self.worse);
        if self.worse.is_empty() { unjudged.unwrap_or(Exit::Done) } else { Exit::Worse }
    }
}

/// All rows, then all of own work and all rows together.
fn rows<'a>(
    comparison: &'a ProgramComparison,
    new: &ProgramResult,
    checked: Checked,
) -> Vec<Row<'a>> {
    let row = |row: &'a pathmeter_model::RowComparison| Row {
        name: row_name(row.kind, &row.name),
        cost: &row.cost,
        highest: new.highest(|kind, name| (kind, name) == (row.kind, &*row.name)),
        worse: checked == Checked::All && row.is_worse(),
    };
    let total =
        |name: &str, cost, highest| Row { name: name.to_owned(), cost, highest, worse: false };
    let own = new.highest(|kind, _| RowKind::is_own_work(kind));
    let totals = [
        total(OWN_WORK, &comparison.own_work, own),
        total(SUM, &comparison.sum, new.highest(|_, _| true)),
    ];
    comparison.rows.iter().map(row).chain(totals).collect()
}

/// By how much a row costs more.
fn why_of(cost: &CostComparison) -> String {
    let change = cost.judged();
    let sides = [change.base.instructions, change.new.instructions];
    gated::change("instructions", sides, change.difference, cost.verdict)
}

/// A limit that could not be judged.
fn missing(row: &BudgetRow) -> Option<String> {
    let why = row.reason.as_deref().unwrap_or_default();
    let unjudged = row.outcome == BudgetOutcome::NotJudged;
    unjudged.then(|| format!("{} with its budget of {} ({why})", row.path, row.event))
}
