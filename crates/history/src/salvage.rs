//! What can still be found in a history that is damaged: each result by itself.

use crate::HistoryError;
use crate::tables::{ResultRow, Tables};

/// Most results that are looked for, each by its number: a list of them may be damaged.
const MOST_LOOKUPS: u64 = 1 << 17;

/// A result whose document can be looked for, whether its row is whole or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub number: u64,
    /// The subject's name; empty if the result's row is damaged.
    pub subject: String,
}

impl Tables<'_> {
    /// All results that can be found, by number, of one label if that is given; and the damage.
    pub(crate) fn salvage(self, label: Option<&str>) -> (Vec<Found>, Vec<HistoryError>) {
        let (mut found, mut damage, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        let last = self.total().map_or(MOST_LOOKUPS, |total| total.last);
        for number in 1..=last.min(MOST_LOOKUPS) {
            match self.find_result("id = ?", [number.cast_signed()]) {
                Ok(None) => {}
                Ok(Some(ResultRow { kept, .. })) => {
                    if label.is_none_or(|label| kept.label == label) {
                        found.push(Found { number, subject: kept.subject });
                    }
                }
                Err(error) if self.document(number).is_ok() => {
                    damage.push(error);
                    found.push(Found { number, subject: String::new() });
                }
                Err(_) => unreadable.push(number),
            }
        }
        if !unreadable.is_empty() {
            damage.push(self.corrupt(format!("results {} can't be read", ranges(&unreadable))));
        }
        (found, damage)
    }
}

/// `3, 7 to 9`, of numbers that ascend.
fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [first, .., last] => format!("{first} to {last}"),
        _ => run.iter().map(ToString::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_told_together() {
        assert_eq!(ranges(&[3, 7, 8, 9, 11]), "3, 7 to 9, 11");
    }
}
