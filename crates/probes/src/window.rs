//! The two ways in which a probe proves a window: every call by itself, or what the last one left.

use crate::{
    clock,
    failure::{Failure, Outcome, prove},
    report::ProbeReport,
};

/// Runs `once` in every window; it says whether it did what it should, and must have in each call.
pub fn each(report: &mut ProbeReport, mut once: impl FnMut() -> bool) -> Outcome {
    report.execute(|| one(&mut once))
}

/// One window of [`each`]: its cost.
#[inline(always)]
pub fn one(once: &mut impl FnMut() -> bool) -> Result<u64, Failure> {
    let mut right = 0;
    let (cost, ()) = clock::window(|| right += u64::from(once()));
    prove!(right == clock::calls(), "{right} of {} calls were right", clock::calls());
    Ok(cost)
}

/// Runs `once` in every window, and proves by `proof` what the last call of each gave.
pub fn last<R>(
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
