//! Explanations as printed and drawn. `INSTA_UPDATE=always cargo test -p pathmeter-report` writes
//! them anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use pathmeter_model::example::row;
use pathmeter_model::{Area, Cause, CauseInRow, CausePart, CauseRow, Causes, EXECUTIONS, Typical};
use pathmeter_report::{
    FlameError, Least, Limits, Style, beside_row, callgrind, explanation, flame_graph,
    folded_stacks,
};
use pathmeter_trace::{
    Census, Change, Counts, Event, EventCounts, EventDifferences, Explain, Footprint, Function,
    LineCounts, Node, NodeKind, ProgramTree, RecordedWindows, SlowInstruction, SourceLine,
    SubjectWindow, UnusedDebug, WindowTree,
};

const PLAIN: Style = Style { colour: false, width: None, table_width: None };
const COLOURED: Style = Style { colour: true, width: None, table_width: None };
const ALL: Limits =
    Limits { depth: None, least: Least::Instructions(0), most: None, placement: false };

/// What a test gives of a node: parent, function, kind, instructions.
type Row = (Option<u32>, &'static str, NodeKind, u64);

const BASE: [Row; 8] = [
    (None, "[task 1]", NodeKind::Task, 0),
    (Some(0), "[user]", NodeKind::Call, 11),
    (Some(1), "entry_SYSCALL_64", NodeKind::Syscall, 91),
    (Some(2), "do_syscall_64", NodeKind::Call, 31),
    (Some(3), "__x64_sys_sched_yield", NodeKind::TailCall, 4),
    (Some(4), "schedule", NodeKind::Call, 1204),
    (Some(5), "finish_task_switch.isra.0", NodeKind::Call, 44),
    (Some(3), "syscall_exit_to_user_mode", NodeKind::Call, 11),
];

const NEW: [Row; 9] = [
    (None, "[task 1]", NodeKind::Task, 0),
    (Some(0), "[user]", NodeKind::Call, 11),
    (Some(1), "entry_SYSCALL_64", NodeKind::Syscall, 91),
    (Some(2), "do_syscall_64", NodeKind::Call, 31),
    (Some(3), "schedule", NodeKind::Call, 1200),
    (Some(4), "finish_task_switch", NodeKind::Call, 44),
    (Some(3), "syscall_exit_to_user_mode", NodeKind::Call, 11),
    (Some(6), "native_tss_update_io_bitmap", NodeKind::Call, 71),
    (Some(7), "memcpy_erms", NodeKind::Interrupt, 8196),
];

fn counts(function: &str, instructions: u64) -> Counts {
    let copies = if function == "memcpy_erms" { instructions } else { 0 };
    Counts {
        instructions,
        loads: instructions / 3,
        stores: instructions / 4,
        rep_bytes: copies,
        clock: instructions + copies,
        taken_branches: instructions / 5,
        ..Counts::default()
    }
}

fn census(function: &str) -> Census {
    let met: &[(SlowInstruction, u64)] = match function {
        "entry_SYSCALL_64" => &[(SlowInstruction::Swapgs, 2), (SlowInstruction::Sysret, 1)],
        "schedule" => &[(SlowInstruction::Cli, 1)],
        "native_tss_update_io_bitmap" => &[(SlowInstruction::Pushf, 1), (SlowInstruction::Cli, 2)],
        _ => &[],
    };
    met.iter().copied().collect()
}

fn footprint(instructions: u64) -> Footprint {
    let lines = instructions.div_ceil(16);
    Footprint {
        code_lines: lines,
        data_lines: lines,
        read_lines: lines,
        written_lines: lines / 2,
        code_pages: lines.div_ceil(64),
        data_pages: lines.div_ceil(64),
    }
}

/// The numbers of those events that tables show.
fn events(counts: &Counts, footprint: &Footprint, census: &Census) -> EventCounts {
    let slow = census.iter().map(|(slow, met)| (Event::Slow(*slow), *met));
    let plain = [
        (Event::Kernel, counts.instructions),
        (Event::Clock, counts.clock),
        (Event::StringBytes, counts.rep_bytes),
        (Event::DataLines, footprint.data_lines),
        (Event::DataPages, footprint.data_pages),
        (Event::CodeLines, footprint.code_lines),
    ];
    plain.into_iter().chain(slow).filter(|(_, number)| *number > 0).collect()
}

fn window(rows: &[Row]) -> WindowTree {
    let total = rows.iter().map(|row| row.3).sum();
    let function = |&(_, name, _, instructions): &Row| Function {
        name: name.into(),
        module: (name == "memcpy_erms").then(|| "lib".into()),
        address: None,
        entry_in_line: (!name.starts_with('[')).then(|| name.len().to_le_bytes()[0] & 63),
        source: None,
        lines: Vec::new(),
        counts: counts(name, instructions),
        census: census(name),
        footprint: footprint(instructions),
        events: events(&counts(name, instructions), &footprint(instructions), &census(name)),
    };
    let node = |(index, &(parent, name, kind, instructions)): (u32, &Row)| Node {
        parent,
        function: index,
        kind,
        counts: counts(name, instructions),
        census: census(name),
    };
    let mut sum: BTreeMap<SlowInstruction, u64> = BTreeMap::new();
    for (slow, met) in rows.iter().flat_map(|row| census(row.1)) {
        *sum.entry(slow).or_default() += met;
    }
    let mut counts_of_all = Counts::default();
    for row in rows {
        counts_of_all += counts(row.1, row.3);
    }
    WindowTree {
        window: 0,
        total,
        clock: counts_of_all.clock,
        events: events(&counts_of_all, &footprint(total), &sum),
        unattributed: 0,
        interrupts: 0,
        unmatched_returns: 0,
        functions: rows.iter().map(function).collect(),
        nodes: (0..).zip(rows).map(node).collect(),
        footprint: footprint(total),
        census: sum,
    }
}

fn subject(name: &str, rows: &[Row]) -> SubjectWindow {
    let windows = RecordedWindows { recorded: 31, interrupted: 2, unstamped: 0, alike: 29 };
    SubjectWindow {
        path: "switch.yield".into(),
        name: name.into(),
        image_sha256: "a0".repeat(32),
        measured_with: None,
        windows,
        idle: 0,
        program: None,
        window: window(rows),
    }
}

fn one() -> Explain {
    Explain::new(subject("vmlinuz-cloud", &BASE), None)
}

fn two() -> Explain {
    let (base, new) = (subject("vmlinuz-cloud", &BASE), subject("vmlinuz-rt", &NEW));
    Explain::new(base, Some(new))
}

/// Two paths of one subject.
fn against() -> Explain {
    let (base, mut new) = (subject("vmlinuz-cloud", &BASE), subject("vmlinuz-cloud", &NEW));
    new.path = "switch.yield+ioport-both".into();
    Explain::new(base, Some(new))
}

/// A cause that is one function, of this share.
fn cause(name: &str, difference: i64, share: f64, area: Area) -> Cause {
    let typical = Typical { difference, rows: 1, of: 1 };
    let change = Change::Grew;
    let part = CausePart {
        functions: vec![name.into()],
        change,
        is_first: true,
        difference,
        typical,
        per_call: None,
        calls: 0,
        share,
        moves: vec![],
    };
    let row = CauseInRow { path: "read".into(), difference, events: EventDifferences::new() };
    let (parts, rows) = (vec![part], vec![row]);
    Cause { difference, typical, per_call: None, share, parts, caller: None, area, rows }
}

#[test]
fn a_row_of_a_program_begins_with_the_causes_of_its_difference() {
    let text = |executions: Option<[u64; 2]>, causes: Vec<Cause>| {
        let (base, new) = (of_program("vmlinuz-cloud", &BASE), of_program("vmlinuz-rt", &NEW));
        let recorded = causes.iter().map(|cause| cause.difference).sum();
        let row = CauseRow { path: "read".into(), base: 3308, recorded, executions };
        let causes = Some(Causes { rows: vec![row], causes, moves: vec![] });
        let text = explanation(&Explain { causes, ..Explain::new(base, Some(new)) }, ALL, PLAIN);
        text.split("\n\n").skip(1).take(2).collect::<Vec<_>>().join("\n\n")
    };
    let two_windows = || {
        let user = cause("parse [reader]", -7, 0.1, Area::User);
        vec![cause("schedule", 64, 0.9, Area::Scheduler), user]
    };
    insta::assert_snapshot!(text(Some([32, 32]), two_windows()));
    // What is not called has no mean.
    let uncalled = text(None, two_windows());
    assert!(uncalled.starts_with("Instructions: scheduler, +64 (schedule);"), "{uncalled}");
    assert!(!uncalled.contains("each: "), "{uncalled}");
    let more = cause(EXECUTIONS, 100, 0.6, Area::Other);
    insta::assert_snapshot!(text(Some([31, 32]), [vec![more], two_windows()].concat()));
}

#[test]
fn one_subject() {
    insta::assert_snapshot!(explanation(&one(), ALL, PLAIN));
}

/// The same numbers as those of a row of a program, of which only instructions are known.
fn of_program(name: &str, rows: &[Row]) -> SubjectWindow {
    let program = ProgramTree {
        command: vec!["./reader".into(), "two words".into()],
        run: 3,
        calls: 31,
        deeper: 493,
        beyond: 0,
        without_symbols: vec!["libc.so.6".into()],
        unnamed_code: true,
        unused_debug: vec![
            UnusedDebug {
                file: "libc.so.6".into(),
                debug_file: Some("/usr/lib/debug/libc.debug".into()),
                reason: "its CRC-32 is 00000001, and .gnu_debuglink asks for 00000002".into(),
            },
            UnusedDebug {
                file: "reader".into(),
                debug_file: None,
                reason: "its debug information is damaged: it ends early".into(),
            },
        ],
    };
    let windows = RecordedWindows { recorded: 6, interrupted: 0, unstamped: 0, alike: 4 };
    let mut subject = subject(name, rows);
    for counts in subject.window.nodes.iter_mut().map(|node| &mut node.counts) {
        *counts = Counts { instructions: counts.instructions, ..Counts::default() };
    }
    for function in &mut subject.window.functions {
        let instructions = function.counts.instructions;
        function.counts = Counts { instructions, ..Counts::default() };
        function.footprint = Footprint::default();
    }
    subject.window.footprint = Footprint::default();
    SubjectWindow { path: "read".into(), program: Some(program), windows, ..subject }
}

#[test]
fn a_row_of_a_program() {
    let explain = Explain::new(of_program("vmlinuz-cloud", &BASE), None);
    insta::assert_snapshot!(explanation(&explain, ALL, PLAIN));
    let profile = callgrind(&explain.base);
    assert!(profile.contains("\nevents: Ir\n"), "{profile}");
    let total = explain.base.window.total;
    assert!(profile.contains(&format!("\ntotals: {total}\n")), "{profile}");
}

#[test]
fn a_row_of_a_program_on_two_kernels() {
    let (base, new) = (of_program("vmlinuz-cloud", &BASE), of_program("vmlinuz-rt", &NEW));
    insta::assert_snapshot!(explanation(&Explain::new(base, Some(new)), ALL, PLAIN));
}

#[test]
fn two_rows_of_a_program_are_named_beside_what_they_execute() {
    let (base, new) = (of_program("vmlinuz-cloud", &BASE), of_program("vmlinuz-cloud", &NEW));
    let new = SubjectWindow { path: "user.new".into(), ..new };
    let text = explanation(&Explain::new(base, Some(new)), ALL, PLAIN);
    assert!(text.starts_with("read → user.new on vmlinuz-cloud: "), "{text}");
    let head = "\nsubject  vmlinuz-cloud\nprogram  ./reader 'two words'\nbase     read: ";
    assert!(text.contains(head) && text.contains("\nnew      user.new: "), "{text}");
}

#[test]
fn one_subject_within_limits() {
    let limits = Limits { depth: Some(6), least: Least::Share(100), ..ALL };
    insta::assert_snapshot!(explanation(&one(), limits, PLAIN));
}

#[test]
fn two_subjects() {
    insta::assert_snapshot!(explanation(&two(), ALL, PLAIN));
}

#[test]
fn where_the_window_shown_is_not_the_rows_it_is_said() {
    let explain = two();
    let totals = [&explain.base, explain.new.as_ref().unwrap()].map(|it| it.window.total);
    let about = |sentences: Vec<String>, what: &str| {
        sentences.into_iter().find(|sentence| sentence.starts_with(what))
    };
    assert_eq!(
        about(beside_row(&explain, &row("switch.yield", totals[0], totals[1])), "instructions"),
        None
    );
    let other =
        about(beside_row(&explain, &row("switch.yield", 1000, 1024)), "instructions").unwrap();
    assert!(other.starts_with("instructions: 1,000 → 1,024 (+24) in the row"), "{other}");
    assert!(other.contains(&format!("windows shown have {}", "1,3")), "{other}");
    // Lines that the row does not have in its samples, and the window has.
    let lines = beside_row(&explain, &row("switch.yield", totals[0], totals[1]));
    assert!(about(lines, "data-lines: as many in all samples").is_some());
}

#[test]
fn a_window_that_has_others_beside_it_is_marked() {
    let mut one = one();
    assert!(!explanation(&one, ALL, PLAIN).contains("~ instructions"));
    one.base.windows.alike = 20;
    assert!(explanation(&one, ALL, PLAIN).contains("~ instructions"));
}

#[test]
fn two_subjects_within_limits() {
    let limits = Limits { least: "1%".parse().unwrap(), ..ALL };
    insta::assert_snapshot!(explanation(&two(), limits, PLAIN));
}

#[test]
fn two_subjects_in_colour() {
    insta::assert_snapshot!(explanation(&two(), ALL, COLOURED));
}

#[test]
fn two_subjects_that_do_the_same() {
    let twin = Explain::new(one().base, Some(one().base));
    insta::assert_snapshot!(explanation(&twin, ALL, PLAIN));
}

/// A kernel like the one of [`one`], but that one function has another event, another touches
/// three further lines, and a third stands elsewhere.
fn with_other_events() -> Explain {
    let (base, mut new) = (one().base, one().base);
    for function in &mut new.window.functions {
        match function.name.as_str() {
            "do_syscall_64" => drop(function.events.insert(Event::IndirectBranches, 1)),
            "schedule" => *function.events.entry(Event::DataLines).or_default() += 3,
            "entry_SYSCALL_64" => function.entry_in_line = Some(48),
            _ => {}
        }
        function.footprint.data_lines =
            function.events.get(&Event::DataLines).copied().unwrap_or(0);
        function.counts.indirect_branches =
            function.events.get(&Event::IndirectBranches).copied().unwrap_or(0);
    }
    new.window.events.insert(Event::IndirectBranches, 1);
    new.window.footprint.data_lines += 3;
    Explain::new(base, Some(new))
}

#[test]
fn functions_of_as_many_instructions_are_named_for_what_else_differs() {
    insta::assert_snapshot!(explanation(&with_other_events(), ALL, PLAIN));
}

#[test]
fn on_request_the_tables_show_where_functions_stand() {
    let limits = Limits { placement: true, ..ALL };
    insta::assert_snapshot!(explanation(&with_other_events(), limits, PLAIN));
    let one = explanation(&one(), limits, PLAIN);
    assert!(one.contains("  entry  code pages  code lines  "), "{one}");
    assert!(!explanation(&with_other_events(), ALL, PLAIN).contains("code pages"));
}

#[test]
fn a_difference_of_very_many_functions_fits_a_screen() {
    let names: Vec<&str> =
        (0..300).map(|number| &*format!("function_{number:03}").leak()).collect();
    let rows = |more: u64| -> Vec<Row> {
        let below = names.iter().zip(1..);
        let below =
            below.map(|(name, number)| (Some(0), *name, NodeKind::Call, 10 + number * more));
        std::iter::once((None, "[user]", NodeKind::Call, 11)).chain(below).collect()
    };
    let (base, new) = (subject("vmlinuz-cloud", &rows(0)), subject("vmlinuz-rt", &rows(1)));
    let explain = Explain::new(base, Some(new));
    let text = explanation(&explain, Limits { most: Some(10), ..ALL }, PLAIN);
    assert!(text.lines().count() <= 50, "{text}");
    assert!(text.contains("… 290 more; --min 1 shows all") && text.contains("function_299"));
    assert!(explanation(&explain, ALL, PLAIN).lines().count() > 600);
}

#[test]
fn two_paths_of_one_subject_are_both_named() {
    let explain = against();
    assert_eq!(explain.path, "switch.yield+ioport-both");
    let text = explanation(&explain, ALL, PLAIN);
    let head: Vec<&str> = text.lines().take(4).collect();
    let sentence =
        "switch.yield → switch.yield+ioport-both on vmlinuz-cloud: +8,259 instructions, ";
    assert!(head[0].starts_with(sentence), "{text}");
    assert_eq!(head[1], "subject  vmlinuz-cloud");
    assert!(head[2].starts_with("base     switch.yield: 1,396 instructions; "), "{text}");
    assert!(head[3].starts_with("new      switch.yield+ioport-both: 9,655 "), "{text}");
    let title = "switch.yield → switch.yield+ioport-both on vmlinuz-cloud";
    assert!(flame_graph(&explain).unwrap().contains(title));
    let tables = |text: &str| text.split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(tables(&text), tables(&explanation(&two(), ALL, PLAIN)), "but for the head");
}

#[test]
fn what_cannot_be_attributed_is_said() {
    let mut explain = one();
    explain.base.window.unattributed = 7;
    let text = explanation(&explain, ALL, PLAIN);
    assert!(text.contains("1,396 instructions, 7 of them unattributed"), "{text}");
}

#[test]
fn folded_stacks_of_one_and_of_two() {
    insta::assert_snapshot!(folded_stacks(&one()) + "\n" + &folded_stacks(&two()));
}

#[test]
fn a_callgrind_profile() {
    insta::assert_snapshot!(callgrind(&two().new.unwrap()));
}

/// One subject whose lines are known, but for some of `schedule`'s and all of user code.
fn with_source() -> Explain {
    let mut explain = one();
    let schedule = |line: u32, instructions| LineCounts {
        source: SourceLine { file: "kernel/sched/core.c".into(), line },
        instructions,
        loads: instructions / 3,
        stores: instructions / 4,
    };
    let mut macros = schedule(40, 16);
    macros.source.file = "include/macros.h".into();
    for function in &mut explain.base.window.functions {
        if function.name == "schedule" {
            function.source = Some(schedule(6600, 0).source);
            function.lines = vec![macros.clone(), schedule(6601, 900), schedule(6605, 200)];
        } else if function.name == "finish_task_switch.isra.0" {
            function.source = Some(schedule(5000, 0).source);
            function.lines = vec![schedule(5000, 44)];
        }
    }
    explain
}

#[test]
fn functions_say_where_they_begin_as_far_as_there_is_room() {
    let text = explanation(&with_source(), ALL, PLAIN);
    assert!(text.contains("  schedule at kernel/sched/core.c:6600\n"), "{text}");
    assert!(text.contains("  entry_SYSCALL_64\n"), "{text}");
    let narrow = explanation(
        &with_source(),
        ALL,
        Style { colour: false, width: Some(90), table_width: None },
    );
    assert!(narrow.contains("  schedule at kernel/sched"), "{narrow}");
    assert!(narrow.lines().skip(4).all(|line| line.chars().count() <= 90), "{narrow}");
}

#[test]
fn a_callgrind_profile_by_lines() {
    let profile = callgrind(&with_source().base);
    insta::assert_snapshot!(profile);
    assert_eq!(own_costs(&profile), 1396);
}

/// The instructions of all cost lines that are not of a call.
fn own_costs(profile: &str) -> u64 {
    let lines: Vec<&str> = profile.lines().collect();
    let is_own = |pair: &&[&str]| {
        !pair[0].starts_with("calls=") && pair[1].starts_with(|first: char| first.is_ascii_digit())
    };
    let cost = |pair: &[&str]| pair[1].split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
    lines.windows(2).filter(is_own).filter_map(cost).sum()
}

/// The text shown for a box under the mouse pointer.
fn boxes(svg: &str) -> Vec<&str> {
    let titles = svg.split("<title>").skip(1);
    titles.filter_map(|rest| rest.split_once("</title>")).map(|(title, _)| title).collect()
}

#[test]
fn a_flame_graph_has_a_box_for_each_function() {
    insta::assert_snapshot!(boxes(&flame_graph(&one()).unwrap()).join("\n"));
}

#[test]
fn a_differential_flame_graph_shows_what_vanished_too() {
    insta::assert_snapshot!(boxes(&flame_graph(&two()).unwrap()).join("\n"));
}

#[test]
fn flame_graphs_are_the_same_bytes_each_time() {
    for explain in [one(), two()] {
        let svg = flame_graph(&explain).unwrap();
        assert_eq!(svg, flame_graph(&explain).unwrap());
        assert!(svg.contains("fluiddrawing = true"), "as wide as the window");
        assert!(!svg.contains("href=\"http"), "needs nothing but itself");
    }
}

#[test]
fn nothing_executed_is_nothing_to_draw() {
    let empty = Explain::new(subject("x", &[]), None);
    assert!(matches!(flame_graph(&empty), Err(FlameError::Empty)));
    assert_eq!(folded_stacks(&empty), "");
}

#[test]
fn foreign_names_reach_neither_terminal_nor_picture_as_they_are() {
    let evil: [Row; 2] = [
        (None, "[task 1]", NodeKind::Task, 1),
        (Some(0), "a;b\n\x1b[31m<script> 7", NodeKind::Call, 5),
    ];
    let explain = Explain::new(subject("<b>&\x1b", &evil), None);
    let texts = [explanation(&explain, ALL, PLAIN), folded_stacks(&explain)];
    assert!(texts.iter().all(|text| !text.contains('\x1b')), "{texts:?}");
    assert_eq!(texts[1].lines().count(), 2);
    let svg = flame_graph(&explain).unwrap();
    assert!(!svg.contains("<script> 7") && !svg.contains('\x1b') && !svg.contains("<b>"));
    assert!(boxes(&svg).iter().any(|title| title.contains("_7 (5 instructions")), "{svg}");
}

#[test]
fn a_deep_tree_keeps_room_for_its_names() {
    let chain = |depth: u32| (depth.checked_sub(1), "recursion", NodeKind::Call, 1);
    let rows: Vec<Row> = (0..40).map(chain).collect();
    let deep = Explain::new(subject("x", &rows), None);
    let narrow = Style { colour: false, width: Some(100), table_width: None };
    let text = explanation(&deep, ALL, narrow);
    assert!(text.contains(&format!("{}recursion\n", " ".repeat(39))), "{text}");
    assert!(explanation(&deep, ALL, PLAIN).contains(&" ".repeat(78)));
}
