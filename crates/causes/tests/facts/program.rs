//! Rows of programs: their own functions, and executions that one kernel has more of.

use pathmeter_causes::of_row;
use pathmeter_model::{Area, Cause, Causes, EXECUTIONS};
use pathmeter_trace::{Explain, ProgramTree};
use proptest::prelude::*;

use crate::trees::explained;
use crate::{assert_whole, moves, names};

/// A row of a program that is executed so often on base and on new.
fn row(executions: [u64; 2], base: &str, new: &str) -> Explain {
    let explain = explained("read", base, new);
    let with = |mut side: pathmeter_trace::SubjectWindow, calls| {
        side.program = Some(ProgramTree {
            command: vec!["prog".to_owned()],
            run: 2,
            calls,
            deeper: 0,
            beyond: 0,
            without_symbols: vec![],
            unused_debug: vec![],
            unnamed_code: false,
        });
        // Names with their file are those of the program's functions.
        for function in &mut side.window.functions {
            if let Some((name, file)) = function.name.clone().split_once('+') {
                (function.name, function.module) = (name.to_owned(), Some(file.to_owned()));
                function.counts.user_instructions = function.counts.instructions;
            }
        }
        for node in &mut side.window.nodes {
            if side.window.functions[node.function as usize].module.is_some() {
                node.counts.user_instructions = node.counts.instructions;
            }
        }
        side
    };
    let [of_base, of_new] = executions;
    Explain::new(with(explain.base, of_base), explain.new.map(|new| with(new, of_new)))
}

fn of(executions: [u64; 2], base: &str, new: &str) -> Causes {
    let explain = row(executions, base, new);
    let causes = of_row(&explain, None).unwrap();
    assert_whole(&causes);
    let total = explain.difference.as_ref().unwrap().total;
    assert_eq!(causes.rows.iter().map(|row| row.recorded).collect::<Vec<_>>(), [total]);
    let explain = Explain { causes: Some(causes.clone()), ..explain };
    assert_eq!(explain.check(), Ok(()));
    causes
}

#[test]
fn each_function_of_a_program_is_a_cause_of_its_own_and_nothing_moved_to_it() {
    let base = "main+prog 100\n  parse+prog 50\n    memcpy+libc.so.6 30\n    exc_page_fault 40\n";
    let new = "main+prog 120\n  parse+prog 60\n    memcpy+libc.so.6 10\n    exc_page_fault 44\n";
    let new = &format!("{new}      memcpy 6\n");
    let causes = of([1, 1], base, new);
    let mut found = names(&causes);
    found.sort();
    // The kernel's own memcpy is another function.
    let mut expected = [
        vec!["main [prog]"],
        vec!["parse [prog]"],
        vec!["memcpy [libc.so.6]"],
        vec!["memcpy", "exc_page_fault"],
    ];
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(moves(&causes), 0);
    let users = causes.causes.iter().filter(|cause| cause.area == Area::User);
    assert_eq!(users.count(), 3);
}

#[test]
fn what_a_caller_of_the_program_lost_was_not_put_into_another_function() {
    // As much as a function of the kernel has that appeared.
    let causes = of([1, 1], "main+prog 130\n  a+prog 5\n", "main+prog 100\n  b+prog 30\n");
    assert_eq!(moves(&causes), 0);
    assert_eq!(causes.causes.len(), 3);
}

fn difference(causes: &Causes, function: &str) -> Option<i64> {
    let has = |cause: &&Cause| cause.parts.iter().any(|part| part.functions == [function]);
    causes.causes.iter().find(has).map(|cause| cause.difference)
}

#[test]
fn more_executions_are_a_cause_and_the_others_are_of_as_many() {
    let (base, new) = ("ksys_read 400\n  vfs_read 800\n", "ksys_read 500\n  vfs_read 1050\n");
    let causes = of([4, 5], base, new);
    // Four of 300 are five of 300 less one, and five of 10 more.
    assert_eq!(difference(&causes, EXECUTIONS), Some(300));
    assert_eq!(difference(&causes, "vfs_read"), Some(50));
    assert_eq!(causes.causes.len(), 2);
    assert_eq!(causes.rows[0].executions, Some([4, 5]));
    assert_eq!(causes.rows[0].base, 1200);
    // As many executions need no such cause, and neither does what is not called.
    for executions in [[4, 4], [0, 0], [0, 5]] {
        let causes = of(executions, base, new);
        assert_eq!(difference(&causes, EXECUTIONS), None, "{executions:?}");
    }
}

#[test]
fn fewer_executions_of_a_row_that_costs_as_much_are_the_only_cause() {
    let causes = of([7, 3], "a 70\n  b 7\n  c 700\n    b 14\n", "a 30\n  b 3\n  c 300\n    b 6\n");
    assert_eq!(names(&causes), [[EXECUTIONS]]);
    assert_eq!(causes.causes[0].difference, 339 - 791);
}

proptest! {
    #[test]
    fn causes_of_rows_add_up_however_often_they_are_executed(
        executions in prop::array::uniform2(0_u64..50),
        base in prop::collection::vec((0_usize..9, 0_u64..9999), 1..12),
        new in prop::collection::vec((0_usize..9, 0_u64..9999), 1..12),
    ) {
        let text = |nodes: &[(usize, u64)]| -> String {
            let line = |(depth, (number, own)): (usize, &(usize, u64))| {
                let file = if depth < 2 { "+prog" } else { "" };
                format!("{}f{number}{file} {own}\n", "  ".repeat(depth))
            };
            nodes.iter().enumerate().map(line).collect()
        };
        of(executions, &text(&base), &text(&new));
    }
}
