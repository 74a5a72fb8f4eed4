//! Who makes an entry of the cache, when several processes want it at once.
//!
//! The file in which an entry is made has a name that follows from the entry's key, and is locked
//! (flock) by the process that makes it. The others wait for the lock. The host's kernel frees it
//! however its holder ends, so a dead process keeps nobody waiting, and a file that can be locked
//! is one that nobody is making: the next process continues with it, or removes it. Only the holder
//! of the lock moves or removes the file; so a process that gets the lock checks whether the file
//! is still there. A lock may also be held for a moment, by a process that looks for dead files, or
//! by another thread of this process: neither is told as another process that makes the entry.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, flock, linkat, open};
use rustix::io::Errno;

use crate::deadline::Deadline;
use crate::interrupt::{Interrupt, Interrupted};
use crate::progress::Progress;

/// How often a lock that another process holds is tried.
const TICK: Duration = Duration::from_millis(50);
/// The files that threads of this process have locked.
static OURS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// For the user alone, as other files of the cache.
const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);
/// How a file that is to be locked is opened: for writing, since NFS locks no other exclusively;
/// and whatever lies there, opening it waits for nobody and leads nowhere else.
const LOCKABLE: OFlags =
    OFlags::RDWR.union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// For whom an entry is looked for.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The longest that another process is waited for.
    pub limit: Duration,
    /// Ends the waiting when the user interrupts.
    pub interrupt: &'a Interrupt,
    /// Told of waiting, and of files that are no use.
    pub progress: &'a dyn Fn(Progress<'_>),
    /// What will be done if an entry is no use, as a note has it: `measuring again`.
    pub again: &'a str,
}

/// What came of waiting for the file of an entry.
pub(crate) enum Outcome {
    /// It is ours to make.
    Ours(Claim),
    /// Another process has just moved it to its place, or given it up.
    Gone,
    /// It is to be made without regard to others: they made nothing of it that could be kept, or
    /// took too long, or nothing can be locked here.
    Unshared,
}

/// A locked file, in which an entry is made. Dropping it removes it.
pub(crate) struct Claim {
    file: File,
    path: PathBuf,
    interrupt: Interrupt,
    moved: bool,
}

impl Claim {
    /// Has `write` fill the file, and moves it to `place`.
    pub(crate) fn fill(
        mut self,
        place: &Path,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        // A process that died may have begun it.
        self.file.set_len(0)?;
        write(&self.file)?;
        fs::rename(&self.path, place)?;
        self.moved = true;
        Ok(())
    }

    /// Removes the file, and tells those that wait with it open what to do.
    fn give_up(&self) {
        // One byte: this can't be kept, don't wait again. An empty file: we were interrupted, one
        // of you takes over.
        let told = u64::from(self.interrupt.check().is_ok());
        let _ = self.file.set_len(told);
        // Were that to fail, the next process that opens the cache would do it.
        let _ = fs::remove_file(&self.path);
    }
}

/// The files that threads of this process have locked.
fn ours() -> MutexGuard<'static, Vec<PathBuf>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.moved {
            self.give_up();
        }
        // As long as it is locked, it is this process that others wait for.
        let _ = flock(&self.file, FlockOperation::Unlock);
        let mut ours = ours();
        // A thread may have locked a new file of this name by now.
        if let Some(at) = ours.iter().position(|path| *path == self.path) {
            ours.swap_remove(at);
        }
    }
}

/// Locks the file at `path`, made if it isn't there, waiting for the process that has locked it.
///
/// # Errors
/// Only that the user interrupted it.
pub(crate) fn wait(
    path: &Path,
    deadline: &mut Deadline,
    caller: Caller<'_>,
) -> Result<Outcome, Interrupted> {
    // Why it can't be opened is reported when the entry can't be kept.
    let Ok(file) = open(path, LOCKABLE | OFlags::CREATE, OWNERS) else {
        return Ok(Outcome::Unshared);
    };
    let file = File::from(file);
    // Who looks for dead files has a lock for less than a tick.
    let mut ticks = 0;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(_) => {
                // No locks here: then nobody has one on it.
                let _ = fs::remove_file(path);
                return Ok(Outcome::Unshared);
            }
        }
        caller.interrupt.check()?;
        if deadline.left().is_none() {
            let note = "another pathmeter takes too long; not waiting for it any more";
            (caller.progress)(Progress::Note(note));
            return Ok(Outcome::Unshared);
        }
        if ticks > 0 && !ours().iter().any(|locked| locked == path) {
            (caller.progress)(Progress::Waiting);
        }
        ticks += 1;
        sleep(TICK);
    }
    if is_at(&file, path) {
        ours().push(path.to_owned());
        let (path, interrupt) = (path.to_owned(), caller.interrupt.clone());
        return Ok(Outcome::Ours(Claim { file, path, interrupt, moved: false }));
    }
    let given_up = file.metadata().is_ok_and(|about| about.nlink() == 0 && about.len() > 0);
    Ok(if given_up { Outcome::Unshared } else { Outcome::Gone })
}

/// Removes the file of an entry that nobody is making any more.
pub(crate) fn remove_if_dead(path: &Path) {
    let Ok(file) = open(path, LOCKABLE, Mode::empty()).map(File::from) else { return };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() && is_at(&file, path) {
        // Were that to fail, the next process would try again.
        let _ = fs::remove_file(path);
    }
}

/// Has `write` fill a file without a name in `folder`, and names it `place`, unless there is one
/// of that name. Nothing of it stays if this process ends before.
pub(crate) fn put_unnamed(
    folder: &Path,
    place: &Path,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = match open(folder, flags, OWNERS) {
        Ok(file) => File::from(file),
        // Not every filesystem has files without a name; a kernel that does not know them takes
        // the flags for a wish to write to a folder.
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => return put_named(folder, place, write),
        Err(error) => return Err(error.into()),
    };
    write(&file)?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, unnamed, CWD, place, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The same where files without a name can't be made: if this process is killed, one stays.
fn put_named(
    folder: &Path,
    place: &Path,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let file = tempfile::NamedTempFile::new_in(folder)?;
    write(file.as_file())?;
    match file.persist_noclobber(place) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

/// Whether `path` still names the open `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_named_unless_there_is_one_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("entry");
        put_named(folder.path(), &place, |mut file| file.write_all(b"first")).unwrap();
        put_named(folder.path(), &place, |mut file| file.write_all(b"second")).unwrap();
        put_unnamed(folder.path(), &place, |mut file| file.write_all(b"third")).unwrap();
        let full = |_: &File| Err(io::ErrorKind::StorageFull.into());
        assert!(put_named(folder.path(), &folder.path().join("other"), full).is_err());
        assert_eq!(fs::read(&place).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
