//! Results that the fuzzer starts from (`fuzz/seeds/result/`).
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter-model` writes them anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::{fs, path::Path};

use common::{measurement, path, runs::whole_program, whole};
use pathmeter_model::{Check, Measurement, PathResult, example, parse_measurement};
use serde::Serialize;

/// Texts that a terminal would obey, wherever a result has text that is shown.
fn obeyed() -> Measurement {
    const TEXT: &str = "\u{1b}[31m\r\n\u{7f}";
    let check = Check { name: TEXT.into(), value: TEXT.into() };
    let paths = vec![
        PathResult { checks: vec![check], ..path(TEXT, &[7]) },
        example::failed("tcp.round-trip", TEXT),
    ];
    let mut result = Measurement { notes: vec![TEXT.into()], ..measurement(TEXT, paths) };
    result.configuration.release = Some(TEXT.into());
    result.configuration.qemu = TEXT.into();
    result
}

#[test]
fn the_fuzzers_results_are_whole_and_as_they_would_be_written() {
    assert_seed("whole.json", &whole());
    assert_seed("obeyed.json", &obeyed());
    assert_seed("program.json", &whole_program().result());
}

fn assert_seed(name: &str, result: &Measurement) {
    let read = parse_measurement(&seed(&format!("result/{name}"), result));
    assert_eq!(read.as_ref(), Ok(result), "{name} is stale: run with PATHMETER_BLESS=1");
}

/// The seed in this file; with `PATHMETER_BLESS` it is made of `document` first.
fn seed(name: &str, document: &impl Serialize) -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, serde_json::to_vec(document).unwrap()).unwrap();
    }
    fs::read(&file).unwrap()
}
