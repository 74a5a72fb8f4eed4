//! What each line of the source executed in each function, while a window is decoded.
//!
//! An entry is one line in one function. An instruction keeps the number of its entry from one
//! execution to the next, so that counting is an addition. Like the arena's nodes, an entry has
//! two tallies: what is tentative until the next stamp, and what has settled.

use std::{collections::HashMap, hash::BuildHasherDefault};

use crate::recording::{footprint::LineHasher, source_places::NOWHERE};

/// Most entries of one window; what is beyond them is in no line.
const MAX_ENTRIES: usize = 1 << 16;
/// The entry of what is in no line: never counted, so without known lines nothing is.
pub(crate) const NO_ENTRY: u32 = 0;

/// A tally of what a line executed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineTally {
    pub(crate) instructions: u64,
    pub(crate) loads: u64,
    pub(crate) stores: u64,
}

/// One line in one function.
pub(crate) struct LedgerEntry {
    pub(crate) function: u32,
    /// A number of [`crate::recording::source_places::SourcePlaces`].
    pub(crate) place: u32,
    pub(crate) settled: LineTally,
    tentative: LineTally,
    touched: bool,
}

/// All entries of the window.
#[derive(Default)]
pub(crate) struct Ledger {
    /// The first has number 1.
    entries: Vec<LedgerEntry>,
    numbers: HashMap<(u32, u32), u32, BuildHasherDefault<LineHasher>>,
    touched: Vec<u32>,
}

impl Ledger {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.numbers.clear();
        self.touched.clear();
    }

    /// The entry of `place` in `function`.
    pub(crate) fn entry(&mut self, function: u32, place: u32) -> u32 {
        if place == NOWHERE {
            return NO_ENTRY;
        }
        if let Some(number) = self.numbers.get(&(function, place)) {
            return *number;
        }
        if self.entries.len() == MAX_ENTRIES {
            return NO_ENTRY;
        }
        let (settled, tentative) = (LineTally::default(), LineTally::default());
        self.entries.push(LedgerEntry { function, place, settled, tentative, touched: false });
        let number = u32::try_from(self.entries.len()).unwrap_or(NO_ENTRY);
        self.numbers.insert((function, place), number);
        number
    }

    /// Counts for `entry` by `add`, until the next stamp tentatively.
    #[inline]
    pub(crate) fn count(&mut self, entry: u32, add: impl FnOnce(&mut LineTally)) {
        let Some(index) = entry.checked_sub(1) else { return };
        let entry = &mut self.entries[index as usize];
        if !entry.touched {
            entry.touched = true;
            self.touched.push(index);
        }
        add(&mut entry.tentative);
    }

    /// The instruction that `entry` counted did not complete.
    pub(crate) fn take_back(&mut self, entry: u32, tentative: bool) {
        let Some(index) = entry.checked_sub(1) else { return };
        let entry = &mut self.entries[index as usize];
        let tally = if tentative { &mut entry.tentative } else { &mut entry.settled };
        tally.instructions -= 1;
    }

    /// A stamp: all so far counts.
    pub(crate) fn settle(&mut self) {
        for index in self.touched.drain(..) {
            let entry = &mut self.entries[index as usize];
            let more = std::mem::take(&mut entry.tentative);
            entry.touched = false;
            entry.settled.instructions += more.instructions;
            entry.settled.loads += more.loads;
            entry.settled.stores += more.stores;
        }
    }

    /// The entries in which anything settled.
    pub(crate) fn settled(&self) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.iter().filter(|entry| entry.settled != LineTally::default())
    }
}
