//! Reading back what came from outside.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{measurement, path, whole};
use pathmeter_model::{
    Inconsistency, MAX_NAME_BYTES, MAX_SAMPLES_PER_PATH, Measurement, ParseError, parse_measurement,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn bytes(measurement: &Measurement) -> Vec<u8> {
    serde_json::to_vec(measurement).unwrap()
}

/// Reads [`whole`] with the value at `pointer` replaced.
fn parse_with(pointer: &str, value: Value) -> Result<Measurement, ParseError> {
    let mut document = serde_json::to_value(whole()).unwrap();
    *document.pointer_mut(pointer).unwrap() = value;
    parse_measurement(document.to_string().as_bytes())
}

fn inconsistency(pointer: &str, value: Value) -> Inconsistency {
    match parse_with(pointer, value) {
        Err(ParseError::Inconsistent { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_written_is_read_back() {
    assert_eq!(parse_measurement(&bytes(&whole())), Ok(whole()));
}

#[test]
fn a_byte_order_mark_is_no_part_of_it_and_utf16_is_named() {
    let text = String::from_utf8(bytes(&whole())).unwrap();
    assert_eq!(parse_measurement(format!("\u{feff}{text}").as_bytes()), Ok(whole()));
    for first in ["\u{feff}", ""] {
        let units: Vec<u16> = format!("{first}{text}").encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(parse_measurement(&little), Err(ParseError::Utf16));
        assert_eq!(parse_measurement(&big), Err(ParseError::Utf16));
    }
}

#[test]
fn bytes_that_are_no_utf8_are_refused_also_where_nothing_reads_them() {
    let mut text = b"{\"unknown\": \"\xff\",".to_vec();
    text.extend_from_slice(&bytes(&whole())[1..]);
    let Err(ParseError::NotJson { detail }) = parse_measurement(&text) else { panic!("taken") };
    assert_eq!(detail, "no UTF-8 from byte 13 on");
}

#[test]
fn what_is_not_json_is_called_that() {
    for bytes in [&b""[..], b"\x7fELF\x02\x01\x01", b"{\"schema\": \"pathmeter.result/1\""] {
        assert!(matches!(parse_measurement(bytes), Err(ParseError::NotJson { .. })));
    }
}

#[test]
fn a_truncated_result_is_an_error_wherever_it_was_cut() {
    let whole = bytes(&whole());
    for length in 0..whole.len() {
        assert!(parse_measurement(&whole[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn another_schema_is_named() {
    let error = parse_with("/schema", json!("pathmeter.result/2")).unwrap_err();
    let found = "\"pathmeter.result/2\"".into();
    assert_eq!(error, ParseError::OtherSchema { wanted: "pathmeter.result/1", found });
    assert!(error.to_string().contains("pathmeter measure --json"), "{error}");
    for document in ["{}", "{\"schema\": 1}"] {
        let error = parse_measurement(document.as_bytes()).unwrap_err();
        assert!(matches!(error, ParseError::OtherSchema { .. }), "{error}");
    }
}

#[test]
fn a_missing_or_mistyped_field_is_malformed() {
    for (pointer, value) in [
        ("/subject", json!({})),
        ("/paths/0/samples", json!([-1])),
        ("/paths/0/samples", json!([330.5])),
        ("/paths/0/unit", json!("seconds")),
        ("/paths", json!(null)),
    ] {
        let error = parse_with(pointer, value).unwrap_err();
        assert!(matches!(error, ParseError::Malformed { .. }), "{pointer}: {error}");
    }
}

#[test]
fn an_unknown_dependency_is_refused() {
    let mut document = serde_json::to_value(whole()).unwrap();
    document["configuration"]["firmware"] = json!("qboot");
    let error = parse_measurement(document.to_string().as_bytes()).unwrap_err();
    assert!(error.to_string().contains("firmware"), "{error}");
}

#[test]
fn a_path_twice_is_refused() {
    let twice = measurement("vmlinuz", vec![path("a.b", &[1]), path("a.b", &[1])]);
    let expected = ParseError::DuplicatePath { path: "\"a.b\"".into() };
    assert_eq!(parse_measurement(&bytes(&twice)), Err(expected));
}

#[test]
fn contradictions_are_told_one_by_one() {
    let runs = Inconsistency::Runs { sum: 9, samples: 8 };
    assert_eq!(inconsistency("/paths/0/samples_per_run/0", json!(5)), runs);
    assert_eq!(inconsistency("/paths/0/estimate/value", json!(329)), Inconsistency::Estimate);
    assert_eq!(inconsistency("/paths/0/estimate", json!(null)), Inconsistency::Estimate);
    assert_eq!(inconsistency("/paths/0/samples/7", json!(332)), Inconsistency::Estimate);
    assert_eq!(inconsistency("/paths/0/unit", json!("check")), Inconsistency::SampledCheck);
    assert_eq!(inconsistency("/paths/0/unit", json!("ns")), Inconsistency::Unit);
    assert_eq!(inconsistency("/paths/1/unit", json!("instructions")), Inconsistency::NoSamples);
    assert_eq!(inconsistency("/paths/2/reason", json!(null)), Inconsistency::NoReason);
}

#[test]
fn lower_bounds_are_positions_of_samples() {
    let bound = |positions: &[u32]| path("a.b", &[7, 9]).with_lower_bounds(positions.to_vec());
    let document = |positions| bytes(&measurement("vmlinuz", vec![bound(positions)]));
    let whole = parse_measurement(&document(&[1, 3])).unwrap();
    assert_eq!(whole.paths, [bound(&[1, 3])]);
    for positions in [&[4][..], &[1, 1], &[3, 1]] {
        let what = Inconsistency::LowerBounds;
        let expected = ParseError::Inconsistent { path: "\"a.b\"".into(), what };
        assert_eq!(parse_measurement(&document(positions)), Err(expected));
    }
}

#[test]
fn a_guests_text_with_control_characters_is_refused() {
    let mut document = serde_json::to_value(whole()).unwrap();
    document["guest"] = json!({
        "cpu": null, "vulnerabilities": {"mds": "\u{1b}[2J"}, "compared_with": null,
        "unexpected": [],
    });
    let error = parse_measurement(document.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, ParseError::Field { .. }), "{error}");
    document["guest"]["vulnerabilities"]["mds"] = json!("Not affected");
    let read = parse_measurement(document.to_string().as_bytes()).unwrap();
    assert_eq!(read.guest.unwrap().vulnerabilities.unwrap()["mds"], "Not affected");
}

#[test]
fn what_is_too_large_is_refused() {
    let names = measurement("vmlinuz", vec![path(&"x".repeat(MAX_NAME_BYTES + 1), &[1])]);
    let samples = measurement("vmlinuz", vec![path("a.b", &vec![1; MAX_SAMPLES_PER_PATH])]);
    let value = measurement("vmlinuz", vec![path("a.b", &[u64::MAX])]);
    for document in [names, samples, value] {
        let error = parse_measurement(&bytes(&document)).unwrap_err();
        assert!(matches!(error, ParseError::TooLarge { .. }), "{error}");
    }
}

#[test]
fn errors_repeat_foreign_text_shortened_and_without_control_characters() {
    let hostile = format!("\x1b[31m{}", "x".repeat(10_000));
    for pointer in ["/schema", "/paths/0/unit", "/subject/kind"] {
        let text = parse_with(pointer, json!(hostile)).unwrap_err().to_string();
        assert!(text.chars().count() < 400, "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_measurement(&bytes);
    }

    #[test]
    fn a_result_with_bytes_changed_is_read_without_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut document = bytes(&whole());
        for (index, byte) in changes {
            let at = index.index(document.len());
            document[at] = byte;
        }
        let _ = parse_measurement(&document);
    }

    #[test]
    fn any_samples_survive_the_round_trip(
        runs in proptest::collection::vec(
            proptest::collection::vec(0..=i64::MAX as u64, 1..20), 1..5),
    ) {
        let unit = pathmeter_model::Unit::Instructions;
        let paths = vec![pathmeter_model::PathResult::ok("a.b", unit, &runs, vec![])];
        let written = measurement("vmlinuz", paths);
        prop_assert_eq!(parse_measurement(&bytes(&written)), Ok(written));
    }
}
