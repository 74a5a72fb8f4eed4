//! How many guests there are at a time, in this process.

use std::fs::read_to_string;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::available_parallelism;

use crate::memory::read_available_mib;

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

/// A turn, until dropped.
pub(super) struct Turn(&'static Turns);

impl Turns {
    /// Waits until fewer than `most` turns are taken, and takes one.
    pub(super) fn take(&'static self, most: usize) -> Turn {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(taken, |taken| *taken >= most);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn(self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::threads::each;

    #[test]
    fn no_more_turns_are_taken_than_there_are() {
        static SOME: Turns = Turns { taken: Mutex::new(0), freed: Condvar::new() };
        let at_once = AtomicU64::new(0);
        let work = |_| {
            let _turn = SOME.take(2);
            let now = at_once.fetch_add(1, Ordering::SeqCst) + 1;
            at_once.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ()>(now)
        };
        let seen = each(0..64, 8, work);
        assert!(seen.iter().all(|now| now.is_ok_and(|now| now <= 2)), "{seen:?}");
        assert_eq!(*SOME.taken.lock().unwrap(), 0);
    }
}
