//! A writer of `newc` cpio archives, as the kernel unpacks them for its initramfs.
//!
//! Contract: deterministic. The same entries give the same bytes: inode numbers count from 1 in the
//! order given, times are 0, everything belongs to root. Entries are written in the order given,
//! and the kernel unpacks in that order, so a directory must stand before what is in it.
//!
//! Source: Linux `Documentation/driver-api/early-userspace/buffer-format.rst`, `init/initramfs.c`.

use std::fmt::Write as _;

const MAGIC: &str = "070701";
const END_NAME: &str = "TRAILER!!!";
/// Headers, names and data are padded to this.
const ALIGNMENT: usize = 4;

// File types of `st_mode`.
const S_IFCHR: u32 = 0o020_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;
/// A link's permissions mean nothing; this is what Linux shows for every link.
const LINK_MODE: u32 = 0o777;

/// One file of the archive. Names are relative to the root and have no leading `/`; `mode` is the
/// permission bits, such as `0o755`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    Directory {
        name: &'a str,
        mode: u32,
    },
    File {
        name: &'a str,
        mode: u32,
        /// What it holds: less than 4 GiB.
        data: &'a [u8],
    },
    Symlink {
        name: &'a str,
        /// Where it leads, as `readlink` prints it: 1 to 4095 bytes, else the kernel leaves the
        /// link out.
        target: &'a str,
    },
    /// A character device, such as `dev/console` (5, 1).
    CharDevice {
        name: &'a str,
        mode: u32,
        /// The number of its driver.
        major: u32,
        /// Its number with that driver.
        minor: u32,
    },
}

impl<'a> Entry<'a> {
    pub fn name(&self) -> &'a str {
        match *self {
            Self::Directory { name, .. }
            | Self::File { name, .. }
            | Self::Symlink { name, .. }
            | Self::CharDevice { name, .. } => name,
        }
    }
}

/// A header's contents, without the fields that are always 0.
#[derive(Default)]
struct Header<'a> {
    inode: u32,
    mode: u32,
    links: u32,
    rdev_major: u32,
    rdev_minor: u32,
    name: &'a str,
    data: &'a [u8],
}

/// The archive that holds `entries`, ready to be an initramfs.
///
/// # Panics
/// If a file has 4 GiB or more, which the format can't express.
pub fn archive(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for (inode, entry) in (1..).zip(entries) {
        append(&mut out, &Header { inode, ..header(entry) });
    }
    append(&mut out, &Header { links: 1, name: END_NAME, ..Header::default() });
    out
}

fn header<'a>(entry: &Entry<'a>) -> Header<'a> {
    match *entry {
        Entry::Directory { name, mode } => {
            Header { name, mode: S_IFDIR | mode, links: 2, ..Header::default() }
        }
        Entry::File { name, mode, data } => {
            Header { name, mode: S_IFREG | mode, links: 1, data, ..Header::default() }
        }
        // The kernel reads the target from the data, which has no final NUL.
        Entry::Symlink { name, target } => Header {
            name,
            mode: S_IFLNK | LINK_MODE,
            links: 1,
            data: target.as_bytes(),
            ..Header::default()
        },
        Entry::CharDevice { name, mode, major, minor } => Header {
            name,
            mode: S_IFCHR | mode,
            links: 1,
            rdev_major: major,
            rdev_minor: minor,
            ..Header::default()
        },
    }
}

fn append(out: &mut Vec<u8>, header: &Header<'_>) {
    out.extend(header_text(header).as_bytes());
    out.extend(header.name.as_bytes());
    out.push(0);
    pad(out);
    out.extend(header.data);
    pad(out);
}

fn header_text(header: &Header<'_>) -> String {
    assert!(u32::try_from(header.data.len()).is_ok(), "{} is too large for cpio", header.name);
    #[rustfmt::skip]
    let fields = [
        header.inode as usize,
        header.mode as usize,
        0, // uid
        0, // gid
        header.links as usize,
        0, // mtime
        header.data.len(),
        0, // device that holds the file: major
        0, // and minor
        header.rdev_major as usize,
        header.rdev_minor as usize,
        header.name.len() + 1, // with its NUL
        0, // checksum, unused by this variant
    ];
    fields.iter().fold(MAGIC.to_owned(), |mut text, field| {
        // Writing to a String can't fail.
        let _ = write!(text, "{field:08x}");
        text
    })
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
}
