//! `pathmeter bisect`: the first kernel, or commit, in which a path costs something else.
//!
//! Contract: what a step finds follows from one measurement and the rules of `compare`; a kernel
//! that can't be measured decides nothing. At most ⌈log₂ n⌉ of the n kernels after the first are
//! measured, and the first, unless some can't be.

mod document;
mod git;
mod meter;
mod order;
mod state;
mod tree;

use std::path::PathBuf;

use pathmeter_model::{
    Comparison, EventComparison, Measurement, Threshold, Verdict, compare, differences,
};
use pathmeter_plan::FileStep;
use pathmeter_report::{AreaSums, Placement, Rows, Shown, comparison_table, grouped, signed};
use pathmeter_trace::Event;

use self::document::{Difference, Put};
use self::meter::Meter;
use crate::cli::{BisectArgs, ExplainOutput};
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;
use crate::verbs::explain;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::subject::lab_words;

/// Finds it, among ready images or in a git tree.
pub(crate) fn run(args: &BisectArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_pairs()?;
    refuse_misspelt(args)?;
    let meter = Meter::new(args, screen)?;
    let put = Put::new(args, screen)?;
    match (&args.good, &args.bad) {
        (Some(good), Some(bad)) => tree::run(args, [good, bad], &meter, &put, screen),
        _ => order::run(args, &meter, &put, screen),
    }
}

/// Refuses files that are not there, and patterns: each would be found out only in the search.
fn refuse_misspelt(args: &BisectArgs) -> Result<(), Failure> {
    let is_lost = |kernel: &&PathBuf| lab_words(kernel).is_none() && !kernel.exists();
    let lost: Vec<String> =
        args.kernels.iter().filter(is_lost).map(|kernel| kernel.display().to_string()).collect();
    let (message, help) = if !lost.is_empty() {
        (format!("there is no file {}", lost.join(", ")), "name kernels or results, in order")
    } else if args.path.contains(['*', '?']) {
        let message = format!("--path {}: one path, not a pattern", args.path);
        (message, "`pathmeter list paths` lists all paths, `pathmeter run --all` shows all rows")
    } else {
        return Ok(());
    };
    Err(Failure::Usage { message, help: help.to_owned() })
}

/// What is asked of each kernel.
#[derive(Clone, Copy)]
struct Question<'a> {
    path: &'a str,
    /// None for the path's own numbers.
    event: Option<Event>,
    threshold: Threshold,
}

/// What a kernel answers to the question.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// It answers as the good kernel does.
    Same,
    Differs,
    /// It can't be told, for this reason.
    Unknown(String),
}

impl<'a> Question<'a> {
    fn of(args: &'a BisectArgs) -> Self {
        let threshold = Threshold { percent: args.threshold };
        Self { path: &args.path, event: args.event, threshold }
    }

    /// Whether `new` differs from `good` in it.
    ///
    /// # Errors
    /// They were measured differently.
    fn answer(&self, good: &Measurement, new: &Measurement) -> Result<Answer, Failure> {
        let differences = differences(good, new);
        if !differences.is_empty() {
            return Err(Failure::Incomparable(differences));
        }
        let comparison = self.comparison(good, new);
        let Some(row) = comparison.paths.first() else {
            return Ok(Answer::Unknown(format!("there is no path {}", self.path)));
        };
        let changed = |verdict| !matches!(verdict, Verdict::Same | Verdict::EventsDiffer);
        let differs = match (row.verdict, self.event) {
            (Verdict::Unsupported | Verdict::Broken, _) => {
                let reason = row.reason.clone().unwrap_or_default();
                return Ok(Answer::Unknown(format!("{}: {reason}", self.path)));
            }
            (verdict, None) => changed(verdict),
            (_, Some(event)) => {
                let of = |event: Event| row.events.iter().find(|one| one.event == event.word());
                of(event).is_some_and(|it| changed(it.verdict) && !self.is_small(it))
            }
        };
        Ok(if differs { Answer::Differs } else { Answer::Same })
    }

    /// What is asked about, in the good one and in another; none of an event that does not differ.
    fn values(&self, good: &Measurement, new: &Measurement) -> Option<[u64; 2]> {
        let comparison = self.comparison(good, new);
        let row = comparison.paths.first()?;
        let Some(event) = self.event else { return Some([row.base?, row.new?]) };
        let event = row.events.iter().find(|one| one.event == event.word())?;
        Some([event.base, event.new])
    }

    /// Whether an event changed by less than the threshold; any change of none is a large one.
    #[allow(clippy::cast_precision_loss, reason = "a threshold is in percent")]
    fn is_small(&self, event: &EventComparison) -> bool {
        let difference = event.difference.unsigned_abs() as f64;
        difference * 100.0 < self.threshold.percent * event.base as f64
    }

    /// Why nothing can be compared with `good`, if so.
    fn refuse(&self, good: &Measurement) -> Option<String> {
        let path = good.paths.iter().find(|path| path.path == self.path);
        let Some(path) = path else { return Some(format!("there is no path {}", self.path)) };
        match (&path.reason, self.event) {
            (Some(reason), _) => Some(format!("{}: {reason}", self.path)),
            (None, None) if path.samples.is_empty() => Some(format!("{} has no cost", self.path)),
            (None, Some(_)) if path.events.is_none() => {
                Some(format!("{}: its events were not counted", self.path))
            }
            _ => None,
        }
    }

    /// Compares only the path, in both results.
    fn comparison(&self, base: &Measurement, new: &Measurement) -> Comparison {
        let only = |side: &Measurement| {
            let mut side = side.clone();
            side.paths.retain(|path| path.path == self.path);
            side
        };
        compare(&only(base), &only(new), self.threshold)
    }

    /// What differs between two neighbours, and in which functions; printed as it is found.
    fn difference(
        &self,
        [base, new]: [&meter::Measured; 2],
        meter: &Meter<'_>,
        put: &Put<'_>,
    ) -> Result<Difference, Failure> {
        let comparison = self.comparison(&base.result, &new.result);
        let pairs = comparison.paths.first().and_then(|row| row.pairs);
        let (explanation, causes) = meter.explained((self.path, pairs), [base, new])?.unzip();
        let comparison = Comparison { causes: causes.flatten(), ..comparison };
        let shown =
            Shown { placement: Placement::Hidden, rows: Rows::Folded, sums: AreaSums::Hidden };
        put.text(|style| format!("\n{}", comparison_table(&comparison, shown, style)))?;
        if let Some(explained) = &explanation {
            let output = ExplainOutput::default();
            put.text(|style| format!("\n{}", explain::tables(&output, explained, style)))?;
        }
        Ok(Difference { comparison: Some(comparison), explanation })
    }
}

/// `367, first 328: `, if the other one is called so; nothing if they are not known.
fn format_values(values: Option<[u64; 2]>, good: &str) -> String {
    match values.map(|[base, new]| [base, new].map(grouped)) {
        Some([base, new]) if base != new => format!("{new}, {good} {base}: "),
        Some([_, new]) => format!("{new}: "),
        None => String::new(),
    }
}

/// That one of the kernels that differ, which come after the one that was found, differs from it by
/// more than it does from the one before; `change` is a kernel's difference from the good one.
fn note_larger(before: i64, found: i64, later: &[(String, i64)], screen: &Screen) {
    let beyond = |change: i64| (change - found).abs();
    let largest = later.iter().max_by_key(|(_, change)| beyond(*change));
    if let Some((name, change)) = largest.filter(|(_, it)| beyond(*it) > (found - before).abs()) {
        screen.note(&format!(
            "a later step is larger: {name} differs by {}, the one found by {}; --threshold \
             PERCENT passes over small ones",
            signed(*change),
            signed(found)
        ));
    }
}

/// That the change can't be found.
fn unfound(message: String) -> Failure {
    Failure::Unfound { message, candidates: vec![] }
}

/// The difference of two values; 0 where none is known.
fn change(values: Option<[u64; 2]>) -> i64 {
    values.map_or(0, |[base, new]| new.wrapping_sub(base).cast_signed())
}

/// Whether a failure is the kernel's, so that the next one may do; else it stands in the way of
/// all.
fn is_kernels_own(failure: &Failure) -> bool {
    use pathmeter_vm::VmError;
    matches!(
        failure,
        Failure::Measure(
            MeasureError::Kernel { .. }
                | MeasureError::Host(VmError::Image(_))
                | MeasureError::ResultFile { .. }
        ) | Failure::File { doing: FileStep::Reading, .. }
    )
}

/// `3 measurements, 1 skipped`.
fn effort(measured: usize, skipped: usize) -> String {
    let plural = if measured == 1 { "" } else { "s" };
    match skipped {
        0 => format!("{measured} measurement{plural}"),
        _ => format!("{measured} measurement{plural}, {skipped} skipped"),
    }
}
