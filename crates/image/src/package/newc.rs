//! A reader of `newc` cpio archives, as rpm packs them.
//!
//! Contract: streams; of a header's claims nothing is held but a name of at most
//! [`MAX_NAME_BYTES`]. Crates for this format hold whatever length of name a header claims.
//!
//! Source: Linux `Documentation/driver-api/early-userspace/buffer-format.rst`.

use std::io::{self, Read};

use super::visitor::Visitor;
use crate::error::invalid;
use crate::file::ReadFault;

/// Without and with a checksum of each file, which nobody checks.
const MAGICS: [&[u8]; 2] = [b"070701", b"070702"];
const END_NAME: &[u8] = b"TRAILER!!!";
/// Headers, names and data are padded to this.
const ALIGNMENT: u64 = 4;

const MAGIC_BYTES: usize = 6;
const FIELD_BYTES: usize = 8;
const FIELDS: usize = 13;
const HEADER_BYTES: usize = MAGIC_BYTES + FIELDS * FIELD_BYTES;
// Indices of the fields that matter.
const MODE: usize = 1;
const FILE_SIZE: usize = 6;
const NAME_SIZE: usize = 11;

/// Linux's `PATH_MAX`, which counts the final NUL.
const MAX_NAME_BYTES: u32 = 4096;

// File types of `st_mode`.
const S_IFMT: u32 = 0o170_000;
const S_IFREG: u32 = 0o100_000;

/// Whether an archive may begin so.
pub(super) fn begins(head: &[u8]) -> bool {
    MAGICS.iter().any(|magic| head.starts_with(magic))
}

/// Hands every regular file to the visitor, until that has what it wants; whether it has.
pub(super) fn search(mut input: impl Read, visitor: &mut dyn Visitor) -> Result<bool, ReadFault> {
    while let Some(entry) = Entry::next(&mut input)? {
        let size = u64::from(entry.size);
        let mut data = (&mut input).take(size);
        if entry.is_file && visitor.file(&entry.name, size, &mut data)? {
            return Ok(true);
        }
        let unread = data.limit();
        skip(&mut input, unread + padding(size))?;
    }
    Ok(false)
}

/// A header's contents, and its name.
struct Entry {
    name: Vec<u8>,
    is_file: bool,
    size: u32,
}

impl Entry {
    /// Reads up to the entry's data; none at the archive's end.
    fn next(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_BYTES];
        input.read_exact(&mut header)?;
        if !begins(&header) {
            return Err(invalid("no cpio header where one must be"));
        }
        let name_size = field(&header, NAME_SIZE)?;
        if name_size == 0 || name_size > MAX_NAME_BYTES {
            return Err(invalid("a name in the cpio archive is empty or too long"));
        }
        let mut name = vec![0; name_size as usize];
        input.read_exact(&mut name)?;
        skip(input, padding(HEADER_BYTES as u64 + u64::from(name_size)))?;
        name.pop(); // the final NUL
        if name == END_NAME {
            return Ok(None);
        }
        let is_file = field(&header, MODE)? & S_IFMT == S_IFREG;
        Ok(Some(Self { name, is_file, size: field(&header, FILE_SIZE)? }))
    }
}

/// A field of a header: eight hexadecimal digits.
fn field(header: &[u8; HEADER_BYTES], index: usize) -> io::Result<u32> {
    let start = MAGIC_BYTES + index * FIELD_BYTES;
    let digits = std::str::from_utf8(&header[start..start + FIELD_BYTES]).map_err(invalid)?;
    u32::from_str_radix(digits, 16).map_err(invalid)
}

/// Bytes after `size` of them, up to the next aligned offset.
fn padding(size: u64) -> u64 {
    size.next_multiple_of(ALIGNMENT) - size
}

fn skip(input: &mut impl Read, count: u64) -> io::Result<()> {
    let skipped = io::copy(&mut input.take(count), &mut io::sink())?;
    if skipped == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
