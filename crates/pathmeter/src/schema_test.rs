//! The schemas of documents that are made in this crate, as `docs/schemas/` publishes them.

use std::path::Path;

use pathmeter_seal::with_seal;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The file there is the schema of `T`; with `PATHMETER_BLESS` set it is written anew.
pub(crate) fn assert_published<T: JsonSchema>(name: &str) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = with_seal(settings.into_generator().into_root_schema_for::<T>());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let file = folder.join(format!("{name}.json"));
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    let published: Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "{name} is stale: run with PATHMETER_BLESS=1");
}
