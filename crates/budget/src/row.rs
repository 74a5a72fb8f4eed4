//! What a budget makes of one row of a program, or of all rows together.

use pathmeter_model::{BudgetOutcome, BudgetRow, CostComparison, Unit, Verdict};

use crate::judge::{Compared, Numbers, increase, outcome};
use crate::{Budget, Date};

/// What a row costs on the two sides, by the name that the table has for it.
#[derive(Clone, Copy, Debug)]
pub struct CostOfRow<'a> {
    /// The row's name.
    pub name: &'a str,
    /// What it costs on both sides.
    pub cost: &'a CostComparison,
    /// The highest typical number of instructions on new, in the runs that are judged.
    pub highest: u64,
}

impl Budget {
    /// The outcome of the rule for this row; None if no rule is about it.
    pub fn judge_row(&self, row: CostOfRow<'_>, today: Date) -> Option<BudgetRow> {
        let rule = self.rows.rule(row.name, None)?;
        let change = row.cost.judged();
        // Two sides that are the same may still differ by a few instructions, of layout.
        let increase = match row.cost.verdict {
            Verdict::Same => Some(0),
            verdict => increase(verdict, Some(change.difference)),
        };
        let (base, new) = (change.base.instructions, change.new.instructions);
        let numbers = Numbers {
            compared: Some(Compared { base, new, increase, open: false }),
            highest: Some((row.highest, false)),
        };
        let outcome = outcome(rule.limits, numbers);
        let judged = BudgetRow {
            rule: Some(rule.names.pattern()),
            line: rule.line,
            new: Some(if rule.limits.max.is_some() { row.highest } else { new }),
            max: rule.limits.max,
            max_increase: rule.limits.max_increase.map(|increase| increase.to_string()),
            outcome,
            ..unlimited(row)
        };
        Some(match outcome {
            BudgetOutcome::Over => self.rows.accept(judged, today),
            _ => judged,
        })
    }

    /// What became of a row that is worse and that no rule is about: accepted, or no longer. None
    /// if nothing accepts it.
    pub fn accepted_row(&self, row: CostOfRow<'_>, today: Date) -> Option<BudgetRow> {
        let acceptance = self.rows.acceptance(row.name)?;
        let judged = BudgetRow { line: acceptance.line, ..unlimited(row) };
        Some(self.rows.accept(judged, today))
    }
}

/// A row that is worse, without a rule.
fn unlimited(row: CostOfRow<'_>) -> BudgetRow {
    let change = row.cost.judged();
    BudgetRow {
        path: row.name.to_owned(),
        event: Unit::Instructions.to_string(),
        rule: None,
        line: 0,
        base: Some(change.base.instructions),
        new: Some(change.new.instructions),
        max: None,
        max_increase: None,
        outcome: BudgetOutcome::Over,
        reason: None,
        expires: None,
    }
}
