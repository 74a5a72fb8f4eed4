//! `pathmeter bisect`: the first kernel, or commit, in which a path costs something else.
//!
//! Contract: what a step finds follows from one measurement and the rules of `compare`; a kernel
//! that can't be measured decides nothing. At most ⌈log₂ n⌉ of the n kernels after the first are
//! measured, and the first, unless some can't be.

mod build;
mod document;
mod git;
mod meter;
mod order;
mod state;
mod tree;

use pathmeter_model::{
    Comparison, EventComparison, Measurement, Threshold, Verdict, compare, differences,
};
use pathmeter_report::{Placement, Rows, Shown, comparison_table};
use pathmeter_trace::Event;

use self::document::{Difference, Put};
use self::meter::Meter;
use crate::cli::{BisectArgs, ExplainOutput};
use crate::screen::output::Screen;
use crate::verbs::explain;
use pathmeter_measure::failure::{Exit, Failure};

/// Finds it, among ready images or in a git tree.
pub(crate) fn run(args: &BisectArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_pairs()?;
    let meter = Meter::new(args, screen)?;
    let put = Put::new(args, screen)?;
    match (&args.good, &args.bad) {
        (Some(good), Some(bad)) => tree::run(args, [good, bad], &meter, &put, screen),
        _ => order::run(args, &meter, &put, screen),
    }
}

/// What is asked of each kernel.
#[derive(Clone, Copy)]
struct Question<'a> {
    path: &'a str,
    /// None for the path's own numbers.
    event: Option<Event>,
    threshold: Threshold,
}

/// What a kernel answers.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// As the good one.
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

    /// The path in both.
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
        let shown = Shown { placement: Placement::Hidden, rows: Rows::Folded };
        let table = |style| format!("\n{}", comparison_table(&comparison, shown, style));
        put.text(table)?;
        let explanation = meter.explained(self.path, [base, new])?;
        if let Some(explained) = &explanation {
            let output = ExplainOutput::default();
            put.text(|style| format!("\n{}", explain::tables(&output, explained, style)))?;
        }
        Ok(Difference { comparison: Some(comparison), explanation })
    }
}

/// Whether a failure is the kernel's, so that the next one may do; else it stands in the way of
/// all.
fn is_kernels_own(failure: &Failure) -> bool {
    use pathmeter_vm::VmError;
    matches!(
        failure,
        Failure::Kernel { .. }
            | Failure::Host(VmError::Image(_))
            | Failure::ResultFile { .. }
            | Failure::File { doing: "reading", .. }
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
