//! Files of a folder of results: read without trust, and written whole.
//!
//! Contract: no link is followed and nobody is waited for. A new file has no name until all of it
//! is written, where the filesystem can have such files, and else one that nobody looks for.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use tempfile::NamedTempFile;

/// Beginning of a temporary file's name, where files without a name can't be made.
const TEMPORARY: &str = ".pathmeter-";

/// What lies under a name.
pub(crate) enum Raw {
    Missing,
    /// Something other than a file, namely this.
    NoFile(&'static str),
    /// A file, with its bytes.
    File(Vec<u8>),
}

/// The bytes of a file, and one more than `most` if it has more.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Raw> {
    let file = match open(path)? {
        Ok(file) => file,
        Err(raw) => return Ok(raw),
    };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(Raw::File(bytes))
}

/// The file, or what is there instead.
fn open(path: &Path) -> io::Result<Result<File, Raw>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(Err(Raw::Missing)),
        Err(Errno::LOOP) => return Ok(Err(Raw::NoFile("a symbolic link"))),
        Err(Errno::NXIO | Errno::NODEV) => return Ok(Err(Raw::NoFile("a socket or device"))),
        Err(error) => return Err(error.into()),
    };
    let about = file.metadata()?;
    Ok(match (about.is_file(), about.is_dir()) {
        (true, _) => Ok(file),
        (_, true) => Err(Raw::NoFile("a folder")),
        _ => Err(Raw::NoFile("a pipe or device")),
    })
}

/// A file that has no name yet, or one that nobody looks for.
pub(crate) enum Pending {
    /// Without a name: it is gone if the process ends.
    Unnamed(File),
    /// With a hidden name, which nobody looks for.
    Hidden(NamedTempFile),
}

impl Pending {
    /// One of these bytes, in this folder.
    pub(crate) fn new(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let unnamed = rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666));
        let pending = match unnamed {
            Ok(file) => Self::Unnamed(file.into()),
            Err(_) => Self::Hidden(hidden(folder)?),
        };
        pending.file().write_all(bytes)?;
        Ok(pending)
    }

    pub(crate) fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Hidden(file) => file.as_file(),
        }
    }

    /// Gives it its name; false if something has it.
    pub(crate) fn publish(self, path: &Path) -> io::Result<bool> {
        let named = match self {
            Self::Unnamed(file) => {
                let name = format!("/proc/self/fd/{}", file.as_raw_fd());
                rustix::fs::linkat(CWD, name, CWD, path, AtFlags::SYMLINK_FOLLOW)
                    .map_err(io::Error::from)
            }
            Self::Hidden(file) => publish_hidden(file, path),
        };
        match named {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The same of a file with a hidden name. Where neither `RENAME_NOREPLACE` nor links exist, as in
/// some filesystems on a network, whether something has the name is looked at just before.
fn publish_hidden(file: NamedTempFile, path: &Path) -> io::Result<()> {
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(refused) if refused.error.kind() == ErrorKind::AlreadyExists => Err(refused.error),
        Err(refused) if path.symlink_metadata().is_ok() => {
            drop(refused);
            Err(ErrorKind::AlreadyExists.into())
        }
        Err(refused) => refused.file.persist(path).map(drop).map_err(|it| it.error),
    }
}

/// Gives a file of these bytes a name in this folder, in place of what has it.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = hidden(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map(drop).map_err(|error| error.error)
}

/// A temporary file, with the permissions of a usual one.
fn hidden(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let everybodys = fs::Permissions::from_mode(0o666);
    builder.prefix(TEMPORARY).permissions(everybodys).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_a_name_a_file_takes_no_name_that_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let unnamed = Pending::new(folder.path(), b"one").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(unnamed.publish(&path).unwrap());
        let file = hidden(folder.path()).unwrap();
        assert!(!Pending::Hidden(file).publish(&path).unwrap());
        let file = hidden(folder.path()).unwrap();
        assert!(Pending::Hidden(file).publish(&folder.path().join("b")).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace(folder.path(), "a", b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
