//! The schema of a document: the field that names it, and what is published of its type.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::Value;

use crate::FIELD;

/// Defines the type of a document's field `schema`, whose only value is the document's name and
/// version. The crate that uses it depends on serde and schemars.
#[macro_export]
macro_rules! schema_name {
    ($visible:vis $schema:ident = $name:literal) => {
        $crate::schema_name!(
            /// The name and version of the document.
            $visible $schema = $name
        );
    };
    ($(#[$about:meta])+ $visible:vis $schema:ident = $name:literal) => {
        $(#[$about])+
        #[derive(
            Debug,
            Clone,
            Copy,
            Default,
            PartialEq,
            Eq,
            ::serde::Serialize,
            ::serde::Deserialize,
            ::schemars::JsonSchema,
        )]
        $visible enum $schema {
            /// The only version so far.
            #[default]
            #[serde(rename = $name)]
            V1,
        }
    };
}

/// The schema of a whole document of this type, generated from its fields and their comments. It
/// describes what pathmeter writes: every field is there, null where there is no value. The
/// document has a seal, and one within it has none.
#[must_use]
pub fn document_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
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
