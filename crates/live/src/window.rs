//! The two ways in which a probe of a live host proves a window: every call by itself, or what the
//! last one left.

use pathmeter_probes::{Failure, Outcome, ProbeReport, clock};

use crate::failure::prove;

/// Runs `once` in every window; it says whether it did what it should, and must have in each call.
pub(crate) fn each(report: &mut ProbeReport, mut once: impl FnMut() -> bool) -> Outcome {
    report.execute(|| one(&mut once))
}

/// One window of [`each`]: its cost.
#[inline(always)]
pub(crate) fn one(once: &mut impl FnMut() -> bool) -> Result<u64, Failure> {
    let mut right = 0;
    let (cost, ()) = clock::window(|| right += u64::from(once()));
    prove!(right == clock::calls(), "{right} of {} calls were right", clock::calls());
    Ok(cost)
}

/// Runs `once` in every window, and proves by `proof` what the last call of each gave.
pub(crate) fn last<R>(
    report: &mut ProbeReport,
    mut once: impl FnMut() -> R,
    mut proof: impl FnMut(R) -> Result<(), Failure>,
) -> Outcome {
    report.execute(|| {
        let (cost, result) = clock::window(&mut once);
        proof(result)?;
        Ok(cost)
    })
}
