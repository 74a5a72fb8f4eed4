//! The canonical form of a document's content: JSON without white space, the fields of each object
//! in the order of their names' bytes, of a text only what JSON must escape, a number without a
//! fraction as an integer and any other as the shortest text that is read as this number.
//!
//! Contract: two texts with the same form have the same content. A field that is there twice is
//! there twice in the form too. The form is written while the text is read: a tree of the document
//! would take several times its room.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::{FIELD, SCHEMA};

/// Above this a float without a fraction may stand for several integers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Default)]
pub(crate) struct Content {
    /// All but the seal, in the canonical form.
    pub(crate) text: Vec<u8>,
    /// What tells that it is a document.
    pub(crate) header: Header,
}

/// The fields at the top that make it a document.
#[derive(Default)]
pub(crate) struct Header {
    /// The schema, if that is a text.
    pub(crate) schema: Option<String>,
    /// The seal; empty if it is no text.
    pub(crate) seal: Option<String>,
}

/// The content of a document.
pub(crate) fn canonical(text: &str) -> serde_json::Result<Content> {
    let mut content = Content { text: Vec::with_capacity(text.len()), ..Content::default() };
    let mut reader = serde_json::Deserializer::from_str(text);
    Writer { text: &mut content.text, header: Some(&mut content.header) }
        .deserialize(&mut reader)?;
    reader.end()?;
    Ok(content)
}

/// Writes the value that is read. Only that of a whole document has a header.
struct Writer<'a> {
    text: &'a mut Vec<u8>,
    header: Option<&'a mut Header>,
}

impl Writer<'_> {
    fn put<E: Error>(self, value: impl Serialize) -> Result<(), E> {
        serde_json::to_writer(self.text, &value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.put(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.put(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.put(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.put(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if value.fract() != 0.0 || value.abs() >= MOST_EXACT {
            return self.put(value);
        }
        // Other writers of JSON leave the fraction out. Adding nothing makes -0 to 0.
        write!(self.text, "{:.0}", value + 0.0).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.put(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let text = self.text;
        text.push(b'[');
        let begin = text.len();
        loop {
            let end = text.len();
            if end > begin {
                text.push(b',');
            }
            if items.next_element_seed(Writer { text: &mut *text, header: None })?.is_none() {
                text.truncate(end);
                break;
            }
        }
        text.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { text, mut header } = self;
        let begin = text.len();
        let mut places: Vec<(String, Range<usize>)> = Vec::new();
        while let Some(Name(name)) = fields.next_key()? {
            let from = text.len();
            serde_json::to_writer(&mut *text, &name).map_err(A::Error::custom)?;
            text.push(b':');
            let value_from = text.len();
            fields.next_value_seed(Writer { text: &mut *text, header: None })?;
            if let Some(header) = header.as_deref_mut() {
                let value = || serde_json::from_slice(&text[value_from..]).ok();
                match &*name {
                    SCHEMA => header.schema = value(),
                    FIELD => {
                        header.seal = Some(value().unwrap_or_default());
                        text.truncate(from);
                        continue;
                    }
                    _ => {}
                }
            }
            places.push((name.into_owned(), from..text.len()));
        }
        let written = text.split_off(begin);
        places.sort_by(|(one, _), (other, _)| one.cmp(other));
        text.push(b'{');
        for (number, (_, Range { start, end })) in places.iter().enumerate() {
            if number > 0 {
                text.push(b',');
            }
            text.extend_from_slice(&written[start - begin..end - begin]);
        }
        text.push(b'}');
        Ok(())
    }
}

/// The name of a field, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> String {
        String::from_utf8(canonical(text).unwrap().text).unwrap()
    }

    #[test]
    fn neither_space_nor_order_nor_escapes_change_it() {
        let wanted = r#"{"a":[{},[],"/é"],"b":{"x":1,"y":{"c":null,"d":true}}}"#;
        let texts = [
            wanted,
            " {\n \"b\": {\"y\": {\"d\":true,\"c\" :null},\"x\":1},\"a\":[{ }, [ ], \"/é\"]} ",
            r#"{"\u0062":{"x":1,"y":{"c":null,"d":true}},"a":[{},[],"\/\u00e9"]}"#,
        ];
        for text in texts {
            assert_eq!(form(text), wanted);
        }
    }

    #[test]
    fn numbers_have_one_form_each() {
        assert_eq!(form("[1.0, 1e3, -0.0, 0.10, 1E-7, 12.5]"), "[1,1000,0,0.1,1e-7,12.5]");
        assert_eq!(form("[18446744073709551615, -5]"), "[18446744073709551615,-5]");
        assert_ne!(form("[9007199254740993]"), form("[9007199254740992]"));
    }

    #[test]
    fn the_seal_is_apart_only_at_the_top() {
        let content = canonical(r#"{"seal":"s","a":{"seal":1}}"#).unwrap();
        assert_eq!(content.header.seal.as_deref(), Some("s"));
        assert_eq!(content.text, br#"{"a":{"seal":1}}"#);
        assert_eq!(canonical(r#"{"seal":7}"#).unwrap().header.seal.as_deref(), Some(""));
    }
}
