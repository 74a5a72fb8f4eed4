//! The files of an archive, as they were packed, in the folder that this process is in.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::archive::{Record, RecordKind, Records};

/// The time of all packed files, in seconds: that of the guest's clock when it boots.
const TIME: i64 = 1_577_836_800;
/// Longest target of a symbolic link, with its NUL.
const MAX_TARGET: usize = 4096;

/// Unpacks all files, and gives them their time, folders after what is in them.
pub(crate) fn files(archive: &[u8]) -> Result<(), i32> {
    for record in Records::of(archive).flatten() {
        create(&record)?;
    }
    for record in Records::of(archive).flatten() {
        sys::set_times(CStr::new(record.name), TIME)?;
    }
    Ok(())
}

/// Makes one file, in the folder that this process is in.
pub(crate) fn create(record: &Record<'_>) -> Result<(), i32> {
    let (name, mode) = (CStr::new(record.name), record.mode as usize);
    match record.kind {
        RecordKind::Directory => {
            sys::mkdir(name, mode)?;
            // mkdir(2) leaves setuid and setgid out.
            sys::change_mode(name, mode)?;
        }
        RecordKind::Symlink(target) => {
            let mut text = [0; MAX_TARGET];
            let length = target.len().min(MAX_TARGET - 1);
            text[..length].copy_from_slice(&target[..length]);
            sys::link_symbolically(CStr::new(&text), name)?;
        }
        RecordKind::File(mut bytes) => {
            let fd = sys::open(name, flag::O_WRONLY | flag::O_CREAT | flag::O_EXCL, mode)?;
            while !bytes.is_empty() {
                bytes = &bytes[sys::write(fd, bytes)?..];
            }
            sys::close(fd)?;
        }
    }
    Ok(())
}
