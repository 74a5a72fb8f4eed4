//! The tables of a program as printed. `INSTA_UPDATE=always cargo test -p pathmeter-report` writes
//! them anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::configuration;
use pathmeter_model::{
    Ended, FunctionChange, Output, PathResult, Program, ProgramResult, ProgramRow, ProgramRun,
    ProgramSchema, RowExplanation, RowKind, Subject, Threshold, Unit, Written, compare_programs,
};
use pathmeter_report::{Rows, Style, program_comparison_table, program_table};
use pathmeter_trace::Event;

use RowKind::{Agent, Interrupt, KernelThread, NewTask, PageFault, Softirq, Syscall, User};
use Rows::{All, Folded};

const PLAIN: Style = Style { colour: false, width: None };
const COLOURED: Style = Style { colour: true, width: None };
const NARROW: Style = Style { colour: false, width: Some(100) };
const TICK: &str = "sysvec_apic_timer_interrupt";

fn row(kind: RowKind, name: &str, calls: u64, instructions: u64) -> ProgramRow {
    let (name, steps) = (name.to_owned(), instructions);
    ProgramRow { kind, name, calls, instructions, steps, events: BTreeMap::new() }
}

/// The same row with bytes that string instructions moved one by one.
fn moving(bytes: u64, row: ProgramRow) -> ProgramRow {
    let events = BTreeMap::from([(Event::StringBytes, bytes)]);
    ProgramRow { events, steps: row.steps + bytes, ..row }
}

fn run(idle: u64, rows: Vec<ProgramRow>) -> ProgramRun {
    ProgramRun::new(rows.iter().map(|row| row.steps).sum::<u64>() + idle, idle, rows)
}

/// A run of a program that sorts; `openat` and a page fault cost these instructions, the tick
/// comes so often.
fn sorting(openat: u64, fault: u64, ticks: u64) -> ProgramRun {
    let rows = vec![
        row(User, "", 1, 8_123_456),
        row(Syscall, "openat", 38, 38 * openat),
        moving(1_048_576, row(Syscall, "read", 260, 412_880)),
        moving(1_048_576, row(Syscall, "write", 256, 398_336)),
        row(Syscall, "close", 37, 7_955),
        row(Syscall, "brk", 3, 2_631),
        row(Syscall, "exit_group", 1, 640),
        row(NewTask, "", 2, 5_122),
        row(PageFault, "write, not present", 311, 311 * fault),
        row(PageFault, "read, not present", 120, 180_240),
        row(Interrupt, TICK, ticks, ticks * 1_921),
        row(Softirq, "", ticks, ticks * 410),
        row(KernelThread, "", 2, 3_120),
        row(Agent, "", 1, 8_420),
    ];
    run(12_345, rows)
}

fn program(name: &str, release: &str, runs: Vec<ProgramRun>) -> ProgramResult {
    let configuration = configuration(release, runs.len());
    let program = Program {
        windows: vec![],
        command: ["/usr/bin/sort", "-k", "2 3", "words"].map(str::to_owned).to_vec(),
        environment: vec!["LANG=C".into()],
        packed_sha256: "d3".repeat(32),
        files: 7,
        bytes: 4_123_456,
        modules: vec![],
    };
    ProgramResult {
        schema: ProgramSchema::V1,
        subject: Subject::kernel_image(name),
        configuration,
        program,
        ended: Ended::Code(0),
        output: Output { stdout: Written::default(), stderr: Written::default() },
        runs,
        regions: vec![],
        events: vec![Event::StringBytes, Event::DataLines],
        functions: None,
        notes: vec![],
    }
}

fn region(cost: u64) -> PathResult {
    let runs = [vec![cost, cost], vec![cost, cost]];
    PathResult::ok("user.merge", Unit::Instructions, &runs, vec![])
}

fn cloud() -> ProgramResult {
    let mut runs = vec![sorting(4_210, 2_800, 5)];
    runs.extend([4, 4, 5, 4, 4, 4].map(|ticks| sorting(2_911, 1_700, ticks)));
    ProgramResult {
        regions: vec![region(71_200)],
        notes: vec!["a process that the program forked did not end".into()],
        ..program("/boot/vmlinuz-cloud", "6.1.0-18-cloud-amd64", runs)
    }
}

fn rt() -> ProgramResult {
    let mut runs = vec![sorting(4_310, 2_800, 5)];
    runs.extend([4, 5, 4, 4, 5, 4].map(|ticks| sorting(2_911, 1_707, ticks)));
    for run in &mut runs {
        for row in &mut run.rows {
            let more = match row.name.as_str() {
                "openat" => 2 * row.instructions / row.calls,
                "read" => 0,
                _ => continue,
            };
            let bytes = if row.name == "read" { 4_096 } else { 0 };
            row.calls += if more > 0 { 2 } else { 0 };
            row.instructions += more;
            *row.events.entry(Event::StringBytes).or_default() += bytes;
            row.steps += more + bytes;
            run.clock += more + bytes;
        }
    }
    ProgramResult {
        regions: vec![region(71_200)],
        ..program("vmlinuz-rt", "6.1.0-18-rt-amd64", runs)
    }
}

fn compared(base: &ProgramResult, new: &ProgramResult, rows: Rows, style: Style) -> String {
    program_comparison_table(&compare_programs(base, new, Threshold::default()), rows, style)
}

#[test]
fn a_program() {
    insta::assert_snapshot!(program_table(&cloud(), Folded, PLAIN));
}

#[test]
fn a_program_with_all_rows() {
    insta::assert_snapshot!(program_table(&cloud(), All, PLAIN));
}

#[test]
fn a_program_in_colour() {
    insta::assert_snapshot!(program_table(&cloud(), Folded, COLOURED));
}

#[test]
fn a_program_whose_lines_were_counted() {
    let mut result = cloud();
    for row in result.runs.iter_mut().flat_map(|run| &mut run.rows) {
        row.events.insert(Event::DataLines, row.calls * 40);
    }
    insta::assert_snapshot!(program_table(&result, Folded, PLAIN));
}

#[test]
fn a_program_that_ran_once() {
    let once = program("vmlinuz", "6.1.0", vec![sorting(4_210, 2_800, 5)]);
    insta::assert_snapshot!(program_table(&once, Folded, PLAIN));
}

#[test]
fn a_program_on_two_kernels() {
    insta::assert_snapshot!(compared(&cloud(), &rt(), Folded, PLAIN));
}

#[test]
fn a_program_on_two_kernels_with_all_rows() {
    insta::assert_snapshot!(compared(&cloud(), &rt(), All, PLAIN));
}

#[test]
fn a_program_on_two_kernels_in_colour() {
    insta::assert_snapshot!(compared(&cloud(), &rt(), Folded, COLOURED));
}

#[test]
fn a_program_on_two_kernels_of_which_one_killed_it() {
    let killed = ProgramResult { ended: Ended::Signal(11), ..rt() };
    let ended = compared(&cloud(), &killed, Folded, PLAIN);
    assert!(ended.contains("ended    exit code 0 on base, signal 11 on new\n"), "{ended}");
}

#[test]
fn a_program_that_ran_once_on_two_kernels() {
    let once = |openat| program("vmlinuz", "6.1.0", vec![sorting(openat, 2_800, 5)]);
    insta::assert_snapshot!(compared(&once(4_210), &once(4_215), Folded, PLAIN));
}

#[test]
fn a_program_measured_differently() {
    let mut other = cloud();
    other.program.environment = vec!["LANG=de_DE.UTF-8".into()];
    let text = compared(&cloud(), &other, Folded, PLAIN);
    let line =
        "measured differently: program.environment: \"LANG=C\" in base, \"LANG=de_DE.UTF-8\"";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("14 rows are the same"), "{text}");
}

#[test]
fn the_usual_numbers_fit_a_hundred_columns() {
    for text in [
        program_table(&cloud(), All, PLAIN),
        compared(&cloud(), &cloud(), All, PLAIN),
        compared(&cloud(), &rt(), All, NARROW),
    ] {
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(widest.chars().count() <= 100, "{widest}");
    }
}

#[test]
fn a_terminal_obeys_nothing_of_a_guest() {
    const TEXT: &str = "\u{1b}[31m\r\n\u{7f}";
    let runs = vec![run(0, vec![row(Syscall, TEXT, 1, 10), row(PageFault, TEXT, 1, 10)]); 2];
    let mut result = program(TEXT, TEXT, runs);
    result.program.command = vec![TEXT.into()];
    result.regions = vec![PathResult { path: format!("user.{TEXT}"), ..region(7) }];
    result.notes = vec![TEXT.into()];
    let mut other = result.clone();
    other.program.environment = vec![TEXT.into()];
    for text in [program_table(&result, All, NARROW), compared(&result, &other, All, NARROW)] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

#[test]
fn functions_of_other_runs_than_the_row_shows_have_a_line_for_the_rest() {
    let table = |rest| {
        let mut comparison = compare_programs(&cloud(), &rt(), Threshold::default());
        let change = FunctionChange {
            function: "do_sys_openat2".into(),
            base_calls: 2,
            new_calls: 4,
            base: 100,
            new: 160,
            difference: 60,
        };
        comparison.explanations = Some(vec![RowExplanation {
            kind: RowKind::Syscall,
            name: "openat".into(),
            functions: vec![change],
            rest,
        }]);
        program_comparison_table(&comparison, Folded, PLAIN)
    };
    let line = |rest| {
        let table = table(rest);
        table.lines().find(|line| line.contains("of other runs")).map(str::to_owned)
    };
    assert!(line(Some(-7)).unwrap().contains("-7"), "{}", table(Some(-7)));
    assert_eq!([line(Some(0)), line(None)], [None, None]);
}
