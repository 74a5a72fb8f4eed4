//! The cache of snapshots, results and symbols: a folder of [`Entry`] files, by [`Key`].
//!
//! It is a convenience: what can't be kept is reported once, and what can't be read is made again.
//! An entry appears in it whole or not at all. When the cache exceeds its bound, entries not used
//! for longest go first. Files that are not named as this program names them are never touched.
//! Several processes at once share its work (`claim.rs`).

pub(crate) mod claim;
pub(crate) mod entry;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::cache::claim::{Caller, Claim, Outcome};
use crate::cache::entry::{Entry, Key, is_name};
use crate::deadline::Deadline;
use crate::interrupt::Interrupted;
use crate::progress::Progress;

/// Folder in the user's cache folder.
const NAME: &str = "pathmeter";
/// How the name of an entry begins that is being made.
const TEMPORARY: &str = ".new-";

/// How an entry is opened: whatever lies there, that waits for nobody.
const READABLE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// How often an entry is looked for again because another process gave it up or cleaned up.
const TRIES: u32 = 16;

/// A folder that holds entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// The user was told that it can't be written.
    complained: Arc<AtomicBool>,
    /// Whether the user knows that it is full.
    evicted: Arc<AtomicBool>,
}

/// Why the cache can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the cache folder {}: {source}", .path.display())]
pub struct CacheError {
    path: PathBuf,
    source: io::Error,
}

/// What came of looking for an entry.
pub enum Sought<'a, T> {
    /// What was read from it.
    Found(T),
    /// There is none, and the caller is to make it.
    Missing(Slot<'a>),
}

/// The place of an entry that is being made. Dropping it without [`Slot::keep`] gives it up.
pub struct Slot<'a> {
    cache: &'a Cache,
    caller: Caller<'a>,
    key: Key,
    /// None if the others could not be told to wait.
    claim: Option<Claim>,
}

impl Cache {
    /// Bytes that it may hold: about 30 kernels.
    pub const BOUND: u64 = 2 << 30;

    /// The user's cache, made if it isn't there: `$XDG_CACHE_HOME/pathmeter`, or
    /// `~/.cache/pathmeter` (XDG Base Directory Specification).
    ///
    /// # Errors
    /// No folder is named, or it is none and can't be made one.
    pub fn open() -> Result<Self, CacheError> {
        let folder = Self::location().ok_or_else(|| CacheError {
            path: NAME.into(),
            source: io::Error::other("neither XDG_CACHE_HOME nor HOME is set to a full path"),
        })?;
        Self::at(folder)
    }

    /// Where [`Cache::open`] looks.
    pub fn location() -> Option<PathBuf> {
        let set = |name| std::env::var_os(name).map(PathBuf::from);
        location(set("XDG_CACHE_HOME"), set("HOME"))
    }

    /// The cache in `folder`. What dead runs left there is removed.
    pub fn at(folder: PathBuf) -> Result<Self, CacheError> {
        if let Err(source) = fs::create_dir_all(&folder) {
            return Err(CacheError { path: folder, source });
        }
        let cache = Self { folder, complained: Arc::default(), evicted: Arc::default() };
        for name in cache.names().filter(|name| name.strip_prefix(TEMPORARY).is_some_and(is_name)) {
            claim::remove_if_dead(&cache.folder.join(name));
        }
        Ok(cache)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many bytes it holds now.
    pub fn size(&self) -> u64 {
        self.list_entries().iter().map(|file| file.size).sum()
    }

    /// Tries whether anything can be written to it.
    pub fn probe(&self) -> Result<(), CacheError> {
        let tried = tempfile::tempfile_in(&self.folder);
        tried
            .and_then(|mut file| file.write_all(b"a few bytes"))
            .map_err(|source| self.error(source))
    }

    /// What `read` makes of the entry of `key`, if there is one. One that is not whole,
    /// or of which `read` makes nothing, is removed with a note; one that can't be opened is made
    /// again.
    ///
    /// Of several that seek an entry at once one is to make it; the others wait for it. A process
    /// may seek an entry while it makes another: a result's before its kernel's snapshot, and
    /// nothing while it makes a snapshot or symbols. So a process that makes a snapshot waits for
    /// nobody, one that makes a result waits for a snapshot at most, and there is no cycle. The
    /// caller's limit bounds the waiting in any case: then the caller makes it too.
    ///
    /// # Errors
    /// Only that the user interrupted the waiting.
    pub fn seek<'a, T>(
        &'a self,
        key: Key,
        caller: Caller<'a>,
        read: impl Fn(Entry) -> io::Result<Option<T>>,
    ) -> Result<Sought<'a, T>, Interrupted> {
        let (file, mut deadline) = (self.temporary(&key), Deadline::after(caller.limit));
        if let Some(found) = self.find(&key, caller, &read) {
            return Ok(Sought::Found(found));
        }
        for _ in 0..TRIES {
            let outcome = claim::wait(&file, &mut deadline, caller)?;
            // It may have been made since it was looked for.
            if let Some(found) = self.find(&key, caller, &read) {
                return Ok(Sought::Found(found));
            }
            let claim = match outcome {
                Outcome::Gone => continue,
                Outcome::Ours(claim) => Some(claim),
                Outcome::Unshared => None,
            };
            return Ok(Sought::Missing(Slot { cache: self, caller, key, claim }));
        }
        Ok(Sought::Missing(Slot { cache: self, caller, key, claim: None }))
    }

    /// Removes the entry of `key`, which is no use.
    pub(crate) fn forget(&self, key: &Key) {
        // Another run may have been quicker.
        let _ = fs::remove_file(self.place(key));
    }

    /// What `read` makes of the entry of `key`, if there is a good one; nobody is waited for.
    pub fn find<T>(
        &self,
        key: &Key,
        caller: Caller<'_>,
        read: impl Fn(Entry) -> io::Result<Option<T>>,
    ) -> Option<T> {
        let opened = open(self.place(key), READABLE, Mode::empty()).map(File::from);
        let entry = match opened {
            Err(Errno::NOENT) => return None,
            // Links in a circle, a socket or a device is no entry.
            Err(error @ (Errno::LOOP | Errno::NXIO | Errno::NODEV)) => Err(error.into()),
            // It may be whole: permissions, descriptors or memory are lacking.
            Err(error) => {
                self.complain(error.into(), caller.again, caller);
                return None;
            }
            Ok(file) => {
                // Only the order of eviction depends on it.
                let _ = file.set_modified(SystemTime::now());
                Entry::open(file, key)
            }
        };
        if let Ok(Some(found)) = entry.and_then(|entry| entry.map_or(Ok(None), read)) {
            return Some(found);
        }
        self.forget(key);
        let note = format!("{} was corrupt; {}", self.place(key).display(), caller.again);
        (caller.progress)(Progress::Note(&note));
        None
    }

    fn place(&self, key: &Key) -> PathBuf {
        self.folder.join(key.name())
    }

    fn temporary(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{TEMPORARY}{}", key.name()))
    }

    fn error(&self, source: io::Error) -> CacheError {
        CacheError { path: self.folder.clone(), source }
    }

    /// Tells the user, once, that something could not be read or kept.
    fn complain(&self, source: io::Error, then: &str, caller: Caller<'_>) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            let note = format!("{}; {then}", self.error(source));
            (caller.progress)(Progress::Note(&note));
        }
    }

    /// Removes the least recently used until the bound holds; never `newest`, which has just been
    /// made.
    fn evict(&self, newest: &str, caller: Caller<'_>) {
        let mut files = self.list_entries();
        files.sort_by_key(|file| file.used);
        let mut size: u64 = files.iter().map(|file| file.size).sum();
        for file in files.iter().filter(|file| file.name != newest) {
            if size <= Self::BOUND {
                return;
            }
            if !self.evicted.swap(true, Ordering::Relaxed) {
                let note = format!(
                    "the cache {} is full: beyond its {} GiB, what was not used for longest is \
                     removed",
                    self.folder.display(),
                    Self::BOUND >> 30
                );
                (caller.progress)(Progress::Note(&note));
            }
            // Another run may have been quicker.
            let _ = fs::remove_file(self.folder.join(&file.name));
            size -= file.size;
        }
    }

    /// Lists the folder's entries; files with other names are left out.
    fn list_entries(&self) -> Vec<Kept> {
        let named = self.names().filter(|name| is_name(name));
        named.filter_map(|name| Kept::of(&self.folder, name)).collect()
    }

    /// The names of all files in its folder, foreign ones too.
    fn names(&self) -> impl Iterator<Item = String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|file| file.file_name().into_string().ok())
    }
}

impl Slot<'_> {
    /// Keeps what `content` writes, then keeps the cache's bound. If it can't be kept the user is
    /// told.
    pub fn keep(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let Self { cache, caller, key, claim } = self;
        let place = cache.place(&key);
        let write = |file: &File| Entry::write(file, &key, content);
        let kept = match claim {
            Some(claim) => claim.fill(&place, write),
            None => claim::put_unnamed(&cache.folder, &place, write),
        };
        match kept {
            Ok(()) => cache.evict(&key.name(), caller),
            Err(error) => cache.complain(error, "going on without keeping it", caller),
        }
    }
}

/// The file of an entry.
struct Kept {
    name: String,
    size: u64,
    used: SystemTime,
}

impl Kept {
    fn of(folder: &Path, name: String) -> Option<Self> {
        let about = fs::symlink_metadata(folder.join(&name)).ok().filter(fs::Metadata::is_file)?;
        Some(Self { name, size: about.len(), used: about.modified().ok()? })
    }
}

/// The cache's folder, by the environment. The specification has a relative `XDG_CACHE_HOME`
/// ignored.
fn location(xdg_cache_home: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let full = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let folder = full(xdg_cache_home).or_else(|| Some(full(home)?.join(".cache")))?;
    Some(folder.join(NAME))
}

#[cfg(test)]
mod tests;
