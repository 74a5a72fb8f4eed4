//! Which paths share a guest.
//!
//! What a path finds in the kernel depends on what was executed before it in the same guest: timers
//! that are set, memory that is freed after a grace period, pages at hand. So the paths that share
//! a guest are a part of what is measured. A group is such a guest: it is restored from the
//! kernel's snapshot and executes its own paths and no others, whatever else is asked for.
//!
//! Paths that leave much behind for others to find stand apart from those that would find it:
//! processes and their memory from softirqs and timers, and the light system calls from all of
//! these. `docs/explanation/exactness.md` has the counts with one guest for all beside these.

use crate::{Path, Suite};

/// Paths that share a guest: all of some areas, which are the first parts of their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    pub name: &'static str,
    areas: &'static [&'static str],
}

/// All groups. A new area has to be in one of them.
pub static GROUPS: [Group; 5] = [
    Group {
        name: "calls",
        areas: &[
            "syscall",
            "ports",
            "ioctl",
            "lock",
            "flags",
            "getcpu",
            "time",
            "getrandom",
            "rseq",
            "membarrier",
            "fault",
        ],
    },
    Group {
        name: "files",
        areas: &["file", "pipe", "select", "poll", "epoll", "eventfd", "io-uring", "memory"],
    },
    Group { name: "network", areas: &["unix", "tcp", "udp"] },
    Group {
        name: "processes",
        areas: &["switch", "process", "signal", "sem", "futex", "pidfd", "wake"],
    },
    Group { name: "interrupts", areas: &["softirq", "irq", "timer"] },
];

impl Group {
    /// The group of the path with this name; None if there is no such path.
    pub fn of(name: &str) -> Option<&'static Self> {
        GROUPS.iter().find(|group| group.holds(name))
    }

    /// Whether the path with this name is one of the group's.
    pub fn holds(&self, name: &str) -> bool {
        name.split_once('.').is_some_and(|(area, _)| self.areas.contains(&area))
    }

    /// Its paths with their indices, in the order of the suite.
    pub fn paths(&self) -> impl Iterator<Item = (usize, &'static Path)> {
        Suite::Exact.paths().iter().enumerate().filter(|(_, path)| self.holds(path.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_in_one_group_and_every_area_has_a_path() {
        for path in Suite::Exact.paths() {
            let groups = GROUPS.iter().filter(|group| group.holds(path.name)).count();
            assert_eq!(groups, 1, "{}", path.name);
        }
        for (group, area) in GROUPS.iter().flat_map(|it| it.areas.iter().map(move |a| (it, a))) {
            let is_of = |path: &Path| path.name.split('.').next() == Some(area);
            assert!(group.paths().any(|(_, path)| is_of(path)), "{area}");
        }
    }

    #[test]
    fn a_group_is_found_by_the_name_of_a_path() {
        assert_eq!(Group::of("tcp.round-trip").map(|group| group.name), Some("network"));
        assert_eq!(Group::of("tcp"), None);
        assert_eq!(Group::of("user.region"), None);
    }
}
