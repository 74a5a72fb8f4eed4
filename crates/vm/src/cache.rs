//! The cache of snapshots, results and symbols: a folder of [`Entry`] files, by [`Key`].
//!
//! It is a convenience: what can't be kept is reported once, and what can't be read is made again.
//! An entry appears in it whole or not at all. When the cache exceeds its bound, entries not used
//! for longest go first. Files that are not named as this program names them are never touched.
//! Several processes at once share its work (`claim.rs`).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::claim::{self, Caller, Claim, Outcome};
use crate::deadline::Deadline;
use crate::entry::{Entry, Key, is_name};
use crate::{Progress, VmError};

/// Folder in the user's cache folder.
const NAME: &str = "pathmeter";
/// How the name of an entry begins that is being made.
const TEMPORARY: &str = ".new-";

/// How an entry is opened: whatever lies there, that waits for nobody.
const READABLE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// How often an entry is looked for again because another process gave it up or cleaned up.
const TRIES: u32 = 16;

/// A folder of entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// The user was told that it can't be written.
    complained: Arc<AtomicBool>,
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
        let cache = Self { folder, complained: Arc::default() };
        for name in cache.names().filter(|name| name.strip_prefix(TEMPORARY).is_some_and(is_name)) {
            claim::remove_if_dead(&cache.folder.join(name));
        }
        Ok(cache)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes it holds now.
    pub fn size(&self) -> u64 {
        self.kept().iter().map(|file| file.size).sum()
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
    ) -> Result<Sought<'a, T>, VmError> {
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

    /// The entry of `key`, if there is a good one.
    pub(crate) fn find<T>(
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
    fn evict(&self, newest: &str) {
        let mut files = self.kept();
        files.sort_by_key(|file| file.used);
        let mut size: u64 = files.iter().map(|file| file.size).sum();
        for file in files.iter().filter(|file| file.name != newest) {
            if size <= Self::BOUND {
                return;
            }
            // Another run may have been quicker.
            let _ = fs::remove_file(self.folder.join(&file.name));
            size -= file.size;
        }
    }

    /// Its entries.
    fn kept(&self) -> Vec<Kept> {
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
            Ok(()) => cache.evict(&key.name()),
            Err(error) => cache.complain(error, "going on without keeping it", caller),
        }
    }
}

/// An entry's file.
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
mod tests {
    use std::cell::RefCell;
    use std::os::unix::fs::MetadataExt;
    use std::thread;
    use std::time::Duration;

    use rustix::fs::{FlockOperation, flock};

    use super::*;
    use crate::Interrupt;
    use crate::entry::EntryKind;

    /// The longest that one waits here for another.
    const LIMIT: Duration = Duration::from_secs(20);

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("new/pathmeter")).unwrap();
        (folder, cache)
    }

    fn key(image: &str) -> Key {
        Key::new(EntryKind::Symbols, &[("image", image)])
    }

    /// Seeks the entry of `key`. If there is one, returns its content; if not, `make` gets the
    /// place for it. And the notes that came of it.
    fn seek(
        cache: &Cache,
        key: &Key,
        limit: Duration,
        make: impl FnOnce(Slot<'_>),
    ) -> (Option<Vec<u8>>, Vec<String>) {
        let notes = RefCell::new(Vec::new());
        let progress = |progress: Progress<'_>| {
            if let Progress::Note(note) = progress {
                notes.borrow_mut().push(note.to_owned());
            }
        };
        let interrupt = Interrupt::default();
        let caller = Caller { limit, interrupt: &interrupt, progress: &progress, again: "again" };
        let sought = cache.seek(key.clone(), caller, |entry| entry.bytes(100)).unwrap();
        let found = match sought {
            Sought::Found(bytes) => Some(bytes),
            Sought::Missing(slot) => {
                make(slot);
                None
            }
        };
        (found, notes.into_inner())
    }

    fn get(cache: &Cache, key: &Key) -> (Option<Vec<u8>>, Vec<String>) {
        seek(cache, key, LIMIT, |_| {})
    }

    /// Makes the entry; what the user was told of it.
    fn put(cache: &Cache, key: &Key, content: &[u8]) -> Vec<String> {
        let (found, notes) =
            seek(cache, key, LIMIT, |slot| slot.keep(|entry| entry.write_all(content)));
        assert_eq!(found, None);
        notes
    }

    /// The file in which the entry is made, locked as by another process.
    fn locked(cache: &Cache, key: &Key) -> File {
        let file = File::create(cache.temporary(key)).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    }

    fn names(cache: &Cache) -> Vec<String> {
        let mut names: Vec<_> = cache.names().collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_kept_is_found() {
        let (_folder, cache) = cache();
        assert_eq!(put(&cache, &key("a"), b"bytes"), [""; 0]);
        assert_eq!(get(&cache, &key("a")), (Some(b"bytes".to_vec()), vec![]));
        assert_eq!(names(&cache), [key("a").name()]);
        assert_eq!(cache.size(), fs::metadata(cache.place(&key("a"))).unwrap().len());
        cache.forget(&key("a"));
        assert_eq!(get(&cache, &key("a")).0, None);
        assert_eq!(names(&cache), [""; 0], "what was not made after all leaves nothing");
    }

    #[test]
    fn a_file_under_anothers_name_is_removed_and_made_again() {
        let (_folder, cache) = cache();
        put(&cache, &key("a"), b"of a");
        put(&cache, &key("b"), b"of b");
        let aside = cache.folder.join("aside");
        fs::rename(cache.place(&key("a")), &aside).unwrap();
        fs::rename(cache.place(&key("b")), cache.place(&key("a"))).unwrap();
        fs::rename(&aside, cache.place(&key("b"))).unwrap();
        for (image, content) in [("a", b"of a"), ("b", b"of b")] {
            let place = cache.place(&key(image));
            let note = format!("{} was corrupt; again", place.display());
            assert_eq!(put(&cache, &key(image), content), [note]);
            assert_eq!(get(&cache, &key(image)), (Some(content.to_vec()), vec![]));
        }
    }

    #[test]
    fn what_cannot_be_read_is_as_good_as_corrupt() {
        let (_folder, cache) = cache();
        let place = cache.place(&key("a"));
        std::os::unix::fs::symlink(&place, &place).unwrap(); // can't be opened: it goes on for ever
        assert_eq!(put(&cache, &key("a"), b"bytes").len(), 1);
        assert_eq!(get(&cache, &key("a")), (Some(b"bytes".to_vec()), vec![]));
        put(&cache, &key("long"), &[0; 101]);
        assert_eq!(get(&cache, &key("long")).1.len(), 1, "its reader makes nothing of it");
    }

    #[test]
    fn what_cannot_be_opened_is_said_once_and_stays() {
        let (_folder, cache) = cache();
        let place = cache.place(&key("a"));
        // Even root can't open it.
        std::os::unix::fs::symlink("/dev/null/entry", &place).unwrap();
        let (found, notes) = get(&cache, &key("a"));
        assert_eq!((found, notes.len()), (None, 1), "{notes:?}");
        assert_eq!(get(&cache, &key("a")).1, [""; 0]);
        assert!(place.is_symlink());
    }

    #[test]
    fn what_cannot_be_kept_is_said_once() {
        let (folder, cache) = cache();
        fs::remove_dir_all(folder.path().join("new")).unwrap();
        let notes = put(&cache, &key("a"), b"bytes");
        let folder = cache.folder.display().to_string();
        assert!(notes.len() == 1 && notes[0].contains(&folder), "{notes:?}");
        assert_eq!(put(&cache.clone(), &key("b"), b"bytes"), [""; 0]);
    }

    #[test]
    fn what_is_not_written_whole_leaves_nothing() {
        let (_folder, cache) = cache();
        let fail = |entry: &mut dyn Write| {
            entry.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let (_, notes) = seek(&cache, &key("a"), LIMIT, |slot| slot.keep(fail));
        assert_eq!((notes.len(), names(&cache)), (1, vec![]));
    }

    #[test]
    fn beyond_the_bound_the_least_recently_used_goes_first_and_foreign_files_stay() {
        let (_folder, cache) = cache();
        for (name, age) in [("old", 200), ("older", 300), ("young", 100)] {
            put(&cache, &key(name), b"");
            let file = File::options().write(true).open(cache.place(&key(name))).unwrap();
            // Sparse: its length counts, its blocks need no disk.
            file.set_len(Cache::BOUND / 3).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        let foreign = File::create(cache.folder.join("a.result")).unwrap();
        foreign.set_len(Cache::BOUND).unwrap();
        foreign.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let lies = |name: &str| cache.place(&key(name)).exists();
        put(&cache, &key("newest"), b"more");
        assert!(!lies("older") && ["old", "young", "newest"].into_iter().all(lies));
        assert!(cache.folder.join("a.result").exists() && cache.size() < Cache::BOUND);
    }

    #[test]
    fn opening_it_removes_what_dead_runs_left_and_nothing_else() {
        let (_folder, cache) = cache();
        drop(locked(&cache, &key("dead")));
        let _alive = locked(&cache, &key("alive"));
        fs::write(cache.folder.join(".new-foreign"), b"").unwrap();
        Cache::at(cache.folder.clone()).unwrap();
        let mut left = [format!(".new-{}", key("alive").name()), ".new-foreign".to_owned()];
        left.sort();
        assert_eq!(names(&cache), left);
    }

    #[test]
    fn of_many_at_once_one_makes_it() {
        let (_folder, cache) = cache();
        let made = AtomicBool::new(false);
        let one = || {
            seek(&cache, &key("a"), LIMIT, |slot| {
                assert!(!made.swap(true, Ordering::Relaxed), "it is made twice");
                thread::sleep(Duration::from_millis(100));
                slot.keep(|entry| entry.write_all(b"bytes"));
            })
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            let found = all.into_iter().filter_map(|one| one.join().unwrap().0);
            assert_eq!(found.collect::<Vec<_>>(), vec![b"bytes".to_vec(); 7]);
        });
        assert_eq!(names(&cache), [key("a").name()]);
    }

    #[test]
    fn whoever_waits_takes_over_from_one_that_died() {
        let (_folder, cache) = cache();
        let dying = locked(&cache, &key("a"));
        (&dying).write_all(b"half an entry, and more of it than will be written").unwrap();
        let inode = dying.metadata().unwrap().ino();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| put(&cache, &key("a"), b"bytes"));
            thread::sleep(Duration::from_millis(100));
            drop(dying);
            assert_eq!(waiting.join().unwrap(), [""; 0]);
        });
        assert_eq!(fs::metadata(cache.place(&key("a"))).unwrap().ino(), inode, "the same file");
        assert_eq!(get(&cache, &key("a")), (Some(b"bytes".to_vec()), vec![]));
    }

    #[test]
    fn when_one_made_nothing_that_could_be_kept_the_others_wait_for_no_other() {
        let (_folder, cache) = cache();
        thread::scope(|scope| {
            let mut others = Vec::new();
            seek(&cache, &key("a"), LIMIT, |slot| {
                for _ in 0..2 {
                    others.push(scope.spawn(|| {
                        let mut was = None;
                        seek(&cache, &key("a"), LIMIT, |slot| was = Some(slot.claim.is_some()));
                        was
                    }));
                }
                thread::sleep(Duration::from_millis(200));
                drop(slot);
            });
            assert!(others.into_iter().all(|other| other.join().unwrap() == Some(false)));
        });
        assert_eq!(names(&cache), [""; 0]);
    }

    #[test]
    fn one_that_takes_too_long_is_not_waited_for_and_its_entry_is_made_beside_it() {
        let (_folder, cache) = cache();
        let stopped = locked(&cache, &key("a"));
        let limit = Duration::from_millis(120);
        let (_, notes) =
            seek(&cache, &key("a"), limit, |slot| slot.keep(|entry| entry.write_all(b"bytes")));
        assert_eq!(notes, ["another pathmeter takes too long; not waiting for it any more"]);
        assert_eq!(get(&cache, &key("a")), (Some(b"bytes".to_vec()), vec![]));
        drop(stopped);
    }

    #[test]
    fn an_interrupt_ends_the_waiting() {
        let (_folder, cache) = cache();
        let busy = locked(&cache, &key("a"));
        let interrupt = Interrupt::default();
        let progress = |progress: Progress<'_>| {
            assert!(matches!(progress, Progress::Waiting));
            interrupt.flag().store(true, Ordering::Relaxed);
        };
        let (limit, interrupt) = (LIMIT, &interrupt);
        let caller = Caller { limit, interrupt, progress: &progress, again: "" };
        let sought = cache.seek(key("a"), caller, |entry| entry.bytes(100));
        assert!(matches!(sought, Err(VmError::Interrupted)));
        drop(busy);
    }

    #[test]
    fn a_relative_cache_home_is_ignored() {
        let at = |xdg: &str, home: &str| location(Some(xdg.into()), Some(home.into()));
        assert_eq!(at("/cache", "/home/me"), Some("/cache/pathmeter".into()));
        for ignored in ["", "cache", "./cache", "~/cache"] {
            assert_eq!(at(ignored, "/home/me"), Some("/home/me/.cache/pathmeter".into()));
            assert_eq!(at(ignored, ignored), None);
        }
        assert_eq!(location(None, None), None);
    }
}
