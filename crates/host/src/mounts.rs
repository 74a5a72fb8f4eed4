//! Where control groups are mounted, and in which of them a process is (cgroups(7), proc(5)).

use std::fs;
use std::path::{Path, PathBuf};

/// A mount of the groups of version 2.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The folder that it is mounted on.
    place: PathBuf,
    /// The group that is seen there.
    root: String,
}

impl Mount {
    /// The first one that this process sees.
    pub(crate) fn of_groups() -> Option<Self> {
        Self::find(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    fn find(mounts: &str) -> Option<Self> {
        mounts.lines().find_map(|line| {
            let (mount, kind) = line.split_once(" - ")?;
            let mut words = mount.split(' ').skip(3);
            let (root, place) = (words.next()?, words.next()?);
            let is_version_2 = kind.split(' ').next() == Some("cgroup2");
            is_version_2.then(|| Self { place: place.into(), root: root.to_owned() })
        })
    }

    /// The groups around a process in `group`, and this one, as folders and as the kernel shows
    /// them, the outermost first; those that are not seen here are left out.
    pub(crate) fn around(&self, group: &str) -> Vec<(PathBuf, String)> {
        // In a namespace of groups what lies outside begins with `/..`.
        let group = if group.contains("..") { "/" } else { group };
        let mut all: Vec<&Path> = Path::new(group).ancestors().collect();
        all.reverse();
        let seen = |shown: &Path| {
            let below = shown.strip_prefix(&self.root).ok()?;
            Some((self.place.join(below), shown.display().to_string()))
        };
        all.into_iter().filter_map(seen).collect()
    }
}

/// The group, of version 2, in such a file of procfs.
pub(crate) fn own_group(file: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

/// Whether groups of version 1 have the controller.
pub(crate) fn version_1(controller: &str) -> bool {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let lists = text.lines().filter_map(|line| line.split(':').nth(1));
    lists.flat_map(|list| list.split(',')).any(|name| name == controller)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 0:5 / /proc rw - proc proc rw\n\
                          30 1 0:9 / /a rw,relatime shared:3 - cgroup cgroup rw,cpu\n\
                          31 1 0:8 /b /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n";

    #[test]
    fn groups_are_seen_below_their_mount() {
        let mount = Mount::find(MOUNTS).unwrap();
        assert_eq!(mount.place, Path::new("/sys/fs/cgroup"));
        let place = |below: &str| PathBuf::from("/sys/fs/cgroup").join(below);
        let expected = [(place(""), "/b".to_owned()), (place("c"), "/b/c".to_owned())];
        assert_eq!(mount.around("/b/c"), expected);
        assert_eq!(mount.around("/d"), []);
        assert_eq!(Mount::find("22 1 0:5 / /proc rw - proc proc rw\n"), None);
    }

    #[test]
    fn a_group_outside_the_namespace_is_not_looked_for() {
        let mount = Mount { place: "/g".into(), root: "/".into() };
        assert_eq!(mount.around("/../x"), [(PathBuf::from("/g"), "/".to_owned())]);
    }
}
