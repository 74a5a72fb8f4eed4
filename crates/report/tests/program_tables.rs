//! The tables of a program as printed. `INSTA_UPDATE=always cargo test -p pathmeter-report` writes
//! them anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::configuration;
use pathmeter_model::example::runs::{self as example, ProgramExample, row, run, sleep};
use pathmeter_model::{
    Ended, FunctionCost, Measurement, Output, PathResult, Program, ProgramRow, ProgramRun,
    RowFunctions, RowKind, SleepResult, Threshold, Unit, Written, compare,
};
use pathmeter_report::{
    AreaSums, Placement, Rows, Shown, Style, comparison_table, measurement_table,
};
use pathmeter_trace::{Event, SlowInstruction};

use RowKind::{Agent, Interrupt, KernelThread, NewTask, PageFault, Softirq, Syscall, User};
use Rows::{All, Folded};

const PLAIN: Style = Style { colour: false, width: None, table_width: None };
const COLOURED: Style = Style { colour: true, width: None, table_width: None };
const NARROW: Style = Style { colour: false, width: Some(100), table_width: None };
const TICK: &str = "sysvec_apic_timer_interrupt";

/// The same row with bytes that string instructions moved one by one.
fn moving(bytes: u64, row: ProgramRow) -> ProgramRow {
    let events = BTreeMap::from([(Event::StringBytes, bytes)]);
    ProgramRow { events, steps: row.steps + bytes, ..row }
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

fn program(name: &str, release: &str, runs: Vec<ProgramRun>) -> ProgramExample {
    let example = example::program(name, configuration(release, runs.len()), runs);
    let program = Program {
        command: ["/usr/bin/sort", "-k", "2 3", "words"].map(str::to_owned).to_vec(),
        environment: vec!["LANG=C".into()],
        files: 7,
        bytes: 4_123_456,
        ..example.program
    };
    let events = vec![Event::StringBytes, Event::DataLines];
    ProgramExample { program, events, ..example }
}

fn region(cost: u64) -> PathResult {
    let runs = [vec![cost, cost], vec![cost, cost]];
    PathResult::ok("user.merge", Unit::Instructions, &runs, vec![])
}

fn cloud() -> ProgramExample {
    let mut runs = vec![sorting(4_210, 2_800, 5)];
    runs.extend([4, 4, 5, 4, 4, 4].map(|ticks| sorting(2_911, 1_700, ticks)));
    ProgramExample {
        regions: vec![region(71_200)],
        notes: vec!["a process that the program forked did not end".into()],
        ..program("/boot/vmlinuz-cloud", "6.1.0-18-cloud-amd64", runs)
    }
}

fn rt() -> ProgramExample {
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
            run.clock.clock += more + bytes;
        }
    }
    ProgramExample {
        regions: vec![region(71_200)],
        ..program("vmlinuz-rt", "6.1.0-18-rt-amd64", runs)
    }
}

fn format_comparison(
    base: &ProgramExample,
    new: &ProgramExample,
    rows: Rows,
    style: Style,
) -> String {
    let comparison = compare(&base.result(), &new.result(), Threshold::default());
    comparison_table(
        &comparison,
        Shown { placement: Placement::Hidden, rows, sums: AreaSums::Hidden },
        style,
    )
}

fn program_table(program: &ProgramExample, rows: Rows, style: Style) -> String {
    measurement_table(&program.result(), rows, style)
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

/// The same program as two processes, of which one only some runs have.
fn pipeline(of: ProgramExample) -> ProgramExample {
    let names = ["sh", "sh/sort", "sh/sort[2]"];
    let divided = |(number, run): (usize, ProgramRun)| {
        example::of_processes(run, if number == 2 { &names } else { &names[..2] })
    };
    ProgramExample { runs: of.runs.into_iter().enumerate().map(divided).collect(), ..of }
}

#[test]
fn a_program_of_several_processes() {
    insta::assert_snapshot!(program_table(&pipeline(cloud()), Folded, PLAIN));
}

/// The same with two threads in one of the processes, of which only some runs have the second.
fn threaded(of: ProgramExample) -> ProgramExample {
    let divided = |(number, run): (usize, ProgramRun)| {
        let names: &[&str] = if number == 2 { &["sh", "io"] } else { &["sh", "io", "aof"] };
        example::of_threads(run, &[names, &["sort"], &["sort"]])
    };
    ProgramExample { runs: of.runs.into_iter().enumerate().map(divided).collect(), ..of }
}

#[test]
fn threads_are_shown_with_all_rows() {
    let part = |program: &ProgramExample, shown| {
        let text = program_table(program, shown, PLAIN);
        let is_such = |it: &&str| it.starts_with("process ") || it.contains("threads: --all");
        let part = text.split("\n\n").find(is_such);
        part.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let alone = |run| example::of_processes(run, &["sort"]);
    let only = ProgramExample { runs: cloud().runs.into_iter().map(alone).collect(), ..cloud() };
    let several = threaded(pipeline(cloud()));
    let parts = [&several, &threaded(only)].map(|of| [part(of, Folded), part(of, All)]);
    insta::assert_snapshot!(parts.concat().join("\n\n"));
}

#[test]
fn one_process_of_a_program() {
    let result = pipeline(cloud()).result();
    let sort: Vec<_> = result.processes()[1..].iter().collect();
    let of = result.of_processes("sort", &sort);
    insta::assert_snapshot!(measurement_table(&of, Folded, PLAIN));
}

#[test]
fn a_program_of_several_processes_on_two_kernels() {
    insta::assert_snapshot!(format_comparison(&pipeline(cloud()), &pipeline(rt()), Folded, PLAIN));
}

#[test]
fn a_program_on_two_kernels() {
    insta::assert_snapshot!(format_comparison(&cloud(), &rt(), Folded, PLAIN));
}

/// Sleeps of three runs, of which the first does not count.
fn sleeping() -> ProgramExample {
    let napping = SleepResult {
        process: None,
        idle: vec![Some(0), None, Some(1)],
        ..sleep("", "clock_nanosleep", None, "timer interrupt (timer)", &[90, 2, 2])
    };
    let region = SleepResult {
        kind: RowKind::Region,
        process: None,
        idle: vec![Some(0), Some(123_456), Some(123_456)],
        ..sleep("", "user.wait", None, "write", &[1, 4, 4])
    };
    let wakers = ["futex", "exit_group", "softirqs", "kernel threads", "close"];
    let futex = (1..).zip(wakers).map(|(often, by)| SleepResult {
        ..sleep("sort", "futex", Some("sort/cat"), by, &[0, often, often])
    });
    let never = sleep("sort", "read", None, "timer interrupt (timer)", &[7, 0, 0]);
    let many = (0..12).map(|number| sleep("sort", &format!("call-{number}"), None, "x", &[1; 3]));
    let all = [napping, region, never].into_iter().chain(futex);
    ProgramExample { sleeps: all.chain(many).collect(), ..cloud() }
}

#[test]
fn a_program_that_sleeps() {
    let part = |shown| {
        let text = program_table(&sleeping(), shown, PLAIN);
        text.split("\n\n").find(|part| part.starts_with("slept in")).unwrap().to_owned()
    };
    insta::assert_snapshot!([part(Folded), part(All)].join("\n\n"));
    assert!(!program_table(&cloud(), All, PLAIN).contains("slept in"));
}

#[test]
fn a_program_on_two_kernels_with_all_rows() {
    insta::assert_snapshot!(format_comparison(&cloud(), &rt(), All, PLAIN));
}

#[test]
fn a_program_on_two_kernels_in_colour() {
    insta::assert_snapshot!(format_comparison(&cloud(), &rt(), Folded, COLOURED));
}

#[test]
fn a_program_on_two_kernels_of_which_one_killed_it() {
    let killed = ProgramExample { ended: Ended::Signal(11), ..rt() };
    let ended = format_comparison(&cloud(), &killed, Folded, PLAIN);
    assert!(ended.contains("ended    exit code 0 on base, signal 11 on new\n"), "{ended}");
}

#[test]
fn a_program_that_ran_once_on_two_kernels() {
    let once = |openat| program("vmlinuz", "6.1.0", vec![sorting(openat, 2_800, 5)]);
    insta::assert_snapshot!(format_comparison(&once(4_210), &once(4_215), Folded, PLAIN));
}

#[test]
fn a_program_measured_differently() {
    let mut other = cloud();
    other.program.environment = vec!["LANG=de_DE.UTF-8".into()];
    let text = format_comparison(&cloud(), &other, Folded, PLAIN);
    let line =
        "measured differently: program.environment: \"LANG=C\" in base, \"LANG=de_DE.UTF-8\"";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("10 rows are the same"), "{text}");
}

#[test]
fn the_usual_numbers_fit_a_hundred_columns() {
    for text in [
        program_table(&cloud(), All, PLAIN),
        format_comparison(&cloud(), &cloud(), All, PLAIN),
        format_comparison(&cloud(), &rt(), All, NARROW),
        program_table(&pipeline(cloud()), All, PLAIN),
        program_table(&sleeping(), Folded, PLAIN),
        format_comparison(&pipeline(cloud()), &pipeline(rt()), All, NARROW),
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
    result.sleeps = vec![sleep(TEXT, TEXT, Some(TEXT), TEXT, &[1, 1])];
    let mut other = result.clone();
    other.program.environment = vec![TEXT.into()];
    for text in
        [program_table(&result, All, NARROW), format_comparison(&result, &other, All, NARROW)]
    {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

/// A result with such rows of one system call each, all of whose instructions are in one function.
fn calls(rows: &[(&str, [u64; 7])]) -> Measurement {
    let run_of = |at: usize| {
        run(0, rows.iter().map(|(name, runs)| row(Syscall, name, 1, runs[at])).collect())
    };
    let functions = rows.iter().map(|(name, runs)| {
        let mut later = runs[1..].to_vec();
        later.sort_unstable();
        let instructions = later[2];
        let function =
            FunctionCost { function: "f".into(), calls: 1, instructions, ..Default::default() };
        RowFunctions { kind: Syscall, name: (*name).to_owned(), functions: vec![function] }
    });
    let example = program("vmlinuz", "6.1.0", (0..7).map(run_of).collect());
    ProgramExample { functions: functions.collect(), ..example }.result()
}

/// A program whose `read` executes so many `lfence` and locked operations in two functions, and
/// whose region does as well.
fn fencing(lfences: u64) -> Measurement {
    let of = |numbers: &[(SlowInstruction, u64)]| -> BTreeMap<Event, u64> {
        numbers.iter().map(|(slow, number)| (Event::Slow(*slow), *number)).collect()
    };
    let function = |name: &str, instructions, events| FunctionCost {
        function: name.into(),
        calls: 4,
        instructions,
        events,
    };
    let (fence, lock) = (SlowInstruction::Lfence, SlowInstruction::Locked);
    let functions = || {
        ["copy_page", "lock_page", "unlock_page", "vfs_read", "wake_page"]
            .into_iter()
            .map(|name| match name {
                "copy_page" => function(name, 4_000, of(&[(fence, lfences)])),
                "vfs_read" => function(name, 900, BTreeMap::new()),
                "lock_page" => function(name, 30, of(&[(fence, 1), (lock, 12)])),
                _ => function(name, 35, of(&[(lock, 4)])),
            })
            .collect()
    };
    let row_events = of(&[(fence, lfences + 1), (lock, 20)]);
    let read = ProgramRow { events: row_events, ..row(Syscall, "read", 4, 5_000) };
    let region = "user.merge".to_owned();
    let functions = vec![
        RowFunctions { kind: Syscall, name: "read".into(), functions: functions() },
        RowFunctions { kind: RowKind::Region, name: region, functions: functions() },
    ];
    let example = program("vmlinuz", "6.1.0", vec![run(0, vec![read]); 7]);
    let events = vec![Event::Slow(fence), Event::Slow(lock)];
    ProgramExample { functions, events, regions: vec![self::region(5_000)], ..example }.result()
}

#[test]
fn the_functions_that_execute_slow_instructions_are_named() {
    insta::assert_snapshot!(measurement_table(&fencing(2), Folded, NARROW));
}

#[test]
fn the_function_with_one_more_lfence_is_named() {
    let shown = Shown { placement: Placement::Hidden, rows: Folded, sums: AreaSums::Hidden };
    let comparison = compare(&fencing(2), &fencing(3), Threshold::default());
    let table = comparison_table(&comparison, shown, NARROW);
    let line = table.lines().find(|line| line.starts_with("lfence")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["lfence", "+1", "copy_page", "+1"]);
}

#[test]
fn who_was_switched_and_who_woke_is_shown_by_row_and_region() {
    let with = |row: ProgramRow, events: &[(Event, u64)]| ProgramRow {
        events: events.iter().copied().collect(),
        ..row
    };
    let rows = vec![
        with(row(User, "", 1, 9_000), &[(Event::Preemptions, 3)]),
        with(row(Syscall, "read", 5, 5_000), &[(Event::Sleeps, 5)]),
        with(row(Syscall, "write", 5, 4_000), &[(Event::WakeUps, 5)]),
        with(row(Interrupt, "timer", 9, 3_000), &[(Event::WakeUps, 2)]),
        row(Syscall, "close", 5, 900),
    ];
    let example = program("vmlinuz", "6.1.0", vec![run(0, rows); 7]);
    let events = vec![Event::Sleeps, Event::Preemptions, Event::WakeUps];
    let table = program_table(&ProgramExample { events, ..example }, Folded, PLAIN);
    let begins = table.find("switched in").unwrap();
    insta::assert_snapshot!(table[begins..].split("\n\n").next().unwrap());
}

/// The table of two such results.
fn of_calls(base: &[(&str, [u64; 7])], new: &[(&str, [u64; 7])]) -> String {
    let shown = Shown { placement: Placement::Hidden, rows: All, sums: AreaSums::Hidden };
    comparison_table(&compare(&calls(base), &calls(new), Threshold::default()), shown, PLAIN)
}

#[test]
fn functions_of_other_runs_than_the_row_shows_have_a_line_for_the_rest() {
    let base = [900, 100, 104, 102, 106, 108, 110];
    let rest = |new: [u64; 7]| {
        let table = of_calls(&[("read", base)], &[("read", new)]);
        table.lines().find(|line| line.contains("of other runs")).map(str::to_owned)
    };
    assert_eq!(rest(base.map(|cost| cost + 40)), None);
    let uneven = rest([950, 141, 150, 146, 146, 151, 166]).unwrap();
    assert!(uneven.contains("(the row's numbers are of other runs)"), "{uneven}");
}

#[test]
fn rows_that_changed_come_first_then_by_the_size_of_their_difference_then_by_name() {
    let of = |numbers: [u64; 6], phase: usize| {
        let names = ["read", "close", "openat", "write", "mmap", "pause"];
        let runs = |name, number: u64| {
            // Up in one run and down in another.
            let at = |run: usize| if name == "pause" { (run / phase) as u64 % 2 * 900 } else { 0 };
            std::array::from_fn(|run| number + at(run))
        };
        names.iter().zip(numbers).map(|(name, it)| (*name, runs(*name, it))).collect::<Vec<_>>()
    };
    let table = of_calls(&of([1000; 6], 1), &of([1000, 1000, 1001, 990, 1003, 800], 2));
    let later = table.lines().skip_while(|line| !line.starts_with("later runs")).skip(1);
    let names: Vec<&str> = later.take(6).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["write", "mmap", "openat", "pause", "close", "read"]);
}

#[test]
fn what_a_filter_costs_each_call_is_one_sentence_and_the_work_of_others_no_finding() {
    let result = |each: u64, others: u64| {
        let calls = [("openat", 38), ("read", 260), ("close", 37)];
        let calls = calls.map(|(name, calls)| row(Syscall, name, calls, calls * (1_000 + each)));
        let more = [
            row(User, "", 1, 8_123_456),
            row(Agent, "", 1, 8_420 + others),
            row(KernelThread, "", 2, 3_120 + 15 * others),
        ];
        let rows = || calls.iter().chain(&more).cloned().collect();
        program("/boot/vmlinuz", "6.1.0-18", (0..7).map(|_| run(0, rows())).collect())
    };
    let table = format_comparison(&result(0, 0), &result(138, 1_000), Folded, PLAIN);
    let answer = "The program and its system calls cost 46,230 instructions more (+0.55 %), \
                  8,458,456 → 8,504,686: +138 a call in all 3 rows that differ; most in read, \
                  +35,880.\n";
    assert!(table.starts_with(answer), "{table}");
    let others = "2 rows that are not the program's work differ by +16,000 in all";
    assert!(table.contains(others) && !table.contains("pathmeter's own "), "{table}");
    assert!(table.contains("\n2 other rows, which the program does not cause\n"), "{table}");
    let all = format_comparison(&result(0, 0), &result(138, 1_000), All, PLAIN);
    let line = all.lines().find(|line| line.starts_with("pathmeter's own ")).unwrap();
    assert!(!line.contains("higher") && line.contains("+1,000"), "{all}");
    let one = format_comparison(&result(0, 0), &result(0, 1_000), Folded, PLAIN);
    assert!(one.starts_with("The program and its system calls cost the same.\n"), "{one}");
}

#[test]
fn two_kernels_show_what_the_program_wrote_on_either() {
    let result = |text: &str| {
        let written = Written { text: text.into(), bytes: text.len() as u64, truncated: false };
        let output = Output { stdout: written, ..Output::default() };
        let rows = vec![row(User, "", 1, 8_000), row(Syscall, "write", 1, 900)];
        let example = program("/boot/vmlinuz", "6.1.0-18", vec![run(0, rows); 7]);
        ProgramExample { output, ..example }
    };
    let alike = format_comparison(&result("42\n"), &result("42\n"), Folded, PLAIN);
    assert!(alike.contains("\nstdout   42\n"), "{alike}");
    let differ = format_comparison(&result("42\n"), &result("1,042\n"), Folded, PLAIN);
    let lines = "\nstdout   on base: 42\nstdout   on new: 1,042\n";
    assert!(differ.contains(lines), "{differ}");
    let silent = format_comparison(&result(""), &result("a\nb\n"), Folded, PLAIN);
    let lines = "\nstdout   nothing on base\nstdout   on new: a … 4 bytes: --json has them\n";
    assert!(silent.contains(lines), "{silent}");
}
