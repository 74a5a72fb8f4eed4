//! Who makes an entry of the cache, when several processes want it at once.
//!
//! The file in which an entry is made has a name that follows from the entry's key, and is locked
//! (flock) by whoever makes it. The others wait for the lock. The host's kernel frees it however
//! its holder ends, so a dead process keeps nobody waiting, and a file that can be locked is one
//! that nobody is making: the next process continues with it, or removes it. Only the holder of the
//! lock moves or removes the file; so whoever gets the lock looks whether the file is still there.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, flock, linkat, open};
use rustix::io::Errno;

use crate::cache::Caller;
use crate::{Interrupt, Progress, VmError};

/// How often a lock that another process holds is tried.
const TICK: Duration = Duration::from_millis(50);
/// For the user alone, as other files of the cache.
const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);

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
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.moved {
            return;
        }
        // Those who wait still have it open. To them a byte in it means that waiting for another
        // to try again is useless; none, that this process ended before it knew.
        let told = u64::from(self.interrupt.check().is_ok());
        let _ = self.file.set_len(told);
        // Were that to fail, the next process that opens the cache would do it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Locks the file at `path`, made if it isn't there, waiting for whoever has locked it.
///
/// # Errors
/// Only that the user interrupted it.
pub(crate) fn wait(path: &Path, deadline: Instant, caller: Caller<'_>) -> Result<Outcome, VmError> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Why it can't be opened is said when the entry can't be kept.
    let Ok(file) = open(path, flags, OWNERS) else { return Ok(Outcome::Unshared) };
    let file = File::from(file);
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
        if Instant::now() >= deadline {
            let note = "another pathmeter takes too long; not waiting for it any more";
            (caller.progress)(Progress::Note(note));
            return Ok(Outcome::Unshared);
        }
        (caller.progress)(Progress::Waiting);
        sleep(TICK);
    }
    if is_at(&file, path) {
        let (path, interrupt) = (path.to_owned(), caller.interrupt.clone());
        return Ok(Outcome::Ours(Claim { file, path, interrupt, moved: false }));
    }
    let given_up = file.metadata().is_ok_and(|about| about.nlink() == 0 && about.len() > 0);
    Ok(if given_up { Outcome::Unshared } else { Outcome::Gone })
}

/// Removes the file of an entry that nobody is making any more.
pub(crate) fn remove_if_dead(path: &Path) {
    let Ok(file) = File::open(path) else { return };
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
    let file = File::from(open(folder, flags, OWNERS)?);
    write(&file)?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, unnamed, CWD, place, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether `path` still names the open `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}
