//! Joining folders of results into the one that a single machine would have written.
//!
//! Contract: the order of the folders changes nothing. Before anything is written all are read;
//! two different results of one cell, or a finding in one of the folders, and nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pathmeter_model::MAX_DOCUMENT_BYTES;

use crate::difference::first_difference;
use crate::file::{Pending, Raw};
use crate::file_step::FileStep;
use crate::folder::{Folder, FolderError};
use crate::lists::{Kept, Lists};
use crate::names::{self, Kind};
use crate::record::Written;

/// Files that are written before all of them are brought to the disk at once.
const BATCH: usize = 256;

/// What came of joining folders.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Results in the folder now.
    pub results: usize,
    /// Those of them that were not there before.
    pub new: usize,
    /// Files that have a result's name and are not that result; they were left where they are.
    pub left: Vec<Left>,
}

/// A file that was left out.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    pub path: PathBuf,
    /// The cell whose result it should be.
    pub cell: String,
    /// What is wrong with it.
    pub what: String,
    /// Whether the cell has no result now, since no other folder has it.
    pub is_lost: bool,
}

/// Why folders are not joined.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A folder can't be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Two results of one cell are not the same.
    #[error("{} and {} differ: {difference}", .one.display(), .other.display())]
    Conflict {
        /// The file of one result.
        one: PathBuf,
        /// The file of the other result.
        other: PathBuf,
        /// What the two results differ in.
        difference: String,
    },
    /// A folder has a finding.
    #[error("{} is a result that differs from another one", .0.display())]
    Finding(PathBuf),
}

/// Joins `sources` into `out`, which may hold results already.
///
/// # Errors
/// [`MergeError`]: nothing was written, unless `out` can't be.
pub fn merge(sources: &[Folder], out: &Folder) -> Result<Merged, MergeError> {
    let mut all = vec![out];
    // Named twice, or the place itself: that is read once.
    let real = |folder: &Folder| folder.path().canonicalize().ok();
    for source in sources {
        if all.iter().all(|known| real(known) != real(source)) {
            all.push(source);
        }
    }
    // In the order of their names, so that what is reported does not depend on that of the words.
    all[1..].sort_by_key(|folder| folder.path().to_owned());
    let mut merged = Merged::default();
    let found = results(&all, &mut merged)?;
    merged.results = found.len();
    let new = found.iter().filter(|(_, source)| source.path() != out.path());
    let new: Vec<_> = new.map(|(id, source)| (names::result(id), *source)).collect();
    merged.new = new.len();
    for left in &mut merged.left {
        let Some(source) = found.get(&left.cell) else { continue };
        left.is_lost = false;
        if left.path == out.place(&left.cell) {
            let whole = source.bytes(&names::result(&left.cell), MAX_DOCUMENT_BYTES as u64)?;
            let is_whole = |bytes: &[u8]| matches!(&whole, Raw::File(it) if it == bytes);
            out.move_aside(&left.cell, is_whole)?;
        }
    }
    copy(&new, out)?;
    copy(&failures(&all, out)?, out)?;
    nodes(&all, out)?;
    Ok(merged)
}

/// Where each cell's result is; all of its results were compared.
fn results<'a>(
    folders: &[&'a Folder],
    merged: &mut Merged,
) -> Result<BTreeMap<String, &'a Folder>, MergeError> {
    let mut found: BTreeMap<String, &Folder> = BTreeMap::new();
    let lists = Lists::of(folders.iter().copied())?;
    for folder in folders {
        let listing = folder.listing()?;
        if let Some((_, name)) = listing.all(Kind::Conflict).next() {
            return Err(MergeError::Finding(folder.path().join(name)));
        }
        for (id, name) in listing.all(Kind::Result) {
            let bytes = match lists.find(folder, id, |_| true)? {
                Kept::Whole(bytes) => bytes,
                Kept::Missing => continue,
                Kept::Damaged(what) => {
                    let (path, cell) = (folder.place(id), id.to_owned());
                    merged.left.push(Left { path, cell, what, is_lost: true });
                    continue;
                }
            };
            match found.get(id) {
                None => {
                    found.insert(id.to_owned(), folder);
                }
                Some(first) => same(first, folder, name, &bytes)?,
            }
        }
    }
    Ok(found)
}

/// That a file has these bytes in another folder, too.
fn same(first: &Folder, folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), MergeError> {
    match first.bytes(name, MAX_DOCUMENT_BYTES as u64)? {
        Raw::File(there) if there == bytes => Ok(()),
        Raw::File(there) => Err(MergeError::Conflict {
            one: first.path().join(name),
            other: folder.path().join(name),
            difference: first_difference(&there, bytes),
        }),
        // It was there a moment ago.
        _ => Err(first.error(FileStep::Reading, name, std::io::ErrorKind::NotFound.into()).into()),
    }
}

/// The failures that `out` has not; their names are their contents.
fn failures<'a>(
    folders: &[&'a Folder],
    out: &Folder,
) -> Result<Vec<(String, &'a Folder)>, FolderError> {
    let mut seen: BTreeSet<String> = out.names()?.into_iter().collect();
    let mut found = Vec::new();
    for folder in folders {
        for (_, name) in folder.listing()?.all(Kind::Failure) {
            if seen.insert(name.to_owned()) {
                found.push((name.to_owned(), *folder));
            }
        }
    }
    Ok(found)
}

/// Copies files of these names, a batch at a time.
fn copy(files: &[(String, &Folder)], out: &Folder) -> Result<(), FolderError> {
    for batch in files.chunks(BATCH) {
        let mut pending: Vec<(&str, Pending)> = Vec::new();
        for (name, source) in batch {
            if let Raw::File(bytes) = source.bytes(name, MAX_DOCUMENT_BYTES as u64)? {
                pending.push((name, out.pending(name, &bytes)?));
            }
        }
        let Some((first, file)) = pending.first() else { continue };
        let synced = rustix::fs::syncfs(file.file());
        synced.map_err(|error| out.error(FileStep::Writing, first, error.into()))?;
        for (name, file) in pending {
            let path = out.path().join(name);
            let published =
                file.publish(&path).map_err(|it| out.error(FileStep::Writing, name, it))?;
            if !published {
                let busy = std::io::Error::other("another process writes to this folder");
                return Err(out.error(FileStep::Writing, name, busy));
            }
        }
    }
    Ok(())
}

/// Writes one list of which node wrote what, of all that there are.
fn nodes(folders: &[&Folder], out: &Folder) -> Result<(), FolderError> {
    let mut lines: BTreeSet<Written> = BTreeSet::new();
    for folder in folders {
        for name in folder.names()?.iter().filter(|name| names::is_nodes(name)) {
            lines.extend(folder.read_node_list(name)?);
        }
    }
    let bytes: Vec<u8> = lines.iter().flat_map(crate::folder::json).collect();
    if bytes.is_empty() { Ok(()) } else { out.replace(&format!("{}.jsonl", names::NODES), &bytes) }
}
