//! The schemas of the documents, as `docs/schemas/` publishes them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::path::Path;

use pathmeter_plan::{FailureRecord, Finding, Plan, Status};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

fn assert_published<T: JsonSchema>(name: &str) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let file = folder.join(format!("{name}.json"));
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    let published: Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "{name} is stale: run with PATHMETER_BLESS=1");
}

#[test]
fn the_schemas_are_published() {
    assert_published::<Plan>("pathmeter.plan-1");
    assert_published::<FailureRecord>("pathmeter.plan-failure-1");
    assert_published::<Finding>("pathmeter.plan-finding-1");
    assert_published::<Status>("pathmeter.plan-status-1");
}
