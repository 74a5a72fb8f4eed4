//! The cache of snapshots and results, by configuration.
//!
//! A file appears in it whole or not at all: it is written without a name or under a temporary one
//! and then moved into place, so several runs may share the folder and any may die. What is read
//! back is checked by its reader; a file that fails is removed and made again. When the cache
//! exceeds its bound, files not used for longest go first.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// Folder in the user's cache folder.
const NAME: &str = "pathmeter";
/// Temporary files older than this belong to a run that died.
const STALE: Duration = Duration::from_secs(60 * 60);
/// How temporary files begin.
const TEMPORARY: &str = ".new-";

/// A folder of files by key.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// Why the cache can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the cache folder {}: {source}", .path.display())]
pub struct CacheError {
    path: PathBuf,
    source: io::Error,
}

/// A file that was not what had been kept; it has been removed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Corrupt(pub(crate) PathBuf);

impl Cache {
    /// Bytes that it may hold: about 30 kernels.
    pub const BOUND: u64 = 2 << 30;

    /// The user's cache, made if it isn't there: `$XDG_CACHE_HOME/pathmeter`, or
    /// `~/.cache/pathmeter` (XDG Base Directory Specification).
    pub fn open() -> Result<Self, CacheError> {
        let folder = Self::location().ok_or_else(|| CacheError {
            path: NAME.into(),
            source: io::Error::other("neither XDG_CACHE_HOME nor HOME is set"),
        })?;
        Self::at(folder)
    }

    /// Where [`Cache::open`] looks.
    pub fn location() -> Option<PathBuf> {
        let set =
            |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
        Some(folder.join(NAME))
    }

    /// The cache in `folder`.
    pub fn at(folder: PathBuf) -> Result<Self, CacheError> {
        match fs::create_dir_all(&folder) {
            Ok(()) => Ok(Self { folder }),
            Err(source) => Err(CacheError { path: folder, source }),
        }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes it holds now.
    pub fn size(&self) -> u64 {
        self.files().iter().map(|file| file.size).sum()
    }

    /// Opens the file of this name, and counts that as a use.
    pub fn get(&self, name: &str) -> Option<File> {
        let file = File::options().read(true).write(true).open(self.folder.join(name)).ok()?;
        // Only the order of eviction depends on it.
        let _ = file.set_modified(SystemTime::now());
        Some(file)
    }

    /// Removes a file that its reader found to be corrupt.
    pub fn forget(&self, name: &str) {
        // Another run may have been quicker.
        let _ = fs::remove_file(self.folder.join(name));
    }

    /// A file to be written, for [`Cache::keep`].
    pub fn begin(&self) -> Result<tempfile::NamedTempFile, CacheError> {
        let file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.folder);
        file.map_err(|source| self.error(source))
    }

    /// Gives a written file its name, over what may stand there, then keeps the bound.
    pub fn keep(&self, file: tempfile::NamedTempFile, name: &str) -> Result<File, CacheError> {
        let kept = file.persist(self.folder.join(name)).map_err(|error| self.error(error.error))?;
        self.evict(name);
        Ok(kept)
    }

    /// Writes and keeps a small file.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        let mut file = self.begin()?;
        file.write_all(bytes).map_err(|source| self.error(source))?;
        self.keep(file, name).map(|_| ())
    }

    /// Keeps `bytes` under a checksum.
    pub(crate) fn put_checked(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        self.put(name, &[&crc32fast::hash(bytes).to_le_bytes()[..], bytes].concat())
    }

    /// What [`Cache::put_checked`] kept, if anything; a file that is not what was kept is removed.
    pub(crate) fn get_checked(&self, name: &str) -> Result<Option<Vec<u8>>, Corrupt> {
        let Some(mut file) = self.get(name) else { return Ok(None) };
        let mut bytes = Vec::new();
        if file.read_to_end(&mut bytes).is_ok() {
            let rest = bytes.split_off(bytes.len().min(4));
            if crc32fast::hash(&rest).to_le_bytes()[..] == bytes[..] {
                return Ok(Some(rest));
            }
        }
        self.forget(name);
        Err(Corrupt(self.folder.join(name)))
    }

    fn error(&self, source: io::Error) -> CacheError {
        CacheError { path: self.folder.clone(), source }
    }

    /// Removes leftovers of dead runs, then the least recently used until the bound holds; never
    /// `newest`, which has just been made.
    fn evict(&self, newest: &str) {
        let mut files = self.files();
        files.sort_by_key(|file| file.used);
        let mut size: u64 = files.iter().map(|file| file.size).sum();
        for file in files {
            let leftover = file.name.starts_with(TEMPORARY);
            let stale = leftover && file.used.elapsed().is_ok_and(|age| age > STALE);
            let excess = !leftover && size > Self::BOUND && file.name != newest;
            if stale || excess {
                self.forget(&file.name);
                size -= file.size;
            }
        }
    }

    fn files(&self) -> Vec<Entry> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Entry::of(&entry)).collect()
    }
}

struct Entry {
    name: String,
    size: u64,
    used: SystemTime,
}

impl Entry {
    fn of(entry: &fs::DirEntry) -> Option<Self> {
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let name = entry.file_name().into_string().ok()?;
        Some(Self { name, size: about.len(), used: about.modified().ok()? })
    }
}

/// A file name for what all `parts` together determine.
pub(crate) fn key(parts: &[&str], suffix: &str) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize()[..16]) + suffix
}

/// SHA-256 of `bytes`, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("new/pathmeter")).unwrap();
        (folder, cache)
    }

    #[test]
    fn what_was_put_is_got() {
        let (_folder, cache) = cache();
        cache.put("a", b"bytes").unwrap();
        let mut text = String::new();
        cache.get("a").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!((&text[..], cache.size()), ("bytes", 5));
        cache.forget("a");
        assert!(cache.get("a").is_none());
    }

    #[test]
    fn what_was_changed_since_is_not_given_back() {
        let (_folder, cache) = cache();
        cache.put_checked("a", b"bytes").unwrap();
        assert_eq!(cache.get_checked("a"), Ok(Some(b"bytes".to_vec())));
        cache.put("a", b"1234bytes").unwrap();
        assert_eq!(cache.get_checked("a"), Err(Corrupt(cache.folder().join("a"))));
        assert_eq!(cache.get_checked("a"), Ok(None));
    }

    #[test]
    fn a_file_not_kept_leaves_nothing() {
        let (_folder, cache) = cache();
        drop(cache.begin().unwrap());
        assert_eq!(cache.files().len(), 0);
    }

    #[test]
    fn beyond_the_bound_the_least_recently_used_goes_first() {
        let (_folder, cache) = cache();
        for (name, age) in [("old", 200), ("older", 300), ("young", 100)] {
            let file = cache.begin().unwrap();
            // Sparse: its length counts, its blocks need no disk.
            file.as_file().set_len(Cache::BOUND / 3).unwrap();
            let kept = cache.keep(file, name).unwrap();
            kept.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        assert!(cache.get("old").is_some()); // a use: "older" and then "young" come before it
        cache.put("newest", b"more").unwrap();
        assert!(cache.get("older").is_none());
        assert!(["old", "young", "newest"].iter().all(|name| cache.get(name).is_some()));
    }

    #[test]
    fn a_dead_runs_leftover_is_removed() {
        let (_folder, cache) = cache();
        let (file, path) = cache.begin().unwrap().keep().unwrap();
        file.set_modified(SystemTime::now() - 2 * STALE).unwrap();
        cache.put("a", b"").unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn parts_do_not_run_together_in_a_key() {
        assert_ne!(key(&["ab", "c"], ""), key(&["a", "bc"], ""));
    }
}
