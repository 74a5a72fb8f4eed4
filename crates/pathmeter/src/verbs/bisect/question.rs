//! What a bisection asks of each kernel, and what a kernel answers.

use pathmeter_measure::error::MeasureError;
use pathmeter_model::{
    Comparison, EventComparison, Measurement, Threshold, Verdict, compare, differences,
};
use pathmeter_plan::FileStep;
use pathmeter_report::{grouped, signed};
use pathmeter_trace::Event;

use super::args::BisectArgs;
use crate::failure::Failure;
use crate::screen::output::Screen;

/// What is asked of each kernel.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) path: &'a str,
    /// None for the path's own numbers.
    pub(super) event: Option<Event>,
    pub(super) threshold: Threshold,
}

/// What a kernel answers to the question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It answers as the good kernel does.
    Same,
    Differs,
    /// It can't be told, for this reason.
    Unknown(String),
}

impl<'a> Question<'a> {
    pub(super) fn of(args: &'a BisectArgs) -> Self {
        let threshold = Threshold { percent: args.threshold };
        Self { path: &args.path, event: args.event, threshold }
    }

    /// Whether `new` differs from `good` in it.
    ///
    /// # Errors
    /// They were measured differently.
    pub(super) fn answer(&self, good: &Measurement, new: &Measurement) -> Result<Answer, Failure> {
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
    pub(super) fn values(&self, good: &Measurement, new: &Measurement) -> Option<[u64; 2]> {
        let comparison = self.comparison(good, new);
        let row = comparison.paths.first()?;
        let Some(event) = self.event else { return Some([row.base?, row.new?]) };
        let event = row.events.iter().find(|one| one.event == event.word())?;
        Some([event.base, event.new])
    }

    /// Whether an event changed by less than the threshold; any change of none is a large one.
    #[allow(clippy::cast_precision_loss, reason = "a threshold is in percent")]
    pub(super) fn is_small(&self, event: &EventComparison) -> bool {
        let difference = event.difference.unsigned_abs() as f64;
        difference * 100.0 < self.threshold.percent * event.base as f64
    }

    /// Why nothing can be compared with `good`, if so.
    pub(super) fn refuse(&self, good: &Measurement) -> Option<String> {
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
    pub(super) fn comparison(&self, base: &Measurement, new: &Measurement) -> Comparison {
        let only = |side: &Measurement| {
            let mut side = side.clone();
            side.paths.retain(|path| path.path == self.path);
            side
        };
        compare(&only(base), &only(new), self.threshold)
    }
}

/// `367, first 328: `, if the other one is called so; nothing if they are not known.
pub(super) fn format_values(values: Option<[u64; 2]>, good: &str) -> String {
    match values.map(|[base, new]| [base, new].map(grouped)) {
        Some([base, new]) if base != new => format!("{new}, {good} {base}: "),
        Some([_, new]) => format!("{new}: "),
        None => String::new(),
    }
}

/// That one of the kernels that differ, which come after the one that was found, differs from it by
/// more than it does from the one before; `change` is a kernel's difference from the good one.
pub(super) fn note_larger(before: i64, found: i64, later: &[(String, i64)], screen: &Screen) {
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
pub(super) fn unfound(message: String) -> Failure {
    Failure::Unfound { message, candidates: vec![] }
}

/// The difference of two values; 0 where none is known.
pub(super) fn change(values: Option<[u64; 2]>) -> i64 {
    values.map_or(0, |[base, new]| new.wrapping_sub(base).cast_signed())
}

/// Whether a failure is the kernel's, so that the next one may do; else it stands in the way of
/// all.
pub(super) fn is_kernels_own(failure: &Failure) -> bool {
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
pub(super) fn effort(measured: usize, skipped: usize) -> String {
    let plural = if measured == 1 { "" } else { "s" };
    match skipped {
        0 => format!("{measured} measurement{plural}"),
        _ => format!("{measured} measurement{plural}, {skipped} skipped"),
    }
}
