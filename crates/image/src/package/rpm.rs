//! An RPM package: a lead, two headers (signatures, then the package's metadata), and the
//! files in a packed cpio archive.
//!
//! ```text
//! lead     96 bytes, obsolete but for its magic
//! header   magic  0 u32  entries u32 BE  store_size u32 BE  { tag, type, offset, count u32 BE }…
//!          store: the entries' values
//! ```
//!
//! Contract: headers are passed over; only if there is no kernel the second is read, and of it at
//! most [`MAX_STORE_BYTES`].
//!
//! Not by the crate `rpm`: it allocates what a header claims without a bound, holds the whole
//! payload to unpack it, and brings forty crates. Not taken are payloads of 4 GiB and more, whose
//! cpio headers have no names (`07070X`); no kernel is in one.
//!
//! Source: rpm's `docs/manual/format_v4.md` and `format_header.md`.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::archive::{self, Format};
use super::found::{Found, Package};
use super::holder::{self, RpmNames};
use super::visitor::Visitor;
use crate::codec;
use crate::error::ImageFault;
use crate::file::Source;

/// The bytes that the lead begins with.
pub(super) const MAGIC: &[u8] = b"\xed\xab\xee\xdb";

const LEAD_BYTES: u64 = 96;
const HEADER_MAGIC: &[u8] = b"\x8e\xad\xe8\x01";
const INTRO_BYTES: usize = 16;
const ENTRY_BYTES: usize = 16;
/// The first header is padded to this.
const ALIGNMENT: u64 = 8;

/// The most that is held of a header. Those of the largest packages have a few MiB.
const MAX_STORE_BYTES: u32 = 32 << 20;
/// The most entries of a header, by rpm's own bound.
const MAX_ENTRIES: u32 = 0xffff;

// Tags of the values that matter.
const NAME: u32 = 1000;
const VERSION: u32 = 1001;
const RELEASE: u32 = 1002;
const VENDOR: u32 = 1011;
const REQUIRE_NAME: u32 = 1049;

/// Takes the kernel out of the package.
pub(super) fn extract(source: Source) -> Result<Package, ImageFault> {
    let mut found = Found::default();
    let (mut reader, header) = search(source, &mut found)?;
    found.kernel(|_| holder::by_rpm(&header.names(&mut reader)?))
}

/// Hands the package's files to the visitor.
pub(super) fn visit(source: Source, visitor: &mut dyn Visitor) -> Result<(), ImageFault> {
    search(source, visitor).map(|_| ())
}

/// The same; the package, and where its metadata is.
fn search(
    source: Source,
    visitor: &mut dyn Visitor,
) -> Result<(BufReader<File>, Header), ImageFault> {
    let total = source.bytes;
    let mut reader = source.into_reader();
    let signatures = Header::find(&mut reader, LEAD_BYTES, total)?;
    let header = Header::find(&mut reader, signatures.end.next_multiple_of(ALIGNMENT), total)?;
    seek(&mut reader, header.end)?;
    let other = |head: &[u8]| codec::unknown("the payload of the package", head);
    archive::search(&mut reader, Format::Cpio, visitor, other)?;
    Ok((reader, header))
}

/// Where a header is in the package.
struct Header {
    /// Where its entries start in the file.
    start: u64,
    entries: u32,
    store_bytes: u32,
    /// Where its store ends in the file.
    end: u64,
}

impl Header {
    /// Reads the beginning of the header at `at`; it lies within the file.
    fn find(reader: &mut BufReader<File>, at: u64, total: u64) -> Result<Self, ImageFault> {
        const PART: &str = "a header of the package";
        let start = at + INTRO_BYTES as u64;
        ImageFault::unless_fits(PART, start, total)?;
        seek(reader, at)?;
        let mut intro = [0; INTRO_BYTES];
        reader.read_exact(&mut intro).map_err(ImageFault::Read)?;
        let number = |offset: usize| u32_at(&intro, offset).unwrap_or(0);
        let (entries, store_bytes) = (number(8), number(12));
        if !intro.starts_with(HEADER_MAGIC) || entries > MAX_ENTRIES {
            return Err(ImageFault::Malformed("a header of the package is invalid"));
        }
        let end = start + u64::from(entries) * ENTRY_BYTES as u64 + u64::from(store_bytes);
        ImageFault::unless_fits(PART, end, total)?;
        Ok(Self { start, entries, store_bytes, end })
    }

    /// The package's metadata, as far as it can be read.
    fn names(&self, reader: &mut BufReader<File>) -> Option<RpmNames> {
        if self.store_bytes > MAX_STORE_BYTES {
            return None;
        }
        seek(reader, self.start).ok()?;
        let mut bytes = Vec::new();
        reader.take(self.end - self.start).read_to_end(&mut bytes).ok()?;
        let (index, store) = bytes.split_at_checked(self.entries as usize * ENTRY_BYTES)?;
        let one = |tag| strings(index, store, tag).next();
        Some(RpmNames {
            name: one(NAME)?,
            version: one(VERSION)?,
            release: one(RELEASE)?,
            vendor: one(VENDOR).unwrap_or_default(),
            requires: strings(index, store, REQUIRE_NAME).collect(),
        })
    }
}

/// The values of a tag whose type is some form of string: NUL-terminated, laid end to end.
fn strings<'a>(index: &'a [u8], store: &'a [u8], tag: u32) -> impl Iterator<Item = String> + 'a {
    let entry = index.chunks_exact(ENTRY_BYTES).find(|entry| u32_at(entry, 0) == Some(tag));
    let place = entry.and_then(|entry| Some((u32_at(entry, 8)?, u32_at(entry, 12)?)));
    let (offset, count) = place.unwrap_or_default();
    let values = store.get(offset as usize..).unwrap_or_default().split(|byte| *byte == 0);
    values.take(count as usize).map(|value| String::from_utf8_lossy(value).into_owned())
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().copied().map(u32::from_be_bytes)
}

fn seek(reader: &mut BufReader<File>, to: u64) -> Result<(), ImageFault> {
    reader.seek(SeekFrom::Start(to)).map_err(ImageFault::Read).map(|_| ())
}
