//! Results edited by a grammar: of values, of their structure, and of the text; and taken all the
//! same, so that what is read is checked, and not the seal alone.

use std::time::Duration;

use fastrand::Rng;
use pathmeter_e2e::Running;
use serde_json::{Map, Value, json};

use super::outcome::{Ended, assert_names_a_cause, assert_no_panic};
use super::stage::Stage;

/// Edits in a round: each run takes some 20 ms.
const EDITS: usize = 20;

/// Compares edited results with the originals.
pub(super) fn edited(stage: &Stage, rng: &mut Rng) -> Ended {
    let measure = ["measure", "lab", "--perturb", "1", "--json"];
    let original = stage.scene.run(&measure).succeeded().stdout.clone();
    let document: Value = serde_json::from_str(&original).unwrap();
    stage.scene.write("out/original.json", &original);
    let unedited = compare_with_original(stage, original.as_bytes());
    let same =
        compare_with_original(stage, serde_json::to_string_pretty(&document).unwrap().as_bytes());
    assert_eq!(same.1, unedited.1, "the same document, laid out differently");
    for _ in 0..EDITS {
        let mut edited = document.clone();
        for _ in 0..=rng.usize(..3) {
            edit(&mut edited, rng);
        }
        let mut text = edited.to_string().into_bytes();
        if rng.u8(..3) == 0 {
            edit_text(&mut text, rng);
        }
        let (code, stdout) = compare_with_original(stage, &text);
        if code < 2 {
            let comparison: Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!(comparison["schema"], "pathmeter.comparison/1");
        }
    }
    Ended::Same
}

/// Compares a document with the original; returns the exit code and the output.
fn compare_with_original(stage: &Stage, edited: &[u8]) -> (i32, String) {
    stage.scene.write("out/edited.json", edited);
    let files = ["out/edited.json", "out/original.json"];
    let accept = "--accept-edited";
    let arguments = ["compare", files[0], files[1], "--check", "--across", "--json", accept];
    let run = stage.finish(Running::start(stage.scene.command(&arguments)));
    let shown = String::from_utf8_lossy(&edited[..edited.len().min(2000)]).into_owned();
    assert_no_panic(&run);
    assert!(run.elapsed < Duration::from_secs(10), "it took {:?}: {shown}", run.elapsed);
    assert!((0..=3).contains(&run.code), "exit code {}: {}\n{shown}", run.code, run.stderr);
    if run.code > 1 && run.stdout.is_empty() {
        assert_names_a_cause(&run);
    }
    (run.code, run.stdout)
}

/// Changes one value somewhere in `value`: deeper ones as likely as others.
fn edit(value: &mut Value, rng: &mut Rng) {
    let deeper = rng.u8(..5) > 0;
    match value {
        Value::Array(items) if deeper && !items.is_empty() => {
            let index = rng.usize(..items.len());
            edit(&mut items[index], rng);
        }
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let key = any_key(fields, rng);
            edit(&mut fields[&key], rng);
        }
        Value::Array(items) => edit_array(items, rng),
        Value::Object(fields) => edit_object(fields, rng),
        _ => *value = any_value(rng),
    }
}

fn edit_array(items: &mut Vec<Value>, rng: &mut Rng) {
    match rng.u8(..5) {
        0 => rng.shuffle(items),
        1 => items.truncate(rng.usize(..=items.len())),
        2 => items.extend_from_within(..),
        3 => items.push(any_value(rng)),
        _ => items.clear(),
    }
}

fn edit_object(fields: &mut Map<String, Value>, rng: &mut Rng) {
    if fields.is_empty() {
        return;
    }
    let key = any_key(fields, rng);
    match rng.u8(..4) {
        0 => drop(fields.remove(&key)),
        1 => drop(fields.insert("unknown".to_owned(), any_value(rng))),
        2 => fields[&key] = any_value(rng),
        _ => {
            let other = any_key(fields, rng);
            let value = fields[&other].clone();
            fields[&key] = value;
        }
    }
}

fn any_key(fields: &Map<String, Value>, rng: &mut Rng) -> String {
    fields.keys().nth(rng.usize(..fields.len())).unwrap().clone()
}

fn any_value(rng: &mut Rng) -> Value {
    let values = [
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!((1_u64 << 53) + 1),
        json!(1e300),
        json!(0.1),
        json!(""),
        json!("\u{1b}[31m\n\0"),
        json!("x".repeat(1 << rng.u32(..18))),
        json!("instructions"),
        json!("failed"),
        json!("syscall.getppid"),
        json!([]),
        json!([[[[[[]]]]]]),
        json!({}),
        json!(rng.u64(..)),
    ];
    values[rng.usize(..values.len())].clone()
}

fn edit_text(text: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..text.len());
    match rng.u8(..6) {
        0 => text.truncate(at),
        1 => text[at] ^= 1 << rng.u32(..8),
        2 => drop(text.splice(..0, *b"\xef\xbb\xbf")),
        3 => text.extend_from_slice(b"{}"),
        4 => drop(text.splice(at..at, std::iter::repeat_n(b'[', 100_000))),
        _ => drop(text.splice(at..at, *b"1e9999")),
    }
}
