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
            missing.extend(uncounted(base.paths.iter().chain(&new.paths)));
            if base.unit() == Unit::Clock || new.unit() == Unit::Clock {
                missing.push("any events (this QEMU takes no plugin)".to_owned());
            }
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

/// Those of the paths that have samples in instructions, and no events.
fn uncounted<'a>(paths: impl Iterator<Item = &'a PathResult>) -> Vec<String> {
    let lacks = |path: &&PathResult| {
        path.status == Status::Ok && path.unit == Unit::Instructions && path.events.is_none()
    };
    let mut names: Vec<String> = Vec::new();
    for path in paths.filter(lacks) {
        let name = format!("{} (its events were not counted)", path.path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::PathEvents;

    #[test]
    fn a_path_whose_events_one_side_lacks_is_named_once() {
        let path = |name| PathResult::ok(name, Unit::Instructions, &[vec![7]], vec![]);
        let events = PathEvents::new([].iter(), vec![]);
        let counted = PathResult { events: Some(events), ..path("c.counted") };
        let failed = PathResult::failed("f.failed", Unit::Instructions, "the guest panicked");
        let clock = PathResult::ok("s.softirq", Unit::Clock, &[vec![7]], vec![]);
        let base = vec![path("a.a"), counted.clone(), failed, clock];
        let new = vec![path("a.a"), path("c.counted")];
        let names = ["a.a", "c.counted"].map(|it| format!("{it} (its events were not counted)"));
        assert_eq!(uncounted([&base, &new].into_iter().flatten()), names);
        assert_eq!(uncounted([counted].iter()), [""; 0]);
    }
}
