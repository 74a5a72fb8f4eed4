//! The guest's files, as far as they are decided.
//!
//! Contract: above every file there are folders only, never a link. Nothing is at a path of
//! [`RESERVED`] or below one of [`MOUNTED`]. Sums and lengths are within `limits.rs`.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use crate::error::{Kind, PackError, guest};
use crate::limits::{MAX_ENTRIES, MAX_PATH_BYTES, MAX_TOTAL_BYTES};
use crate::resolve::{Files, Look, parent};

/// What the agent has at the guest's top: names that a program's files can't have.
pub const RESERVED: [&str; 2] = ["init", "plan"];
/// Folders on which the agent mounts the kernel's own file systems: files there would be hidden.
pub const MOUNTED: [&str; 3] = ["dev", "proc", "sys"];
/// The mode of a folder that nobody gave one.
pub(crate) const FOLDER_MODE: u32 = 0o755;

/// A file, folder or link. Modes are permission bits, with setuid, setgid and sticky.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Directory {
        mode: u32,
    },
    File {
        mode: u32,
        data: Vec<u8>,
        /// Where the host has it; `None` of what pathmeter makes.
        source: Option<PathBuf>,
    },
    Symlink {
        target: String,
    },
}

impl Node {
    fn kind(&self) -> Kind {
        match self {
            Self::Directory { .. } => Kind::Folder,
            Self::File { .. } => Kind::File,
            Self::Symlink { .. } => Kind::Link,
        }
    }

    fn bytes(&self) -> u64 {
        if let Self::File { data, .. } = self { data.len() as u64 } else { 0 }
    }
}

/// The decided files, by path without a leading `/`.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
    bytes: u64,
}

/// Whether the agent's own name is at `path`, or above it.
pub(crate) fn is_reserved(path: &str) -> bool {
    RESERVED.contains(&first(path))
}

/// Whether `path` is one of the folders on which the agent mounts a file system, or below one.
pub(crate) fn is_mounted(path: &str) -> bool {
    MOUNTED.contains(&first(path))
}

/// Whether what is at `path` would be hidden by a file system that the agent mounts.
fn is_hidden(path: &str) -> bool {
    path.contains('/') && is_mounted(path)
}

fn first(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

impl Tree {
    pub(crate) fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// Puts `node` at `path`, whose folders `mode_of` gives a mode if they are new. A file takes
    /// the place of a file or link, a link that of a link; a folder keeps the mode it has.
    pub(crate) fn put(
        &mut self,
        path: &str,
        node: Node,
        mode_of: &dyn Fn(&str) -> u32,
    ) -> Result<(), PackError> {
        self.check(path)?;
        let folder = parent(path);
        if !folder.is_empty() && !matches!(self.get(folder), Some(Node::Directory { .. })) {
            self.put(folder, Node::Directory { mode: mode_of(folder) }, mode_of)?;
        }
        let there = self.nodes.get(path);
        match (there, &node) {
            (None | Some(Node::Symlink { .. }), Node::File { .. })
            | (None, _)
            | (Some(Node::File { .. }), Node::File { .. })
            | (Some(Node::Symlink { .. }), Node::Symlink { .. }) => {}
            (Some(Node::Directory { .. }), Node::Directory { .. }) => return Ok(()),
            (Some(there), _) => {
                let (there, wanted) = (there.kind(), node.kind());
                return Err(PackError::Collision { path: guest(path), there, wanted });
            }
        }
        self.bytes = self.bytes - there.map_or(0, Node::bytes) + node.bytes();
        if self.bytes > MAX_TOTAL_BYTES {
            return Err(PackError::TotalTooLarge { path: guest(path) });
        }
        self.nodes.insert(path.to_owned(), node);
        Ok(())
    }

    /// Puts a node there that belongs to every guest, in a folder that is there. Below those of
    /// [`MOUNTED`] it may be, too.
    pub(crate) fn put_own(&mut self, path: &str, node: Node) {
        self.bytes += node.bytes();
        self.nodes.insert(path.to_owned(), node);
    }

    fn check(&self, path: &str) -> Result<(), PackError> {
        if is_reserved(path) {
            return Err(PackError::Reserved { path: guest(path) });
        }
        if is_hidden(path) {
            return Err(PackError::Hidden { path: guest(path) });
        }
        if path.len() >= MAX_PATH_BYTES {
            return Err(PackError::TooLong { path: guest(path) });
        }
        if self.nodes.len() >= MAX_ENTRIES {
            return Err(PackError::TooMany { path: guest(path) });
        }
        Ok(())
    }

    /// What is in the folder, by name.
    pub(crate) fn names_in(&self, folder: &str) -> impl Iterator<Item = &str> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.nodes.range(start.clone()..).map(|(path, _)| path.as_str());
        let length = start.len();
        below
            .take_while(move |path| path.starts_with(&start))
            .map(move |path| &path[length..])
            .filter(|name| !name.contains('/'))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), node))
    }

    /// The sum of the files' sizes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All of it, parents before what is in them.
    pub(crate) fn into_nodes(self) -> impl Iterator<Item = (String, Node)> {
        self.nodes.into_iter()
    }
}

impl Files for Tree {
    fn look(&self, path: &str) -> io::Result<Look> {
        Ok(match self.nodes.get(path) {
            None => Look::Missing,
            Some(Node::Directory { .. }) => Look::Directory,
            Some(Node::File { .. }) => Look::File,
            Some(Node::Symlink { target }) => Look::Symlink(target.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_FILE_BYTES;

    #[test]
    fn more_than_the_limit_is_refused_and_replaced_files_do_not_count() {
        let mut tree = Tree::default();
        // Zeroes that nobody touches take no memory.
        let largest = || vec![0; usize::try_from(MAX_FILE_BYTES).unwrap()];
        let mut put = |path: &str| {
            let node = Node::File { mode: 0o644, data: largest(), source: None };
            tree.put(path, node, &|_| FOLDER_MODE)
        };
        put("a").unwrap();
        put("b/c").unwrap();
        put("a").unwrap();
        assert!(matches!(put("d"), Err(PackError::TotalTooLarge { .. })));
    }

    #[test]
    fn names_are_those_in_a_folder_and_not_below_it() {
        let mut tree = Tree::default();
        for path in ["a/b/c", "a/b-c", "a/d", "e"] {
            let node = Node::File { mode: 0o644, data: Vec::new(), source: None };
            tree.put(path, node, &|_| FOLDER_MODE).unwrap();
        }
        assert_eq!(tree.names_in("a").collect::<Vec<_>>(), ["b", "b-c", "d"]);
        assert_eq!(tree.names_in("").collect::<Vec<_>>(), ["a", "e"]);
    }
}
