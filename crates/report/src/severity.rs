//! Which change comes first.

use std::cmp::Reverse;

use pathmeter_model::{PathComparison, RowKind, Verdict};

/// Sorts the worst first: what is broken, then what costs more, by percent; then what costs less.
/// Of a program, its own work together comes first, and work that is not its own last.
pub(crate) fn worst_first(paths: &[PathComparison]) -> Vec<&PathComparison> {
    let mut sorted: Vec<&PathComparison> = paths.iter().collect();
    sorted.sort_by_key(|path| {
        let worst = (rank(path.verdict), Reverse(millionths(path)), Reverse(size(path)));
        (!is_all_own(path), !path.is_own_work(), worst)
    });
    sorted
}

/// Whether it is all own work of a program together.
pub(crate) fn is_all_own(path: &PathComparison) -> bool {
    path.work.as_ref().is_some_and(|work| work.kind == RowKind::OwnWork)
}

/// The place of a verdict, the worst 0.
pub(crate) fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Broken => 0,
        Verdict::Higher | Verdict::LongerTail => 1,
        Verdict::ModeAppeared => 2,
        Verdict::EventsDiffer => 3,
        Verdict::Lower | Verdict::ShorterTail => 4,
        Verdict::Same => 5,
        Verdict::Unsupported => 6,
    }
}

/// How much it differs, in millionths of base: integers sort.
fn millionths(path: &PathComparison) -> u64 {
    let (Some(base), Some(difference)) = (path.base, path.difference) else { return 0 };
    let millionths = u128::from(difference.unsigned_abs()) * 1_000_000 / u128::from(base.max(1));
    u64::try_from(millionths).unwrap_or(u64::MAX)
}

fn size(path: &PathComparison) -> u64 {
    path.difference.map_or(0, i64::unsigned_abs)
}

/// A verdict in words for the page.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "same",
        Verdict::Lower => "lower",
        Verdict::Higher => "higher",
        Verdict::ModeAppeared => "mode-appeared",
        Verdict::LongerTail => "longer-tail",
        Verdict::ShorterTail => "shorter-tail",
        Verdict::EventsDiffer => "events-differ",
        Verdict::Unsupported => "unsupported",
        Verdict::Broken => "broken",
    }
}

#[cfg(test)]
mod tests {
    use pathmeter_model::example::runs::{program, row, run};
    use pathmeter_model::{Threshold, compare, example};

    use super::*;

    #[test]
    fn what_is_not_the_programs_own_work_comes_last_however_much_it_grew() {
        let result = |[timer, read, open]: [u64; 3]| {
            let rows = vec![
                row(RowKind::Interrupt, "timer", 1, timer),
                row(RowKind::Syscall, "read", 1, read),
                row(RowKind::Syscall, "open", 1, open),
            ];
            let configuration = example::configuration("6.1.0", 6);
            program("vmlinuz", configuration, vec![run(0, rows); 7]).result()
        };
        let (base, new) = (result([10, 100, 100]), result([1000, 101, 150]));
        let paths = compare(&base, &new, Threshold::default()).paths;
        let rows = worst_first(&paths)
            .into_iter()
            .filter(|row| row.work.as_ref().is_some_and(|work| !work.kind.is_total()));
        let names: Vec<&str> = rows.map(|row| row.path.as_str()).collect();
        assert_eq!(names, ["open", "read", "timer interrupt (timer)"]);
    }
}
