//! Comparisons of times that came from a file: as of a result, what the rest relies on is checked.

use crate::reading::bounds::{OF_COMPARISONS, check_names, field, first_complaint, quoted};
use crate::{
    Joined, JoinedRow, ParseError, TimeComparison, TimeRow, TimeVerdict, check_comparison,
};

/// Checks a comparison of times: its bounds, that no path is there twice, and that what a verdict
/// rests on is there and in order.
///
/// # Errors
/// Any [`ParseError`] but those of reading.
pub fn check_time_comparison(comparison: &TimeComparison) -> Result<(), ParseError> {
    check_names(comparison.paths.iter().map(|row| &*row.path), OF_COMPARISONS)?;
    let mut rows = comparison.paths.iter();
    let contradiction = rows.find_map(|row| contradiction(row).map(|what| (row, what)));
    contradiction.map_or(Ok(()), |(row, what)| Err(field(&quoted(&row.path), what)))
}

/// Checks counts and times that were joined: both, and the rows.
///
/// # Errors
/// As [`check_time_comparison`].
pub fn check_joined(joined: &Joined) -> Result<(), ParseError> {
    check_comparison(&joined.exact)?;
    check_time_comparison(&joined.times)?;
    check_names(joined.paths.iter().map(|row| &*row.path), OF_COMPARISONS)?;
    let wrong = joined.paths.iter().find_map(|row| Some((row, joined_contradiction(joined, row)?)));
    wrong.map_or(Ok(()), |(row, what)| Err(field(&quoted(&row.path), what)))
}

/// What contradicts what, of a joined row.
fn joined_contradiction(joined: &Joined, row: &JoinedRow) -> Option<&'static str> {
    let counted = joined.exact.paths.iter().find(|it| it.path == row.path);
    let timed = joined.times.paths.iter().find(|it| it.path == row.path);
    let predicted = row.predicted.as_ref().map(|it| it.interval);
    first_complaint([
        (counted.is_none_or(|it| it.verdict != row.exact), "its count has another verdict"),
        (timed.is_none_or(|it| it.verdict != row.time), "its time has another verdict"),
        (is_turned(row.interval) || is_turned(predicted), "its interval ends before it begins"),
    ])
}

fn is_turned(interval: Option<[f64; 2]>) -> bool {
    interval.is_some_and(|[low, high]| low > high)
}

fn contradiction(row: &TimeRow) -> Option<&'static str> {
    let decided =
        matches!(row.verdict, TimeVerdict::Slower | TimeVerdict::Faster | TimeVerdict::Equal);
    let (base, new) = (row.base.is_some(), row.new.is_some());
    first_complaint([
        (decided && !(base && new && row.difference.is_some()), "it has a verdict and no times"),
        (is_turned(row.interval), "its interval ends before it begins"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_NAME_BYTES, example};

    fn comparison() -> TimeComparison {
        let [base, new] = [10_000, 11_000].map(|ticks| {
            let levels: Vec<u64> = (0..20).map(|at| ticks + at % 5).collect();
            vec![example::times(&[("a.b", 1, &levels), ("a.c", 1, &levels)])]
        });
        TimeComparison::of_two([&base, &new], |_| true, 0.02).unwrap()
    }

    #[test]
    fn a_comparison_is_read_as_it_was_written() {
        let written = comparison();
        let text = serde_json::to_string(&written).unwrap();
        let read: TimeComparison = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(read.paths[0].verdict, TimeVerdict::Slower);
        check_time_comparison(&read).unwrap();
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let changes: [fn(&mut TimeComparison); 4] = [
            |it| it.paths[1].path = "a.b".into(),
            |it| it.paths[0].new = None,
            |it| it.paths[0].interval = Some([2.0, 1.0]),
            |it| it.paths[0].path = "a".repeat(MAX_NAME_BYTES + 1),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = comparison();
            change(&mut changed);
            assert!(check_time_comparison(&changed).is_err(), "{number}");
        }
    }
}
