//! The progress of several guests as that of one measurement.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pathmeter_vm::Progress;

use super::Report;

/// Puts together how far several guests are.
pub(super) struct JointProgress<'a> {
    progress: Report<'a>,
    /// How many turns are done, by guest.
    done: Vec<AtomicU64>,
    /// How many turns all guests take.
    of: u64,
    notes: Mutex<BTreeSet<String>>,
}

impl<'a> JointProgress<'a> {
    /// Of so many guests, which take so many turns in all.
    pub(super) fn new(progress: Report<'a>, guests: usize, of: u64) -> Self {
        let done = (0..guests).map(|_| AtomicU64::new(0)).collect();
        Self { progress, done, of, notes: Mutex::default() }
    }

    /// Reports what one guest does. What holds for one and all is said once.
    pub(super) fn report(&self, guest: usize, of_one: Progress<'_>) {
        match of_one {
            Progress::Running { path, done, .. } => {
                self.done[guest].store(done, Ordering::Relaxed);
                let done = self.done.iter().map(|one| one.load(Ordering::Relaxed)).sum();
                (self.progress)(Progress::Running { path, done, of: self.of });
            }
            Progress::Note(note) => {
                let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
                if notes.insert(note.to_owned()) {
                    (self.progress)(of_one);
                }
            }
            _ => (self.progress)(of_one),
        }
    }
}
