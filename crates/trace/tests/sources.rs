//! What a resolver that knows the source adds: inlined functions, places, lines.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use pathmeter_trace::{Function, SourceLine, WindowTree, difference};

const A: u64 = K + 0x100;
const B: u64 = K + 0x200;
const C: u64 = K + 0x300;
const COLD: u64 = K + 0x1500;
const FAULT: u64 = K + 0x1300;
const SLOT: u64 = STACK_A - 0x100;

/// The one window's tree, with source.
fn tree(writer: &mut Writer) -> WindowTree {
    let tree = whole(&writer.stop(), &names_with_sources()).representative.unwrap();
    assert_adds_up(&tree);
    tree
}

fn function<'a>(tree: &'a WindowTree, name: &str) -> &'a Function {
    tree.functions.iter().find(|function| function.name == name).unwrap()
}

/// Lines with what they executed, read and wrote.
fn lines(function: &Function) -> Vec<(&SourceLine, [u64; 3])> {
    let lines = function.lines.iter();
    lines.map(|line| (&line.source, [line.instructions, line.loads, line.stores])).collect()
}

/// `a` runs into what is inlined there, from which it calls `b`.
fn with_inlined() -> WindowTree {
    tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(A, 2).jmp(A + 2, A + 0x10).nops(A + 0x10, 8);
        w.at(A + 0x18, LOAD_RAX).load(0x1234, 3).call(A + 0x1b, B, SLOT - 8);
        w.nops(B, 1).ret(B + 1, SLOT - 8).jmp(A + 0x20, A + 0x30).ret(A + 0x30, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }))
}

#[test]
fn inlined_functions_have_a_place_of_their_own_and_their_calls_are_theirs() {
    let expected = ["   a call 5", "    outer inlined 8", "     inner inlined 2", "      b call 2"];
    assert_eq!(draw_tree(&with_inlined())[3..], expected);
}

#[test]
fn the_same_function_inlined_in_caller_and_callee_has_two_places() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A + 0x10, SLOT).call(A + 0x10, B + 0x10, SLOT - 8);
        w.ret(B + 0x10, SLOT - 8).ret(A + 0x15, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let places = tree.nodes.iter().filter(|node| tree.name(node) == "outer");
    let places: Vec<u64> = places.map(|node| node.counts.instructions).collect();
    assert_eq!(places, [2, 1]);
}

#[test]
fn a_function_begins_at_its_entry_and_an_inlined_one_at_its_first_line() {
    let tree = with_inlined();
    let begins = |name| {
        let function = function(&tree, name);
        (function.address.as_deref(), function.source.clone())
    };
    assert_eq!(begins("a"), (Some("0xffffffff81000100"), Some(source("a.c", 10))));
    assert_eq!(begins("b"), (Some("0xffffffff81000200"), Some(source("b.c", 10))));
    assert_eq!(begins("outer"), (None, Some(source("lib.h", 1))));
    assert_eq!(begins("inner"), (None, Some(source("lib.h", 7))));
    assert_eq!(begins("[user]"), (None, None));
    assert_eq!(begins("[task 1]"), (None, None));
}

#[test]
fn a_function_that_only_wraps_an_inlined_one_begins_at_its_call() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).jmp(A, A + 0x18).nops(A + 0x18, 2).jmp(A + 0x1a, A + 0x30);
        w.ret(A + 0x30, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let outer = function(&tree, "outer");
    assert_eq!((outer.counts.instructions, outer.lines.len()), (0, 0));
    assert_eq!(outer.source, Some(source("lib.h", 2)));
}

#[test]
fn each_line_has_its_own_counts() {
    let tree = with_inlined();
    let (first, after, last) = (source("a.c", 10), source("a.c", 18), source("a.c", 22));
    let expected = [(&first, [3, 0, 0]), (&after, [1, 0, 0]), (&last, [1, 1, 0])];
    assert_eq!(lines(function(&tree, "a")), expected);
    assert_eq!(lines(function(&tree, "outer")), [(&source("lib.h", 1), [8, 0, 0])]);
    assert_eq!(lines(function(&tree, "inner")), [(&source("lib.h", 7), [2, 1, 1])]);
    assert!(function(&tree, "[user]").lines.is_empty());
}

#[test]
fn a_part_moved_away_is_no_entry() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, COLD, SLOT).jmp(COLD, A + 8).ret(A + 8, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let a = function(&tree, "a");
    // Entered in its cold part, it still begins at its symbol.
    assert_eq!(a.address.as_deref(), Some("0xffffffff81000100"));
    assert_eq!(a.source, Some(source("a.c", 10)));
    let places: Vec<_> = a.lines.iter().map(|line| &line.source).collect();
    assert_eq!(places, [&source("a.c", 12), &source("a.cold.c", 10)]);
}

#[test]
fn what_faults_or_follows_the_last_stamp_counts_in_no_line() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).at(A, LOAD_RAX).nops(FAULT, 1).at(FAULT + 1, IRET);
        w.at(A, LOAD_RAX).load(0x1234, 3).ret(A + 3, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(lines(function(&tree, "a")), [(&source("a.c", 10), [2, 2, 0])]);
    let mut after = Writer::new();
    after
        .begin_stamped()
        .at(A, RDTSC)
        .nops(A + 2, 1)
        .at(A + 3, RDTSC)
        .nops(A + 5, 3)
        .at(A + 8, LOAD_RAX);
    let recording = whole(&after.load(0x1234, 3).end().stop(), &names_with_sources());
    let tree = recording.representative.unwrap();
    assert_eq!(lines(function(&tree, "a")), [(&source("a.c", 10), [2, 0, 0])]);
}

#[test]
fn without_source_there_are_addresses_only() {
    let mut writer = Writer::new();
    writer.syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).ret(A, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    });
    let bytes = writer.stop();
    for (tree, name) in [
        (whole(&bytes, &names()).representative.unwrap(), "a"),
        (whole(&bytes, &pathmeter_trace::NoSymbols).representative.unwrap(), "0xffffffff81000100"),
    ] {
        let a = function(&tree, name);
        assert_eq!(a.address.as_deref(), Some("0xffffffff81000100"));
        assert_eq!((&a.source, a.lines.len()), (&None, 0));
    }
}

#[test]
fn the_same_function_elsewhere_is_the_same() {
    let calling = |function| {
        tree(Writer::new().syscall(|w| {
            w.call(ENTRY + 1, function, SLOT).nops(function, 3).ret(function + 3, SLOT);
            w.jmp(ENTRY + 6, ENTRY + 0x80);
        }))
    };
    let (base, mut new) = (calling(B), calling(C));
    let moved = new.functions.iter_mut().find(|function| function.name == "c").unwrap();
    moved.name = "b".to_owned();
    let of_b = function(&base, "b");
    assert!(of_b.address != moved.address && of_b.source != moved.source);
    let difference = difference(&base, &new);
    assert!(difference.functions.iter().all(|row| row.difference == 0 && row.base.is_some()));
    assert!(difference.tree.iter().all(|node| node.base == node.new));
}
