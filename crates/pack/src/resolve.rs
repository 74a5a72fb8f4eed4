//! The resolution of a path, component by component, on a tree of files that may be anywhere.
//!
//! Contract: every link's target is resolved in the same tree. An absolute target begins at the
//! tree's top, and `..` at the top stays there, as after `chroot`. At most [`MAX_LINKS`] links are
//! followed, as by Linux.
//!
//! Source: `path_resolution(7)`.

use std::io;

/// Linux's `MAXSYMLINKS`.
const MAX_LINKS: usize = 40;

/// What is at a path, without following a link there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    Missing,
    Directory,
    File,
    Symlink(String),
    /// A device, pipe or socket.
    Special,
}

/// A tree of files. Paths have no leading `/`, and none of their folders is a link.
pub(crate) trait Files {
    fn look(&self, path: &str) -> io::Result<Look>;
}

/// A link that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: String,
    pub(crate) target: String,
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Without a leading `/`, `..` or link; the tree's top is the empty path.
    pub(crate) path: String,
    pub(crate) look: Look,
    /// The links followed, in this order.
    pub(crate) links: Vec<Link>,
}

/// What to do about the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// Follow a link there.
    Follow,
    /// Keep a link there; a folder that is missing above it may be created.
    Create,
    /// As `Follow`, and a folder that is missing above it may be created.
    CreateFollowed,
}

#[derive(Debug)]
pub(crate) enum Fault {
    /// Something other than a folder has a path below it.
    NotAFolder(String),
    /// Too many links.
    Loop,
    Io(String, io::Error),
}

/// Resolves `path`, which may have a leading `/`. What is missing is no fault.
pub(crate) fn resolve(files: &impl Files, path: &str, last: Last) -> Result<Resolved, Fault> {
    let mut pending = components(path);
    let (mut done, mut look) = (String::new(), Look::Directory);
    let mut links = Vec::new();
    while let Some(component) = pending.pop() {
        match look {
            Look::Directory => {}
            Look::Missing if last != Last::Follow => {}
            Look::Missing => break,
            _ => return Err(Fault::NotAFolder(done)),
        }
        match component.as_str() {
            "." => continue,
            ".." => {
                done.truncate(done.rfind('/').unwrap_or(0));
                look = Look::Directory;
                continue;
            }
            _ => {}
        }
        let at = join(&done, &component);
        look = files.look(&at).map_err(|error| Fault::Io(at.clone(), error))?;
        let kept = last == Last::Create && pending.is_empty();
        match look {
            Look::Symlink(target) if !kept => {
                if links.len() == MAX_LINKS {
                    return Err(Fault::Loop);
                }
                if target.starts_with('/') {
                    done.clear();
                }
                pending.extend(components(&target));
                links.push(Link { path: at, target });
                look = Look::Directory;
            }
            _ => done = at,
        }
    }
    Ok(Resolved { path: done, look, links })
}

/// The components of a path, the last first. A `/` at the end is as `/.`: it asks for a folder.
fn components(path: &str) -> Vec<String> {
    let end = if path.ends_with('/') { Some(".") } else { None };
    let names = path.rsplit('/').filter(|name| !name.is_empty());
    end.into_iter().chain(names).map(str::to_owned).collect()
}

/// `name` in `folder`, where the empty folder is the tree's top.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folder that holds `path`.
pub(crate) fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..end])
}
