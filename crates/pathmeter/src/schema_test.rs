//! The schemas of documents that are made in this crate, as `docs/schemas/` publishes them.

use std::path::Path;

use pathmeter_seal::document_schema;
use schemars::JsonSchema;
use serde_json::Value;

/// The file there is the schema of `T`; with `PATHMETER_BLESS` set it is written anew.
pub(crate) fn assert_published<T: JsonSchema>(name: &str) {
    let schema = document_schema::<T>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let file = folder.join(format!("{name}.json"));
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    let published: Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "{name} is stale: run with PATHMETER_BLESS=1");
}
