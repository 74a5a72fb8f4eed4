//! Reading back a program's result that came from outside.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::{path, runs::*, whole};
use pathmeter_model::example::runs::{ProgramExample, sleep};
use pathmeter_model::{
    FunctionCost, MAX_NAME_BYTES, MAX_PROGRAM_RUNS, MAX_ROWS, Measurement, ParseError, ProgramRow,
    RowFunctions, RowKind, SleepResult, command_line, parse_measurement,
};
use pathmeter_trace::{Event, SlowInstruction};
use serde_json::{Value, json};

fn bytes(result: &ProgramExample) -> Vec<u8> {
    serde_json::to_vec(&result.result()).unwrap()
}

/// Reads [`whole_program`] with the value at `pointer` replaced.
fn parse_with(pointer: &str, value: Value) -> Result<Measurement, ParseError> {
    let mut document = serde_json::to_value(whole_program().result()).unwrap();
    *document.pointer_mut(pointer).unwrap() = value;
    parse_measurement(document.to_string().as_bytes())
}

fn text_of(pointer: &str, value: Value) -> String {
    parse_with(pointer, value).unwrap_err().to_string()
}

#[test]
fn what_was_written_is_read_back() {
    assert_eq!(parse_measurement(&bytes(&whole_program())), Ok(whole_program().result()));
}

#[test]
fn a_truncated_result_is_an_error_wherever_it_was_cut() {
    let whole = bytes(&whole_program());
    for length in 0..whole.len() {
        assert!(parse_measurement(&whole[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn a_missing_or_mistyped_field_is_malformed() {
    for (pointer, value) in [
        ("/configuration/program", json!({"command": ["a"]})),
        ("/execution/ended", json!({"code": 256})),
        ("/execution/ended", json!({"exit": 0})),
        ("/paths/0/work/kind", json!("hypercall")),
        ("/paths/0/work/calls", json!([-1])),
        ("/execution/runs/0/idle", json!(1.5)),
        ("/execution/output/stdout/truncated", json!(null)),
    ] {
        let error = parse_with(pointer, value).unwrap_err();
        assert!(matches!(error, ParseError::Malformed { .. }), "{pointer}: {error}");
    }
}

#[test]
fn what_is_unknown_about_the_program_is_refused() {
    let mut document = serde_json::to_value(whole_program().result()).unwrap();
    document["configuration"]["program"]["user"] = json!("root");
    let error = parse_measurement(document.to_string().as_bytes()).unwrap_err();
    assert!(error.to_string().contains("unknown field `user`"), "{error}");
}

#[test]
fn an_error_names_its_field() {
    for (pointer, value, begins) in [
        ("/configuration/program/command", json!([]), "configuration.program.command: it is empty"),
        ("/configuration/program", json!(null), "configuration.program: it is missing"),
        ("/execution/runs", json!([]), "execution.runs: there are none"),
        ("/execution", json!(null), "row \"user code\": it is a row of a program, but none was"),
        ("/paths/5/path", json!("parse"), "paths: \"parse\" is no row, nor user.NAME"),
        ("/paths/5/path", json!("user."), "paths: \"user.\" is no row, nor user.NAME"),
        ("/paths/5/samples/1", json!(71), "path \"user.parse\": the estimate does not follow"),
        ("/execution/runs/1/clock", json!(u64::MAX), "execution.runs[1].clock: 184467440737095516"),
        (
            "/configuration/program/bytes",
            json!(u64::MAX),
            "configuration.program.bytes: 1844674407",
        ),
        (
            "/execution/output/stderr/bytes",
            json!(u64::MAX),
            "execution.output.stderr.bytes: 184467",
        ),
        (
            "/paths/1/work/calls",
            json!([1]),
            "row \"write\": it does not have the calls and samples",
        ),
        ("/paths/1/events", json!(null), "row \"write\": it has no events"),
        ("/paths/1/work/first/events", json!({"lfence": 1}), "row \"write\": lfence is not among"),
        ("/paths/1/work/first/instructions", json!(1021), "row \"write\": it has more instr"),
        ("/paths/1/work/kind", json!("own-work"), "execution.runs[0]: the steps of all rows"),
        ("/paths/3/work/kind", json!("sum"), "paths: there is not one row of own work"),
    ] {
        let text = text_of(pointer, value);
        assert!(text.starts_with(begins), "{pointer}: {text}");
    }
}

/// What is wrong with [`two_processes`] if the value at `pointer` is replaced.
fn processes_refused(pointer: &str, value: Value) -> String {
    let mut document = serde_json::to_value(two_processes().result()).unwrap();
    *document.pointer_mut(pointer).unwrap() = value;
    parse_measurement(document.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn processes_are_read_back_and_have_all_own_work() {
    let result = two_processes().result();
    assert_eq!(parse_measurement(&bytes(&two_processes())), Ok(result.clone()));
    let [sh, echo] = result.processes() else { panic!("{:?}", result.processes()) };
    assert_eq!((sh.program(), echo.program()), ("sh", "echo"));
    assert_eq!(sh.own_work().unwrap().work.as_ref().unwrap().first.instructions, 5000);
    assert_eq!(echo.own_work().unwrap().samples, [800]);
    for (pointer, value, what) in [
        ("/processes/1/process", json!("sh"), "execution.processes: \"sh\" is there twice"),
        ("/processes/0/threads", json!([1]), "process \"sh\": it does not have the threads"),
        (
            "/processes/1/rows/0/work/first/instructions",
            json!(999),
            "process \"sh/echo\": its own work is not what its rows add up to",
        ),
        ("/processes/1/rows/0/work/kind", json!("softirq"), "process \"sh/echo\": \"write\" is no"),
        ("/processes/1/rows/0/path", json!("read"), "execution.processes: \"read\" is not what"),
        ("/processes/1/rows", json!([]), "process \"sh/echo\": its own work is not what"),
    ] {
        let text = processes_refused(&("/execution".to_owned() + pointer), value);
        assert!(text.starts_with(what), "{pointer}: {text}");
    }
    let one = json!([serde_json::to_value(&two_processes().result().processes()[0]).unwrap()]);
    let text = processes_refused("/execution/processes", one);
    assert!(text.starts_with("execution.processes: \"own work\" is not what"), "{text}");
}

/// What is wrong with [`two_threads`] if the value at `pointer` is replaced.
fn threads_refused(pointer: &str, value: Value) -> String {
    let mut document = serde_json::to_value(two_threads().result()).unwrap();
    *document.pointer_mut(&("/execution/processes/0".to_owned() + pointer)).unwrap() = value;
    parse_measurement(document.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn threads_are_read_back_and_have_all_work_of_their_process() {
    let result = two_threads().result();
    assert_eq!(parse_measurement(&bytes(&two_threads())), Ok(result.clone()));
    let [sh] = result.processes() else { panic!("{:?}", result.processes()) };
    let [first, second] = &sh.by_thread[..] else { panic!("{:?}", sh.by_thread) };
    assert_eq!((sh.number_of(first), sh.number_of(second)), (":1", ":2"));
    assert_eq!((&first.names[..], &second.names[..]), (&["sh".into()][..], &["io".into()][..]));
    let long = "x".repeat(200);
    for (pointer, value, what) in [
        ("/by_thread/1/thread", json!("sh:1"), "process \"sh\": thread \"sh:1\": it is there twi"),
        ("/by_thread/1/thread", json!("a:2"), "process \"sh\": thread \"a:2\": it is not called"),
        ("/by_thread/1/thread", json!("sh:"), "process \"sh\": thread \"sh:\": it is not called"),
        (
            "/by_thread/1/names",
            json!(vec!["a"; 9]),
            "process \"sh\": thread \"sh:2\": it has more na",
        ),
        (
            "/by_thread/0/rows/0/work/first/instructions",
            json!(1),
            "process \"sh\": thread \"sh:1\": its own work is not what its rows add up to",
        ),
        ("/by_thread/0/rows/0/path", json!("x"), "process \"sh\": \"x\" is not what the threads"),
        ("/by_thread/0/rows/0/work/kind", json!("softirq"), "process \"sh\": thread \"sh:1\": "),
    ] {
        let text = threads_refused(pointer, value);
        assert!(text.starts_with(what), "{pointer}: {text}");
    }
    for (pointer, value, what) in [
        ("/by_thread/1/thread", json!(long), "length of a thread's place in bytes"),
        ("/by_thread/1/names/0", json!(long), "length of a thread's name in bytes"),
    ] {
        let text = threads_refused(pointer, value);
        assert!(text.contains(what), "{pointer}: {text}");
    }
    let one = json!([serde_json::to_value(&sh.by_thread[0]).unwrap()]);
    let text = threads_refused("/by_thread", one);
    assert!(text.starts_with("process \"sh\": ") && text.contains("the threads have"), "{text}");
}

#[test]
fn threads_alone_are_what_they_add_up_to_and_say_that_sleeps_are_the_processes() {
    let result = two_threads().result();
    let sh = &result.processes()[0];
    let [first, second] = &sh.by_thread[..] else { panic!("{:?}", sh.by_thread) };
    let one = result.of_threads("sh:2", &[second]);
    assert_eq!((one.only_process(), &one.paths), (Some("sh:2"), &second.rows));
    assert_eq!((&one.notes, one.processes().len()), (&result.notes, 0));
    let both = result.of_threads("sh:*", &[first, second]);
    assert_eq!(both.paths, result.of_processes("sh", &[sh]).paths);
    let slept =
        ProgramExample { sleeps: vec![sleep("sh", "read", None, "x", &[1; 2])], ..two_threads() };
    let alone = slept.result().of_threads("sh:1", &[first]);
    assert!(alone.execution.unwrap().sleeps.is_empty());
    assert!(alone.notes.last().unwrap().starts_with("sleeps are told by process"));
}

#[test]
fn several_processes_alone_are_what_they_add_up_to() {
    let result = two_processes().result();
    let [sh, echo] = result.processes() else { panic!("{:?}", result.processes()) };
    let one = result.of_processes("echo", &[echo]);
    assert_eq!((one.only_process(), &one.paths), (Some("echo"), &echo.rows));
    let both = result.of_processes("*", &[sh, echo]);
    let own = |row: &&pathmeter_model::PathResult| {
        row.work_kind().is_some_and(|kind| kind.is_own_work() || kind == RowKind::OwnWork)
    };
    let whole: Vec<_> = result.paths.iter().filter(own).cloned().collect();
    assert_eq!(both.paths, whole);
    assert!(both.processes().is_empty());
    let differences = result.configuration.differences(&one.configuration);
    assert_eq!(differences[0].field, "program.process");
}

#[test]
fn a_region_twice_is_refused() {
    let region = || path("user.parse", &[1]);
    let twice = ProgramExample { regions: vec![region(), region()], ..whole_program() };
    let expected = ParseError::DuplicatePath { path: "\"user.parse\"".into() };
    assert_eq!(parse_measurement(&bytes(&twice)), Err(expected));
}

#[test]
fn the_rows_and_idle_add_up_to_the_clock() {
    for (pointer, value, sum) in [
        ("/execution/runs/0/clock", 7219, "7220, not to 7219"),
        ("/execution/runs/0/idle", 301, "7221, not to 7220"),
        ("/paths/1/work/first/events/clock", 1021, "7221, not to 7220"),
        ("/execution/runs/0/idle", u64::MAX, "18446744073709558535, not to 7220"),
    ] {
        let text = text_of(pointer, json!(value));
        let begins = "execution.runs[0]: the steps of all rows and idle add up to ";
        assert!(text.starts_with(&(begins.to_owned() + sum)), "{pointer}: {text}");
    }
}

#[test]
fn the_totals_are_what_their_rows_add_up_to() {
    for (pointer, name, run) in [
        ("/paths/3/work/first/instructions", "own work", 0),
        ("/paths/4/work/first/events/data-lines", "sum", 0),
        ("/paths/4/work/calls/1", "sum", 1),
    ] {
        let text = text_of(pointer, json!(41));
        let begins =
            format!("paths: {name} is not what its rows add up to in execution.runs[{run}]");
        assert!(text.starts_with(&begins), "{pointer}: {text}");
    }
}

/// What is wrong with a result that has these functions of `write`'s 800 instructions.
fn functions_refused(instructions: &[u64]) -> Option<String> {
    let cost = |(at, instructions): (usize, &u64)| FunctionCost {
        function: format!("f{at}"),
        calls: 1,
        instructions: *instructions,
        events: BTreeMap::new(),
    };
    let functions = instructions.iter().enumerate().map(cost).collect();
    let row = RowFunctions { kind: RowKind::Syscall, name: "write".into(), functions };
    let result = ProgramExample { functions: vec![row], ..whole_program() };
    parse_measurement(&bytes(&result)).err().map(|error| error.to_string())
}

#[test]
fn the_functions_of_a_row_add_up_to_it() {
    assert_eq!(functions_refused(&[300, 500]), None);
    for (instructions, begins) in [
        (&[300, 499][..], "its functions add up to 799, but it typically has 800"),
        (&[u64::MAX, 801], "its functions add up to 18446744073709552416, but it typically has"),
    ] {
        let text = functions_refused(instructions).unwrap();
        assert!(text.starts_with(&format!("row \"write\": {begins}")), "{text}");
    }
}

#[test]
fn the_events_of_a_rows_functions_are_those_of_a_run_in_which_it_costs_as_much() {
    let lfence = Event::Slow(SlowInstruction::Lfence);
    let refused = |in_row: u64, in_function: u64| {
        let events = BTreeMap::from([(lfence, in_row)]);
        let read = ProgramRow { events, ..row(RowKind::Syscall, "read", 1, 100) };
        let function = FunctionCost {
            function: "f".into(),
            calls: 1,
            instructions: 100,
            events: BTreeMap::from([(lfence, in_function)]),
        };
        let functions = vec![function];
        let functions =
            vec![RowFunctions { kind: RowKind::Syscall, name: "read".into(), functions }];
        let example = program("vmlinuz", vec![run(&[read]); 3]);
        let result = ProgramExample { events: vec![lfence], functions, ..example };
        parse_measurement(&bytes(&result)).err().map(|error| error.to_string())
    };
    assert_eq!(refused(3, 3), None);
    for (in_row, in_function) in [(3, 2), (0, 1)] {
        let text = refused(in_row, in_function).unwrap();
        let begins = "row \"read\": the events of its functions are not those of a typical run";
        assert!(text.starts_with(begins), "{text}");
    }
    assert!(refused(3, u64::MAX).unwrap().contains("an event of a function"));
}

#[test]
fn a_result_of_paths_has_no_row_of_a_program() {
    let rows = whole_program().result().paths;
    let mixed = Measurement { paths: rows, ..whole() };
    let error = parse_measurement(&serde_json::to_vec(&mixed).unwrap()).unwrap_err();
    assert!(
        error.to_string().starts_with("row \"user code\": it is a row of a program"),
        "{error}"
    );
}

#[test]
fn what_is_too_large_is_refused() {
    let named = |name: &str| run(&[row(RowKind::Syscall, name, 1, 1)]);
    let runs = program("vmlinuz", vec![named("read"); MAX_PROGRAM_RUNS + 1]);
    let rows: Vec<_> =
        (0..=MAX_ROWS).map(|number| row(RowKind::Syscall, &number.to_string(), 1, 1)).collect();
    let rows = program("vmlinuz", vec![run(&rows)]);
    let calls = program("vmlinuz", vec![run(&[row(RowKind::Syscall, "read", u64::MAX, 1)])]);
    for (what, document) in [("runs", runs), ("rows", rows), ("calls of all rows", calls)] {
        let error = parse_measurement(&bytes(&document)).unwrap_err();
        assert!(error.to_string().contains(what), "{what}: {error}");
    }
}

#[test]
fn a_command_is_shown_as_one_would_type_it() {
    let words = ["/bin/sh", "-c", "echo it's $HOME", "", "a=b", "größe"].map(str::to_owned);
    assert_eq!(command_line(&words), r"/bin/sh -c 'echo it'\''s $HOME' '' a=b größe");
}

/// What is wrong with the sleeps of a program of two runs, if this is the second of them.
fn sleeps_refused(second: SleepResult) -> String {
    let first = sleep("sh", "read", Some("sh/echo"), "write", &[3, 4]);
    let example = ProgramExample { sleeps: vec![first, second], ..two_processes() };
    parse_measurement(&bytes(&example)).unwrap_err().to_string()
}

#[test]
fn sleeps_are_read_back_and_are_those_of_the_runs() {
    let sleeps = vec![
        sleep("sh", "read", Some("sh/echo"), "write", &[3, 4]),
        sleep("sh/echo", "read", None, "timer interrupt (timer)", &[1, 0]),
    ];
    let example = ProgramExample { sleeps: sleeps.clone(), ..two_processes() };
    let read = parse_measurement(&bytes(&example)).unwrap();
    assert_eq!(read.execution.as_ref().unwrap().sleeps, sleeps);
    let echo: Vec<&_> = read.processes().iter().filter(|it| it.process == "sh/echo").collect();
    let alone = read.of_processes("echo", &echo).execution.unwrap();
    assert_eq!(alone.sleeps, sleeps[1..]);
    let good = || sleep("sh", "wait4", None, "timer", &[1, 1]);
    let mut odd = good();
    odd.steps_to_run.pop();
    for (second, what) in [
        (sleep("sh", "read", Some("sh/echo"), "write", &[1, 1]), "that in \"read\" is there twice"),
        (sleep("sh", "wait4", None, "timer", &[1]), "it does not have the numbers of 2 runs"),
        (odd, "it does not have the numbers of 2 runs"),
        (SleepResult { kind: RowKind::Softirq, ..good() }, "it is in no row of own work, and in"),
        (SleepResult { idle: vec![None, Some(u64::MAX)], ..good() }, "it has a number above"),
    ] {
        let text = sleeps_refused(second);
        assert!(text.starts_with(&format!("execution.sleeps[1]: {what}")), "{text}");
    }
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    let text = sleeps_refused(SleepResult { slept_in: long, ..good() });
    assert!(text.contains("length of a name of a sleep"), "{text}");
}
