//! The lists that tell which node wrote which bytes as the result of which cell.
//!
//! Contract: a line is written before its result is, so a result may be missing. Bytes that a list
//! names for a cell are that cell's result, whole. A result that no list names may come from
//! another folder, and is read; but not if the lists name it for another cell, or other bytes for
//! this cell. A line that was damaged says nothing.

use std::collections::HashMap;

use pathmeter_model::{MAX_DOCUMENT_BYTES, Measurement};

use crate::file::Raw;
use crate::folder::{Folder, FolderError, read_result};
use crate::id::sha256;
use crate::names;
use crate::record::Written;

/// What all lists of nodes say.
#[derive(Debug, Default)]
pub struct Lists {
    /// SHA-256 of what was written as the result of each cell; of several, they are in conflict.
    written: HashMap<String, Vec<String>>,
    /// A cell by SHA-256 of what was written as its result.
    cells: HashMap<String, String>,
}

/// What lies under the name of a cell's result.
#[derive(Debug, PartialEq, Eq)]
pub enum Kept {
    Missing,
    /// The cell's result, with its bytes.
    Whole(Vec<u8>),
    /// Something other than the result, and what it is.
    Damaged(String),
}

impl Lists {
    /// Those of these folders together.
    ///
    /// # Errors
    /// A folder can't be read.
    pub fn of<'a>(folders: impl IntoIterator<Item = &'a Folder>) -> Result<Self, FolderError> {
        let mut lists = Self::default();
        for folder in folders {
            for name in folder.names()?.iter().filter(|name| names::is_nodes(name)) {
                folder.read_node_list(name)?.into_iter().for_each(|line| lists.add(line));
            }
        }
        Ok(lists)
    }

    fn add(&mut self, Written { cell, sha256, .. }: Written) {
        self.cells.insert(sha256.clone(), cell.clone());
        let hashes = self.written.entry(cell).or_default();
        if !hashes.contains(&sha256) {
            hashes.push(sha256);
        }
    }

    /// What lies in `folder` under the name of the result of the cell `id`; `is_of` tells whether a
    /// result that no list names can be this cell's.
    ///
    /// # Errors
    /// It is there and can't be read.
    pub fn find(
        &self,
        folder: &Folder,
        id: &str,
        is_of: impl Fn(&Measurement) -> bool,
    ) -> Result<Kept, FolderError> {
        let bytes = match folder.bytes(&names::result(id), MAX_DOCUMENT_BYTES as u64)? {
            Raw::Missing => return Ok(Kept::Missing),
            Raw::NoFile(what) => return Ok(Kept::Damaged(what.to_owned())),
            Raw::File(bytes) => bytes,
        };
        let hash = sha256(&bytes);
        let written = self.written.get(id);
        if written.is_some_and(|hashes| hashes.contains(&hash)) {
            return Ok(Kept::Whole(bytes));
        }
        Ok(match read_result(&bytes) {
            Err(error) => Kept::Damaged(error.to_string()),
            Ok(_) if written.is_some() => {
                Kept::Damaged("not the result that was written, by the list of nodes".to_owned())
            }
            Ok(_) if self.cells.contains_key(&hash) => {
                Kept::Damaged(format!("the result of cell {}", self.cells[&hash]))
            }
            Ok(result) if is_of(&result) => Kept::Whole(bytes),
            Ok(result) => {
                Kept::Damaged(format!("a result of another kernel, {}", result.subject.name))
            }
        })
    }
}
