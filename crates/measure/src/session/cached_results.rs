//! Cached results: one entry each, by all that the result depends on.
//!
//! Only complete results are kept: one with a failed path or a note is worth another try.

use std::io;

use pathmeter_model::{MAX_DOCUMENT_BYTES, Measurement, Status, parse_measurement};
use pathmeter_vm::{Entry, EntryKind, Key, Slot};

/// Changes whenever a change that the key can't see makes old results wrong.
const FORMAT: &str = "4";

/// All that a result depends on, other than what `FORMAT` stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dependencies<'a> {
    /// SHA-256 of the kernel image as given.
    pub image_sha256: &'a str,
    /// The version of the QEMU that measures.
    pub qemu: &'a str,
    /// All flags that QEMU is given, the kernel's command line among them.
    pub guest: &'a str,
    /// SHA-256 of an initramfs with the plan of all paths, and of the plans of groups.
    pub initramfs_sha256: &'a str,
    pub agent_sha256: &'a str,
}

impl Dependencies<'_> {
    /// The key of a document that depends on these, and on what `document` says.
    pub(super) fn key_of(self, kind: EntryKind, document: &str) -> Key {
        let parts = [
            ("document", document),
            ("format", FORMAT),
            ("pathmeter", env!("CARGO_PKG_VERSION")),
            ("image_sha256", self.image_sha256),
            ("qemu", self.qemu),
            ("guest", self.guest),
            ("initramfs_sha256", self.initramfs_sha256),
            ("agent_sha256", self.agent_sha256),
        ];
        Key::new(kind, &parts)
    }
}

/// The result in an entry of the cache, or `None` if it holds none.
pub(super) fn read(entry: &Entry) -> io::Result<Option<Measurement>> {
    let document = entry.bytes(MAX_DOCUMENT_BYTES)?;
    Ok(document.and_then(|document| parse_measurement(&document).ok()))
}

/// Keeps `result` in its place in the cache, if it is worth keeping.
pub(super) fn keep(slot: Slot<'_>, result: &Measurement) {
    let failed = result.paths.iter().any(|path| path.status == Status::Failed);
    if failed || !result.notes.is_empty() {
        return;
    }
    slot.keep(|entry| entry.write_all(&serde_json::to_vec(result)?));
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use super::*;
    use pathmeter_model::example;
    use pathmeter_vm::{Cache, Caller, Interrupt, Progress, Sought};

    fn result() -> Measurement {
        let paths = vec![example::path("a.b", &[330, 330])];
        example::measurement("vmlinuz", example::configuration("6.1.0", 1), paths)
    }

    fn key() -> Key {
        dependencies().key_of(EntryKind::Result, "result")
    }

    fn dependencies() -> Dependencies<'static> {
        Dependencies {
            image_sha256: "a",
            qemu: "b",
            guest: "d",
            initramfs_sha256: "f",
            agent_sha256: "g",
        }
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("pathmeter")).unwrap();
        (folder, cache)
    }

    fn find_cached(cache: &Cache) -> (Option<Measurement>, Vec<String>) {
        acting(cache, |_| {})
    }

    /// What is found; if nothing is, `act` gets the place for it.
    fn acting(cache: &Cache, act: impl FnOnce(Slot<'_>)) -> (Option<Measurement>, Vec<String>) {
        let notes = RefCell::new(Vec::new());
        let progress = |progress: Progress<'_>| {
            let Progress::Note(note) = progress else { panic!("it waits") };
            notes.borrow_mut().push(note.to_owned());
        };
        let (limit, interrupt) = (Duration::from_secs(10), Interrupt::default());
        let caller = Caller { limit, interrupt: &interrupt, progress: &progress, again: "again" };
        let found = match cache.seek(key(), caller, |entry| read(&entry)).unwrap() {
            Sought::Found(result) => Some(result),
            Sought::Missing(slot) => {
                act(slot);
                None
            }
        };
        (found, notes.into_inner())
    }

    #[test]
    fn what_was_kept_is_found() {
        let (_folder, cache) = cache();
        assert_eq!(acting(&cache, |slot| keep(slot, &result())), (None, vec![]));
        assert_eq!(find_cached(&cache), (Some(result()), vec![]));
    }

    #[test]
    fn a_true_checksum_of_nonsense_is_not_believed() {
        let (_folder, cache) = cache();
        acting(&cache, |slot| slot.keep(|entry| entry.write_all(b"{}")));
        let (result, notes) = find_cached(&cache);
        assert!(result.is_none() && notes[0].ends_with("was corrupt; again"), "{notes:?}");
        assert!(!cache.folder().join(key().name()).exists());
    }

    #[test]
    fn results_with_failures_or_notes_are_not_kept() {
        let (_folder, cache) = cache();
        let mut noted = result();
        noted.notes.push("the kernel died once".into());
        let mut failed = result();
        failed.paths.push(example::failed("c.d", "lost"));
        for result in [noted, failed] {
            acting(&cache, |slot| keep(slot, &result));
            assert_eq!(find_cached(&cache), (None, vec![]));
        }
    }

    #[test]
    fn every_dependency_tells() {
        let all = dependencies();
        let others = [
            Dependencies { image_sha256: "", ..all },
            Dependencies { qemu: "", ..all },
            Dependencies { guest: "", ..all },
            Dependencies { initramfs_sha256: "", ..all },
            Dependencies { agent_sha256: "", ..all },
        ];
        let key_of = |it: &Dependencies<'_>| it.key_of(EntryKind::Result, "result");
        assert!(others.iter().all(|other| key_of(other) != key()));
        assert_ne!(all.key_of(EntryKind::Result, "another"), key());
    }
}
