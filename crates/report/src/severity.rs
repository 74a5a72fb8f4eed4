//! Which change comes first.

use std::cmp::Reverse;

use pathmeter_model::{PathComparison, RowKind, Verdict};

/// Sorts the worst first: what is broken, then what costs more, by percent; then what costs less.
/// Of a program, its own work together comes first, and work that is not its own last.
pub(crate) fn worst_first(paths: &[PathComparison]) -> Vec<&PathComparison> {
    let mut sorted: Vec<&PathComparison> = paths.iter().collect();
    sorted.sort_by_key(|path| (!is_all_own(path), !path.is_own_work(), severity(path)));
    sorted
}

/// How bad a row is by itself, the worst first: by its verdict, then by percent.
pub(crate) fn severity(path: &PathComparison) -> (u8, Reverse<u64>, Reverse<u64>) {
    (rank(path.verdict), Reverse(millionths(path)), Reverse(size(path)))
}

/// The rows of a program in the order of its table on a terminal: its own work together, its
/// regions and windows, then its rows; last, work that is not its own. Of each kind, those that
/// changed come first, and the most changed instructions.
pub(crate) fn most_changed_first(paths: &[PathComparison]) -> Vec<&PathComparison> {
    let mut sorted: Vec<&PathComparison> = paths.iter().collect();
    sorted.sort_by_key(|path| {
        let is_broken = path.verdict == Verdict::Broken;
        let is_unchanged = matches!(path.verdict, Verdict::Same | Verdict::Unsupported);
        let kind = (!is_all_own(path), !path.is_own_work(), path.work.is_some());
        (kind, !is_broken, is_unchanged, Reverse(size(path)))
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
    use pathmeter_model::{OWN_WORK, Threshold, compare, example};

    use super::*;

    /// Compares a program in which a timer's interrupt and two system calls cost so much.
    fn compare_rows(calls: [&str; 2], base: [u64; 3], new: [u64; 3]) -> Vec<PathComparison> {
        let result = |[timer, first, second]: [u64; 3]| {
            let rows = vec![
                row(RowKind::Interrupt, "timer", 1, timer),
                row(RowKind::Syscall, calls[0], 1, first),
                row(RowKind::Syscall, calls[1], 1, second),
            ];
            let configuration = example::configuration("6.1.0", 6);
            program("vmlinuz", configuration, vec![run(0, rows); 7]).result()
        };
        compare(&result(base), &result(new), Threshold::default()).paths
    }

    #[test]
    fn what_is_not_the_programs_own_work_comes_last_however_much_it_grew() {
        let paths = compare_rows(["read", "open"], [10, 100, 100], [1000, 101, 150]);
        let rows = worst_first(&paths)
            .into_iter()
            .filter(|row| row.work.as_ref().is_some_and(|work| !work.kind.is_total()));
        let names: Vec<&str> = rows.map(|row| row.path.as_str()).collect();
        assert_eq!(names, ["open", "read", "timer interrupt (timer)"]);
    }

    #[test]
    fn of_a_program_the_most_instructions_come_first_after_its_own_work() {
        let paths = compare_rows(["pipe2", "openat"], [10, 900, 500_000], [9000, 1557, 507_295]);
        let names: Vec<&str> =
            most_changed_first(&paths).into_iter().map(|row| row.path.as_str()).collect();
        assert_eq!(names[..3], [OWN_WORK, "openat", "pipe2"]);
        assert_eq!(worst_first(&paths)[1].path, "pipe2");
    }
}
