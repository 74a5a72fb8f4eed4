//! A Debian package: an `ar` archive whose member `data.tar.*` holds the files, and `control.tar.*`
//! before it the package's metadata.
//!
//! Contract: of `data.tar.*` at most [`MAX_ARCHIVE_BYTES`] are read, and as many unpacked.
//!
//! Sources: `deb(5)`; `ar(5)`.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::archive::{self, Format, MAX_ARCHIVE_BYTES, TOO_LARGE_CURE};
use super::found::{Found, Package};
use super::holder;
use super::visitor::Visitor;
use crate::codec;
use crate::error::ImageFault;
use crate::file::{Source, too_large};

/// How an `ar` archive begins.
pub(super) const MAGIC: &[u8] = b"!<arch>\n";

// The 60 bytes before each member: name, mtime, uid, gid, mode (not used), size, end marker.
const MEMBER_HEADER_BYTES: usize = 60;
const MEMBER_NAME: std::ops::Range<usize> = 0..16;
const MEMBER_SIZE: std::ops::Range<usize> = 48..58;
const MEMBER_END: std::ops::Range<usize> = 58..60;

const CONTROL_MEMBER: &[u8] = b"control.tar";
const DATA_MEMBER: &[u8] = b"data.tar";

/// Where a member's bytes are.
#[derive(Clone, Copy)]
struct Member {
    start: u64,
    size: u64,
}

/// Takes the kernel out of the package.
pub(super) fn extract(source: Source) -> Result<Package, ImageFault> {
    let mut found = Found::default();
    let (mut reader, control) = search(source, &mut found)?;
    found.kernel(|_| holder::by_control(&control_text(&mut reader, control?)?))
}

/// Hands the package's files to the visitor.
pub(super) fn visit(source: Source, visitor: &mut dyn Visitor) -> Result<(), ImageFault> {
    search(source, visitor).map(|_| ())
}

/// The same; the package, and where `control.tar.*` is in it.
fn search(
    source: Source,
    visitor: &mut dyn Visitor,
) -> Result<(BufReader<File>, Option<Member>), ImageFault> {
    const PART: &str = "data.tar of the package";
    let total = source.bytes;
    let mut reader = source.into_reader();
    let (control, data) = seek_data_member(&mut reader, total)?;
    if data.size > MAX_ARCHIVE_BYTES {
        return Err(too_large(PART, MAX_ARCHIVE_BYTES, TOO_LARGE_CURE));
    }
    let input = (&mut reader).take(data.size);
    archive::search(input, Format::Tar, visitor, |head| codec::unknown(PART, head))?;
    Ok((reader, control))
}

/// Moves to the first byte of `data.tar.*`; returns where that is, and where `control.tar.*` was.
fn seek_data_member(
    reader: &mut BufReader<File>,
    total: u64,
) -> Result<(Option<Member>, Member), ImageFault> {
    let (mut position, mut control) = (MAGIC.len() as u64, None);
    reader.read_exact(&mut [0; MAGIC.len()]).map_err(ImageFault::Read)?;
    loop {
        let start = position + MEMBER_HEADER_BYTES as u64;
        ImageFault::unless_fits("a member header of the package", start, total)?;
        let mut header = [0; MEMBER_HEADER_BYTES];
        reader.read_exact(&mut header).map_err(ImageFault::Read)?;
        let member = Member { start, size: member_size(&header)? };
        ImageFault::unless_fits("a member of the package", start + member.size, total)?;
        let name = &header[MEMBER_NAME];
        if name.starts_with(DATA_MEMBER) {
            return Ok((control, member));
        }
        if name.starts_with(CONTROL_MEMBER) {
            control = Some(member);
        }
        let skip = member.size + member.size % 2; // members begin at even offsets
        position = start + skip;
        reader.seek_relative(skip.cast_signed()).map_err(ImageFault::Read)?;
    }
}

/// At most ten digits, so that sums with it can't overflow.
fn member_size(header: &[u8; MEMBER_HEADER_BYTES]) -> Result<u64, ImageFault> {
    let digits = std::str::from_utf8(&header[MEMBER_SIZE]).ok();
    let size = digits.and_then(|digits| digits.trim_end().parse().ok());
    match size {
        Some(size) if &header[MEMBER_END] == b"`\n" => Ok(size),
        _ => Err(ImageFault::Malformed("a member header of the package is invalid")),
    }
}

/// The file `control`. A package in which it can't be read is one without metadata.
fn control_text(reader: &mut BufReader<File>, member: Member) -> Option<String> {
    reader.seek(SeekFrom::Start(member.start)).ok()?;
    let input = reader.take(member.size);
    let mut found = Found::default();
    let other = |head: &[u8]| codec::unknown("control.tar", head);
    archive::search(input, Format::Tar, &mut found, other).ok()?;
    found.metadata
}
