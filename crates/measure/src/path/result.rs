//! One path's row of a result: what became of it in the guest, and what was counted.

use pathmeter_model::{Check, MAX_SAMPLE, PathResult, Unit};
use pathmeter_probes::Kind;
use pathmeter_vm::{Cpu, PathOutcome, PathStatus};

use crate::path::rows::{Counted, PathCounts};

/// The outcome; where it says that the CPU lacks something that the machine has, it says why.
pub(crate) fn with_cause(outcome: PathOutcome, cpu: &Cpu) -> PathOutcome {
    let PathStatus::Unsupported(reason) = &outcome.status else { return outcome };
    let Some(lack) = cpu.lack_behind(reason) else { return outcome };
    let reason = format!(
        "{reason}: the machine has it, but the profile {} does not, since QEMU's interpreter \
         can't execute {lack} (in 7.2)",
        cpu.name()
    );
    PathOutcome { status: PathStatus::Unsupported(reason), ..outcome }
}

/// One path's row. Values that a document may not have for a path that is ok make it failed: the
/// guest is not believed.
pub(crate) fn path_result(
    index: usize,
    path: &pathmeter_probes::Path,
    outcome: PathOutcome,
    counted: Option<&Counted>,
) -> PathResult {
    let (name, unit) = (path.name, unit_of(path.kind, counted));
    let counts = match outcome.status {
        PathStatus::Ok => counted.and_then(|counted| counted.of(index, &outcome)),
        _ => None,
    };
    let PathOutcome { status, checks, runs, lower_bounds } = outcome;
    let samples = || runs.iter().flatten();
    let checks = checks.into_iter().map(|(name, value)| Check { name, value }).collect();
    match &status {
        PathStatus::Unsupported(reason) => PathResult::unsupported(name, unit, reason),
        PathStatus::Failed(reason) => PathResult::failed(name, unit, reason).noticing(checks),
        PathStatus::Ok
            if matches!(path.kind, Kind::Wait(_))
                && counted.is_none()
                && runs.concat().is_empty() =>
        {
            PathResult::unsupported(name, unit, "this path needs a QEMU with plugins")
        }
        PathStatus::Ok if unit != Unit::Check && samples().next().is_none() && counts.is_none() => {
            PathResult::failed(name, unit, "the agent reported ok and sent no samples")
        }
        PathStatus::Ok if samples().any(|&sample| sample > MAX_SAMPLE) => {
            PathResult::failed(name, unit, "a sample is out of bounds")
        }
        PathStatus::Ok => match counts {
            Some(Ok(PathCounts { retired, lower_bounds, events })) => {
                PathResult::ok(name, Unit::Instructions, &retired, checks)
                    .with_lower_bounds(lower_bounds)
                    .counting(events)
            }
            Some(Err(what)) => PathResult::failed(name, unit, &what).noticing(checks),
            None => PathResult::ok(name, unit, &runs, checks).with_lower_bounds(lower_bounds),
        },
    }
}

/// What the samples of a path of this kind are; without a counter, steps of the clock.
fn unit_of(kind: Kind, counted: Option<&Counted>) -> Unit {
    match unit(kind) {
        Unit::Instructions if counted.is_none() => Unit::Clock,
        unit => unit,
    }
}

/// What the samples of a path of this kind count.
pub fn unit(kind: Kind) -> Unit {
    match kind {
        Kind::Check => Unit::Check,
        Kind::Windows(_) => Unit::Instructions,
        Kind::Wait(_) | Kind::TwoCpus(_) => Unit::Clock,
        Kind::Batches(_) => Unit::Ns,
    }
}

#[cfg(test)]
mod tests {
    use pathmeter_probes::Suite;

    use super::*;

    fn outcome(runs: &[&[u64]]) -> PathOutcome {
        let runs = runs.iter().map(|run| run.to_vec()).collect();
        PathOutcome {
            status: PathStatus::Ok,
            checks: vec![("entry".into(), "sysenter".into())],
            runs,
            lower_bounds: vec![1],
        }
    }

    fn result(runs: &[&[u64]]) -> PathResult {
        path_result(0, &Suite::Exact.paths()[0], outcome(runs), None)
    }

    #[test]
    fn samples_and_checks_are_kept() {
        let result = result(&[&[330, 331], &[330]]);
        assert_eq!((result.samples, result.samples_per_run), (vec![330, 331, 330], vec![2, 1]));
        assert_eq!((result.lower_bounds, &*result.checks[0].value), (vec![1], "sysenter"));
    }

    #[test]
    fn an_ok_that_no_document_may_hold_is_a_failure() {
        for runs in [&[&[][..]][..], &[&[1, u64::MAX][..]][..]] {
            assert_eq!(result(runs).status, pathmeter_model::Status::Failed);
        }
    }

    #[test]
    fn a_check_needs_no_samples() {
        let (index, path) = Suite::Exact.find("flags.isolation").unwrap();
        let result = path_result(index, path, outcome(&[&[]]), None);
        assert_eq!((result.status, result.unit), (pathmeter_model::Status::Ok, Unit::Check));
    }
}
