//! Reading a document of one schema, of which nothing else has been checked.

use std::str::{self, Utf8Error};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::error::Category;

use super::bounds::{bounded, quoted, shortened};
use super::limits::MAX_DOCUMENT_BYTES;
use super::parse_error::ParseError;

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a document of this schema; nothing of what it contains has been checked.
pub(crate) fn read<T: DeserializeOwned>(
    bytes: &[u8],
    schema: &'static str,
) -> Result<T, ParseError> {
    bounded("the file's size in bytes", bytes.len(), MAX_DOCUMENT_BYTES)?;
    if is_utf16(bytes) {
        return Err(ParseError::Utf16);
    }
    // Editors on Windows put it there; it says nothing that JSON does not.
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    // Also in fields that are not read: what keeps the document's text takes it for text.
    let text = str::from_utf8(bytes).map_err(|e| not_utf8(&e))?;
    check_schema(bytes, schema)?;
    serde_json::from_str(text).map_err(|e| unreadable(&e, schema))
}

fn not_utf8(error: &Utf8Error) -> ParseError {
    ParseError::NotJson { detail: format!("no UTF-8 from byte {} on", error.valid_up_to()) }
}

/// Whether a document's first character, a byte-order mark or a brace, is in UTF-16.
fn is_utf16(bytes: &[u8]) -> bool {
    [[0xff, 0xfe], [0xfe, 0xff], [b'{', 0], [0, b'{']].iter().any(|first| bytes.starts_with(first))
}

/// Whether a file that begins with `bytes` is meant as a document: its first character, after
/// white space or a byte-order mark, is a brace. [`parse_measurement`](crate::parse_measurement)
/// says whether it is one.
pub fn is_document(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'{') || is_utf16(bytes)
}

/// The schema that a document names, if it can be found.
pub fn schema_of(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<String>,
    }
    let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    serde_json::from_slice::<Header>(body).ok()?.schema
}

/// Reads the schema alone, so that a file of another version is reported as that, not as malformed.
fn check_schema(bytes: &[u8], wanted: &'static str) -> Result<(), ParseError> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<serde_json::Value>,
    }
    let first_two = || serde_json::Deserializer::from_slice(bytes).into_iter::<Header>().take(2);
    let header: Header = serde_json::from_slice(bytes).map_err(|e| {
        if first_two().flatten().count() == 2 {
            ParseError::Several
        } else {
            unreadable(&e, wanted)
        }
    })?;
    let found = match header.schema {
        Some(serde_json::Value::String(schema)) if schema == wanted => return Ok(()),
        Some(serde_json::Value::String(schema)) => quoted(&schema),
        Some(_) => "not a string".into(),
        None => "missing".into(),
    };
    Err(ParseError::OtherSchema { wanted, found })
}

fn unreadable(error: &serde_json::Error, schema: &'static str) -> ParseError {
    let detail = shortened(&error.to_string());
    match error.classify() {
        Category::Data => ParseError::Malformed { schema, detail },
        Category::Syntax | Category::Eof | Category::Io => ParseError::NotJson { detail },
    }
}
