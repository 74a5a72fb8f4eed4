//! The comparison of a program on two kernels, `pathmeter.program-comparison/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BudgetReport, ConfigurationDifference, DifferenceRange, Ended, EventComparison, GateReport,
    PathComparison, RowCost, RowExplanation, RowKind, SideInfo, Summary, Verdict,
};

/// The name and version of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProgramComparisonSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.program-comparison/1")]
    V1,
}

/// A program on two kernels, row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramComparison {
    /// Always `pathmeter.program-comparison/1`.
    pub schema: ProgramComparisonSchema,
    /// What is compared against.
    pub base: SideInfo,
    /// What is judged.
    pub new: SideInfo,
    /// The program and its arguments, base's if the two differ.
    pub command: Vec<String>,
    /// How the program ended on base.
    pub base_ended: Ended,
    /// How the program ended on new.
    pub new_ended: Ended,
    /// The steps of the clock in which the CPU idled on base: what the program waits for is in no
    /// row.
    #[serde(default)]
    pub base_idle: IdleSteps,
    /// The same on new.
    #[serde(default)]
    pub new_idle: IdleSteps,
    /// All rows together: every step in which the CPU did not idle.
    pub sum: CostComparison,
    /// The rows of the program's own work together: those that do not depend on when the timer
    /// ticks.
    pub own_work: CostComparison,
    /// The parts of the sum's difference, by the rows' verdicts; null if the difference was not
    /// counted in one pair of runs.
    pub sum_parts: Option<SumParts>,
    /// The same of own work.
    pub own_work_parts: Option<SumParts>,
    /// One entry for each row of either side: those that changed, then those that are the same; of
    /// either the largest difference first, of equal ones by name.
    pub rows: Vec<RowComparison>,
    /// The program's own regions: base's in base's order, then those only in new.
    #[serde(default)]
    pub regions: Vec<PathComparison>,
    /// In which functions the rows that changed differ, in the rows' order; absent if a side was
    /// measured without functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanations: Option<Vec<RowExplanation>>,
    /// In what else than the kernel the two were measured differently; empty unless the reader
    /// admitted it.
    #[serde(default)]
    pub configuration_differences: Vec<ConfigurationDifference>,
    /// How many rows and regions have each verdict.
    pub summary: ProgramSummary,
    /// What a budget made of it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
    /// Why it fails `--check`, or could not be judged; absent unless that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
}

/// In how many steps of the clock the CPU idled in the later runs; in the first one, if that is the
/// only one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleSteps {
    /// In the run with the fewest.
    pub least: u64,
    /// In the run with the most.
    pub most: u64,
}

/// The comparison of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowComparison {
    /// The kind of work.
    pub kind: RowKind,
    /// Which work of that kind; empty where a kind has one row only.
    pub name: String,
    /// What it costs on the two sides.
    pub cost: CostComparison,
}

/// What work costs on the two sides. A run in which it was not done cost nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostComparison {
    /// The first run of each side. The differences of all rows add up to that of the sum.
    pub first: CostChange,
    /// The later runs, judged in pairs; null if a side has none. The instructions, and what a call
    /// costs, are those of the pair of runs that is typical of all pairs; where a mode appeared,
    /// the mode and the value of base nearest to it.
    pub later: Option<CostChange>,
    /// How far the pairs of later runs differ; null if a side has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<DifferenceRange>,
    /// The verdict of the later runs' instructions; of the first run's if a side has no later
    /// ones. If these are the same, of the events.
    pub verdict: Verdict,
    /// Whether the work was done more or less often, in the first run or in the later ones: then
    /// what a call costs is what compares.
    pub calls_differ: bool,
    /// The other events whose numbers differ in the runs that the verdict is about.
    #[serde(default)]
    pub events: Vec<EventComparison>,
}

/// What work costs on the two sides in the first run or in the later ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostChange {
    /// What it costs on base.
    pub base: RowCost,
    /// What it costs on new.
    pub new: RowCost,
    /// The instructions of `new` − those of `base`.
    pub difference: i64,
    /// The difference in percent of `base`; null when that has none.
    pub percent: Option<f64>,
    /// What a call costs on `new` − what it costs on `base`; null when a side has no calls.
    pub per_call_difference: Option<i64>,
}

/// The difference of several rows together, by their verdicts: it adds up to theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SumParts {
    /// That of the rows that are higher.
    pub higher: i64,
    /// Of those that are lower.
    pub lower: i64,
    /// Of those in which a mode appeared.
    pub mode_appeared: i64,
    /// Of those that are the same: their pairs of runs differ in both directions, or by little.
    pub same: i64,
}

impl SumParts {
    /// The part of the rows of this verdict; all that has no part of its own is the same.
    pub(crate) fn of(&mut self, verdict: Verdict) -> &mut i64 {
        match verdict {
            Verdict::Higher => &mut self.higher,
            Verdict::Lower => &mut self.lower,
            Verdict::ModeAppeared => &mut self.mode_appeared,
            _ => &mut self.same,
        }
    }
}

/// How many rows and regions have each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ProgramSummary {
    /// The rows of the program's own work.
    pub own_work: RowSummary,
    /// The rows that depend on when the timer ticks.
    pub others: RowSummary,
    /// The program's own regions.
    pub regions: Summary,
}

/// How many rows have each verdict; the fields are named by the verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RowSummary {
    /// All rows.
    pub rows: usize,
    /// Rows that are the same.
    pub same: usize,
    /// Rows that are lower.
    pub lower: usize,
    /// Rows that are higher.
    pub higher: usize,
    /// Rows in which a mode appeared.
    pub mode_appeared: usize,
    /// Rows of as many instructions, and of other events more or fewer.
    #[serde(default)]
    pub events_differ: usize,
    /// Of all of them, rows whose work was done more or less often.
    pub calls_differ: usize,
}

impl CostComparison {
    /// The runs that the verdict is about: the later ones if there are any.
    pub fn judged(&self) -> &CostChange {
        self.later.as_ref().unwrap_or(&self.first)
    }
}

impl ProgramSummary {
    /// Counts the verdicts of these rows and regions.
    pub fn of(rows: &[RowComparison], regions: &[PathComparison]) -> Self {
        let mut summary = Self { regions: Summary::of(regions), ..Self::default() };
        for row in rows {
            let own = row.kind.is_own_work();
            (if own { &mut summary.own_work } else { &mut summary.others }).count(&row.cost);
        }
        summary
    }
}

impl RowSummary {
    fn count(&mut self, cost: &CostComparison) {
        self.rows += 1;
        self.calls_differ += usize::from(cost.calls_differ);
        match cost.verdict {
            Verdict::Lower => self.lower += 1,
            Verdict::Higher => self.higher += 1,
            Verdict::ModeAppeared => self.mode_appeared += 1,
            Verdict::EventsDiffer => self.events_differ += 1,
            // Rows are no waits and have numbers on both sides, so no other verdict is given.
            _ => self.same += 1,
        }
    }
}
