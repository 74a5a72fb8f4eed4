//! Taking whole folders of the host into the guest's files.
//!
//! Contract: links stay links, and none is followed. Devices, pipes and sockets are left out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Note, PackError, guest, host};
use crate::host;
use crate::resolve::{Last, Look, join};
use crate::tree::{FOLDER_MODE, MOUNTED, Node, is_reserved};
use crate::view::View;

/// What a folder of the host is to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Its root: what the agent has a name for is replaced.
    Root,
    /// Its files come in addition to others.
    Addition,
}

/// One folder's files on their way into the guest.
pub(crate) struct Copy<'a> {
    pub(crate) view: &'a mut View,
    pub(crate) role: Role,
    pub(crate) notes: &'a mut Vec<Note>,
    /// The regular files taken in.
    pub(crate) files: Vec<String>,
}

impl Copy<'_> {
    /// Takes in what is in the host's folder `from`; `to` is its path in the guest, without links.
    pub(crate) fn folder(&mut self, from: &Path, to: &str) -> Result<(), PackError> {
        let mut pending = vec![(from.to_owned(), to.to_owned())];
        while let Some((from, to)) = pending.pop() {
            if MOUNTED.contains(&to.as_str()) {
                self.leave_out(&from, &to);
                continue;
            }
            for name in self.names(&from)? {
                let (from, to) = (from.join(&name), join(&to, &name));
                if let Some(to) = self.entry(&from, to)? {
                    pending.push((from, to));
                }
            }
        }
        Ok(())
    }

    /// Notes a folder whose files the kernel's own hide, if it has any.
    fn leave_out(&mut self, from: &Path, to: &str) {
        let mut entries = fs::read_dir(from).into_iter().flatten();
        if entries.next().is_some() {
            self.notes.push(Note::Hidden(guest(to)));
        }
    }

    /// The names in a folder, in order.
    fn names(&mut self, folder: &Path) -> Result<Vec<String>, PackError> {
        let failed = |source| PackError::Unreadable { path: host(folder), source };
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            match entry.map_err(failed)?.file_name().into_string() {
                Ok(name) => names.push(name),
                Err(name) => self.notes.push(Note::NotUtf8(host(&folder.join(name)))),
            }
        }
        names.sort();
        Ok(names)
    }

    /// Takes in one entry; a folder's path in the guest is returned.
    fn entry(&mut self, from: &Path, to: String) -> Result<Option<String>, PackError> {
        if self.role == Role::Root && is_reserved(&to) {
            self.notes.push(Note::Replaced(guest(&to)));
            return Ok(None);
        }
        match host::look(from) {
            Ok(Look::Directory) => return self.sub_folder(from, &to).map(Some),
            Ok(Look::File) => {
                let host::Contents { mode, data } = host::read(from)?;
                let source = Some(from.to_owned());
                self.view.put(&to, Node::File { mode, data, source })?;
                self.files.push(to);
            }
            Ok(Look::Symlink(target)) => self.view.put(&to, Node::Symlink { target })?,
            Ok(Look::Special) => self.notes.push(Note::Special(host(from))),
            // It was there a moment ago.
            Ok(Look::Missing) => return Err(PackError::Changed { path: host(from) }),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                self.notes.push(Note::NotUtf8(host(from)));
            }
            Err(source) => return Err(PackError::Unreadable { path: host(from), source }),
        }
        Ok(None)
    }

    /// A folder is merged with what is there, even if that is a link to one.
    fn sub_folder(&mut self, from: &Path, to: &str) -> Result<String, PackError> {
        let found = self.view.resolve(to, Last::CreateFollowed)?;
        let mode = host::mode(from).unwrap_or(FOLDER_MODE);
        self.view.adopt_links(&found)?;
        self.view.put(&found.path, Node::Directory { mode })?;
        Ok(found.path)
    }
}

/// A path of the host, absolute as text.
pub(crate) fn absolute(path: &Path) -> Result<String, PackError> {
    let absolute: PathBuf = std::path::absolute(path)
        .map_err(|source| PackError::Unreadable { path: host(path), source })?;
    text(absolute.as_os_str())
}

/// A word that must be UTF-8.
pub(crate) fn text(word: &std::ffi::OsStr) -> Result<String, PackError> {
    let fault = "no UTF-8, as names in the guest must be";
    word.to_str().map(str::to_owned).ok_or_else(|| PackError::Word {
        word: crate::error::printable(&word.to_string_lossy()),
        fault,
    })
}
