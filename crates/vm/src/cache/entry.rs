//! One entry of the cache: its key and its content, under one checksum.
//!
//! | offset | bytes | field                                                            |
//! |--------|-------|------------------------------------------------------------------|
//! | 0      | 8     | `PMENTRY1`                                                       |
//! | 8      | 4     | CRC-32 of everything from offset 12 on                           |
//! | 12     | 4     | length of the key                                                |
//! | 16     | n     | the key: JSON, all that the content depends on                   |
//! | 16 + n |       | the content; what it holds is its kind's own matter              |
//!
//! Integers are little endian. The name of an entry's file is only a hash of the key; the key
//! itself stands in the file, so a file under another's name is not believed. No more of a foreign
//! key is read than the key that is asked for has bytes.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"PMENTRY1";
/// The checksum's offset in an entry, in bytes.
const SUM: usize = 8;
/// Where what it covers begins.
const SUMMED: usize = 12;
/// The key's offset in an entry, in bytes.
const KEY: usize = 16;
/// Hexadecimal digits of a name.
const DIGITS: usize = 32;
/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// What an entry of the cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Result,
    /// Windows of paths that were recorded.
    Recordings,
    /// A guest paused at START, or at READY if it has booted with its parcel.
    Snapshot,
    /// The symbols of a kernel.
    Symbols,
    /// Nothing: that it is there says that a QEMU passed the self-test.
    Passed,
}

impl EntryKind {
    const ALL: [Self; 5] =
        [Self::Result, Self::Recordings, Self::Snapshot, Self::Symbols, Self::Passed];

    fn suffix(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Recordings => "recordings",
            Self::Snapshot => "snapshot",
            Self::Symbols => "symbols",
            Self::Passed => "passed",
        }
    }
}

/// An entry's kind, and all that its content depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    kind: EntryKind,
    text: String,
}

impl Key {
    /// The key of what all `parts`, each with its name, together determine.
    pub fn new(kind: EntryKind, parts: &[(&str, &str)]) -> Self {
        let parts = parts.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        let of: Map<_, _> = parts.collect();
        Self { kind, text: json!({ "kind": kind.suffix(), "of": of }).to_string() }
    }

    /// The name of its file.
    pub fn name(&self) -> String {
        format!("{}.{}", &sha256(self.text.as_bytes())[..DIGITS], self.kind.suffix())
    }
}

/// Whether `name` is one that [`Key::name`] gives.
pub(crate) fn is_name(name: &str) -> bool {
    let Some((hash, suffix)) = name.split_once('.') else { return false };
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    hash.len() == DIGITS
        && hash.bytes().all(digit)
        && EntryKind::ALL.iter().any(|kind| kind.suffix() == suffix)
}

/// An entry whose key and checksum were found to be right.
#[derive(Debug)]
pub struct Entry {
    file: File,
    content: u64,
}

impl Entry {
    /// The entry in `file`, or `None` if it is not a whole one of `key`.
    pub(crate) fn open(file: File, key: &Key) -> io::Result<Option<Self>> {
        let length = file.metadata()?.len();
        let content = (KEY + key.text.len()) as u64;
        if length < content {
            return Ok(None);
        }
        let mut header = vec![0; KEY + key.text.len()];
        file.read_exact_at(&mut header, 0)?;
        if header[..SUM] != *MAGIC || header[SUMMED..] != *encode_key(key)? {
            return Ok(None);
        }
        let mut sum = crc32fast::Hasher::new();
        for_each_block(&file, SUMMED as u64, |block| {
            sum.update(block);
            Ok(())
        })?;
        let whole = header[SUM..SUMMED] == sum.finalize().to_le_bytes();
        Ok(whole.then_some(Self { file, content }))
    }

    /// Makes the empty `file` an entry of `key` with what `content` writes.
    pub(crate) fn write(
        file: &File,
        key: &Key,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut entry = Summed { file, sum: crc32fast::Hasher::new() };
        entry.file.seek(SeekFrom::Start(SUMMED as u64))?;
        entry.write_all(&encode_key(key)?)?;
        content(&mut entry)?;
        let sum = entry.sum.finalize();
        file.write_all_at(&[&MAGIC[..], &sum.to_le_bytes()].concat(), 0)
    }

    /// Its content, or `None` if that is longer than `limit`.
    pub fn bytes(&self, limit: usize) -> io::Result<Option<Vec<u8>>> {
        let length = self.file.metadata()?.len().saturating_sub(self.content);
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, self.content)?;
        Ok(Some(bytes))
    }

    /// Its file, and where in it the content begins.
    pub(crate) fn into_content(self) -> (File, u64) {
        (self.file, self.content)
    }
}

/// Encodes a key as an entry has it: its length, then its text.
fn encode_key(key: &Key) -> io::Result<Vec<u8>> {
    let length = u32::try_from(key.text.len()).map_err(io::Error::other)?;
    Ok([&length.to_le_bytes(), key.text.as_bytes()].concat())
}

/// Adds what is written up.
struct Summed<'a> {
    file: &'a File,
    sum: crc32fast::Hasher,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Has `act` see all bytes of `file` from `offset` on, wherever its own offset is.
pub(crate) fn for_each_block(
    file: &File,
    mut offset: u64,
    mut act: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    loop {
        match file.read_at(&mut buffer, offset) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                act(&buffer[..count])?;
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// SHA-256 of `bytes`, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(image: &str) -> Key {
        Key::new(EntryKind::Symbols, &[("image", image), ("qemu", "7.2")])
    }

    fn entry_file(content: &[u8]) -> File {
        let file = tempfile::tempfile().unwrap();
        Entry::write(&file, &key("a"), |entry| entry.write_all(content)).unwrap();
        file
    }

    fn content(file: File, key: &Key) -> Option<Vec<u8>> {
        Entry::open(file, key).unwrap().map(|entry| entry.bytes(100).unwrap().unwrap())
    }

    #[test]
    fn what_was_written_is_read() {
        for bytes in [&b""[..], b"bytes"] {
            assert_eq!(content(entry_file(bytes), &key("a")).unwrap(), bytes);
        }
        let entry = Entry::open(entry_file(b"bytes"), &key("a")).unwrap().unwrap();
        assert_eq!(entry.bytes(4).unwrap(), None, "longer than the reader can use");
    }

    #[test]
    fn an_entry_of_another_key_is_not_believed() {
        for other in [key("b"), key("longer"), Key { kind: EntryKind::Result, ..key("b") }] {
            assert_eq!(content(entry_file(b"bytes"), &other), None);
        }
    }

    #[test]
    fn a_cut_or_changed_entry_is_not_believed() {
        let length = entry_file(b"bytes").metadata().unwrap().len();
        for cut in 0..length {
            let file = entry_file(b"bytes");
            file.set_len(cut).unwrap();
            assert_eq!(content(file, &key("a")), None, "cut at {cut}");
        }
        for place in 0..length {
            let file = entry_file(b"bytes");
            let mut byte = [0];
            file.read_exact_at(&mut byte, place).unwrap();
            file.write_all_at(&[byte[0] ^ 1], place).unwrap();
            assert_eq!(content(file, &key("a")), None, "changed at {place}");
        }
    }

    #[test]
    fn every_part_of_a_key_tells() {
        let with = |parts: &[(&str, &str)]| Key::new(EntryKind::Result, parts);
        let keys = [
            with(&[("a", "1"), ("b", "2")]),
            with(&[("a", "1"), ("b", "3")]),
            with(&[("a", "12"), ("b", "")]),
            with(&[("a", "1\",\"b\":\"2")]),
            Key::new(EntryKind::Snapshot, &[("a", "1"), ("b", "2")]),
        ];
        let mut names: Vec<String> = keys.iter().map(Key::name).collect();
        assert!(names.iter().all(|name| is_name(name)));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), keys.len());
    }

    #[test]
    fn foreign_names_are_not_ours() {
        let ours = key("a").name();
        let foreign = [
            "notes.txt".to_owned(),
            ".new-".to_owned() + &ours,
            ours.to_uppercase(),
            ours[1..].to_owned(),
            ours.replace("symbols", "tar"),
            ours.replace('.', ""),
            ours + ".bak",
        ];
        assert!(!foreign.iter().any(|name| is_name(name)));
    }
}
