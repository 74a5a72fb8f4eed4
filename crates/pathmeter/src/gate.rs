//! `--check`: whether a comparison passes as a gate.
//!
//! Contract: what was not compared does not pass for unchanged. A path that BASE could run must be
//! compared, and so must one that `--only` names in full; a path that only NEW can run is new,
//! which a note tells. Where nothing was compared, nothing was checked.

use pathmeter_model::{Comparison, Measurement, PathComparison, PathResult, Status, Unit, Verdict};

use crate::failure::{Exit, Failure};
use crate::gated::GatedEvents;
use crate::output::Screen;
use crate::selection::Selection;

/// Verdicts on numbers.
const COMPARED: [Verdict; 5] =
    [Verdict::Same, Verdict::Higher, Verdict::Lower, Verdict::ModeAppeared, Verdict::EventsDiffer];

/// What a gate makes of a comparison.
pub(crate) struct Gate {
    worse: bool,
    /// What had to be compared and was not, with the reason.
    missing: Vec<String>,
    /// Paths that only NEW can run.
    new: Vec<String>,
    compared: usize,
}

impl Gate {
    /// Judges the comparison of these two sides, of which `selection` was chosen.
    pub(crate) fn new(
        comparison: &Comparison,
        base: &Measurement,
        new: &Measurement,
        selection: &Selection,
        gated: &GatedEvents,
    ) -> Self {
        let could = |side: &Measurement, name: &str| {
            side.paths.iter().any(|path| path.path == name && path.status == Status::Ok)
        };
        let count = |verdict: &Verdict| comparison.summary.count(*verdict);
        let (mut missing, mut appeared) = (Vec::new(), Vec::new());
        for row in comparison.paths.iter().filter(|row| row.verdict == Verdict::Unsupported) {
            let reason = row.reason.as_deref().unwrap_or_default();
            if could(base, &row.path) || selection.names(&row.path) {
                missing.push(format!("{} ({reason})", row.path));
            } else if could(new, &row.path) {
                appeared.push(row.path.clone());
            }
        }
        if gated.wants_events() {
            missing.extend(uncounted(base, new));
        }
        let worse = |path: &PathComparison| path.verdict == Verdict::Broken || gated.is_worse(path);
        Self {
            worse: comparison.paths.iter().any(worse),
            missing,
            new: appeared,
            compared: COMPARED.iter().map(count).sum(),
        }
    }

    /// Tells what was not compared: the exit code.
    pub(crate) fn tell(&self, screen: &Screen) -> Exit {
        for path in &self.new {
            screen.note(&format!("{path} was not compared: BASE has no result for it"));
        }
        let failure = self.failure().map(|failure| screen.report(&failure));
        match failure {
            Some(Exit::Interrupted) => Exit::Interrupted,
            _ if self.worse => Exit::Worse,
            failure => failure.unwrap_or(Exit::Done),
        }
    }

    fn failure(&self) -> Option<Failure> {
        if !self.missing.is_empty() {
            return Some(Failure::Unchecked {
                message: format!("--check could not compare {}", self.missing.join(", ")),
            });
        }
        let nothing = self.compared == 0 && !self.worse;
        nothing.then(|| Failure::Unchecked {
            message: "--check: no path was compared, so nothing was checked".to_owned(),
        })
    }
}

/// Paths of which a side has samples and no events, though both count instructions.
fn uncounted(base: &Measurement, new: &Measurement) -> Vec<String> {
    let lacks = |path: &&PathResult| {
        path.status == Status::Ok && path.unit == Unit::Instructions && path.events.is_none()
    };
    let paths = base.paths.iter().chain(&new.paths).filter(lacks);
    let mut names: Vec<String> =
        paths.map(|path| format!("{} (its events were not counted)", path.path)).collect();
    names.dedup();
    if base.unit() == Unit::Clock || new.unit() == Unit::Clock {
        names.push("any events (this QEMU takes no plugin)".to_owned());
    }
    names
}
