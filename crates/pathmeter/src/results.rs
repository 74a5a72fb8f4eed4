//! Cached results: one file each, named by all that the result depends on.
//!
//! Format: a line with the SHA-256 of the rest in hexadecimal, then the result document. A file
//! that is cut short or changed is found out, removed and measured anew. Only complete
//! results are kept: one with a failed path or a note is worth another try.

use std::io::Read;

use pathmeter_model::{MAX_DOCUMENT_BYTES, Measurement, Status, parse_measurement};
use pathmeter_vm::{Cache, CacheError};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Changes whenever a change that the key can't see makes old results wrong.
const FORMAT: u32 = 1;
/// Length of the checksum in hexadecimal.
const CHECKSUM: usize = 64;

/// All that a result depends on, other than what [`FORMAT`] stands for.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Key<'a> {
    /// SHA-256 of the kernel image as given.
    pub(crate) image_sha256: &'a str,
    /// QEMU's version.
    pub(crate) qemu: &'a str,
    /// All flags that QEMU is given, the kernel's command line among them.
    pub(crate) guest: &'a str,
    /// SHA-256 of the initramfs, which holds the number of runs.
    pub(crate) initramfs_sha256: &'a str,
    /// SHA-256 of the agent.
    pub(crate) agent_sha256: &'a str,
}

impl Key<'_> {
    /// The name of the file in the cache.
    pub(crate) fn file(self) -> String {
        // Plain data always serialises; were it not to, nothing would be found under the name.
        let text = serde_json::to_string(&(FORMAT, env!("CARGO_PKG_VERSION"), self));
        let hash = sha256(text.unwrap_or_default().as_bytes());
        format!("{}.result", &hash[..32])
    }
}

/// What the cache has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The result.
    Whole(Box<Measurement>),
    /// A file that is not what was written; it is removed.
    Corrupt,
    /// Nothing.
    Nothing,
}

/// Reads the result from the file `name`, if there is one.
pub(crate) fn find(cache: &Cache, name: &str) -> Found {
    let Some(file) = cache.get(name) else { return Found::Nothing };
    let mut bytes = Vec::new();
    let limit = (CHECKSUM + 1 + MAX_DOCUMENT_BYTES) as u64;
    let read = file.take(limit).read_to_end(&mut bytes);
    if let Some(result) = read.ok().and_then(|_| checked(&bytes)) {
        return Found::Whole(Box::new(result));
    }
    cache.forget(name);
    Found::Corrupt
}

fn checked(bytes: &[u8]) -> Option<Measurement> {
    let (checksum, rest) = bytes.split_at_checked(CHECKSUM)?;
    let document = rest.strip_prefix(b"\n")?;
    if checksum != sha256(document).as_bytes() {
        return None;
    }
    parse_measurement(document).ok()
}

/// Keeps `result` in the file `name`, if it is worth keeping.
pub(crate) fn keep(cache: &Cache, name: &str, result: &Measurement) -> Result<(), CacheError> {
    let failed = result.paths.iter().any(|path| path.status == Status::Failed);
    let Ok(document) = serde_json::to_vec(result) else { return Ok(()) };
    if failed || !result.notes.is_empty() {
        return Ok(());
    }
    let checksum = sha256(&document);
    cache.put(name, &[checksum.as_bytes(), b"\n", &document].concat())
}

/// SHA-256 of `bytes`, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::{Configuration, PathResult, ResultSchema, Subject, Unit};

    fn result() -> Measurement {
        let configuration = Configuration {
            clock: Unit::Instructions,
            image_sha256: "a0".repeat(32),
            release: None,
            command_line: "quiet".into(),
            cpu: "max".into(),
            machine: "microvm".into(),
            qemu: "7.2.22".into(),
            firmware_sha256: None,
            portable: false,
            agent_sha256: "b1".repeat(32),
            initramfs_sha256: "c2".repeat(32),
            runs: 1,
            memory_mib: 128,
            cpus: 1,
        };
        let paths = vec![PathResult::ok("a.b", Unit::Instructions, &[vec![330, 330]], vec![])];
        let subject = Subject::kernel_image("vmlinuz");
        Measurement { schema: ResultSchema::V1, subject, configuration, paths, notes: vec![] }
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("pathmeter")).unwrap();
        (folder, cache)
    }

    #[test]
    fn what_was_kept_is_found() {
        let (_folder, cache) = cache();
        assert_eq!(find(&cache, "a.result"), Found::Nothing);
        keep(&cache, "a.result", &result()).unwrap();
        assert_eq!(find(&cache, "a.result"), Found::Whole(Box::new(result())));
    }

    #[test]
    fn a_changed_file_is_found_out_and_removed() {
        let (_folder, cache) = cache();
        keep(&cache, "a.result", &result()).unwrap();
        let path = cache.folder().join("a.result");
        let whole = std::fs::read(&path).unwrap();
        let flipped = [&whole[..100], &[whole[100] ^ 1], &whole[101..]].concat();
        for bytes in [&whole[..0], &whole[..64], &whole[..whole.len() - 1], &flipped] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(find(&cache, "a.result"), Found::Corrupt);
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_true_checksum_of_nonsense_is_not_believed() {
        let (_folder, cache) = cache();
        cache.put("a.result", format!("{}\n{{}}", sha256(b"{}")).as_bytes()).unwrap();
        assert_eq!(find(&cache, "a.result"), Found::Corrupt);
    }

    #[test]
    fn results_with_failures_or_notes_are_not_kept() {
        let (_folder, cache) = cache();
        let mut noted = result();
        noted.notes.push("the kernel died once".into());
        let mut failed = result();
        failed.paths.push(PathResult::failed("c.d", Unit::Instructions, "lost"));
        for result in [noted, failed] {
            keep(&cache, "a.result", &result).unwrap();
            assert_eq!(find(&cache, "a.result"), Found::Nothing);
        }
    }

    #[test]
    fn every_part_of_the_key_tells() {
        let key = Key {
            image_sha256: "a",
            qemu: "b",
            guest: "d",
            initramfs_sha256: "f",
            agent_sha256: "g",
        };
        let others = [
            Key { image_sha256: "", ..key },
            Key { qemu: "", ..key },
            Key { guest: "", ..key },
            Key { initramfs_sha256: "", ..key },
            Key { agent_sha256: "", ..key },
        ];
        assert!(others.iter().all(|other| other.file() != key.file()));
        assert_eq!(key.file(), key.file());
    }
}
