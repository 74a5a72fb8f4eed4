//! The conditions of a plan: those that are wanted, and under each of them what `settings` measures
//! of the sets that are.
//!
//! `settings` measures some settings once more, laid out otherwise: which, it decides by their
//! results, so they are no cells of a plan.

use pathmeter_plan::{Placed, Wanted};

use super::bench::Bench;
use crate::verbs::settings::{NEUTRAL, Set};
use pathmeter_measure::failure::Failure;

/// A condition of cells.
pub(super) struct PlanCondition {
    /// As `--under` takes it, with one space between settings; None for the default.
    pub(super) under: Option<String>,
    /// Whether it only shows which numbers depend on layout: then only the paths are measured.
    pub(super) is_layout: bool,
}

/// A setting of a set, or the parameter without meaning.
struct PlanSetting {
    /// The line that names the set.
    line: usize,
    text: String,
    is_layout: bool,
}

/// The conditions; one may occur twice.
///
/// # Errors
/// One can't be, with the line that wants it.
pub(super) fn conditions(
    bench: &Bench,
    wanted: &Wanted,
) -> Result<Vec<PlanCondition>, (usize, Failure)> {
    let named = wanted.under.iter().map(|under| named(bench, under));
    let mut named: Vec<Option<String>> = named.collect::<Result<_, _>>()?;
    if named.is_empty() {
        named.push(None);
    }
    let settings = settings(&wanted.sets)?;
    let mut conditions = Vec::new();
    for under in named {
        for PlanSetting { line, text, is_layout } in &settings {
            let both = under.iter().chain([text]).cloned().collect::<Vec<_>>().join(" ");
            bench.condition(&both).map_err(|failure| (*line, failure))?;
            conditions.push(PlanCondition { under: Some(both), is_layout: *is_layout });
        }
        conditions.push(PlanCondition { under, is_layout: false });
    }
    Ok(conditions)
}

/// A condition that is named; None for the default.
fn named(bench: &Bench, under: &Placed) -> Result<Option<String>, (usize, Failure)> {
    let text = under.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let guest = bench.condition(&text).map_err(|failure| (under.line, failure))?;
    let condition = guest.under();
    if condition.is_some_and(|it| it.cpu.is_some()) {
        let (message, help) = ("cpu: in a condition".to_owned(), "name CPUs in `cpus`".to_owned());
        return Err((under.line, Failure::Usage { message, help }));
    }
    let is_default = condition.is_none_or(|it| it.condition.is_default());
    Ok((!is_default).then_some(text))
}

/// What is measured of the sets under each condition, beside the condition itself.
fn settings(sets: &[Placed]) -> Result<Vec<PlanSetting>, (usize, Failure)> {
    let mut settings = Vec::new();
    for Placed { text: name, line } in sets {
        if settings.is_empty() {
            settings.push(PlanSetting { line: *line, text: NEUTRAL.to_owned(), is_layout: true });
        }
        let set = Set::open(name).map_err(|failure| (*line, failure))?;
        let seen = set.in_order().filter(|entry| entry.unseen.is_none());
        let text = seen.map(|entry| entry.text.clone());
        settings.extend(text.map(|text| PlanSetting { line: *line, text, is_layout: false }));
    }
    Ok(settings)
}
