//! What the comparison of a program has besides the numbers of each row: calls, the first run, and
//! the parts of a total.

use pathmeter_stats as stats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::comparison::events::first_runs;
use crate::comparison::sleep_comparison::compare_sleeps;
use crate::difference::{difference, percent_of};
use crate::program::work::{Calls, Counts, Work, per_call, typical_per_call};
use crate::{
    Ended, EventComparison, Measurement, Output, PathResult, RowKind, RunClock, SleepComparison,
    Verdict,
};

/// A program on two kernels, row by row: what is not in the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramComparison {
    /// The program and its arguments, base's if the two differ.
    pub command: Vec<String>,
    /// The process, as the user named it, that the rows are of; null if they are of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// How the program ended on base.
    pub base_ended: Ended,
    /// How the program ended on new.
    pub new_ended: Ended,
    /// What it wrote in the first run on base.
    #[serde(default)]
    pub base_output: Output,
    /// What it wrote in the first run on new.
    #[serde(default)]
    pub new_output: Output,
    /// The steps of the clock in which the CPU idled on base: what the program waits for is in no
    /// row.
    pub base_idle: IdleSteps,
    pub new_idle: IdleSteps,
    /// Later runs that both sides have; if there are none, the verdicts are of the first run.
    pub later_runs: usize,
    /// Where tasks slept on either side. No verdict depends on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sleeps: Vec<SleepComparison>,
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

/// What else is known of a row of a program on the two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkComparison {
    pub kind: RowKind,
    /// How often it was done on base, in the runs that the verdict is of.
    pub base_calls: Calls,
    pub new_calls: Calls,
    /// Whether the work was done more or less often, in the first run or in the later ones: then
    /// what a call costs is what compares.
    pub calls_differ: bool,
    /// What a call costs on new − what it costs on base, in the runs that are shown; null when a
    /// side has no calls.
    pub per_call_difference: Option<i64>,
    /// The first run of each side. The differences of all rows add up to that of the sum.
    pub first: FirstComparison,
    /// Of a total, the parts of its difference by the rows' verdicts; null if the difference was
    /// not counted in one pair of runs, or this is no total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<SumParts>,
}

/// What a row costs in the first run of the two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstComparison {
    pub base: u64,
    pub new: u64,
    pub difference: i64,
    /// The difference in percent of `base`; null when that has none.
    pub percent: Option<f64>,
    /// What a call costs on new − what it costs on base; null when a side has no calls.
    pub per_call_difference: Option<i64>,
    /// How often the work was done on base.
    pub base_calls: u64,
    /// How often it was done on new.
    pub new_calls: u64,
    /// The other events whose numbers differ.
    #[serde(default)]
    pub events: Vec<EventComparison>,
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

impl ProgramComparison {
    /// Compares two results of programs; None if one of them has only paths.
    pub(crate) fn of(base: &Measurement, new: &Measurement) -> Option<Self> {
        let (of_base, of_new) = (base.execution.as_ref()?, new.execution.as_ref()?);
        let idle = |runs: &[RunClock]| {
            let first = runs.len().saturating_sub(1).min(1);
            let steps = || runs.iter().skip(first).map(|run| run.idle);
            IdleSteps { least: steps().min().unwrap_or(0), most: steps().max().unwrap_or(0) }
        };
        Some(Self {
            command: base.configuration.program.as_ref()?.command.clone(),
            process: base.only_process().map(str::to_owned),
            base_ended: of_base.ended,
            new_ended: of_new.ended,
            base_output: of_base.output.clone(),
            new_output: of_new.output.clone(),
            base_idle: idle(&of_base.runs),
            new_idle: idle(&of_new.runs),
            later_runs: of_base.runs.len().min(of_new.runs.len()).saturating_sub(1),
            sleeps: compare_sleeps(of_base, of_new),
        })
    }
}

impl WorkComparison {
    /// Compares a row that both sides have; `run` is the sampled run whose numbers are shown, if
    /// they are those of one run. None for a path that is no row of a program.
    pub(crate) fn of(
        base: &PathResult,
        new: &PathResult,
        run: Option<usize>,
        one_qemu: bool,
    ) -> Option<Self> {
        let (of_base, of_new) = (base.work.as_ref()?, new.work.as_ref()?);
        let first = FirstComparison::of(base, new, one_qemu)?;
        let [base_calls, new_calls] = [of_base, of_new].map(Work::sampled_calls);
        let per_call = shown_per_call(base, run).zip(shown_per_call(new, run));
        Some(Self {
            kind: of_base.kind,
            base_calls: Calls::of(base_calls),
            new_calls: Calls::of(new_calls),
            calls_differ: first.base_calls != first.new_calls || differ(base_calls, new_calls),
            per_call_difference: per_call.map(difference),
            first,
            parts: None,
        })
    }
}

impl FirstComparison {
    fn of(base: &PathResult, new: &PathResult, one_qemu: bool) -> Option<Self> {
        let [of_base, of_new] =
            [base.counts().into_iter().next()?, new.counts().into_iter().next()?];
        let per_call = |run: &Counts| per_call(run.instructions, run.calls);
        let instructions = (of_base.instructions, of_new.instructions);
        Some(Self {
            base: of_base.instructions,
            new: of_new.instructions,
            difference: difference(instructions),
            percent: percent_of(instructions),
            per_call_difference: per_call(&of_base).zip(per_call(&of_new)).map(difference),
            base_calls: of_base.calls,
            new_calls: of_new.calls,
            events: first_runs(&of_base.events, &of_new.events, |event| {
                let counted =
                    |row: &PathResult| row.events.as_ref().is_some_and(|it| it.has(event));
                counted(base) && counted(new) && (one_qemu || !event.depends_on_qemu())
            }),
        })
    }
}

/// What a call costs in the run that is shown, or typically.
pub(crate) fn shown_per_call(row: &PathResult, run: Option<usize>) -> Option<u64> {
    let calls = row.work.as_ref()?.sampled_calls();
    match run {
        Some(run) => per_call(*row.samples.get(run)?, *calls.get(run)?),
        None => typical_per_call(row.samples.iter().copied().zip(calls.iter().copied())),
    }
}

/// Whether calls differ from run to run by a change that all pairs of runs have.
fn differ(base: &[u64], new: &[u64]) -> bool {
    let runs = |calls: &[u64]| calls.iter().map(|calls| [*calls]).collect::<Vec<_>>();
    let judged = stats::judge_pairs(&runs(base), &runs(new));
    judged.is_some_and(|it| it.judgement.verdict != stats::Verdict::Same)
}
