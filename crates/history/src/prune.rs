//! Results are removed, with what only they needed.

use pathmeter_model::KeptResult;
use rusqlite::Connection;

use crate::tables::{ResultRow, Total};
use crate::{Date, HistoryError};

/// What [`crate::Store::prune`] removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruned<'a> {
    /// All but so many of the last.
    AllBut(u64),
    /// The results before this date.
    Before(Date),
    /// The results with these numbers.
    Numbered(&'a [u64]),
}

/// Selects the results to remove from `all`, which are in their order; with a label, only among
/// those of this label.
///
/// # Errors
/// There is none of a number.
pub(crate) fn select_results(
    all: &[ResultRow],
    what: Pruned<'_>,
    label: Option<&str>,
) -> Result<Vec<KeptResult>, HistoryError> {
    let labelled = |row: &&ResultRow| label.is_none_or(|label| row.kept.label == label);
    let of_label: Vec<&ResultRow> = all.iter().filter(labelled).collect();
    let gone = match what {
        Pruned::Numbered(numbers) => {
            let lacks = |number: &&u64| !of_label.iter().any(|row| row.kept.number == **number);
            if let Some(&number) = numbers.iter().find(lacks) {
                return Err(HistoryError::NoSuchResult { number });
            }
            let meant = of_label.iter().filter(|row| numbers.contains(&row.kept.number));
            return Ok(meant.map(|row| row.kept.clone()).collect());
        }
        Pruned::AllBut(kept) => {
            of_label.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX))
        }
        Pruned::Before(date) => of_label.partition_point(|row| row.date < date),
    };
    Ok(of_label[..gone].iter().map(|row| row.kept.clone()).collect())
}

/// Removes what no result needs. An index that is damaged may lack results, so none is used.
const REMOVE_UNUSED: &str = "
DELETE FROM measured WHERE result NOT IN (SELECT id FROM result NOT INDEXED);
DELETE FROM document WHERE id NOT IN (SELECT id FROM result NOT INDEXED)
    AND id NOT IN (SELECT base FROM document WHERE base IS NOT NULL
        AND id IN (SELECT id FROM result NOT INDEXED));
DELETE FROM configuration WHERE id NOT IN (SELECT configuration FROM result NOT INDEXED);
DELETE FROM paths WHERE id NOT IN (SELECT paths FROM result NOT INDEXED);
";

/// Removes these results, with all that only they needed.
pub(crate) fn remove(
    change: &Connection,
    total: Total,
    gone: &[KeptResult],
) -> rusqlite::Result<()> {
    let mut delete = change.prepare("DELETE FROM result WHERE id = ?")?;
    gone.iter().try_for_each(|kept| delete.execute([kept.number.cast_signed()]).map(drop))?;
    Total { results: total.results - gone.len() as u64, ..total }.write(change)?;
    change.execute_batch(REMOVE_UNUSED)
}
