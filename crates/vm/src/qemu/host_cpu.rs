//! The host's CPUs, and which of them a QEMU under the exact clock is kept to.
//!
//! All of its threads go to one. One executes the guest; another moves the guest's clock on when
//! the guest idles. Were both to run at once, the second could, once in some ten thousand times,
//! look at the clock while the first had not yet added to it what it had executed
//! (`docs/explanation/exactness.md`).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many QEMUs of this process each CPU of the host has.
static TAKEN: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// A place on one CPU of the host, until it is dropped.
pub(crate) struct Place {
    cpu: usize,
    taken: &'static Mutex<BTreeMap<usize, usize>>,
}

impl Place {
    /// On the CPU with the fewest of this process's QEMUs; None if the host does not say which we
    /// may use.
    pub(crate) fn take() -> Option<Self> {
        Self::on_one_of(&allowed_cpus(), std::process::id() as usize, &TAKEN)
    }

    /// The first of `cpus` with the fewest, beginning at `first`: at another one in each process,
    /// so that several processes at once are spread too.
    fn on_one_of(
        cpus: &[usize],
        first: usize,
        taken: &'static Mutex<BTreeMap<usize, usize>>,
    ) -> Option<Self> {
        let first = first.checked_rem(cpus.len())?;
        let (before, from) = cpus.split_at(first);
        let mut places = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let load = |cpu: &&usize| places.get(*cpu).copied().unwrap_or(0);
        let cpu = *from.iter().chain(before).min_by_key(load)?;
        *places.entry(cpu).or_default() += 1;
        Some(Self { cpu, taken })
    }

    /// The CPU, as the kernel takes it.
    pub(crate) fn set(&self) -> CpuSet {
        let mut one = CpuSet::new();
        one.set(self.cpu);
        one
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = places.get_mut(&self.cpu) {
            *count = count.saturating_sub(1);
        }
    }
}

/// The host's CPUs that we may use, by number; none if the host does not say.
fn allowed_cpus() -> Vec<usize> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

/// How many of the host's CPUs a guest in the host's time may use at once.
pub fn host_cpus() -> usize {
    allowed_cpus().len()
}

/// Keeps the calling process to these CPUs, if there are any.
pub(crate) fn stay_on(cpus: Option<&CpuSet>) -> std::io::Result<()> {
    if let Some(cpus) = cpus {
        sched_setaffinity(None, cpus)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_goes_where_the_last_one_has_left() {
        static TAKEN: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
        let take = || Place::on_one_of(&[3, 5], 1, &TAKEN).unwrap();
        let (first, second) = (take(), take());
        assert_eq!((first.cpu, second.cpu), (5, 3));
        drop(second);
        let third = take();
        assert_eq!(third.cpu, 3);
        let fourth = take();
        assert_eq!(fourth.cpu, 5);
        drop((first, fourth));
        assert_eq!(take().cpu, 5);
    }

    #[test]
    fn a_host_that_names_no_cpu_keeps_a_guest_nowhere() {
        static TAKEN: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
        assert!(Place::on_one_of(&[], 7, &TAKEN).is_none());
    }
}
