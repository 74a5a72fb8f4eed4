//! Snapshots: a guest paused at READY, as a file that it is restored from again and again.
//!
//! | offset | bytes | field                                                        |
//! |--------|-------|--------------------------------------------------------------|
//! | 0      | 8     | `PMSNAP01`                                                   |
//! | 8      | 4     | CRC-32 of everything from offset 16 on                       |
//! | 12     | 4     | length of the description                                    |
//! | 16     | n     | description: JSON, [`Description`]'s fields                   |
//! | 16 + n |       | QEMU's migration stream, by the pipes of `stream.rs`         |
//!
//! Integers are little endian. The checksum is there for files that a crash or a full disk left
//! behind; a snapshot is never older than the key that names it, so it carries no version of its
//! own.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use serde_json::{Value, json};

use crate::{
    Request, VmError,
    error::Step,
    guest::{Extra, Guest},
    machine::{Firmware, Origin, fd},
    stream,
};

const MAGIC: &[u8; 8] = b"PMSNAP01";
/// Bytes before the description.
const HEADER: u64 = 16;
/// Longest description.
const MAX_ABOUT: u32 = 4096;

/// What must be known of the kernel to restore it without its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    /// Its release, as its image says.
    pub(crate) release: Option<String>,
    /// What it was started by: a restored machine has the same.
    pub(crate) firmware: Firmware,
}

impl Description {
    fn to_json(&self) -> String {
        let own = self.firmware == Firmware::Own;
        json!({ "release": self.release, "own_firmware": own }).to_string()
    }

    fn from_json(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let firmware =
            if value.get("own_firmware")?.as_bool()? { Firmware::Own } else { Firmware::Qemu };
        Some(Self { release: value.get("release")?.as_str().map(str::to_owned), firmware })
    }
}

/// A whole, checked snapshot.
#[derive(Debug)]
pub(crate) struct Snapshot {
    file: File,
    stream: u64,
    /// What it is of.
    pub(crate) about: Description,
    /// Its name in the cache, if it came from there.
    pub(crate) cached_as: Option<String>,
}

impl Snapshot {
    /// Saves the paused guest into `file`, which must be empty, and ends it.
    pub(crate) fn save(
        mut guest: impl Guest,
        mut file: File,
        about: Description,
    ) -> Result<Self, VmError> {
        guest.begin(Step::Save);
        let text = about.to_json();
        let stream = HEADER + text.len() as u64;
        let written =
            file.seek(SeekFrom::Start(HEADER)).and_then(|_| file.write_all(text.as_bytes()));
        written.map_err(writing)?;
        guest.save(file.try_clone().map_err(writing)?)?;
        finish(&mut file, text.len()).map_err(writing)?;
        Ok(Self { file, stream, about, cached_as: None })
    }

    /// The snapshot in `file`, or `None` if it is not a whole one.
    pub(crate) fn open(mut file: File) -> std::io::Result<Option<Self>> {
        let mut header = [0; 16];
        if file.read_exact(&mut header).is_err() || header[..8] != *MAGIC {
            return Ok(None);
        }
        let [.., s0, s1, s2, s3, l0, l1, l2, l3] = header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if length > MAX_ABOUT || checksum(&mut file)? != u32::from_le_bytes([s0, s1, s2, s3]) {
            return Ok(None);
        }
        let mut about = vec![0; length as usize];
        file.seek(SeekFrom::Start(HEADER))?;
        file.read_exact(&mut about)?;
        let stream = HEADER + u64::from(length);
        Ok(Description::from_json(&about).map(|about| Self {
            file,
            stream,
            about,
            cached_as: None,
        }))
    }

    /// Removes it from the cache; false if it didn't come from there, and so was just made.
    pub(crate) fn forget(&self, request: &Request<'_>) -> bool {
        let Some((cache, name)) = request.cache.zip(self.cached_as.as_deref()) else {
            return false;
        };
        cache.forget(name);
        true
    }

    /// A new guest in the state that was saved, still paused, with `extra` too.
    pub(crate) fn restore<G: Guest>(
        &self,
        host: &G::Host,
        request: &Request<'_>,
        mut extra: Extra,
    ) -> Result<G, VmError> {
        let stream = self.file.try_clone().and_then(|file| stream::feed(file, self.stream));
        extra.files.push((fd::INCOMING, stream.map_err(reading)?));
        let origin = (Origin::Snapshot, self.about.firmware);
        G::start(host, request, request.settings, origin, extra)
    }
}

fn writing(source: std::io::Error) -> VmError {
    VmError::Save { source }
}

pub(crate) fn reading(source: std::io::Error) -> VmError {
    VmError::Host { what: "reading the snapshot", source }
}

/// Puts the header in front; a file without it is never taken for a snapshot.
fn finish(file: &mut File, about: usize) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(HEADER))?;
    let sum = checksum(file)?;
    let length = u32::try_from(about).map_err(std::io::Error::other)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&[&MAGIC[..], &sum.to_le_bytes(), &length.to_le_bytes()].concat())
}

/// CRC-32 from the file's offset to its end.
fn checksum(file: &mut File) -> std::io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> Description {
        Description { release: Some("6.1.0".to_owned()), firmware: Firmware::Own }
    }

    fn saved(stream: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        let text = about().to_json();
        file.seek(SeekFrom::Start(HEADER)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.write_all(stream).unwrap();
        finish(&mut file, text.len()).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file
    }

    #[test]
    fn a_whole_snapshot_is_opened() {
        let snapshot = Snapshot::open(saved(b"QEVM stream")).unwrap().unwrap();
        assert_eq!(snapshot.about, about());
        let mut rest = String::new();
        (&snapshot.file).seek(SeekFrom::Start(snapshot.stream)).unwrap();
        (&snapshot.file).read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "QEVM stream");
    }

    #[test]
    fn a_cut_or_changed_snapshot_is_not_a_snapshot() {
        let cut = saved(b"QEVM stream");
        cut.set_len(30).unwrap();
        assert!(Snapshot::open(cut).unwrap().is_none());
        let mut changed = saved(b"QEVM stream");
        changed.seek(SeekFrom::End(-1)).unwrap();
        changed.write_all(b"x").unwrap();
        changed.seek(SeekFrom::Start(0)).unwrap();
        assert!(Snapshot::open(changed).unwrap().is_none());
        assert!(Snapshot::open(tempfile::tempfile().unwrap()).unwrap().is_none());
    }
}
