//! The seal in the published schemas: a document has it, one within another document does not.

use schemars::{Schema, json_schema};
use serde_json::Value;

use crate::FIELD;

/// The schema of a whole document, as it is written, of the schema of its content.
#[must_use]
pub fn with_seal(mut schema: Schema) -> Schema {
    let seal = json_schema!({
        "description": "SHA-256 of all other content in its canonical form, in hexadecimal.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
    });
    let Some(document) = schema.as_object_mut() else { return schema };
    if let Some(Value::Object(fields)) = document.get_mut("properties") {
        fields.insert(FIELD.to_owned(), seal.to_value());
    }
    if let Some(Value::Array(required)) = document.get_mut("required") {
        required.push(FIELD.into());
    }
    schema
}
