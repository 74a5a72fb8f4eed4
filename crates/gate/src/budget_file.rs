//! `--budget FILE`: the limits of paths, read before a long run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use pathmeter_model::{BudgetReport, BudgetRow, GateReason, Measurement, PathComparison, Verdict};

use crate::budget::{Budget, BudgetError, Date, MAX_BYTES, Sides, parse_budget, today};
use crate::error::GateError;

/// A rule, for help texts.
pub const BUDGET_EXAMPLE: &str = "\
[paths.\"switch.*\"]      # or of what `run` measures: [rows.\"*\"]
max = 3800              # the largest value of NEW, in instructions
max-increase = \"1%\"     # of BASE; or a number of instructions, without quotes";

/// A budget, with what its messages name.
pub struct BudgetFile {
    path: PathBuf,
    budget: Budget,
    today: Date,
}

impl BudgetFile {
    /// Reads the file; `note` is told which of its acceptances have expired.
    pub fn read(path: &Path, note: impl Fn(&str)) -> Result<Self, GateError> {
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| GateError::File { path: path.to_owned(), error })?;
        let form = format!("a rule has this form (docs/guide/gates.md):\n{BUDGET_EXAMPLE}");
        let budget = parse_budget(&bytes)
            .map_err(|error| GateError::Budget { message: message(path, &error), help: form })?;
        let today = today();
        for (line, paths, expired) in budget.expired(today) {
            note(&format!(
                "{}:{line}: {paths} is accepted no longer: that expired after {expired}",
                path.display()
            ));
        }
        Ok(Self { path: path.to_owned(), budget, today })
    }

    /// Refuses what holds for none of the paths that are known before they are measured: those of
    /// windows and of probes are not.
    pub fn check_early(&self, names: &[&str]) -> Result<(), GateError> {
        let later = |pattern: &str| pattern.contains('/') || pattern.starts_with("user.");
        self.budget.check_matches(names, later).map_err(|error| to_gate_error(&self.path, &error))
    }

    /// Refuses what holds for none of the sides' paths, and rules of which neither is more
    /// specific.
    pub fn check(&self, sides: &[Measurement; 2]) -> Result<(), GateError> {
        self.budget.check(sides).map_err(|error| to_gate_error(&self.path, &error))
    }

    /// The outcomes for one path, and why it fails the gate in something that no rule is about, as
    /// `why` finds it; that may be accepted unless the path is broken.
    pub fn judge(
        &self,
        row: &PathComparison,
        sides: Sides<'_>,
        why: impl Fn(&PathComparison) -> Vec<GateReason>,
    ) -> (Vec<BudgetRow>, Vec<GateReason>) {
        let mut rows = self.budget.judge(row, sides, self.today);
        let mut own = why(&self.budget.uncovered(row));
        if !own.is_empty()
            && row.verdict != Verdict::Broken
            && let Some(accepted) = self.budget.judge_acceptance(row, self.today)
        {
            // What is accepted no longer fails by that.
            own.clear();
            rows.push(accepted);
        }
        (rows, own)
    }

    /// Refuses limits on increases, where there is nothing to compare with; `help` says what there
    /// could be.
    pub fn refuse_increases(&self, help: &str) -> Result<(), GateError> {
        let Some((line, name)) = self.budget.increase() else { return Ok(()) };
        let path = self.path.display();
        Err(GateError::Budget {
            message: format!("{path}:{line}: {name} has a max-increase, and there is no NEW"),
            help: help.to_owned(),
        })
    }

    /// What the document has of these outcomes.
    pub fn report(&self, rows: Vec<BudgetRow>) -> BudgetReport {
        BudgetReport { file: self.name(), rows }
    }

    /// The file, as the user named it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

fn message(path: &Path, error: &BudgetError) -> String {
    let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{}{line}: {error}", path.display())
}

/// The error of a budget that can't be used for what is measured.
fn to_gate_error(path: &Path, error: &BudgetError) -> GateError {
    GateError::Budget {
        message: message(path, error),
        help: "docs/guide/gates.md describes budgets; `pathmeter list paths` lists all paths, and \
               `pathmeter run --all` shows all rows"
            .to_owned(),
    }
}
