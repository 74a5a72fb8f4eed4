//! The cache, its bounds and its waits.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::*;
use crate::Interrupt;
use crate::cache::entry::EntryKind;

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
    let notes = put(&cache, &key("newest"), b"more");
    assert!(notes.len() == 1 && notes[0].contains("is full: beyond its 2 GiB"), "{notes:?}");
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

/// How often a caller is told that another process makes the entry, until the lock is free.
fn told_of_waiting(cache: &Cache) -> usize {
    let told = AtomicUsize::new(0);
    let progress = |_: Progress<'_>| {
        told.fetch_add(1, Ordering::Relaxed);
    };
    let (limit, interrupt) = (LIMIT, &Interrupt::default());
    let caller = Caller { limit, interrupt, progress: &progress, again: "" };
    cache.seek(key("a"), caller, |entry| entry.bytes(100)).map(drop).unwrap();
    told.into_inner()
}

#[test]
fn another_process_is_said_to_make_an_entry_only_if_one_does() {
    let (_folder, cache) = cache();
    let told_while = |locked: &mut dyn FnMut(), free: &mut dyn FnMut()| {
        locked();
        thread::scope(|scope| {
            let told = scope.spawn(|| told_of_waiting(&cache));
            free();
            told.join().unwrap()
        })
    };
    let file = std::cell::Cell::new(None);
    let lock = &mut || file.set(Some(locked(&cache, &key("a"))));
    let pause = |milliseconds| thread::sleep(Duration::from_millis(milliseconds));
    let after = |milliseconds| {
        let file = &file;
        move || {
            pause(milliseconds);
            drop(file.take());
        }
    };
    assert!(told_while(lock, &mut after(300)) > 0, "another process");
    assert_eq!(told_while(lock, &mut after(20)), 0, "one that looks for dead files");
    let told = seek(&cache, &key("a"), LIMIT, |slot| {
        let told = thread::scope(|scope| {
            let told = scope.spawn(|| told_of_waiting(&cache));
            pause(300);
            drop(slot);
            told.join().unwrap()
        });
        assert_eq!(told, 0, "a thread of this process");
    });
    drop(told);
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
    assert!(matches!(sought, Err(Interrupted)));
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
