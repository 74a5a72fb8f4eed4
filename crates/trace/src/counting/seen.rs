//! Which of many numbers a window has, such as those of its lines of code: each gets a place when
//! it first appears, so that to see it again in a window costs next to nothing.

use std::collections::HashMap;

/// The numbers of all windows, and those of the current one.
#[derive(Default)]
pub(crate) struct Seen {
    places: HashMap<u64, usize>,
    /// By place: the last window that has it.
    last: Vec<u64>,
    window: u64,
    count: u64,
}

impl Seen {
    /// The place of this number.
    pub(crate) fn place(&mut self, number: u64) -> usize {
        *self.places.entry(number).or_insert_with(|| {
            // Windows are numbered from 1.
            self.last.push(0);
            self.last.len() - 1
        })
    }

    /// A new window begins, without any number.
    pub(crate) fn begin(&mut self) {
        self.window += 1;
        self.count = 0;
    }

    /// The window has the number at this place; whether it is the first time.
    pub(crate) fn see(&mut self, place: usize) -> bool {
        let first = self.last[place] != self.window;
        self.last[place] = self.window;
        self.count += u64::from(first);
        first
    }

    /// How many numbers the window has.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_a_window_counts_once() {
        let mut seen = Seen::default();
        let places = [7, 9, 7].map(|number| seen.place(number));
        assert_eq!(places, [0, 1, 0]);
        seen.begin();
        assert_eq!(places.map(|place| seen.see(place)), [true, true, false]);
        assert_eq!(seen.count(), 2);
        seen.begin();
        assert_eq!(seen.count(), 0);
        assert!(seen.see(places[0]));
    }
}
