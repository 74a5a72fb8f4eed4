//! How long groups of paths took the last time on this machine, so that progress can say so before
//! the answer is there.
//!
//! Contract: these times decide nothing. A file that can't be read or written is as good as none.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

/// The file's name in the cache's folder.
const NAME: &str = "group-times.json";
/// Bytes that the file may have: far more than those of all sets of groups.
const MOST_BYTES: u64 = 1 << 20;

/// Milliseconds from a kernel's snapshot to the end of the last guest, by what was executed. They
/// are those of the kernel that was measured last.
type Times = BTreeMap<String, u64>;

/// How long this took the last time, if it was ever measured with this cache.
pub(super) fn find(folder: &Path, what: &str) -> Option<Duration> {
    let times = read(folder).ok()?;
    times.get(what).copied().map(Duration::from_millis)
}

/// Keeps how long this took. Of two processes that do so at once, one may be left out.
pub(super) fn keep(folder: &Path, what: String, took: Duration) {
    let mut times = read(folder).unwrap_or_default();
    times.insert(what, u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    let write = || -> io::Result<()> {
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&times)?)?;
        file.persist(folder.join(NAME))?;
        Ok(())
    };
    // Without it, progress only lacks a time.
    let _ = write();
}

fn read(folder: &Path) -> io::Result<Times> {
    let mut bytes = Vec::new();
    File::open(folder.join(NAME))?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_is_kept_and_a_file_that_is_none_of_ours_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(find(folder, "calls 6"), None);
        for seconds in [3, 2] {
            keep(folder, "calls 6".to_owned(), Duration::from_secs(seconds));
        }
        assert_eq!(find(folder, "calls 6"), Some(Duration::from_secs(2)));
        assert_eq!(find(folder, "calls 3"), None);
        std::fs::write(folder.join(NAME), "[\"calls\"").unwrap();
        assert_eq!(find(folder, "calls 6"), None);
        keep(folder, "files 6".to_owned(), Duration::from_millis(700));
        assert_eq!(find(folder, "files 6"), Some(Duration::from_millis(700)));
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, 1, "nothing else is left");
    }
}
