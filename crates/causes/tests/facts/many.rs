//! Input that is large or lacks a side: the time is bounded, and the sums are exact.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pathmeter_trace::Explain;

use crate::trees::{alone, explained};
use crate::{moves, of};

/// Functions of a large recording.
const MANY: usize = 5_000;
/// Far above what the causes of so many functions take in a build without optimization.
const LONG: Duration = Duration::from_secs(120);

/// A row in which all functions have another name on new; `leaf` are the instructions of each.
fn renamed(leaf: fn(usize) -> usize) -> Explain {
    let tree = |suffix: &str| {
        let mut text = "do_syscall_64 10\n".to_owned();
        for number in 0..MANY {
            writeln!(text, "  step_{number}_{suffix} {}", leaf(number)).unwrap();
        }
        text
    };
    explained("row", &tree("old"), &tree("new"))
}

#[test]
fn thousands_of_names_that_changed_take_no_long_time() {
    let started = Instant::now();
    // Each as long as another one, or all of one length: the worst case for pairs of two.
    for leaf in [|number| 10 + number, |_| 40] {
        let causes = of(&[renamed(leaf)]);
        assert_eq!((causes.rows[0].recorded, moves(&causes)), (0, MANY));
    }
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
}

#[test]
fn thousands_of_functions_that_differ_are_all_in_causes() {
    let tree = |more: usize| {
        let mut text = "do_syscall_64 10\n".to_owned();
        for number in 0..MANY {
            writeln!(text, "  step{number} {}", 10 + more * (number % 7)).unwrap();
        }
        text
    };
    let started = Instant::now();
    let causes = of(&[explained("a", &tree(0), &tree(1)), explained("b", &tree(0), &tree(3))]);
    let all: usize = (0..MANY).map(|number| number % 7).sum();
    assert_eq!(
        causes.rows.iter().map(|row| row.recorded).sum::<i64>(),
        4 * i64::try_from(all).unwrap()
    );
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
}

#[test]
fn a_row_that_one_kernel_alone_has_is_in_no_cause() {
    let both = explained("a", "vfs_read 10\n", "vfs_read 14\n");
    let causes = of(&[both, alone("b", "vfs_write 900\n")]);
    let rows: Vec<&str> = causes.rows.iter().map(|row| &*row.path).collect();
    assert_eq!((rows, causes.causes.len()), (vec!["a"], 1));
    assert_eq!(of(&[alone("b", "vfs_write 900\n")]).causes, []);
}
