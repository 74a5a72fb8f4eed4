//! The seal of a document: the field `seal`, a digest of all of its other content.
//!
//! Whatever pathmeter writes as a document of its own goes through [`to_document`], and whatever it
//! reads back through [`unsealed`], so that a document of which a digit has changed is never taken
//! for the one that was written. A seal proves no origin: anyone can compute one. A document that
//! was edited on purpose is taken as what it is by [`mark_edited`], which says so beside the
//! numbers.
//!
//! The digest is SHA-256 of the content in a canonical form (`canonical.rs`), which neither white
//! space nor the order of fields changes. docs/reference/results.md describes it to readers.

mod canonical;
mod edited;
mod schema;

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::canonical::canonical;
pub use crate::edited::{EDITED, mark_edited};
pub use crate::schema::document_schema;

/// The name of the field.
const FIELD: &str = "seal";
/// The field that names the schema.
const SCHEMA: &str = "schema";
/// How the schemas of all documents begin.
const SCHEMAS: &str = "pathmeter.";
/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Most of a foreign text that an error repeats, in characters.
const QUOTED_CHARS: usize = 60;

/// Why a document is not the one that was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("{schema} without a seal: the document was edited, or pathmeter did not write it")]
    Missing {
        /// What it says that it is, in quotes.
        schema: String,
    },
    /// Its seal does not match its content.
    #[error("{schema} whose seal does not match: the document was changed after it was written")]
    Broken {
        /// What it says that it is, in quotes.
        schema: String,
    },
}

/// A document, or an array of documents, as text with the seal of each.
///
/// # Errors
/// It can't be written as JSON.
pub fn to_document<D: Serialize>(document: &D) -> serde_json::Result<String> {
    sealed(&serde_json::to_string(document)?)
}

/// The text of a document, or of an array of documents, with the seal of each in place of the one
/// that it has.
///
/// # Errors
/// It is no JSON.
pub fn sealed(text: &str) -> serde_json::Result<String> {
    if is_array(text) {
        let documents: Vec<&RawValue> = serde_json::from_str(text)?;
        let each = documents.iter().map(|document| sealed(document.get()));
        return Ok(format!("[{}]", each.collect::<serde_json::Result<Vec<_>>>()?.join(",")));
    }
    let content = canonical(text)?;
    let seal = digest(&content.text);
    let without = String::from_utf8_lossy(&content.text);
    let text = if content.header.seal.is_some() { &*without } else { text };
    let Some(fields) = text.trim_end().strip_suffix('}') else { return Ok(text.to_owned()) };
    let comma = if fields.trim_end().ends_with('{') { "" } else { "," };
    Ok(format!("{fields}{comma}\"{FIELD}\":\"{seal}\"}}"))
}

/// The bytes of a document, or of an array of documents, without the seals, which are checked. What
/// can't be a document of pathmeter is given back as it is: its reader says what it is instead.
///
/// # Errors
/// It, or one of several, is not the document that was written.
pub fn unsealed(bytes: &[u8]) -> Result<Cow<'_, [u8]>, SealError> {
    let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let Ok(text) = str::from_utf8(body) else { return Ok(Cow::Borrowed(bytes)) };
    if is_array(text) {
        let Ok(documents) = serde_json::from_str::<Vec<&RawValue>>(text) else {
            return Ok(Cow::Borrowed(bytes));
        };
        let each = documents.iter().map(|document| remove_seal(document.get()));
        let each = each.collect::<Result<Vec<_>, _>>()?;
        return Ok(Cow::Owned(format!("[{}]", each.join(",")).into_bytes()));
    }
    Ok(match remove_seal(text)? {
        Cow::Borrowed(_) => Cow::Borrowed(bytes),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

/// Checks the seal of one document and removes it; text without pathmeter's schema is unchanged.
fn remove_seal(text: &str) -> Result<Cow<'_, str>, SealError> {
    let content = match canonical(text) {
        Ok(content) => content,
        // No reader takes what is no JSON, but some skip a number that they could not read.
        Err(_) if serde_json::from_str::<IgnoredAny>(text).is_err() => {
            return Ok(Cow::Borrowed(text));
        }
        Err(_) => return Err(SealError::Broken { schema: "a document".to_owned() }),
    };
    let Some(schema) = content.header.schema.filter(|schema| schema.starts_with(SCHEMAS)) else {
        return Ok(Cow::Borrowed(text));
    };
    let schema = quoted(&schema);
    let Some(seal) = content.header.seal else { return Err(SealError::Missing { schema }) };
    if seal != digest(&content.text) {
        return Err(SealError::Broken { schema });
    }
    // As pathmeter writes it: then places in it, which errors name, stay what they are.
    let end = format!(",\"{FIELD}\":\"{seal}\"}}");
    match text.trim_end().strip_suffix(&end) {
        Some(fields) => Ok(Cow::Owned(format!("{fields}}}"))),
        None => Ok(Cow::Owned(String::from_utf8_lossy(&content.text).into_owned())),
    }
}

/// A foreign text in quotes, fit for a message.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(QUOTED_CHARS).collect();
    format!("\"{}\"", short.escape_debug())
}

fn is_array(text: &str) -> bool {
    text.trim_ascii_start().starts_with('[')
}

fn digest(content: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOCUMENT: &str =
        r#"{"schema":"pathmeter.result/1","b":{"z":[1,-2.5],"a":null},"a":"é\n"}"#;

    fn opened_text(text: &str) -> Result<String, SealError> {
        unsealed(text.as_bytes()).map(|bytes| String::from_utf8(bytes.into_owned()).unwrap())
    }

    #[test]
    fn what_was_sealed_is_opened_in_whatever_form_it_is_written() {
        let text = sealed(DOCUMENT).unwrap();
        assert_eq!(opened_text(&text).as_deref(), Ok(DOCUMENT));
        assert_eq!(opened_text(&format!("\u{feff}{text}\n")).as_deref(), Ok(DOCUMENT));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        for other in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let opened: serde_json::Value =
                serde_json::from_str(&opened_text(&other).unwrap()).unwrap();
            assert_eq!(opened, serde_json::from_str::<serde_json::Value>(DOCUMENT).unwrap());
        }
    }

    #[test]
    fn the_seal_is_that_of_the_reference() {
        // The program in docs/reference/results.md prints it.
        let text =
            sealed(r#"{"schema":"pathmeter.x/1","b":[1,2.5,1e-7],"a":"é","c":2.0}"#).unwrap();
        let content = r#"{"a":"é","b":[1,2.5,1e-7],"c":2,"schema":"pathmeter.x/1"}"#;
        assert!(
            text.ends_with(&format!(",\"seal\":\"{}\"}}", digest(content.as_bytes()))),
            "{text}"
        );
    }

    #[test]
    fn without_a_seal_and_with_anothers_it_is_refused_by_its_schema() {
        let schema = "\"pathmeter.result/1\"".to_owned();
        assert_eq!(opened_text(DOCUMENT), Err(SealError::Missing { schema: schema.clone() }));
        let text = sealed(DOCUMENT).unwrap();
        let broken = Err(SealError::Broken { schema });
        assert_eq!(opened_text(&text.replace("-2.5", "-2.6")), broken);
        // The reader of JSON fails on a number that no field has; skipping does not.
        let number = opened_text(&text.replace("null", "1e999"));
        assert_eq!(number, Err(SealError::Broken { schema: "a document".to_owned() }));
        let twice = text.replace("\"a\":null", "\"a\":1,\"a\":null");
        assert_eq!(opened_text(&twice), broken);
    }

    #[test]
    fn what_is_sealed_again_has_one_seal() {
        let text = sealed(&sealed(DOCUMENT).unwrap().replace("-2.5", "7")).unwrap();
        assert_eq!(text.matches("seal").count(), 1);
        assert_eq!(text, sealed(&opened_text(&text).unwrap()).unwrap());
    }

    #[test]
    fn of_an_array_each_is_sealed() {
        let text = sealed(&format!("[{DOCUMENT}, {DOCUMENT}]")).unwrap();
        assert_eq!(opened_text(&text).unwrap(), format!("[{DOCUMENT},{DOCUMENT}]"));
        assert!(opened_text(&text.replacen("null", "true", 1)).is_err());
        assert_eq!((sealed("[]").unwrap(), opened_text("[]").unwrap()), ("[]".into(), "[]".into()));
    }

    #[test]
    fn what_is_no_document_is_left_to_its_reader() {
        for text in ["", "{", "{}", "[1]", "3", "{} {}", r#"{"schema":3}"#, r#"{"schema":"x"}"#] {
            assert_eq!(opened_text(text).as_deref(), Ok(text));
        }
        assert_eq!(unsealed(b"\xff\xfe{\0").unwrap(), &b"\xff\xfe{\0"[..]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_none_are_taken_that_were_not_sealed(bytes: Vec<u8>) {
            let taken = unsealed(&bytes).map(Cow::into_owned);
            prop_assert_eq!(taken, Ok(bytes.clone()));
        }

        #[test]
        fn every_other_digit_is_refused(
            numbers: Vec<u64>, at: prop::sample::Index, by in 1_u8..10
        ) {
            let text = format!(r#"{{"schema":"pathmeter.x/1","n":{numbers:?}}}"#);
            let mut bytes = sealed(&text).unwrap().into_bytes();
            let is_digit = |at: &usize| bytes[*at].is_ascii_digit();
            let digits: Vec<usize> = (0..bytes.len()).filter(is_digit).collect();
            let at = digits[at.index(digits.len())];
            bytes[at] = b'0' + (bytes[at] - b'0' + by) % 10;
            // With a zero in front it is no JSON, which the document's reader refuses.
            let is_json = serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
            prop_assert!(!is_json || unsealed(&bytes).is_err());
        }
    }
}
