//! A document, taken apart so that what it has in common with others is kept once: the entry of
//! each path, and a skeleton, which is all the rest. Put together again it is the same bytes.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A document, split into its paths and the rest.
pub(crate) struct Split<'a> {
    /// All bytes outside the paths.
    pub(crate) skeleton: Vec<u8>,
    /// The entry of each path, in the document's order, and how many bytes of the skeleton stand
    /// between it and the one before.
    pub(crate) entries: Vec<(usize, &'a [u8])>,
}

#[derive(Deserialize)]
struct Paths<'a> {
    #[serde(borrow)]
    paths: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Sessions<'a> {
    #[serde(borrow)]
    boots: Vec<Paths<'a>>,
}

/// The paths of a session, or of all sessions.
fn entries_of(body: &[u8]) -> Option<Vec<&RawValue>> {
    if let Ok(Paths { paths }) = serde_json::from_slice(body) {
        return Some(paths);
    }
    let Sessions { boots } = serde_json::from_slice(body).ok()?;
    Some(boots.into_iter().flat_map(|session| session.paths).collect())
}

/// Splits a document that was parsed before. None if it has neither `paths` nor, of several boots,
/// `boots` that have.
pub(crate) fn split(bytes: &[u8]) -> Option<Split<'_>> {
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let paths = entries_of(body)?;
    let mut skeleton = Vec::new();
    let mut entries = Vec::new();
    let mut done = 0;
    for path in paths {
        // Borrowed of `bytes`, so that the distance is the place in it.
        let begin = (path.get().as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
        let end = begin + path.get().len();
        let between = bytes.get(done..begin)?;
        skeleton.extend_from_slice(between);
        entries.push((between.len(), bytes.get(begin..end)?));
        done = end;
    }
    skeleton.extend_from_slice(bytes.get(done..)?);
    Some(Split { skeleton, entries })
}

/// Which parts a document has, and where in the skeleton they stand: for each, how many bytes of
/// the skeleton come before it, and its number, both as LEB128.
#[derive(Default)]
pub(crate) struct Layout(Vec<u8>);

impl Layout {
    pub(crate) fn push(&mut self, gap: usize, part: i64) {
        push_varint(&mut self.0, gap as u64);
        push_varint(&mut self.0, part.unsigned_abs());
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The gaps and parts of a layout; None if the bytes are none.
pub(crate) fn read_layout(bytes: &[u8]) -> Option<Vec<(usize, i64)>> {
    let mut rest = bytes;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let gap = usize::try_from(varint(&mut rest)?).ok()?;
        entries.push((gap, i64::try_from(varint(&mut rest)?).ok()?));
    }
    Some(entries)
}

/// Puts a number after `bytes`, as LEB128.
pub(crate) fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// Takes the number that `bytes` begin with. None if they begin with none.
pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    // Nearly all are small.
    if let [small @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(*small));
    }
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let low = u64::from(byte & 0x7f);
        value |= low << shift;
        if byte < 0x80 {
            // No bit was lost at the top.
            return (value >> shift == low).then_some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn join_split(split: &Split<'_>) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::new(), &split.skeleton[..]);
        for (gap, entry) in &split.entries {
            bytes.extend_from_slice(&rest[..*gap]);
            bytes.extend_from_slice(entry);
            rest = &rest[*gap..];
        }
        [bytes, rest.to_vec()].concat()
    }

    #[test]
    fn a_document_is_the_sum_of_its_parts_however_it_is_spaced() {
        for text in [
            "{\"paths\":[]}",
            "{\"a\":1,\"paths\":[{\"x\":1},{\"y\":[2]}],\"b\":\"ä\"}\n",
            "\u{feff} { \"paths\" : [ {\n\"x\": 1 } ,\n\n3 ] } ",
        ] {
            let split = split(text.as_bytes()).unwrap();
            assert_eq!(join_split(&split), text.as_bytes());
        }
        assert_eq!(split(b"{\"paths\":[{\"x\":1}, 22]}").unwrap().entries[1], (2, &b"22"[..]));
        let boots = b"{\"boots\":[{\"paths\":[1, 2]},{\"paths\":[3],\"a\":4}]}";
        let split_boots = split(boots).unwrap();
        assert_eq!((split_boots.entries.len(), join_split(&split_boots)), (3, boots.to_vec()));
        assert!(split(b"{}").is_none());
    }

    proptest! {
        #[test]
        fn a_layout_is_read_as_it_was_written(
            entries in proptest::collection::vec((any::<u32>(), 0..i64::MAX), 0..50)
        ) {
            let entries: Vec<(usize, i64)> =
                entries.into_iter().map(|(gap, part)| (gap as usize, part)).collect();
            let mut layout = Layout::default();
            for &(gap, part) in &entries {
                layout.push(gap, part);
            }
            prop_assert_eq!(read_layout(&layout.into_bytes()), Some(entries));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = read_layout(&bytes);
        }
    }
}
