//! What can still be found in a history that is damaged: each result by itself.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Row};

use crate::HistoryError;
use crate::row::is_whole;
use crate::tables::Tables;

/// Most numbers that are looked up one by one.
const MOST_LOOKUPS: i64 = 1 << 17;

/// A result that can be found in a history, whether its row is whole or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub number: u64,
    /// The subject's name, as far as it can be read.
    pub subject: String,
}

impl Tables<'_> {
    /// All results that can be found, by number, of one label if that is given; and the damage.
    pub(crate) fn salvaged(self, label: Option<&str>) -> (Vec<Found>, Vec<HistoryError>) {
        let mut numbers = BTreeSet::new();
        for order in ["ASC", "DESC"] {
            self.scan(order, &mut numbers);
        }
        // What the scans missed, for a page between can't be read.
        let highest = numbers.last().copied().unwrap_or(0);
        let last = self.total().map_or(highest, |total| total.last.cast_signed());
        numbers.extend(1..=last.min(MOST_LOOKUPS));
        let (mut found, mut damage, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        for number in numbers {
            // SQLite may still read those columns of a row that a document hangs on.
            let row = match self.row(number) {
                Err(_) if self.document(number.cast_unsigned()).is_ok() => Some(Texts::default()),
                Err(_) => {
                    unreadable.push(number);
                    None
                }
                Ok(row) => row,
            };
            let (Some(row), Ok(number)) = (row, u64::try_from(number)) else { continue };
            if !row.whole {
                damage.push(self.corrupt(format!("result {number} is not what was written")));
            }
            if label.is_none_or(|label| row.label == label) {
                found.push(Found { number, subject: row.subject });
            }
        }
        if !unreadable.is_empty() {
            damage.push(self.corrupt(format!("results {} can't be read", ranges(&unreadable))));
        }
        (found, damage)
    }

    /// The numbers of all results up to one that can't be read.
    fn scan(self, order: &str, numbers: &mut BTreeSet<i64>) {
        let sql = format!("SELECT id FROM result ORDER BY id {order}");
        let Ok(mut query) = self.connection.prepare(&sql) else { return };
        let Ok(rows) = query.query_map([], |row| row.get::<_, i64>(0)) else { return };
        // Pages that are damaged can lead around in a circle.
        let most = usize::try_from(MOST_LOOKUPS).unwrap_or(usize::MAX);
        numbers.extend(rows.map_while(Result::ok).take(most));
    }

    fn row(self, number: i64) -> rusqlite::Result<Option<Texts>> {
        let text = |row: &Row<'_>, at| {
            let bytes = row.get_ref(at).map(|it| it.as_bytes().unwrap_or_default().to_vec());
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let mut query = self.connection.prepare_cached("SELECT * FROM result WHERE id = ?")?;
        let read = query.query_row([number], |row| {
            Ok(Texts { label: text(row, 2)?, subject: text(row, 4)?, whole: is_whole(row) })
        });
        read.optional()
    }
}

/// What is read of a result's row whatever else is in it.
#[derive(Default)]
struct Texts {
    label: String,
    subject: String,
    whole: bool,
}

/// `3, 7 to 9`, of numbers that ascend.
fn ranges(numbers: &[i64]) -> String {
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
