//! The files that the guest can have: those decided on, and, if the host's own folders are the
//! model of the guest's root, whatever is on the host.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::error::{PackError, guest, host};
use crate::host;
use crate::limits::MAX_ENTRIES;
use crate::resolve::{Fault, Files, Last, Look, Resolved, join, resolve};
use crate::tree::{FOLDER_MODE, Node, Tree};

/// The files that the guest can have.
pub(crate) struct View {
    pub(crate) tree: Tree,
    /// Whether what the tree lacks may be taken from the host.
    pub(crate) of_host: bool,
}

impl Files for View {
    fn look(&self, path: &str) -> io::Result<Look> {
        match self.tree.look(path)? {
            Look::Missing if self.of_host => host::look(&on_host(path)),
            look => Ok(look),
        }
    }
}

/// Where the host has what the guest has at `path`.
pub(crate) fn on_host(path: &str) -> PathBuf {
    PathBuf::from(format!("/{path}"))
}

impl View {
    /// Where `path` leads.
    pub(crate) fn resolve(&self, path: &str, last: Last) -> Result<Resolved, PackError> {
        resolve(self, path, last).map_err(|fault| match fault {
            Fault::NotAFolder(at) => PackError::NotAFolder { path: guest(path), at: guest(&at) },
            Fault::Loop => PackError::Loop { path: guest(path) },
            Fault::Io(at, source) => PackError::Unreadable { path: host(&on_host(&at)), source },
        })
    }

    /// The regular file to which `path` leads, if there is one that can be reached.
    pub(crate) fn find(&self, path: &str) -> Option<Resolved> {
        let found = resolve(self, path, Last::Follow).ok()?;
        (found.look == Look::File).then_some(found)
    }

    /// Puts a node into the tree. New folders above it are as on the host, if they are there.
    pub(crate) fn put(&mut self, path: &str, node: Node) -> Result<(), PackError> {
        let of_host = self.of_host;
        let mode_of = |folder: &str| {
            let mode = if of_host { host::mode(&on_host(folder)) } else { None };
            mode.unwrap_or(FOLDER_MODE)
        };
        self.tree.put(path, node, &mode_of)
    }

    /// Packs the links that lead to what was found.
    pub(crate) fn adopt_links(&mut self, found: &Resolved) -> Result<(), PackError> {
        found.links.iter().try_for_each(|link| {
            self.put(&link.path, Node::Symlink { target: link.target.clone() })
        })
    }

    /// Packs what was found, with the links that lead there; the links alone if it is missing.
    pub(crate) fn adopt(&mut self, found: &Resolved) -> Result<(), PackError> {
        self.adopt_links(found)?;
        if self.tree.get(&found.path).is_some() || found.path.is_empty() {
            return Ok(());
        }
        match found.look {
            Look::File => {
                let source = on_host(&found.path);
                let host::Contents { mode, data } = host::read(&source)?;
                self.put(&found.path, Node::File { mode, data, source: Some(source) })
            }
            Look::Directory => {
                let mode = host::mode(&on_host(&found.path)).unwrap_or(FOLDER_MODE);
                self.put(&found.path, Node::Directory { mode })
            }
            _ => Ok(()),
        }
    }

    /// The content and the mode of the file that is packed at `path`; None if none is.
    pub(crate) fn packed_file(&self, path: &str) -> Option<(&[u8], u32)> {
        match self.tree.get(path) {
            Some(Node::File { mode, data, .. }) => Some((data, *mode)),
            _ => None,
        }
    }

    /// The mode of the file that was found, packed or not.
    pub(crate) fn mode(&self, path: &str) -> u32 {
        self.packed_file(path)
            .map_or_else(|| host::mode(&on_host(path)).unwrap_or(0), |(_, mode)| mode)
    }

    /// The first bytes of the file that was found, packed or not: so many, or all.
    pub(crate) fn head(&self, path: &str, bytes: usize) -> io::Result<Cow<'_, [u8]>> {
        match self.packed_file(path) {
            Some((data, _)) => Ok(Cow::Borrowed(&data[..bytes.min(data.len())])),
            None => host::head(&on_host(path), bytes).map(Cow::Owned),
        }
    }

    /// A small text that decides where libraries are looked for; nothing if there is none, or it
    /// can't be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        const MAX_TEXT_BYTES: usize = 1 << 20;
        let found = self.find(path)?;
        let bytes = self.head(&found.path, MAX_TEXT_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The names in a folder, in order.
    pub(crate) fn names_in(&self, folder: &str) -> BTreeSet<String> {
        let Ok(found) = resolve(self, folder, Last::Follow) else { return BTreeSet::new() };
        let mut names: BTreeSet<String> =
            self.tree.names_in(&found.path).map(str::to_owned).collect();
        if self.of_host && found.look == Look::Directory {
            let entries = fs::read_dir(on_host(&found.path)).into_iter().flatten();
            let on_host = entries.take(MAX_ENTRIES).flatten();
            names.extend(on_host.filter_map(|entry| entry.file_name().into_string().ok()));
        }
        names
    }

    /// The paths that a pattern such as `/etc/ld.so.conf.d/*.conf` stands for, in order. Only the
    /// last component may have wildcards.
    pub(crate) fn glob(&self, pattern: &str) -> Vec<String> {
        let (folder, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        let names = self.names_in(folder).into_iter();
        let hidden = |name: &String| name.starts_with('.') && !last.starts_with('.');
        names
            .filter(|name| !hidden(name) && matches(last.as_bytes(), name.as_bytes()))
            .map(|name| join(folder, &name))
            .collect()
    }
}

/// Whether `name` is as a shell's `pattern` has it, with `*` and `?`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // Where to go on if what follows the last `*` does not fit.
    let (mut at, mut in_name, mut retry) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at, in_name));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star, start)) = retry else { return false };
                retry = Some((star, start + 1));
                (at, in_name) = (star + 1, start + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_a_shell_has_them() {
        let cases = [
            ("*.conf", "libc.conf", true),
            ("*.conf", "libc.conf.old", false),
            ("*", "", true),
            ("a*b*c", "axxbxbc", true),
            ("a*b*c", "axxbxb", false),
            ("l?b", "lib", true),
            ("l?b", "lb", false),
            ("lib", "lib", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
