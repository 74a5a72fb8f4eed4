//! Reading back a program's result that came from outside.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{path, program::*, whole};
use pathmeter_model::{
    Document, FunctionCost, MAX_NAME_BYTES, MAX_PROGRAM_RUNS, MAX_ROWS, ParseError, ProgramResult,
    RowFunctions, RowKind, RunInconsistency, command_line, parse_measurement, parse_program,
};
use serde_json::{Value, json};

fn bytes(result: &ProgramResult) -> Vec<u8> {
    serde_json::to_vec(result).unwrap()
}

/// Reads [`whole_program`] with the value at `pointer` replaced.
fn parse_with(pointer: &str, value: Value) -> Result<ProgramResult, ParseError> {
    let mut document = serde_json::to_value(whole_program()).unwrap();
    *document.pointer_mut(pointer).unwrap() = value;
    parse_program(document.to_string().as_bytes())
}

fn text_of(pointer: &str, value: Value) -> String {
    parse_with(pointer, value).unwrap_err().to_string()
}

#[test]
fn what_was_written_is_read_back() {
    assert_eq!(parse_program(&bytes(&whole_program())), Ok(whole_program()));
}

#[test]
fn a_truncated_result_is_an_error_wherever_it_was_cut() {
    let whole = bytes(&whole_program());
    for length in 0..whole.len() {
        assert!(parse_program(&whole[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn each_document_is_no_other_one() {
    let error = parse_program(&serde_json::to_vec(&whole()).unwrap()).unwrap_err();
    let found = "\"pathmeter.result/1\"".into();
    assert_eq!(error, ParseError::OtherSchema { found, wanted: Document::Program });
    assert!(error.to_string().contains("pathmeter run --json"), "{error}");
    let error = parse_measurement(&bytes(&whole_program())).unwrap_err();
    assert!(error.to_string().contains("\"pathmeter.program/1\", not \"pathmeter.result/1\""));
}

#[test]
fn a_missing_or_mistyped_field_is_malformed() {
    for (pointer, value) in [
        ("/program", json!({"command": ["a"]})),
        ("/ended", json!({"code": 256})),
        ("/ended", json!({"exit": 0})),
        ("/runs/0/rows/0/kind", json!("hypercall")),
        ("/runs/0/rows/0/calls", json!(-1)),
        ("/runs/0/idle", json!(1.5)),
        ("/output/stdout/truncated", json!(null)),
    ] {
        let error = parse_with(pointer, value).unwrap_err();
        let malformed = matches!(error, ParseError::Malformed { wanted: Document::Program, .. });
        assert!(malformed, "{pointer}: {error}");
    }
}

#[test]
fn what_is_unknown_about_the_program_is_refused() {
    let mut document = serde_json::to_value(whole_program()).unwrap();
    document["program"]["user"] = json!("root");
    let error = parse_program(document.to_string().as_bytes()).unwrap_err();
    assert!(error.to_string().contains("unknown field `user`"), "{error}");
}

#[test]
fn an_error_names_its_field() {
    for (pointer, value, begins) in [
        ("/program/command", json!([]), "program.command: it is empty"),
        ("/runs", json!([]), "runs: there are none"),
        ("/regions/0/path", json!("parse"), "regions[0].path: \"parse\" is neither user."),
        ("/regions/0/path", json!("user."), "regions[0].path: \"user.\" is neither user."),
        ("/regions/0/samples/1", json!(71), "path \"user.parse\": the estimate does not follow"),
        ("/runs/1/clock", json!(u64::MAX), "runs[1].clock: 18446744073709551615, more than"),
        ("/program/bytes", json!(u64::MAX), "program.bytes: 18446744073709551615, more than"),
        ("/output/stderr/bytes", json!(u64::MAX), "output.stderr.bytes: 18446744073709551615, "),
    ] {
        let text = text_of(pointer, value);
        assert!(text.starts_with(begins), "{pointer}: {text}");
    }
}

#[test]
fn a_region_twice_is_refused() {
    let region = || path("user.parse", &[1]);
    let twice = ProgramResult { regions: vec![region(), region()], ..whole_program() };
    let expected = ParseError::DuplicatePath { path: "\"user.parse\"".into() };
    assert_eq!(parse_program(&bytes(&twice)), Err(expected));
}

/// What is wrong with the first run.
fn contradiction(pointer: &str, value: Value) -> RunInconsistency {
    match parse_with(pointer, value) {
        Err(ParseError::Run { run: 0, what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rows_and_idle_add_up_to_the_clock() {
    let sum = |sum, clock| RunInconsistency::Sum { sum, clock };
    assert_eq!(contradiction("/runs/0/clock", json!(7219)), sum(7220, 7219));
    assert_eq!(contradiction("/runs/0/idle", json!(301)), sum(7221, 7220));
    assert_eq!(contradiction("/runs/0/rows/1/steps", json!(1021)), sum(7221, 7220));
    let wraps = sum(u128::from(u64::MAX) + 7220 - 300, 7220);
    assert_eq!(contradiction("/runs/0/idle", json!(u64::MAX)), wraps);
    let text = text_of("/runs/0/clock", json!(7219));
    assert!(text.starts_with("runs[0].rows: their steps and idle add up to 7220"), "{text}");
}

/// What is wrong with a result that has these functions of `write`'s 800 instructions, in `run`.
fn functions_refused(run: usize, instructions: &[u64]) -> Option<String> {
    let cost = |(at, instructions): (usize, &u64)| FunctionCost {
        function: format!("f{at}"),
        calls: 1,
        instructions: *instructions,
    };
    let functions = instructions.iter().enumerate().map(cost).collect();
    let row = RowFunctions { kind: RowKind::Syscall, name: "write".into(), run, functions };
    let result = ProgramResult { functions: Some(vec![row]), ..whole_program() };
    parse_program(&bytes(&result)).err().map(|error| error.to_string())
}

#[test]
fn the_functions_of_a_row_add_up_to_it_in_their_run() {
    assert_eq!(functions_refused(1, &[300, 500]), None);
    for (run, instructions, begins) in [
        (1, &[300, 499][..], "they add up to 799, but the row has 800 in runs[1]"),
        (0, &[300, 500], "they add up to 800, but the row has 1000 in runs[0]"),
        (1, &[u64::MAX, 801], "they add up to 18446744073709552416, but the row has 800"),
        (2, &[300, 500], "there is no run 2"),
    ] {
        let text = functions_refused(run, instructions).unwrap();
        assert!(text.starts_with(&format!("functions of syscall \"write\": {begins}")), "{text}");
    }
}

#[test]
fn rows_are_sorted_and_unique() {
    let order = |name: &str| RunInconsistency::Order { name: format!("\"{name}\"") };
    let tick = "sysvec_apic_timer_interrupt";
    assert_eq!(contradiction("/runs/0/rows/1/kind", json!("softirq")), order(tick));
    let mut twice = whole_program();
    let user = twice.runs[0].rows[0].clone();
    twice.runs[0].rows.insert(0, user);
    twice.runs[0].clock += 5000;
    let expected = ParseError::Run { run: 0, what: order("") };
    assert_eq!(parse_program(&bytes(&twice)), Err(expected));
}

#[test]
fn numbers_of_a_row_must_be_possible() {
    let name = "\"write\"".to_owned();
    let more = RunInconsistency::Instructions { name };
    assert_eq!(contradiction("/runs/0/rows/1/instructions", json!(1021)), more);
    for (field, what) in [("calls", "calls"), ("events/data-lines", "data-lines")] {
        let pointer = format!("/runs/0/rows/1/{field}");
        let found = contradiction(&pointer, json!(u64::MAX));
        assert_eq!(found, RunInconsistency::TooMany { what });
    }
}

#[test]
fn an_event_of_a_row_must_be_one_that_was_counted() {
    let mut result = whole_program();
    result.events.remove(1);
    let error = parse_program(&bytes(&result)).unwrap_err().to_string();
    assert!(error.contains("data-lines is not among the events that were counted"), "{error}");
}

#[test]
fn what_is_too_large_is_refused() {
    let named = |name: &str| run(&[row(RowKind::Syscall, name, 1, 1)]);
    let name = program("vmlinuz", vec![named(&"x".repeat(MAX_NAME_BYTES + 1))]);
    let runs = program("vmlinuz", vec![named("read"); MAX_PROGRAM_RUNS + 1]);
    let rows = |first: usize| -> Vec<_> {
        let numbers = first..first + MAX_ROWS / 2 + 1;
        numbers.map(|number| row(RowKind::Syscall, &number.to_string(), 1, 1)).collect()
    };
    let rows = program("vmlinuz", vec![run(&rows(0)), run(&rows(MAX_ROWS))]);
    for (what, document) in [("a row's name", name), ("runs", runs), ("different rows", rows)] {
        let error = parse_program(&bytes(&document)).unwrap_err();
        assert!(matches!(error, ParseError::TooLarge { .. }), "{what}: {error}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_command_is_shown_as_one_would_type_it() {
    let words = ["/bin/sh", "-c", "echo it's $HOME", "", "a=b", "größe"].map(str::to_owned);
    assert_eq!(command_line(&words), r"/bin/sh -c 'echo it'\''s $HOME' '' a=b größe");
}
