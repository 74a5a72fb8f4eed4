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

/// The place that a path leads to.
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
    /// The path leads over too many links.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{MetadataExt as _, symlink};
    use std::path::PathBuf;

    use proptest::prelude::*;
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    use rustix::io::Errno;

    use super::*;

    /// A folder of the host as a tree.
    struct Disk(PathBuf);

    impl Files for Disk {
        fn look(&self, path: &str) -> io::Result<Look> {
            crate::host::look(&self.0.join(path))
        }
    }

    /// Paths in which a few names meet often.
    fn path() -> impl Strategy<Value = String> {
        let component = prop::sample::select(vec!["a", "b", "c", "..", ".", "", "a", "b"]);
        prop::collection::vec(component, 1..6).prop_map(|components| components.join("/"))
    }

    /// What the kernel finds below `root` as after `chroot`: device and inode.
    fn by_kernel(root: impl AsFd, path: &str) -> Result<(u64, u64), Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = rustix::fs::openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)?;
        let stat = rustix::fs::fstat(found)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    fn make(root: &std::path::Path, entries: &[(String, u8, String)]) {
        for (path, kind, target) in entries {
            // Names that `..` or links make impossible are left out.
            let path = root.join(path.replace("..", "a").trim_start_matches('/'));
            if path.starts_with(root) && path.parent().is_some_and(is_plain_folder) {
                let _ = match kind {
                    0 => fs::create_dir(&path),
                    1 => fs::write(&path, ""),
                    _ => symlink(target, &path),
                };
            }
        }
    }

    fn is_plain_folder(path: &std::path::Path) -> bool {
        fs::canonicalize(path).is_ok_and(|real| real == path)
    }

    proptest! {
        #[test]
        fn a_path_leads_where_the_kernel_finds_it_in_a_root(
            entries in prop::collection::vec((path(), 0_u8..4, path()), 0..24),
            asked in prop::collection::vec(path(), 1..8),
        ) {
            let folder = tempfile::tempdir()?;
            let root = folder.path().canonicalize()?;
            make(&root, &entries);
            let top = fs::File::open(&root)?;
            for path in asked.iter().filter(|path| !path.is_empty()) {
                let found = resolve(&Disk(root.clone()), path, Last::Follow);
                match by_kernel(&top, path) {
                    Ok(expected) => {
                        let found = found.map_err(|fault| {
                            TestCaseError::fail(format!("{path}: {fault:?}"))
                        })?;
                        let stat = fs::symlink_metadata(root.join(&found.path))?;
                        prop_assert_eq!((stat.dev(), stat.ino()), expected, "{}", path);
                        prop_assert!(!found.path.split('/').any(|name| name == ".."));
                    }
                    Err(Errno::NOENT) => {
                        prop_assert_eq!(found.map(|found| found.look).ok(), Some(Look::Missing));
                    }
                    Err(Errno::NOTDIR) => prop_assert!(matches!(found, Err(Fault::NotAFolder(_)))),
                    Err(Errno::LOOP) => prop_assert!(matches!(found, Err(Fault::Loop))),
                    Err(error) => prop_assert!(false, "{}: {}", path, error),
                }
            }
        }

        #[test]
        fn a_path_that_is_to_be_created_stays_inside(path in path(), target in path()) {
            let folder = tempfile::tempdir()?;
            // No link has an empty target.
            let _ = symlink(target, folder.path().join("a"));
            let disk = Disk(folder.path().to_owned());
            for last in [Last::Create, Last::CreateFollowed] {
                if let Ok(found) = resolve(&disk, &path, last) {
                    prop_assert!(!found.path.starts_with('/'));
                    let hostile = |name: &str| matches!(name, ".." | ".");
                    prop_assert!(!found.path.split('/').any(hostile), "{}", found.path);
                }
            }
        }
    }
}
