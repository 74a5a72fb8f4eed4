//! What came of one path in both interpreters: the windows whose counts are compared.

use std::collections::BTreeMap;

use pathmeter_trace::{Event, WindowEvents};
use pathmeter_vm::{PathOutcome, PathStatus};

use crate::table::{WitnessCounts, WitnessOutcome};

/// What both saw of a path: QEMU's windows with their events, and Bochs' samples.
pub(super) fn outcome(
    windows: Result<Vec<&WindowEvents>, String>,
    in_qemu: &PathOutcome,
    in_bochs: &PathOutcome,
) -> WitnessOutcome {
    if let Some(reason) = trouble("QEMU", in_qemu).or_else(|| trouble("Bochs", in_bochs)) {
        return WitnessOutcome::Not(reason);
    }
    let windows = match windows {
        Ok(windows) if !windows.is_empty() => windows,
        Ok(_) => return WitnessOutcome::Not("QEMU: no windows".to_owned()),
        Err(reason) => return WitnessOutcome::Not(format!("QEMU: {reason}")),
    };
    let samples: Vec<u64> = in_bochs.runs.concat();
    compare_windows(&windows, &samples)
        .unwrap_or_else(|| WitnessOutcome::Not("Bochs: no windows".to_owned()))
}

fn trouble(interpreter: &str, outcome: &PathOutcome) -> Option<String> {
    match &outcome.status {
        PathStatus::Ok => None,
        PathStatus::Unsupported(reason) | PathStatus::Failed(reason) => {
            Some(format!("{interpreter}: {reason}"))
        }
    }
}

/// The windows of both, by how long they take in Bochs; None if one has none.
fn compare_windows(windows: &[&WindowEvents], samples: &[u64]) -> Option<WitnessOutcome> {
    let known = times(windows.iter().map(|window| expected(window)));
    let seen = times(samples.iter().copied());
    let shared: BTreeMap<u64, usize> =
        seen.iter().filter(|(value, _)| known.contains_key(value)).map(|(v, n)| (*v, *n)).collect();
    let shift = shift(windows, samples);
    let agreed = most(&shared);
    let (in_qemu, bochs) = match (shift, agreed) {
        (Some(_), _) => (windows.first().map(|window| expected(window))?, *samples.first()?),
        (None, Some(value)) => (value, value),
        (None, None) => (most(&known)?, most(&seen)?),
    };
    // Windows that take as long may still differ in what they execute; most do the same.
    let like: Vec<&WindowEvents> =
        windows.iter().copied().filter(|window| expected(window) == in_qemu).collect();
    let alike = |one: &WindowEvents| like.iter().filter(|other| **other == one).count();
    let window = like.iter().rev().max_by_key(|window| alike(window))?;
    let shown = [
        windows.iter().position(|one| one == window)?,
        samples.iter().position(|sample| *sample == bochs)?,
    ];
    Some(WitnessOutcome::Both(WitnessCounts {
        retired: window.events.retired(),
        string_bytes: window.events.of(Event::StringBytes),
        clock: window.events.of(Event::Clock),
        checks: window.checks,
        faults: window.faults,
        bochs,
        windows: samples.len(),
        shared: shared.values().sum(),
        shown,
        shift,
    }))
}

/// Steps that follow for Bochs' clock.
fn expected(window: &WindowEvents) -> u64 {
    let clock = window.events.of(Event::Clock).saturating_sub(window.checks);
    clock.saturating_add(window.faults)
}

/// By how much each window differs from the one with the same number in QEMU, if all do by the
/// same: values in common would hide it.
fn shift(windows: &[&WindowEvents], samples: &[u64]) -> Option<i64> {
    let pairs = windows.iter().zip(samples);
    let mut shifts =
        pairs.map(|(window, sample)| sample.wrapping_sub(expected(window)).cast_signed());
    let first = shifts.next().filter(|shift| *shift != 0)?;
    (windows.len() == samples.len() && shifts.all(|shift| shift == first)).then_some(first)
}

/// How often each value occurs.
fn times(values: impl Iterator<Item = u64>) -> BTreeMap<u64, usize> {
    values.fold(BTreeMap::new(), |mut times, value| {
        *times.entry(value).or_default() += 1;
        times
    })
}

/// The value that occurs most often; of several the smallest.
fn most(times: &BTreeMap<u64, usize>) -> Option<u64> {
    times.iter().rev().max_by_key(|(_, times)| **times).map(|(value, _)| *value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn window(kernel: u64, clock: u64, checks: u64) -> WindowEvents {
        let events = [(Event::Kernel, kernel), (Event::Clock, clock), (Event::StringBytes, 8)];
        WindowEvents {
            events: events.into_iter().collect(),
            open: 0,
            checks,
            idle_unknown: false,
            faults: 0,
            entries: vec![],
        }
    }

    fn counts(windows: &[WindowEvents], samples: &[u64]) -> WitnessCounts {
        let windows: Vec<_> = windows.iter().collect();
        match compare_windows(&windows, samples).unwrap() {
            WitnessOutcome::Both(counts) => counts,
            WitnessOutcome::Not(reason) => panic!("{reason}"),
        }
    }

    #[test]
    fn a_step_that_bochs_does_not_have_is_no_difference() {
        let both = counts(&[window(100, 120, 3), window(100, 120, 3)], &[117, 117, 117]);
        assert_eq!((both.retired, both.clock, both.checks, both.bochs), (100, 120, 3, 117));
        assert_eq!((both.difference(), both.shared, both.windows), (0, 3, 3));
        assert!(both.agree());
    }

    #[test]
    fn a_fault_is_a_step_of_bochs_only() {
        let faulting = WindowEvents { faults: 2, ..window(100, 120, 3) };
        let both = counts(&[faulting], &[119]);
        assert_eq!((both.difference(), both.agree()), (0, true));
    }

    #[test]
    fn an_instruction_more_is_one() {
        let both = counts(&[window(100, 120, 3)], &[118, 118, 119]);
        assert_eq!((both.difference(), both.shared), (1, 0));
        assert!(!both.agree());
    }

    #[test]
    fn of_several_values_the_most_frequent_is_compared_that_both_have() {
        let windows = [window(10, 10, 0), window(20, 20, 0), window(20, 20, 0), window(30, 30, 0)];
        let both = counts(&windows, &[30, 30, 30, 40, 40, 40, 40, 10]);
        assert_eq!((both.retired, both.bochs, both.difference()), (30, 30, 0));
        assert_eq!((both.shared, both.windows), (4, 8));
    }

    #[test]
    fn the_first_windows_with_the_values_that_are_shown_are_recorded() {
        let windows = [window(10, 10, 0), window(20, 20, 0), window(20, 20, 0)];
        assert_eq!(counts(&windows, &[30, 25, 25]).shown, [1, 1]);
        assert_eq!(counts(&windows, &[20, 25, 10]).shown, [0, 2]);
    }

    #[test]
    fn values_in_common_do_not_hide_that_all_windows_differ_by_the_same() {
        let windows = [window(10, 10, 0), window(20, 20, 0), window(30, 30, 0)];
        let both = counts(&windows, &[20, 30, 40]);
        assert_eq!((both.shared, both.shift, both.difference()), (2, Some(10), 10));
        assert_eq!((both.shown, both.agree()), ([0, 0], false));
        for samples in [[20, 30, 30], [10, 30, 40], [10, 20, 30]] {
            assert_eq!(counts(&windows, &samples).shift, None, "{samples:?}");
        }
    }

    #[test]
    fn without_windows_there_is_nothing_to_compare() {
        assert!(compare_windows(&[], &[1]).is_none());
        assert!(compare_windows(&[&window(1, 1, 0)], &[]).is_none());
    }
}
