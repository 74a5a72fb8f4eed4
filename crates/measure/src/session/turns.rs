//! How many guests there are at a time, in this process.

use std::fs::read_to_string;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::available_parallelism;

use crate::session::memory::read_available_mib;

/// How many guests of so much memory, in MiB, this machine has CPUs and memory for; at least one.
pub(super) fn count_guests(memory_mib: u32) -> usize {
    /// What a guest's QEMU takes beside the guest's memory, in MiB.
    const QEMU_MIB: u64 = 256;
    let cpus = available_parallelism().map_or(1, usize::from);
    let available = read_to_string("/proc/meminfo").ok().and_then(|text| read_available_mib(&text));
    let guests = available.map_or(cpus as u64, |mib| mib / (u64::from(memory_mib) + QEMU_MIB));
    usize::try_from(guests).map_or(cpus, |guests| guests.clamp(1, cpus))
}

/// The turns of all guests of groups in this process: two kernels that are measured at once share
/// the machine.
pub(super) static TURNS: Turns = Turns { taken: Mutex::new(0), freed: Condvar::new() };

pub(super) struct Turns {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// The turns of one measurement.
pub(super) struct Share {
    turns: &'static Turns,
    taken: AtomicUsize,
}

/// A turn that is taken until this is dropped.
pub(super) struct Turn<'s>(&'s Share);

impl Turns {
    pub(super) fn share(&'static self) -> Share {
        Share { turns: self, taken: AtomicUsize::new(0) }
    }
}

impl Share {
    /// Waits until fewer than `most` turns are taken, and takes one. A measurement that has none
    /// does not wait: its first guest may find at once that it can't have its condition, and the
    /// other side's guests may run for minutes.
    pub(super) fn take(&self, most: usize) -> Turn<'_> {
        let own = || self.taken.load(Ordering::Relaxed);
        let waits = |taken: &mut usize| must_wait(*taken, own(), most);
        let taken = self.turns.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.turns.freed.wait_while(taken, waits);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Turn(self)
    }
}

/// Whether a measurement that has `own` of the `taken` turns waits, where there are `most`.
fn must_wait(taken: usize, own: usize, most: usize) -> bool {
    taken >= most && own > 0
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let turns = self.0.turns;
        let mut taken = turns.taken.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
        *taken -= 1;
        // Who may go on depends on whose turn it was.
        turns.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::threads::each;

    #[test]
    fn no_more_turns_are_taken_than_there_are() {
        static SOME: Turns = Turns { taken: Mutex::new(0), freed: Condvar::new() };
        let at_once = AtomicU64::new(0);
        let share = SOME.share();
        let work = |_| {
            let _turn = share.take(2);
            let now = at_once.fetch_add(1, Ordering::SeqCst) + 1;
            at_once.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ()>(now)
        };
        let seen = each(0..64, 8, work);
        assert!(seen.iter().all(|now| now.is_ok_and(|now| now <= 2)), "{seen:?}");
        assert_eq!(*SOME.taken.lock().unwrap(), 0);
    }

    #[test]
    fn a_measurement_without_a_turn_does_not_wait_for_the_other_sides_guests() {
        static SOME: Turns = Turns { taken: Mutex::new(0), freed: Condvar::new() };
        assert!(must_wait(2, 2, 2) && !must_wait(2, 0, 2) && !must_wait(1, 1, 2));
        let (base, new) = (SOME.share(), SOME.share());
        let taken = [base.take(2), base.take(2), new.take(2)];
        assert_eq!(*SOME.taken.lock().unwrap(), 3);
        drop(taken);
        assert_eq!(*SOME.taken.lock().unwrap(), 0);
    }
}
