//! A document that was edited on purpose, marked as that wherever its numbers are shown.

use serde_json::Value;

use crate::{BYTE_ORDER_MARK, SCHEMAS, sealed};

/// The mark behind the name of a subject.
pub const EDITED: &str = " (edited)";
/// The note of documents that have notes.
const NOTE: &str = "this document was edited after pathmeter wrote it: its numbers are not all \
                    measured ones";
/// Where documents name what their numbers are of.
const NAMES: [&str; 4] = ["/subject/name", "/base/name", "/new/name", "/experiment/title"];

/// Adds to a document's notes, and to the name of every subject, that it was edited, and seals the
/// outcome; None if the bytes are no JSON.
pub fn mark_edited(bytes: &[u8]) -> Option<Vec<u8>> {
    let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut value: Value = serde_json::from_slice(body).ok()?;
    mark(&mut value);
    sealed(&value.to_string()).ok().map(String::into_bytes)
}

/// Marks a document, and the documents in it.
fn mark(value: &mut Value) {
    let is_document = value["schema"].as_str().is_some_and(|schema| schema.starts_with(SCHEMAS));
    if is_document {
        for name in NAMES {
            if let Some(Value::String(name)) = value.pointer_mut(name)
                && !name.ends_with(EDITED)
            {
                name.push_str(EDITED);
            }
        }
        if let Some(Value::Array(notes)) = value.pointer_mut("/notes") {
            notes.push(NOTE.into());
        }
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(mark),
        Value::Array(items) => items.iter_mut().for_each(mark),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::unsealed;

    fn parse_unsealed(bytes: &[u8]) -> Value {
        serde_json::from_slice(&unsealed(bytes).unwrap()).unwrap()
    }

    #[test]
    fn every_subject_in_it_is_marked_once_and_the_notes_say_it() {
        let inner = json!({"schema": "pathmeter.explain/1", "base": {"name": "a"}, "new": null});
        let document = json!({
            "schema": "pathmeter.x/1", "subject": {"name": "k"}, "notes": [], "seal": "old",
            "explanations": [inner], "other": {"base": {"name": "b"}},
        });
        let bytes = mark_edited(document.to_string().as_bytes()).unwrap();
        let read = parse_unsealed(&bytes);
        assert_eq!(
            (&read["subject"]["name"], &read["notes"]),
            (&json!("k (edited)"), &json!([NOTE]))
        );
        assert_eq!(read["explanations"][0]["base"]["name"], "a (edited)");
        assert_eq!(read["other"]["base"]["name"], "b");
        let again = parse_unsealed(&mark_edited(&bytes).unwrap());
        assert_eq!(again["subject"]["name"], "k (edited)");
    }

    #[test]
    fn of_an_array_each_is_marked() {
        let one = json!({"schema": "pathmeter.x/1", "base": {"name": "k"}});
        let read = parse_unsealed(&mark_edited(json!([one, one]).to_string().as_bytes()).unwrap());
        assert_eq!(read[1]["base"]["name"], "k (edited)");
        assert_eq!(mark_edited(b"{"), None);
    }
}
