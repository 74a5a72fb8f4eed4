//! Two sides that are measured at once, of which one that can't begin ends the other: nobody waits
//! for minutes to be told of a misspelt setting.
//!
//! Contract: all failures before the first run are told, of both sides. What goes wrong later ends
//! only its own side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pathmeter_measure::interrupt;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::threads::at_once;
use pathmeter_model::Measurement;
use pathmeter_vm::Progress;

use crate::failure::Failure;
use crate::screen::progress::Line;

/// How far the measurements of both sides are.
#[derive(Default)]
struct State {
    /// Whether the first run of a side has begun.
    begun: [AtomicBool; 2],
    /// Whether one side can't begin.
    is_over: AtomicBool,
    /// For each side the flag that ends its measurement.
    ends: [Arc<AtomicBool>; 2],
}

impl State {
    fn hear(&self, side: usize, progress: Progress<'_>) {
        if matches!(progress, Progress::Running { .. } | Progress::Program { .. }) {
            self.begun[side].store(true, Ordering::SeqCst);
            self.settle();
        }
    }

    fn fail(&self, side: usize) {
        if !self.begun[side].load(Ordering::SeqCst) {
            self.is_over.store(true, Ordering::SeqCst);
            self.settle();
        }
    }

    /// Ends what runs though the other side can't begin.
    fn settle(&self) {
        if !self.is_over.load(Ordering::SeqCst) {
            return;
        }
        for (begun, end) in self.begun.iter().zip(&self.ends) {
            end.fetch_or(begun.load(Ordering::SeqCst), Ordering::SeqCst);
        }
    }

    /// Whether a side's result is that it was ended here, and not by the user.
    fn is_ended(&self, side: usize, result: &Result<Measurement, Failure>) -> bool {
        matches!(result, Err(Failure::Interrupted))
            && self.ends[side].load(Ordering::SeqCst)
            && interrupt::check().is_ok()
    }
}

/// Measures both sides in `session`, each by `measure`, and shows how far they are. A thread each,
/// which outlives the guest that it starts: QEMU is killed when that thread ends.
///
/// # Errors
/// Why a side could not be measured, of both.
pub(crate) fn measure_both(
    session: &Session,
    lines: &[Line<'_>; 2],
    measure: impl Fn(usize, &Session, Report<'_>) -> Result<Measurement, Failure> + Sync,
) -> Result<Vec<Measurement>, Failure> {
    let state = State::default();
    let one = |side: usize| {
        let session = session.ended_by(Arc::clone(&state.ends[side]));
        let result = measure(side, &session, &|progress| {
            state.hear(side, progress);
            lines[side].show(progress);
        });
        lines[side].clear();
        if result.is_err() {
            state.fail(side);
        }
        result
    };
    let (base, new) = at_once(|| one(0), || one(1));
    let results = [base, new].into_iter().enumerate();
    Failure::gather(results.filter(|(side, result)| !state.is_ended(*side, result)).map(|it| it.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Progress<'_> = Progress::Program { done: 0, of: 7 };

    fn ends(state: &State) -> [bool; 2] {
        [0, 1].map(|side| state.ends[side].load(Ordering::SeqCst))
    }

    #[test]
    fn a_side_that_can_not_begin_ends_the_other_once_that_runs_and_no_earlier() {
        let state = State::default();
        state.hear(0, Progress::Booting);
        state.fail(1);
        assert_eq!(ends(&state), [false; 2], "the other may have the same fault, and tell it");
        state.hear(0, RUN);
        assert_eq!(ends(&state), [true, false]);
        assert!(state.is_ended(0, &Err(Failure::Interrupted)));
        assert!(!state.is_ended(1, &Err(Failure::Interrupted)));
    }

    #[test]
    fn a_side_that_fails_in_a_run_ends_nothing() {
        let state = State::default();
        for side in 0..2 {
            state.hear(side, RUN);
        }
        state.fail(1);
        assert_eq!(ends(&state), [false; 2]);
        let state = State::default();
        state.hear(0, RUN);
        state.fail(1);
        assert_eq!(ends(&state), [true, false]);
    }
}
