//! Which differences are one cause, which code moved, and that nothing is lost.
#![allow(clippy::unwrap_used, reason = "a test that fails")]

mod debug_info;
mod many;
mod names;
mod program;
mod trees;

use std::collections::HashSet;

use pathmeter_causes::{Kernel, Row, causes};
use pathmeter_model::{Area, Cause, Causes, MoveKind};
use pathmeter_trace::{Event, EventDifferences, Explain, FunctionDifference, SlowInstruction};
use proptest::prelude::*;

use crate::trees::explained;

/// The causes, if each kernel has the functions that it executes and no other.
fn of(explanations: &[Explain]) -> Causes {
    with_more(explanations, [&[], &[]])
}

/// The same of kernels that have these functions too.
fn with_more(explanations: &[Explain], more: [&[&'static str]; 2]) -> Causes {
    let mut kernels = executed(explanations).map(|names| Kernel { names, ..Kernel::default() });
    kernels.iter_mut().zip(more).for_each(|(kernel, more)| kernel.names.extend(more));
    attributed(explanations, Some(&kernels))
}

/// The functions that base and new execute.
fn executed(explanations: &[Explain]) -> [HashSet<&str>; 2] {
    let differences = explanations.iter().filter_map(|it| it.difference.as_ref());
    let functions: Vec<&FunctionDifference> = differences.flat_map(|it| &it.functions).collect();
    let table = |side: fn(&FunctionDifference) -> bool| {
        functions.iter().filter(|it| side(it)).map(|it| &*it.name).collect()
    };
    [table(|it| it.base.is_some()), table(|it| it.new.is_some())]
}

fn attributed(explanations: &[Explain], kernels: Option<&[Kernel<'_>; 2]>) -> Causes {
    let rows: Vec<Row<'_>> = explanations.iter().filter_map(Row::explained).collect();
    let causes = causes(&rows, kernels);
    assert_whole(&causes);
    causes
}

/// The causes' differences in each row add up to the row's, and their shares to one.
fn assert_whole(causes: &Causes) {
    for row in &causes.rows {
        let in_row = causes.causes.iter().flat_map(|cause| &cause.rows);
        let sum: i64 = in_row.filter(|it| it.path == row.path).map(|it| it.difference).sum();
        assert_eq!(sum, row.recorded, "{}", row.path);
    }
    let shares: f64 = causes.causes.iter().map(|cause| cause.share).sum();
    assert!(causes.causes.is_empty() || (shares - 1.0).abs() < 1e-9, "{shares}");
    for Cause { parts, difference, rows, .. } in &causes.causes {
        assert_eq!(parts.iter().map(|part| part.difference).sum::<i64>(), *difference);
        assert_eq!(rows.iter().map(|row| row.difference).sum::<i64>(), *difference);
    }
}

/// The functions of each part of each cause.
fn names(causes: &Causes) -> Vec<Vec<String>> {
    let part = |functions: &Vec<String>| functions.join("+");
    let parts_of = |cause: &Cause| cause.parts.iter().map(|it| part(&it.functions)).collect();
    causes.causes.iter().map(parts_of).collect()
}

/// How many moves were found, with a difference or without.
fn moves(causes: &Causes) -> usize {
    let parts = causes.causes.iter().flat_map(|cause| &cause.parts);
    parts.map(|part| part.moves.len()).sum::<usize>() + causes.moves.len()
}

/// A system call with an entry of this cost, and what it does.
fn call(path: &str, more: bool, does: &str) -> Explain {
    let base = format!("entry_SYSCALL_64 30\n  do_syscall_64 50\n{does}");
    let random = "    prandom_u32_state 40\n";
    let new = format!("entry_SYSCALL_64 30\n  do_syscall_64 49\n{random}{does}");
    explained(path, &base, if more { &new } else { &base })
}

#[test]
fn the_same_difference_in_every_row_is_one_cause() {
    let causes = of(&[
        call("a", true, "    ksys_read 100"),
        call("b", true, "    ksys_write 2000"),
        call("c", true, "    getpid 3"),
    ]);
    assert_eq!(names(&causes), [["prandom_u32_state", "do_syscall_64"]]);
    let cause = &causes.causes[0];
    assert_eq!((cause.difference, cause.rows.len(), cause.area), (117, 3, Area::Entry));
    assert_eq!(cause.caller.as_deref(), Some("entry_SYSCALL_64"));
}

#[test]
fn differences_of_different_rows_are_causes_of_their_own_the_largest_share_first() {
    let base = "do_syscall_64 100\n  vfs_read 5000\n    fsnotify 10";
    let read = explained("read", base, "do_syscall_64 100\n  vfs_read 5000\n    fsnotify 90");
    let causes = of(&[read, call("a", true, ""), call("b", true, "")]);
    assert_eq!(names(&causes), [vec!["prandom_u32_state", "do_syscall_64"], vec!["fsnotify"]]);
}

#[test]
fn a_function_put_into_its_caller_or_taken_out_of_it_is_one_part_with_it() {
    let apart = "exc_page_fault 10\n  do_user_addr_fault 100\n    access_error 30\n";
    let within = "exc_page_fault 10\n  do_user_addr_fault 124\n";
    for (base, new, kind) in
        [(apart, within, MoveKind::Inlined), (within, apart, MoveKind::Outlined)]
    {
        let causes = of(&[explained("a", base, new), explained("b", base, new)]);
        assert_eq!(causes.causes.len(), 1);
        let parts = &causes.causes[0].parts;
        assert_eq!((parts.len(), parts[0].moves[0].kind), (1, kind));
        assert_eq!(parts[0].difference.abs(), 12);
    }
}

#[test]
fn a_function_whose_callees_its_caller_does_not_call_was_not_put_into_it() {
    let base = "schedule 500\n  pick 100\n    rb_first 400\n";
    let new = "schedule 600\n";
    let causes = of(&[explained("a", base, new), explained("b", base, new)]);
    assert_eq!(moves(&causes), 0);
}

#[test]
fn a_growth_that_is_no_vanished_function_is_not_joined_with_one() {
    let base = "do_exit 500\n  cgroup_exit 30\n";
    let new = "do_exit 590\n";
    let causes = of(&[explained("a", base, new), explained("b", base, new)]);
    assert_eq!(moves(&causes), 0);
}

#[test]
fn a_function_whose_reads_its_caller_does_not_make_was_not_put_into_it() {
    let base =
        "exc_page_fault 10\n  do_user_addr_fault 100 loads=40\n    access_error 30 loads=20\n";
    let new = "exc_page_fault 10\n  do_user_addr_fault 130 loads=20\n";
    let causes = of(&[explained("a", base, new), explained("b", base, new)]);
    assert_eq!(moves(&causes), 0);
}

#[test]
fn neighbours_of_two_kinds_of_work_in_one_row_are_two_causes() {
    let base = "copy_process 800\n  alloc_pages 100\n";
    let new = "copy_process 900\n  alloc_pages 150\n";
    assert_eq!(names(&of(&[explained("fork", base, new)])).len(), 2);
}

#[test]
fn a_difference_of_each_call_is_told_only_if_most_rows_have_it() {
    let row = |name: &str, more: u64| {
        let tree = |own: u64| format!("do_syscall_64 100\n  vfs_read {own} returns=2\n");
        explained(name, &tree(50), &tree(50 + more))
    };
    let of_most = of(&[row("a", 8), row("b", 8), row("c", 6)]);
    assert_eq!(of_most.causes[0].per_call.as_ref().unwrap().difference, 4);
    let of_none = of(&[row("a", 8), row("b", 6), row("c", 10)]);
    assert_eq!(of_none.causes[0].per_call, None);
}

#[test]
fn a_loop_of_stores_that_string_instructions_replace_is_one_part_with_its_caller() {
    let base = "kernel_clone 10\n  copy_process 800\n    memset 2\n      \
                memset_orig 2835 stored=16400\n";
    let new = "kernel_clone 10\n  copy_process 830 stored=16384 strings=16384\n";
    let causes = of(&[explained("fork", base, new)]);
    let part = &causes.causes[0].parts[0];
    assert_eq!(part.functions, ["memset_orig", "copy_process"]);
    assert_eq!(part.moves[0].kind, MoveKind::StringInstructions);
}

#[test]
fn a_slow_instruction_of_as_many_instructions_is_a_cause() {
    let base = "entry_SYSCALL_64 30\n  do_syscall_64 50\n";
    let new = "entry_SYSCALL_64 30 lfence=1\n  do_syscall_64 50\n";
    let causes = of(&[explained("a", base, new), explained("b", base, new)]);
    assert_eq!(names(&causes), [["entry_SYSCALL_64"]]);
    let cause = &causes.causes[0];
    assert_eq!((cause.difference, cause.rows.len()), (0, 2));
    assert_eq!(cause.rows[0].events, [(Event::Slow(SlowInstruction::Lfence), 1)].into());
}

#[test]
fn what_handlers_of_interrupts_do_is_one_cause() {
    let tree = |tick: &str, work: u64| {
        format!("common_interrupt 10\n  timer_interrupt 20\n    {tick}\n      update {work}\n")
    };
    let one = explained("user", &tree("hrtimer_interrupt 400", 80), &tree("tick_periodic 40", 70));
    let two = explained("idle", &tree("hrtimer_interrupt 410", 90), &tree("tick_periodic 41", 91));
    let causes = of(&[one, two]);
    assert_eq!(causes.causes.len(), 1, "{:?}", names(&causes));
    assert_eq!(causes.causes[0].area, Area::Timers);
}

#[test]
fn functions_without_calls_are_attributed_too() {
    let change = |function: &str, base, new| pathmeter_model::FunctionChange {
        function: function.to_owned(),
        base_calls: 1,
        new_calls: 1,
        base,
        new,
        difference: i64::try_from(new).unwrap() - i64::try_from(base).unwrap(),
        events: EventDifferences::new(),
    };
    let functions = [change("vfs_read", 10, 30), change("fput", 5, 4)];
    let rows = [Row::of_functions("read", 100, &functions)];
    let causes = causes(&rows, None);
    assert_whole(&causes);
    assert_eq!(causes.rows[0].recorded, 19);
}

#[test]
fn a_function_of_a_row_that_differs_in_events_alone_is_a_cause() {
    let lfence = Event::Slow(SlowInstruction::Lfence);
    let functions = [pathmeter_model::FunctionChange {
        function: "entry_SYSCALL_64".to_owned(),
        base_calls: 4,
        new_calls: 4,
        base: 80,
        new: 80,
        difference: 0,
        events: EventDifferences::from([(lfence, 4)]),
    }];
    let causes = causes(&[Row::of_functions("read", 100, &functions)], None);
    assert_whole(&causes);
    let [cause] = &causes.causes[..] else { panic!("{causes:?}") };
    assert_eq!(cause.parts[0].functions, ["entry_SYSCALL_64"]);
    assert_eq!(cause.rows[0].events, EventDifferences::from([(lfence, 4)]));
}

#[test]
fn equal_windows_have_no_cause() {
    assert_eq!(of(&[call("a", false, "    ksys_read 100")]).causes, []);
    assert_eq!(of(&[]).causes, []);
}

/// Nodes of a tree: how deep at most, which function, how many instructions.
fn nodes() -> impl Strategy<Value = String> {
    prop::collection::vec((0..6usize, 0..12u8, 0..200u64), 1..30).prop_map(|nodes| {
        let mut depth = 0;
        let mut text = "do_syscall_64 10\n".to_owned();
        for (wanted, function, own) in nodes {
            depth = wanted.min(depth) + 1;
            let indent = "  ".repeat(depth);
            text.extend([indent, format!("f{function} {own}\n")]);
        }
        text
    })
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_counted_twice(
        trees in prop::collection::vec((nodes(), nodes()), 1..6),
    ) {
        let explanations: Vec<Explain> = trees
            .iter()
            .enumerate()
            .map(|(row, (base, new))| explained(&format!("row{row}"), base, new))
            .collect();
        let causes = of(&explanations);
        let again = of(&explanations);
        prop_assert_eq!(causes, again);
    }
}
