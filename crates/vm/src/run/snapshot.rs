//! Snapshots: a guest paused at START or READY, as a file that it is restored from again and again.
//!
//! | offset | bytes | field                                                        |
//! |--------|-------|--------------------------------------------------------------|
//! | 0      | 4     | length of the description                                    |
//! | 4      | n     | description: JSON, [`Description`]'s fields                   |
//! | 4 + n  |       | QEMU's migration stream, by the pipes of `stream.rs`         |
//!
//! Integers are little endian. It is made in memory, so that a guest can be restored whatever
//! becomes of the copy in the cache, where it is the content of an entry (`entry.rs`).

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use pathmeter_wire::message::Memory;
use serde_json::{Value, json};

use crate::{
    Facts, Firmware, Proof, Request, Unmet, VmError,
    cache::entry::{Entry, Key, for_each_block},
    error::Step,
    guest::{Extra, Guest},
    machine::{Origin, fd},
    qemu::memory_file::memory_file,
    stream,
};

/// How many bytes precede the description.
const HEADER: usize = 4;
/// The longest description that is read, in bytes.
const MAX_ABOUT: u32 = 1 << 20;

/// What must be known of the kernel to restore it without its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    /// Its release, as its image says.
    pub(crate) release: Option<String>,
    /// What it was started by: a restored machine has the same.
    pub(crate) firmware: Firmware,
    /// What it printed about its CPU.
    pub(crate) facts: Facts,
    /// What became of the settings of its condition, if it is under that.
    pub(crate) proofs: Vec<Proof>,
    /// The settings that can't be had, as far as the boot has told.
    pub(crate) unmet: Vec<Unmet>,
    /// Where its agent waits for its parcel; None if it boots with that.
    pub(crate) room: Option<Memory>,
}

impl Description {
    fn to_json(&self) -> String {
        let own = self.firmware == Firmware::Own;
        let facts = self.facts.to_json();
        let Self { release, proofs, unmet, .. } = self;
        let room = self.room.map(|Memory { address, length }| [address, length]);
        json!({
            "release": release,
            "own_firmware": own,
            "facts": facts,
            "proofs": proofs,
            "unmet": unmet,
            "room": room,
        })
        .to_string()
    }

    fn from_json(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let firmware =
            if value.get("own_firmware")?.as_bool()? { Firmware::Own } else { Firmware::Qemu };
        let release = value.get("release")?.as_str().map(str::to_owned);
        let facts = Facts::from_json(value.get("facts")?)?;
        let proofs = serde_json::from_value(value.get("proofs")?.clone()).ok()?;
        let unmet = serde_json::from_value(value.get("unmet")?.clone()).ok()?;
        let room: Option<[u64; 2]> = serde_json::from_value(value.get("room")?.clone()).ok()?;
        let room = room.map(|[address, length]| Memory { address, length });
        Some(Self { release, firmware, facts, proofs, unmet, room })
    }
}

/// A whole snapshot, which was checked.
#[derive(Debug)]
pub struct Snapshot {
    file: File,
    /// Where in the file it begins.
    begin: u64,
    /// Where in the file QEMU's stream begins.
    stream: u64,
    /// Which kernel and guest it belongs to.
    pub(crate) about: Description,
    /// Its key in the cache, if it came from there.
    cached_as: Option<Key>,
}

impl Snapshot {
    /// Saves the paused guest into memory. It can go on from there.
    pub(crate) fn save(guest: &mut impl Guest, about: Description) -> Result<Self, VmError> {
        guest.begin(Step::Save);
        let writing = |source| VmError::Save { source };
        let text = about.to_json();
        let length = u32::try_from(text.len()).map_err(|error| writing(io::Error::other(error)))?;
        let head = [&length.to_le_bytes(), text.as_bytes()].concat();
        let file = memory_file("pathmeter-snapshot", &head)?;
        guest.save(file.try_clone().map_err(writing)?)?;
        let stream = head.len() as u64;
        Ok(Self { file, begin: 0, stream, about, cached_as: None })
    }

    /// The snapshot in an entry of the cache, or `None` if that holds no snapshot.
    pub(crate) fn open(entry: Entry) -> io::Result<Option<Self>> {
        let (file, begin) = entry.into_content();
        let mut length = [0; HEADER];
        file.read_exact_at(&mut length, begin)?;
        let length = u32::from_le_bytes(length);
        if length > MAX_ABOUT {
            return Ok(None);
        }
        let mut about = vec![0; length as usize];
        let about_at = begin + HEADER as u64;
        file.read_exact_at(&mut about, about_at)?;
        let stream = about_at + u64::from(length);
        let about = Description::from_json(&about);
        Ok(about.map(|about| Self { file, begin, stream, about, cached_as: None }))
    }

    /// Writes the whole snapshot to `to`.
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        for_each_block(&self.file, self.begin, |block| to.write_all(block))
    }

    /// Itself, which came from the cache.
    pub(crate) fn cached_as(self, key: Key) -> Self {
        Self { cached_as: Some(key), ..self }
    }

    /// Removes it from the cache; false if it didn't come from there, and so was just made.
    pub(crate) fn forget(&self, request: &Request<'_>) -> bool {
        let Some((cache, key)) = request.cache.zip(self.cached_as.as_ref()) else {
            return false;
        };
        cache.forget(key);
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
        let reading = |source| VmError::Host { what: "reading the snapshot", source };
        extra.files.push((fd::INCOMING, stream.map_err(reading)?));
        let origin = (Origin::Snapshot, self.about.firmware);
        G::start(host, request.bounds(), request.settings, origin, extra)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::cache::entry::EntryKind;
    use crate::{ProofState, UnmetCause};

    fn about() -> Description {
        let mut facts = Facts::default();
        facts.take("meltdown", b"Mitigation: PTI\n");
        let proof = Proof {
            setting: "boot:nopti".to_owned(),
            state: ProofState::Proved,
            shown: "a file".to_owned(),
        };
        let (release, proofs) = (Some("6.1.0".to_owned()), vec![proof]);
        let room = Some(Memory { address: 0x7fff_0000_0000, length: u64::MAX });
        let unmet = vec![Unmet {
            setting: "boot:kvm.nested=1".to_owned(),
            cause: UnmetCause::Unknown,
            what: "no such parameter".to_owned(),
            help: None,
        }];
        Description { release, firmware: Firmware::Own, facts, proofs, unmet, room }
    }

    /// An entry of the cache with this content.
    fn entry(content: &[u8]) -> Entry {
        let key = Key::new(EntryKind::Snapshot, &[("image", "a")]);
        let file = tempfile::tempfile().unwrap();
        Entry::write(&file, &key, |entry| entry.write_all(content)).unwrap();
        Entry::open(file, &key).unwrap().unwrap()
    }

    fn snapshot(stream: &[u8]) -> Vec<u8> {
        let text = about().to_json();
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        [&length, text.as_bytes(), stream].concat()
    }

    #[test]
    fn a_snapshot_in_an_entry_is_opened_and_written_again() {
        let content = snapshot(b"QEVM stream");
        let snapshot = Snapshot::open(entry(&content)).unwrap().unwrap();
        assert_eq!(snapshot.about, about());
        let mut stream = String::new();
        let mut pipe =
            File::from(stream::feed(snapshot.file.try_clone().unwrap(), snapshot.stream).unwrap());
        pipe.read_to_string(&mut stream).unwrap();
        assert_eq!(stream, "QEVM stream");
        let mut written = Vec::new();
        snapshot.write(&mut written).unwrap();
        assert_eq!(written, content);
    }

    #[test]
    fn other_content_is_no_snapshot() {
        let unbounded =
            [(MAX_ABOUT + 1).to_le_bytes().to_vec(), vec![0; MAX_ABOUT as usize + 1]].concat();
        let unreadable = [&2_u32.to_le_bytes()[..], b"{}stream"].concat();
        for content in [&unbounded, &unreadable] {
            assert!(Snapshot::open(entry(content)).unwrap().is_none());
        }
        assert!(Snapshot::open(entry(b"cut")).is_err());
    }
}
