//! The difference of two windows, and the document: what others read.
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter-trace` writes the schema anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::*;
use pathmeter_trace::causes::{CauseRow, Causes};
use pathmeter_trace::{
    Change, Difference, Event, Explain, ExplainFault, NodeKind, RecordedWindows, SlowInstruction,
    SubjectWindow, WindowTree, difference, is_of_program,
};
use proptest::prelude::*;
use serde_json::Value;

const A: u64 = K + 0x100;
const B: u64 = K + 0x200;
const SLOT: u64 = STACK_A - 0x100;

/// Calls each function with that many nops in it.
fn calling(w: &mut Writer, functions: &[(u64, u64)]) {
    w.syscall(|w| {
        for (index, (function, nops)) in (0..).zip(functions) {
            w.call(ENTRY + 1 + index * 5, *function, SLOT);
            w.nops(*function, *nops).at(function + nops, POPF).load(SLOT - 8, 3);
            w.ret(function + nops + 1, SLOT);
        }
        w.jmp(ENTRY + 1 + 5 * functions.len() as u64, ENTRY + 0x80);
    });
}

fn window(functions: &[(u64, u64)]) -> WindowTree {
    let mut writer = Writer::new();
    calling(&mut writer, functions);
    tree(&mut writer)
}

fn assert_exact(difference: &Difference, base: &WindowTree, new: &WindowTree) {
    let total = new.total.cast_signed() - base.total.cast_signed();
    let of_functions: i64 = difference.functions.iter().map(|row| row.difference).sum();
    let of_nodes: i64 =
        difference.tree.iter().map(|node| node.new.cast_signed() - node.base.cast_signed()).sum();
    assert_eq!([difference.total, of_functions, of_nodes], [total; 3]);
    let by_mode = [Event::User, Event::Kernel];
    let of_events = difference.functions.iter().flat_map(|row| &row.events);
    let of_events: i64 =
        of_events.filter(|(event, _)| by_mode.contains(event)).map(|(_, count)| count).sum();
    assert_eq!(of_events, total);
    let roots = difference.tree.iter().filter(|node| node.parent.is_none());
    let inclusive =
        roots.fold((0, 0), |sum, node| (sum.0 + node.base_inclusive, sum.1 + node.new_inclusive));
    assert_eq!(inclusive, (base.total, new.total));
}

#[test]
fn what_appeared_vanished_grew_and_shrank() {
    let (c, d) = (K + 0x300, K + 0x400);
    let (base, new) = (window(&[(A, 1), (B, 2), (c, 9)]), window(&[(A, 4), (c, 7), (d, 5)]));
    let difference = difference(&base, &new);
    assert_exact(&difference, &base, &new);
    let rows: Vec<(&str, Change, i64)> = difference
        .functions
        .iter()
        .filter(|row| row.change != Change::Same)
        .map(|row| (row.name.as_str(), row.change, row.difference))
        .collect();
    let expected = [
        ("d", Change::Appeared, 7),
        ("b", Change::Vanished, -4),
        ("a", Change::Grew, 3),
        ("c", Change::Shrank, -2),
    ];
    assert_eq!(rows, expected);
    assert_eq!(difference.census, [].into());
    assert_eq!(difference.functions[0].new.as_ref().unwrap().census[&SlowInstruction::Popf], 1);
}

#[test]
fn clones_of_a_function_are_the_function() {
    let mut base = window(&[(A, 3)]);
    let new = window(&[(A, 3)]);
    base.functions.iter_mut().find(|of| of.name == "a").unwrap().name = "a.isra.0".to_owned();
    let difference = difference(&base, &new);
    assert!(difference.functions.iter().all(|row| row.change == Change::Same));
    let paths: Vec<(&str, NodeKind)> =
        difference.tree.iter().map(|node| (node.name.as_str(), node.kind)).collect();
    assert_eq!(paths[3], ("a", NodeKind::Call));
    assert_eq!(paths.len(), 4);
}

#[test]
fn events_and_places_differ_where_the_instructions_are_as_many() {
    let of = |access: u64, function: u64| {
        let mut writer = Writer::new();
        writer.syscall(|w| {
            w.call(ENTRY + 1, function, SLOT).at(function, LOAD_RAX).load(access, 3);
            w.ret(function + 3, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
        });
        let names = Names(vec![(ENTRY, "entry"), (function, "a")]);
        whole(&writer.stop(), &names).representative.unwrap()
    };
    let (base, new) = (of(0x1ff8, A), of(0x1ffc, A + 0x10));
    let difference = difference(&base, &new);
    assert_exact(&difference, &base, &new);
    let split = [(Event::SplitAccesses, 1), (Event::DataLines, 1), (Event::DataPages, 1)];
    let split: Vec<_> = split.into_iter().collect();
    let a = difference.functions.iter().find(|row| row.name == "a").unwrap();
    assert_eq!((a.change, a.moved), (Change::Same, true));
    assert_eq!(a.events.clone().into_iter().collect::<Vec<_>>(), split);
    assert_eq!(difference.events, a.events);
    let entry = difference.functions.iter().find(|row| row.name == "entry").unwrap();
    assert_eq!((entry.moved, entry.events.len()), (false, 0));
    assert_eq!(serde_json::to_value(&a.events).unwrap()["split-accesses"], 1);
}

fn subject(window: WindowTree) -> SubjectWindow {
    let mut writer = Writer::new();
    calling(&mut writer, &[(A, 1)]);
    let recording = whole(&writer.stop(), &names());
    let mut subject =
        SubjectWindow::new("a.b".into(), "vmlinuz".into(), "00".into(), &recording).unwrap();
    subject.window = window;
    subject
}

#[test]
fn the_schema_is_published_and_names_every_field() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/pathmeter.explain-1.json");
    let schema = pathmeter_seal::document_schema::<Explain>();
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    let published: Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "the schema is stale: run with PATHMETER_BLESS=1");
    let (base, new) = (window(&[(A, 1)]), window(&[(B, 1)]));
    let explain = Explain::new(subject(base), Some(subject(new)));
    let text = pathmeter_seal::to_document(&explain).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    for field in published["required"].as_array().unwrap() {
        assert!(!document[field.as_str().unwrap()].is_null(), "{field}");
    }
    assert_eq!(document["schema"], "pathmeter.explain/1");
    assert_eq!(document["difference"]["functions"][0]["change"], "vanished");
    let content = pathmeter_seal::unsealed(text.as_bytes()).unwrap();
    let read: Explain = serde_json::from_slice(&content).unwrap();
    assert_eq!(read, explain);
}

proptest! {
    #[test]
    fn differences_add_up(
        base in prop::collection::vec((1_u64..6, 0_u64..99), 0..9),
        new in prop::collection::vec((1_u64..6, 0_u64..99), 0..9),
    ) {
        let placed = |calls: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
            calls.into_iter().map(|(function, nops)| (K + function * 0x100, nops)).collect()
        };
        let (base, new) = (window(&placed(base)), window(&placed(new)));
        assert_exact(&difference(&base, &new), &base, &new);
    }
}

#[test]
fn a_document_from_a_file_is_checked_before_its_trees_are_walked() {
    let side = |name: &str, functions: &[(u64, u64)]| {
        let windows = RecordedWindows { recorded: 1, interrupted: 0, unstamped: 0, alike: 1 };
        let window = window(functions);
        let (path, name, image_sha256) = ("a.b".to_owned(), name.to_owned(), "a0".repeat(32));
        SubjectWindow {
            path,
            name,
            image_sha256,
            measured_with: None,
            windows,
            idle: 0,
            program: None,
            window,
        }
    };
    let whole = Explain::new(side("base", &[(A, 1)]), Some(side("new", &[(A, 4), (B, 2)])));
    assert_eq!(whole.check(), Ok(()));
    let fault = |change: fn(&mut Explain)| {
        let mut changed = whole.clone();
        change(&mut changed);
        changed.check().unwrap_err()
    };
    assert_eq!(fault(|it| it.base.window.nodes[1].parent = Some(7)), ExplainFault::Tree);
    assert_eq!(fault(|it| it.base.window.nodes[0].parent = Some(0)), ExplainFault::Tree);
    assert_eq!(fault(|it| it.base.window.nodes[0].function = 99), ExplainFault::Tree);
    assert_eq!(fault(|it| it.base.window.total += 1), ExplainFault::Total);
    assert_eq!(
        fault(|it| it.base.window.functions[0].counts.user_instructions = 999),
        ExplainFault::Total
    );
    assert_eq!(fault(|it| it.base.window.nodes[0].counts.loads = u64::MAX), ExplainFault::TooLarge);
    assert_eq!(fault(|it| it.base.window.footprint.code_lines = u64::MAX), ExplainFault::TooLarge);
    let of_functions: [fn(&mut Explain); 6] = [
        |it| it.base.window.functions[0].counts.loads += 1,
        |it| it.base.window.nodes[0].counts.stores += 1,
        |it| {
            let mut functions = it.base.window.functions.iter_mut();
            *functions.find_map(|it| it.events.values_mut().next()).unwrap() += 1;
        },
        |it| *it.base.window.census.values_mut().next().unwrap() += 1,
        |it| *it.base.window.events.get_mut(&Event::Kernel).unwrap() += 1,
        |it| it.base.window.clock += 1,
    ];
    for (number, change) in of_functions.into_iter().enumerate() {
        assert_eq!(fault(change), ExplainFault::Functions, "{number}");
    }
    assert_eq!(fault(|it| it.difference = None), ExplainFault::Difference);
    // Causes of no difference, and of none that is there.
    assert_eq!(fault(|it| it.causes = Some(Causes::default())), ExplainFault::Causes);
    let row = |recorded| CauseRow { path: "a.b".into(), base: 3, recorded, executions: None };
    let causes = |recorded| Causes { rows: vec![row(recorded)], ..Causes::default() };
    let total = whole.difference.as_ref().unwrap().total;
    for recorded in [0, total] {
        let changed = Explain { causes: Some(causes(recorded)), ..whole.clone() };
        assert_eq!(changed.check(), Err(ExplainFault::Causes), "{recorded}");
    }
}

/// The kernel has functions of the same names as a program.
#[test]
fn a_function_of_a_program_is_matched_with_its_file() {
    let mut windows = [window(&[(A, 1), (B, 2)]), window(&[(A, 4), (B, 2)])];
    for (side, function) in windows.iter_mut().flat_map(|it| it.functions.iter_mut()).enumerate() {
        // As in a tree of a program: what has no entry is a root.
        if function.address.is_some() {
            function.name = format!("memcpy.isra.{side}");
        }
    }
    for window in &mut windows {
        let last = window.functions.last_mut().unwrap();
        (last.module, last.address) = (Some("libc.so.6".into()), Some("0x1000".into()));
    }
    let [base, new] = windows;
    let found = difference(&base, &new);
    assert_exact(&found, &base, &new);
    let names: Vec<&str> = found.functions.iter().map(|it| &*it.name).collect();
    for name in ["memcpy", "memcpy [libc.so.6]"] {
        assert!(names.contains(&name), "{names:?}");
        assert!(found.tree.iter().any(|node| node.name == name), "{name}");
    }
    assert_eq!(names.iter().filter(|name| is_of_program(name)).count(), 1);
    // Dots are of the compiler in C, and of the name in Go.
    let named = |name: &str| {
        let mut window = new.clone();
        window.functions.last_mut().unwrap().name = name.to_owned();
        window.functions.last().unwrap().plain_name().to_owned()
    };
    assert_eq!(named("runtime.mallocgc"), "runtime.mallocgc");
    assert_eq!(named("memcpy.constprop.0.cold"), "memcpy");
}
