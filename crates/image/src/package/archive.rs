//! The search of a package's archive for the files that matter.
//!
//! Contract: the search streams, ends where its visitor wants, and unpacks at most
//! [`MAX_ARCHIVE_BYTES`].

use std::io::{self, BufRead, Cursor, Read};

use tar::EntryType;

use super::newc;
use super::visitor::Visitor;
use crate::codec;
use crate::error::ImageFault;
use crate::file::{ReadFault, too_large};

/// The bound on what is unpacked of an archive.
pub(super) const MAX_ARCHIVE_BYTES: u64 = 1 << 30;
/// What to do about an archive beyond it.
pub(super) const TOO_LARGE_CURE: &str = "take the vmlinuz out of it and give that";

/// Enough of a file's beginning to know its compression and the archive in it.
pub(crate) const HEAD_BYTES: usize = 512;
/// Where POSIX and GNU tar put `ustar` in a member's header.
const USTAR_OFFSET: usize = 0x101;

/// The longest path that is read: Linux's `PATH_MAX`.
const MAX_PATH_BYTES: u64 = 4096;

/// The formats of archives in packages.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Tar,
    Cpio,
}

/// Hands the files of an archive of `format`, which may be packed, to the visitor. `other` is the
/// fault for what begins else, of its first bytes as they are in the package.
pub(super) fn search(
    data: impl BufRead,
    format: Format,
    visitor: &mut dyn Visitor,
    other: impl Fn(&[u8]) -> ImageFault,
) -> Result<(), ImageFault> {
    let (head, data) = peeked(data).map_err(ImageFault::Read)?;
    let Some(codec) = codec::find(&head) else {
        let archive = if format.begins(&head) { data } else { return Err(other(&head)) };
        return search_unpacked(archive, format, visitor, &in_plain);
    };
    let broken = |error| codec.failed(&error);
    let (inner_head, archive) = peeked(codec.open(data)?).map_err(broken)?;
    if !format.begins(&inner_head) {
        return Err(other(&head));
    }
    search_unpacked(archive, format, visitor, &broken)
}

/// A stream whose beginning was read before.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The first [`HEAD_BYTES`] of `input`, or all if there are fewer, and `input` from its start on.
fn peeked<R: Read>(mut input: R) -> io::Result<(Vec<u8>, Whole<R>)> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    input.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// `broken` is what an error of the stream means.
fn search_unpacked(
    input: impl Read,
    format: Format,
    visitor: &mut dyn Visitor,
    broken: &dyn Fn(io::Error) -> ImageFault,
) -> Result<(), ImageFault> {
    let mut input = input.take(MAX_ARCHIVE_BYTES);
    let searched = match format {
        Format::Tar => search_tar(&mut input, visitor),
        Format::Cpio => newc::search(&mut input, visitor),
    };
    match searched {
        // What ends at the bound may be damaged for that alone.
        Ok(false) | Err(ReadFault::Io(_)) if input.limit() == 0 => {
            Err(too_large("the package's archive", MAX_ARCHIVE_BYTES, TOO_LARGE_CURE))
        }
        Ok(_) => Ok(()),
        Err(ReadFault::Io(error)) => Err(broken(error)),
        Err(ReadFault::Other(fault)) => Err(fault),
    }
}

/// What an error means where nothing is packed: the file system's, or the archive's own.
fn in_plain(error: io::Error) -> ImageFault {
    if error.raw_os_error().is_some() {
        ImageFault::Read(error)
    } else {
        ImageFault::Malformed("the package's archive is invalid or ends early")
    }
}

fn search_tar(input: impl Read, visitor: &mut dyn Visitor) -> Result<bool, ReadFault> {
    let mut archive = tar::Archive::new(input);
    // The archives in an apk are laid end to end, and may each have their end marker.
    archive.set_ignore_zeros(true);
    let mut long_path = None;
    // Raw: the crate would hold an extension of any length in memory.
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        match entry.header().entry_type() {
            EntryType::GNULongName => long_path = Some(gnu_path(&mut entry)?),
            EntryType::XHeader => long_path = pax_path(&mut entry)?,
            kind => {
                let path = long_path.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                let size = entry.size();
                if kind.is_file() && visitor.file(&path, size, &mut entry)? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// GNU tar's path of the next entry, which ends with NUL.
fn gnu_path(data: impl Read) -> io::Result<Vec<u8>> {
    let mut path = Vec::new();
    data.take(MAX_PATH_BYTES).read_to_end(&mut path)?;
    path.truncate(path.iter().position(|byte| *byte == 0).unwrap_or(path.len()));
    Ok(path)
}

/// POSIX's path of the next entry, if that is among what is stated about it.
fn pax_path(data: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    data.take(4 * MAX_PATH_BYTES).read_to_end(&mut text)?;
    let records = tar::PaxExtensions::new(&text).map_while(Result::ok);
    let path = records.into_iter().find(|record| record.key_bytes() == b"path");
    Ok(path.map(|record| record.value_bytes().to_vec()))
}

impl Format {
    /// Whether an archive may begin so.
    pub(super) fn begins(self, head: &[u8]) -> bool {
        match self {
            Self::Tar => head.get(USTAR_OFFSET..).is_some_and(|tail| tail.starts_with(b"ustar")),
            Self::Cpio => newc::begins(head),
        }
    }
}
