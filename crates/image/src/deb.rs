//! A Debian package: an `ar` archive whose member `data.tar.*` holds the files.
//!
//! Contract: streams, and stops at the kernel: in Debian's packages it stands within the first
//! few files, so a package of 70 MB costs what its first 8 MB cost. Of the packed files at most
//! [`MAX_MEMBER_BYTES`] are read and as many unpacked.
//!
//! Sources: `deb(5)`; `ar(5)`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use crate::MAX_KERNEL_BYTES;
use crate::codec;
use crate::error::Fault;
use crate::file::{ReadFault, Source, read_exactly, too_large};
use crate::text;

/// How an `ar` archive begins.
pub(crate) const MAGIC: &[u8] = b"!<arch>\n";

/// The bound on `data.tar.*`, packed and unpacked.
const MAX_MEMBER_BYTES: u64 = 1 << 30;

// The 60 bytes before each member: name, mtime, uid, gid, mode (not used), size, end mark.
const MEMBER_HEADER_BYTES: usize = 60;
const MEMBER_NAME: std::ops::Range<usize> = 0..16;
const MEMBER_SIZE: std::ops::Range<usize> = 48..58;
const MEMBER_END: std::ops::Range<usize> = 58..60;

const DATA_MEMBER: &[u8] = b"data.tar";
/// Where POSIX and GNU tar put `ustar` in a member's header.
const USTAR: std::ops::Range<usize> = 0x101..0x106;

/// What a kernel package holds.
pub(crate) struct Package {
    /// The bzImage.
    pub(crate) vmlinuz: Vec<u8>,
    /// `boot/config-*`, where it stands before the kernel, as names in order do.
    pub(crate) config: Option<String>,
}

/// What a path in the package is to us.
enum Kind {
    Kernel,
    Config,
    DebugSymbols,
    Other,
}

/// Takes the kernel out of the package.
pub(crate) fn extract(source: Source) -> Result<Package, Fault> {
    let total = source.bytes;
    let mut reader = source.into_reader();
    let size = seek_data_member(&mut reader, total)?;
    let mut data = BufReader::new(reader.take(size));
    let head = data.fill_buf().map_err(Fault::Read)?;
    match codec::find(head) {
        None if head.get(USTAR) == Some(b"ustar") => scan(data, &Fault::Read),
        None => Err(codec::unknown("data.tar of the package", head)),
        Some(codec) => scan(codec.open(data)?, &|error| codec.failed(&error)),
    }
}

/// Moves to the first byte of `data.tar.*` and gives its size in bytes.
fn seek_data_member(reader: &mut BufReader<File>, total: u64) -> Result<u64, Fault> {
    let mut position = MAGIC.len() as u64;
    reader.read_exact(&mut [0; MAGIC.len()]).map_err(Fault::Read)?;
    loop {
        let needs = position + MEMBER_HEADER_BYTES as u64;
        Fault::unless_fits("a member header of the package", needs, total)?;
        let mut header = [0; MEMBER_HEADER_BYTES];
        reader.read_exact(&mut header).map_err(Fault::Read)?;
        let size = member_size(&header)?;
        Fault::unless_fits("a member of the package", needs + size, total)?;
        if header[MEMBER_NAME].starts_with(DATA_MEMBER) {
            return bounded(size);
        }
        let skip = size + size % 2; // members begin at even offsets
        position = needs + skip;
        reader.seek_relative(skip.cast_signed()).map_err(Fault::Read)?;
    }
}

/// At most ten digits, so that sums with it can't overflow.
fn member_size(header: &[u8; MEMBER_HEADER_BYTES]) -> Result<u64, Fault> {
    let digits = std::str::from_utf8(&header[MEMBER_SIZE]).ok();
    let size = digits.and_then(|digits| digits.trim_end().parse().ok());
    match size {
        Some(size) if &header[MEMBER_END] == b"`\n" => Ok(size),
        _ => Err(Fault::Malformed("a member header of the package is invalid")),
    }
}

fn bounded(size: u64) -> Result<u64, Fault> {
    const CURE: &str = "take boot/vmlinuz-* out of it (dpkg-deb -x) and give that";
    if size <= MAX_MEMBER_BYTES {
        Ok(size)
    } else {
        Err(too_large("data.tar of the package", MAX_MEMBER_BYTES, CURE))
    }
}

/// Reads an unpacked tar up to the kernel. `broken` is what an error of the stream means.
fn scan(data: impl Read, broken: &dyn Fn(io::Error) -> Fault) -> Result<Package, Fault> {
    let mut archive = tar::Archive::new(data.take(MAX_MEMBER_BYTES));
    let mut config = None;
    // Raw: extensions for long names, which no kernel's path needs, would be held in memory.
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        match kind(&entry.path_bytes()) {
            Kind::Kernel => {
                let vmlinuz = read_kernel(&mut entry, broken)?;
                return Ok(Package { vmlinuz, config });
            }
            Kind::Config => config = text::config_text(&mut entry),
            Kind::DebugSymbols => return Err(Fault::DebugPackage),
            Kind::Other => {}
        }
    }
    Err(Fault::NoKernelInPackage)
}

fn read_kernel<R: Read>(
    entry: &mut tar::Entry<'_, R>,
    broken: &dyn Fn(io::Error) -> Fault,
) -> Result<Vec<u8>, Fault> {
    const PART: &str = "vmlinuz in the package";
    let size = entry.size();
    if size > MAX_KERNEL_BYTES {
        return Err(too_large(PART, MAX_KERNEL_BYTES, "build a smaller kernel"));
    }
    read_exactly(entry, size, PART).map_err(|fault| match fault {
        ReadFault::Io(error) => broken(error),
        ReadFault::Other(fault) => fault,
    })
}

fn kind(path: &[u8]) -> Kind {
    let path = path.strip_prefix(b"./").unwrap_or(path);
    let in_modules = path.starts_with(b"usr/lib/modules/") || path.starts_with(b"lib/modules/");
    if path.starts_with(b"boot/vmlinuz-") || (in_modules && path.ends_with(b"/vmlinuz")) {
        Kind::Kernel
    } else if path.starts_with(b"boot/config-") {
        Kind::Config
    } else if path.starts_with(b"usr/lib/debug/") {
        Kind::DebugSymbols
    } else {
        Kind::Other
    }
}
