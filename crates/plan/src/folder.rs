//! A folder of results: what lies in it, and putting something there.
//!
//! Contract: a file appears whole, on the disk and under its name, or not at all. No result is ever
//! replaced: the same bytes are fine, others are a finding and are kept beside. What has a result's
//! name and is none is moved aside. Nothing is locked, so that the folder may lie on a network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use pathmeter_model::{MAX_DOCUMENT_BYTES, Measurement, ParseError, parse_measurement};
use pathmeter_seal::{to_document, unsealed};
use serde::Serialize;

use crate::difference::first_difference;
use crate::file::{self, Pending, Raw};
use crate::file_step::FileStep;
use crate::id::sha256;
use crate::names::{self, Kind};
use crate::record::{FailureRecord, Finding, FindingSchema, FoundResult, Written};

/// Bytes of a record that are read.
const MOST_RECORD: u64 = 1 << 20;
/// Bytes of a list of nodes that are read.
const MOST_NODES: u64 = 1 << 28;
/// How often a name is tried for that others take at the same time.
const TRIES: u32 = 16;

/// A folder that holds results of cells.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Something in a folder of results could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}: {error}", .path.display())]
pub struct FolderError {
    pub doing: FileStep,
    pub path: PathBuf,
    pub error: io::Error,
}

/// What lies under the name of a cell's result.
#[derive(Debug)]
pub enum Found {
    Missing,
    /// A result, with its bytes.
    Whole(Box<Measurement>, Vec<u8>),
    /// Something other than a result, and what it is.
    Damaged(String),
}

/// What came of putting a result into its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The result is in its place now.
    New,
    /// A result of this cell with the same bytes was there already.
    Same,
    /// Another one was there, and is; this one was kept beside it.
    Different(Box<Finding>),
}

/// The names in a folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Files of cells by their ids and kinds.
    pub(crate) cells: BTreeMap<(String, Kind), Vec<String>>,
    /// Names of the files with lists of nodes.
    pub(crate) nodes: Vec<String>,
}

impl Listing {
    /// The names of the files of this kind of a cell.
    pub(crate) fn of(&self, id: &str, kind: Kind) -> &[String] {
        self.cells.get(&(id.to_owned(), kind)).map_or(&[], Vec::as_slice)
    }

    /// All files of this kind, in order.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = (&str, &str)> {
        let of = self.cells.iter().filter(move |((_, known), _)| *known == kind);
        of.flat_map(|((id, _), names)| names.iter().map(move |name| (&**id, &**name)))
    }
}

impl Folder {
    /// The folder at `path`, which must be there.
    ///
    /// # Errors
    /// It is not, or is something else.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let is_folder = fs::metadata(path).map(|about| about.is_dir());
        let about = is_folder.and_then(|is_folder| {
            if is_folder { Ok(()) } else { Err(ErrorKind::NotADirectory.into()) }
        });
        about.map_err(|error| FolderError {
            doing: FileStep::Opening,
            path: path.to_owned(),
            error,
        })?;
        Ok(Self { path: path.to_owned() })
    }

    /// The same, made if it isn't there.
    ///
    /// # Errors
    /// It can't be made.
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        fs::create_dir_all(path).map_err(|error| FolderError {
            doing: FileStep::MakingFolder,
            path: path.to_owned(),
            error,
        })?;
        Self::open(path)
    }

    /// The results in it by their names alone, in the order of their cells' ids.
    ///
    /// # Errors
    /// It can't be read.
    pub fn results(&self) -> Result<Vec<PathBuf>, FolderError> {
        let is_result =
            |name: &String| names::kind(name).is_some_and(|(_, kind)| kind == Kind::Result);
        let names = self.names()?.into_iter().filter(is_result);
        Ok(names.map(|name| self.path.join(name)).collect())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the result of the cell `id` is, or would be.
    pub fn place(&self, id: &str) -> PathBuf {
        self.path.join(names::result(id))
    }

    /// The ids of cells of which it has another result beside the first, which differs.
    ///
    /// # Errors
    /// It can't be read.
    pub fn conflicts(&self) -> Result<BTreeSet<String>, FolderError> {
        let names = self.names()?;
        let found = names.iter().filter_map(|name| names::kind(name));
        let conflicts = found.filter(|(_, kind)| *kind == Kind::Conflict);
        Ok(conflicts.map(|(id, _)| id.to_owned()).collect())
    }

    /// What lies under the name of the result of the cell `id`, read whole.
    ///
    /// # Errors
    /// It is there and can't be read, which says nothing of what it is.
    pub fn result(&self, id: &str) -> Result<Found, FolderError> {
        let name = names::result(id);
        Ok(match self.bytes(&name, MAX_DOCUMENT_BYTES as u64)? {
            Raw::Missing => Found::Missing,
            Raw::NoFile(what) => Found::Damaged(what.to_owned()),
            Raw::File(bytes) => match read_result(&bytes) {
                Ok(result) => Found::Whole(Box::new(result), bytes),
                Err(error) => Found::Damaged(error.to_string()),
            },
        })
    }

    /// Puts the bytes of a result that `node` measured into their place.
    ///
    /// # Errors
    /// They can't be written; nothing is left of them then.
    pub fn put(&self, id: &str, bytes: &[u8], node: &str) -> Result<Put, FolderError> {
        let hash = sha256(bytes);
        self.tell(id, &hash, node)?;
        let name = names::result(id);
        for _ in 0..TRIES {
            if self.publish(&name, bytes)? {
                return Ok(Put::New);
            }
            match self.result(id)? {
                Found::Whole(_, there) if there == bytes => return Ok(Put::Same),
                Found::Whole(_, there) => return self.keep_beside(id, &there, (bytes, node)),
                Found::Damaged(_) => self.move_aside(id, |bytes| read_result(bytes).is_ok())?,
                Found::Missing => {}
            }
        }
        Err(self.error(
            FileStep::Writing,
            &name,
            io::Error::other("others take its name again and again"),
        ))
    }

    /// Keeps a failure.
    ///
    /// # Errors
    /// It can't be written.
    pub fn fail(&self, record: &FailureRecord) -> Result<(), FolderError> {
        let bytes = json(record);
        let name = names::other(&record.cell, Kind::Failure, &sha256(&bytes)[..12]);
        self.publish(&name, &bytes).map(drop)
    }

    /// How many failures of the cell it holds.
    ///
    /// # Errors
    /// It can't be read.
    pub fn failures(&self, id: &str) -> Result<u32, FolderError> {
        let names = self.names()?;
        let count = names.iter().filter(|it| names::kind(it) == Some((id, Kind::Failure)));
        Ok(u32::try_from(count.count()).unwrap_or(u32::MAX))
    }

    /// Writes down that a node has a result, before it is put there.
    fn tell(&self, id: &str, sha256: &str, node: &str) -> Result<(), FolderError> {
        let name = format!("{}-{node}-{}.jsonl", names::NODES, std::process::id());
        let (cell, sha256, node) = (id.to_owned(), sha256.to_owned(), node.to_owned());
        let line = json(&Written { cell, sha256, node });
        let open = || File::options().append(true).create(true).open(self.path.join(&name));
        let written = open().and_then(|mut file| file.write_all(&line));
        written.map_err(|error| self.error(FileStep::Writing, &name, error))
    }

    /// Keeps a result beside the other one, and what they differ in.
    fn keep_beside(
        &self,
        id: &str,
        there: &[u8],
        (bytes, node): (&[u8], &str),
    ) -> Result<Put, FolderError> {
        let [first, other] = [there, bytes].map(sha256);
        let rest = format!("{node}-{}", &other[..8]);
        let file = names::other(id, Kind::Conflict, &rest);
        let finding = Finding {
            schema: FindingSchema::V1,
            cell: id.to_owned(),
            first: FoundResult {
                file: names::result(id),
                nodes: self.nodes_of(id, &first)?,
                sha256: first,
            },
            other: FoundResult { file, sha256: other, nodes: vec![node.to_owned()] },
            difference: first_difference(there, bytes),
        };
        self.publish(&finding.other.file, bytes)?;
        self.publish(&names::other(id, Kind::Finding, &rest), &json(&finding))?;
        Ok(Put::Different(Box::new(finding)))
    }

    /// The nodes that had this result of the cell.
    fn nodes_of(&self, id: &str, sha256: &str) -> Result<Vec<String>, FolderError> {
        let mut nodes: Vec<String> = Vec::new();
        for name in self.names()?.iter().filter(|name| names::is_nodes(name)) {
            let told = self.read_node_list(name)?.into_iter();
            let of = told.filter(|it| it.cell == id && it.sha256 == sha256);
            nodes.extend(of.map(|it| it.node));
        }
        nodes.sort();
        nodes.dedup();
        Ok(nodes)
    }

    /// Reads a list of nodes. Damaged lines are left out, such as the beginning of one that was not
    /// written to its end.
    pub(crate) fn read_node_list(&self, name: &str) -> Result<Vec<Written>, FolderError> {
        let Raw::File(bytes) = self.bytes(name, MOST_NODES)? else { return Ok(Vec::new()) };
        let lines = bytes.split(|byte| *byte == b'\n');
        let read = |line: &[u8]| -> Option<Written> {
            let written: Written = serde_json::from_slice(line).ok()?;
            (json(&written).trim_ascii_end() == line).then_some(written)
        };
        Ok(lines.filter_map(read).collect())
    }

    /// Moves what has the name of a result and is not it aside; `is_it` tells whether bytes are the
    /// result.
    pub(crate) fn move_aside(
        &self,
        id: &str,
        is_it: impl Fn(&[u8]) -> bool,
    ) -> Result<(), FolderError> {
        let (name, process) = (names::result(id), std::process::id());
        for number in 0..TRIES {
            let aside = names::other(id, Kind::Damaged, &format!("{process}-{number}"));
            if self.path.join(&aside).symlink_metadata().is_ok() {
                continue;
            }
            let [from, to] = [&name, &aside].map(|name| self.path.join(name));
            match fs::rename(from, to) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(self.error(FileStep::MovingAside, &name, error));
                }
                _ => {}
            }
            // Another process may have been quicker, and have put the result there.
            if let Raw::File(bytes) = self.bytes(&aside, MAX_DOCUMENT_BYTES as u64)?
                && is_it(&bytes)
            {
                self.publish(&name, &bytes)?;
            }
            return Ok(());
        }
        Err(self.error(FileStep::MovingAside, &name, ErrorKind::AlreadyExists.into()))
    }

    /// Gives a file of these bytes this name; false if something has it.
    pub(crate) fn publish(&self, name: &str, bytes: &[u8]) -> Result<bool, FolderError> {
        let failed = |error| self.error(FileStep::Writing, name, error);
        let pending = self.pending(name, bytes)?;
        pending.file().sync_all().map_err(failed)?;
        let published = pending.publish(&self.path.join(name)).map_err(failed)?;
        // Not every filesystem can; the name is there in any case once it is on the disk.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
        Ok(published)
    }

    /// Gives a file of these bytes this name, in place of what has it: for lists that only grow.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let replaced = file::replace(&self.path, name, bytes);
        replaced.map_err(|error| self.error(FileStep::Writing, name, error))
    }

    /// A file of these bytes that has no name yet.
    pub(crate) fn pending(&self, name: &str, bytes: &[u8]) -> Result<Pending, FolderError> {
        let pending = Pending::new(&self.path, bytes);
        pending.map_err(|error| self.error(FileStep::Writing, name, error))
    }

    /// The names of all files in it, in order.
    pub(crate) fn names(&self) -> Result<Vec<String>, FolderError> {
        let failed =
            |error| FolderError { doing: FileStep::Reading, path: self.path.clone(), error };
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            // Ours are text.
            names.extend(entry.map_err(failed)?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The names of its files, by cells.
    pub(crate) fn listing(&self) -> Result<Listing, FolderError> {
        let mut listing = Listing::default();
        for name in self.names()? {
            if let Some((id, kind)) = names::kind(&name) {
                let key = (id.to_owned(), kind);
                listing.cells.entry(key).or_default().push(name);
            } else if names::is_nodes(&name) {
                listing.nodes.push(name);
            }
        }
        Ok(listing)
    }

    /// A failure that was kept; None if the file holds none.
    pub(crate) fn failure(&self, name: &str) -> Result<Option<FailureRecord>, FolderError> {
        let Raw::File(bytes) = self.bytes(name, MOST_RECORD)? else { return Ok(None) };
        let content = unsealed(&bytes).ok();
        Ok(content.and_then(|content| serde_json::from_slice(&content).ok()))
    }

    /// The bytes of a file, and one more than `most` if it has more.
    pub(crate) fn bytes(&self, name: &str, most: u64) -> Result<Raw, FolderError> {
        let read = file::read(&self.path.join(name), most);
        read.map_err(|error| self.error(FileStep::Reading, name, error))
    }

    pub(crate) fn error(&self, doing: FileStep, name: &str, error: io::Error) -> FolderError {
        FolderError { doing, path: self.path.join(name), error }
    }
}

/// Reads the result in these bytes, with its seal.
pub(crate) fn read_result(bytes: &[u8]) -> Result<Measurement, ParseError> {
    parse_measurement(&unsealed(bytes)?)
}

/// A record as a line, with its seal.
pub(crate) fn json(record: &impl Serialize) -> Vec<u8> {
    let text = to_document(record).unwrap_or_default();
    (text + "\n").into_bytes()
}
