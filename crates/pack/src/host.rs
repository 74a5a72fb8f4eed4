//! Reading the host's files.
//!
//! Contract: a file is regular, at most [`MAX_FILE_BYTES`] long, and as long as it was when it was
//! opened. No read waits for something, as that of a pipe would.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::error::{PackError, host};
use crate::limits::MAX_FILE_BYTES;
use crate::resolve::Look;

/// Permission bits of `st_mode`, with setuid, setgid and sticky.
const PERMISSIONS: u32 = 0o7777;

/// What a file of the host holds, and its mode.
pub(crate) struct Contents {
    pub(crate) mode: u32,
    pub(crate) data: Vec<u8>,
}

/// What is at a path of the host. A link whose target is no UTF-8 is an error.
pub(crate) fn look(path: &Path) -> io::Result<Look> {
    let kind = match fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if is_missing(&error) => return Ok(Look::Missing),
        Err(error) => return Err(error),
    };
    Ok(if kind.is_dir() {
        Look::Directory
    } else if kind.is_file() {
        Look::File
    } else if kind.is_symlink() {
        Look::Symlink(target(path)?)
    } else {
        Look::Special
    })
}

/// The path that a link leads to.
pub(crate) fn target(path: &Path) -> io::Result<String> {
    let target = fs::read_link(path)?.into_os_string().into_string();
    target.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the link's target is no UTF-8"))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The permission bits of what is at `path`, if that can be told.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    fs::symlink_metadata(path).ok().map(|found| found.permissions().mode() & PERMISSIONS)
}

/// The same for where links lead.
pub(crate) fn mode_followed(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|found| found.permissions().mode() & PERMISSIONS)
}

/// The whole file. A link at the end of `path` is not followed.
pub(crate) fn read(path: &Path) -> Result<Contents, PackError> {
    read_opened(path, OFlags::NOFOLLOW)
}

/// The whole file, to which links may lead.
pub(crate) fn read_followed(path: &Path) -> Result<Contents, PackError> {
    read_opened(path, OFlags::empty())
}

fn read_opened(path: &Path, flags: OFlags) -> Result<Contents, PackError> {
    let failed = |source| PackError::Unreadable { path: host(path), source };
    let file = open(path, flags).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(PackError::NotRegular { path: host(path) });
    }
    if found.len() > MAX_FILE_BYTES {
        return Err(PackError::TooLarge { path: host(path), bytes: found.len() });
    }
    let mut data = Vec::new();
    let room = usize::try_from(found.len()).unwrap_or(usize::MAX).saturating_add(1);
    data.try_reserve_exact(room).map_err(|_| PackError::NoMemory { path: host(path) })?;
    // One byte more, by which a longer file is noticed.
    file.take(found.len() + 1).read_to_end(&mut data).map_err(failed)?;
    if data.len() as u64 != found.len() {
        return Err(PackError::Changed { path: host(path) });
    }
    Ok(Contents { mode: found.permissions().mode() & PERMISSIONS, data })
}

/// The file's first bytes: so many, or all.
pub(crate) fn head(path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(bytes);
    open(path, OFlags::NOFOLLOW)?.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Opens a file without waiting for a pipe's other end.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}
