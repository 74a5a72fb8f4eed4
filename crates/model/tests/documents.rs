//! The documents as others read them: field names, words, and the published schemas.
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter-model` writes the schemas anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{measurement, path, runs::whole_program, whole};
use pathmeter_model::{
    Blame, Boots, Checked, Comparison, FolderComparison, History, Joined, Measurement,
    ProgramSlopeResult, RowKind, SettingsResult, SlopeResult, Threshold, TimeComparison, Times,
    compare,
};
use pathmeter_seal::{document_schema, to_document};
use schemars::JsonSchema;
use serde_json::{Value, json};

fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn assert_published<T: JsonSchema>(name: &str) {
    let schema = document_schema::<T>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let file = folder.join(format!("pathmeter.{name}-1.json"));
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        let current = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        std::fs::write(&file, current).unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    // Compared as JSON: the order of keys follows features that other crates may turn on.
    let published: Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "{name} is stale: run again with PATHMETER_BLESS=1");
}

#[test]
fn the_schemas_of_all_documents_are_published() {
    assert_published::<Checked<Measurement>>("result");
    assert_published::<Comparison>("comparison");
    assert_published::<FolderComparison>("folder-comparison");
    assert_published::<History>("history");
    assert_published::<Blame>("blame");
    assert_published::<SlopeResult>("slope");
    assert_published::<ProgramSlopeResult>("program-slope");
    assert_published::<SettingsResult>("settings");
    assert_published::<Times>("times");
    assert_published::<TimeComparison>("time-comparison");
    assert_published::<Boots>("boots");
    assert_published::<Joined>("joined-comparison");
}

#[test]
fn a_result_has_the_fields_that_others_read() {
    let result = serde_json::to_value(whole()).unwrap();
    assert_eq!(fields(&result), ["configuration", "notes", "paths", "schema", "subject"]);
    assert_eq!(result["schema"], "pathmeter.result/1");
    assert_eq!(result["subject"], json!({"kind": "kernel-image", "name": "vmlinuz"}));
    let of_path = fields(&result["paths"][0]);
    for field in ["path", "unit", "status", "reason", "samples", "estimate"] {
        assert!(of_path.contains(&field), "{field}");
    }
    let values = |field: &str| -> Vec<Value> {
        result["paths"].as_array().unwrap().iter().map(|path| path[field].clone()).collect()
    };
    assert_eq!(values("status"), ["ok", "ok", "unsupported", "failed"]);
    assert_eq!(values("unit"), ["instructions", "check", "instructions", "instructions"]);
    assert_eq!(result["paths"][0]["reason"], Value::Null);
    assert_eq!(result["paths"][1]["estimate"], Value::Null);
}

#[test]
fn a_comparison_has_the_fields_that_others_read() {
    let base = measurement("old", vec![path("syscall.getppid", &[330])]);
    let new = measurement("new", vec![path("syscall.getppid", &[331])]);
    let comparison = serde_json::to_value(compare(&base, &new, Threshold::default())).unwrap();
    assert_eq!(comparison["schema"], "pathmeter.comparison/1");
    assert_eq!([&comparison["base"]["name"], &comparison["new"]["name"]], ["old", "new"]);
    assert_eq!(comparison["summary"]["mode-appeared"], 0);
    let row = &comparison["paths"][0];
    assert_eq!([&row["path"], &row["verdict"]], ["syscall.getppid", "higher"]);
    assert_eq!([&row["base"], &row["new"], &row["difference"]], [330, 331, 1]);
}

#[test]
fn a_program_has_the_fields_that_others_read() {
    let result = serde_json::to_value(whole_program().result()).unwrap();
    assert_eq!(result["schema"], "pathmeter.result/1");
    assert_eq!(result["execution"]["ended"], json!({"code": 0}));
    assert_eq!(result["execution"]["runs"][0], json!({"clock": 7220, "idle": 300}));
    let rows = result["paths"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
    let tick = "timer interrupt (apic_timer)";
    assert_eq!(names, ["user code", "write", tick, "own work", "sum", "user.parse"]);
    let work = json!({
        "kind": "syscall", "calls": [1, 1],
        "first": {
            "instructions": 1000,
            "events": {"clock": 1020, "string-bytes": 160, "data-lines": 40}
        }
    });
    assert_eq!((&rows[1]["work"], &rows[1]["samples"]), (&work, &json!([800])));
    let names = |kind: RowKind| serde_json::to_value(kind).unwrap();
    let kinds = [RowKind::Syscall32, RowKind::PageFault, RowKind::NewTask, RowKind::OwnWork];
    assert_eq!(kinds.map(names), ["syscall32", "page-fault", "new-task", "own-work"]);
}

#[test]
fn a_programs_comparison_has_the_fields_that_others_read() {
    let result = whole_program().result();
    let comparison = serde_json::to_value(compare(&result, &result, Threshold::default())).unwrap();
    assert_eq!(comparison["program"]["base_ended"], json!({"code": 0}));
    assert_eq!(comparison["program"]["later_runs"], 1);
    let row = &comparison["paths"][0];
    assert_eq!([&row["work"]["kind"], &row["verdict"]], ["user", "same"]);
    assert_eq!(row["work"]["base_calls"], json!({"least": 1, "most": 1}));
    assert_eq!(row["work"]["first"]["base"], 5000);
}

/// Every field that is written is in the schema as required, all the way down.
#[test]
fn the_schemas_name_every_field_written() {
    let schema = serde_json::to_value(document_schema::<Checked<Measurement>>()).unwrap();
    let required = |of: &Value| -> Vec<String> {
        let mut names: Vec<String> = serde_json::from_value(of["required"].clone()).unwrap();
        names.sort();
        names
    };
    let result: Value = serde_json::from_str(&to_document(&whole()).unwrap()).unwrap();
    assert_eq!(required(&schema), fields(&result));
    assert_eq!(required(&schema["$defs"]["Configuration"]), fields(&result["configuration"]));
    assert_eq!(required(&schema["$defs"]["PathResult"]), fields(&result["paths"][0]));
    let guest = serde_json::to_value(pathmeter_model::GuestReport::default()).unwrap();
    // What may be null need not be there.
    let named = schema["$defs"]["GuestReport"]["properties"].as_object().unwrap();
    assert!(fields(&guest).iter().all(|field| named.contains_key(*field)));
    let estimate = &result["paths"][0]["estimate"];
    assert_eq!(required(&schema["$defs"]["Estimate"]), fields(estimate));
}
