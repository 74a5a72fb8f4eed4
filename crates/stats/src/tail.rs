//! The tail of a set: values far beyond all of another set's, however few they are.
//!
//! The rules of [`crate::judge`] ask what is typical, so a value of one sample in eight is a stray
//! to them. Where the worst case is the point, as in a wait, that value is the answer. It counts
//! if several runs show it: one interrupt at the wrong moment falls into one run.

/// A value is far beyond others when it is more than so many times the highest of them. An
/// interrupt that falls into a wait of hundreds of instructions adds thousands.
pub const FAR: u64 = 8;

/// In so many perturbed runs at least.
pub const TAIL_RUNS: usize = 2;

/// The values of one set that are far beyond all of another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// The highest of these values.
    pub highest: u64,
    /// The highest of the others: no value of the other set is above.
    pub beyond: u64,
    /// How many of these values there are.
    pub samples: usize,
    /// How many runs show one.
    pub runs: usize,
}

impl Tail {
    /// Whether `value` is in the tail.
    pub fn holds(&self, value: u64) -> bool {
        is_far(value, self.beyond)
    }
}

/// The tail that `new` has beyond `base`, both run by run. None if it has none, or `base` has no
/// samples.
pub fn tail(base: &[&[u64]], new: &[&[u64]]) -> Option<Tail> {
    let beyond = base.iter().copied().flatten().copied().max()?;
    let far = |run: &&[u64]| run.iter().filter(|value| is_far(**value, beyond)).count();
    let counts = || new.iter().map(far).filter(|count| *count > 0);
    let highest = new.iter().copied().flatten().copied().max()?;
    let tail = Tail { highest, beyond, samples: counts().sum(), runs: counts().count() };
    (tail.runs >= TAIL_RUNS).then_some(tail)
}

fn is_far(value: u64, highest: u64) -> bool {
    value > highest.max(1).saturating_mul(FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &[u64] = &[2658, 2660, 2682, 2658];

    #[test]
    fn a_wait_that_is_a_tick_late_in_two_runs_of_six_is_a_tail() {
        let late: &[u64] = &[2682, 4_002_430, 2684, 2682];
        let new = [USUAL, late, USUAL, USUAL, late, USUAL];
        let found = tail(&[USUAL; 6], &new);
        let expected = Tail { highest: 4_002_430, beyond: 2682, samples: 2, runs: 2 };
        assert_eq!(found, Some(expected));
        assert!(expected.holds(4_002_430) && !expected.holds(2684));
        assert_eq!(tail(&new, &[USUAL; 6]), None);
    }

    #[test]
    fn what_one_run_shows_or_an_interrupt_adds_is_none() {
        let late: &[u64] = &[4_002_430; 4];
        assert_eq!(tail(&[USUAL; 2], &[USUAL, late]), None);
        let interrupted: &[u64] = &[2682 * FAR];
        assert_eq!(tail(&[USUAL; 2], &[interrupted, interrupted]), None);
        let beyond: &[u64] = &[2682 * FAR + 1];
        assert!(tail(&[USUAL; 2], &[beyond, beyond]).is_some());
    }

    #[test]
    fn a_tail_that_base_shows_once_is_not_new() {
        let late: &[u64] = &[4_002_430];
        assert_eq!(tail(&[USUAL, late], &[late, late]), None);
    }

    #[test]
    fn without_samples_there_is_none_and_nothing_overflows() {
        assert_eq!(tail(&[], &[USUAL]), None);
        assert_eq!(tail(&[USUAL], &[]), None);
        assert_eq!(tail(&[&[u64::MAX]], &[&[u64::MAX], &[u64::MAX]]), None);
        assert!(tail(&[&[0]], &[&[9], &[9]]).is_some());
    }
}
