//! The control group that a condition's processes are in, of version 2: made for a session, and
//! removed after it, however the session ends.
//!
//! Another process, the guard, removes it (`live/src/guard.rs`): it waits for the end of a pipe
//! that only this process holds open, so it does its work even if this process is killed. If the
//! guard is killed, this process removes the group.
//!
//! The group is made in the outermost group that this process may add one to, and that hands on the
//! controllers that are asked for. No controller is handed on that was not before: that would
//! change groups of other processes.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::memory::memory_file;
use crate::mounts::{Mount, own_group, version_1};
use crate::quantity::has;
use crate::timing_program;

/// How often, and after which pauses, a group is tried to be removed whose processes are about to
/// end.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(20);
/// The name of a limit that is the number of groups instead, each in the one before.
const DEPTH: &str = "depth";

/// A file of a control group, with its value; `depth` is the number of groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Its name, such as `memory.max`.
    pub name: String,
    /// Its value, as the kernel takes it.
    pub value: String,
}

impl Limit {
    fn controller(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    fn is_depth(&self) -> bool {
        self.name == DEPTH
    }
}

/// Why there is no such group.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum GroupError {
    /// There are no groups of version 2 at all.
    #[error("control groups of version 2 are mounted nowhere on this machine")]
    NotMounted,
    /// The controller is not one of version 2 here.
    #[error("this machine's control groups of version 2 have no controller {controller}{more}")]
    NoController {
        controller: String,
        /// Where it is instead, if that is known.
        more: &'static str,
    },
    /// No group around this process hands the controller on.
    #[error(
        "the controller {controller} is not handed on to new groups: as root, \
         `echo +{controller} > {file}` does so for the whole machine"
    )]
    NotHandedOn {
        controller: String,
        /// The file that would hand it on.
        file: String,
    },
    /// This process may add no group, or not move processes there.
    #[error(
        "this process may add no control group ({why}): run as root, or in a group that was handed \
         to you, as by `systemd-run --user --scope -p Delegate=yes pathmeter …`"
    )]
    Refused {
        /// What the kernel said of the last try.
        why: String,
    },
    /// The kernel has no such file.
    #[error("a control group of this kernel has no file {0}")]
    NoFile(String),
    /// The kernel does not take the value.
    #[error("{file}: the kernel does not take the value {value}: {why}")]
    NotTaken {
        file: String,
        value: String,
        /// What the kernel said, or the value that it holds instead.
        why: String,
    },
    /// The guard can't be started.
    #[error("the guard of the control group can't be started: {0}")]
    Guard(String),
}

/// A group, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    guard: Child,
    outermost: PathBuf,
    /// Of as many groups, each in the one before.
    depth: usize,
    limits: Vec<Limit>,
    /// The innermost, as the kernel shows it of a process.
    shown: String,
}

impl Group {
    /// Makes it with these limits.
    ///
    /// # Errors
    /// This process may not, or the machine has no such group; nothing is left of it.
    pub(crate) fn make(limits: &[Limit]) -> Result<Self, GroupError> {
        let depth = limits.iter().find(|limit| limit.is_depth());
        let depth = depth.map_or(1, |limit| limit.value.parse().unwrap_or(1));
        let group = Self::add(limits, depth)?;
        let names: Vec<&Limit> = limits.iter().filter(|limit| !limit.is_depth()).collect();
        group.nest(if names.len() < limits.len() { None } else { Some(&names) })?;
        names.into_iter().try_for_each(|limit| group.set(limit))?;
        Ok(group)
    }

    /// Makes the outermost group, where that can be done.
    fn add(limits: &[Limit], depth: usize) -> Result<Self, GroupError> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("pathmeter-{}-{made}", std::process::id());
        let mut last = None;
        for (around, shown) in places(limits)? {
            let outermost = around.join(&name);
            let inner = "/in".repeat(depth - 1);
            let shown = format!("{}/{name}{inner}", shown.trim_end_matches('/'));
            // Before the group: it can be killed from then on.
            let guard = guard(&outermost, depth)?;
            let limits = limits.to_vec();
            let group = Self { guard, outermost, depth, limits, shown };
            let made = fs::create_dir(&group.outermost);
            // Who moves a process may write to the list of the group that is around both.
            match made.and_then(|()| list(&around)).and_then(|_| group.processes()) {
                Ok(_) => return Ok(group),
                Err(error) => last = Some(format!("{}: {error}", group.outermost.display())),
            }
        }
        let why = last.unwrap_or_else(|| "there is none around it".to_owned());
        Err(GroupError::Refused { why })
    }

    /// Makes the groups in it, each of which is handed these limits' controllers, or all.
    fn nest(&self, limits: Option<&[&Limit]>) -> Result<(), GroupError> {
        let mut place = self.outermost.clone();
        for _ in 1..self.depth {
            let all = words(&place.join("cgroup.controllers"));
            let asked = |name: &String| {
                limits.is_none_or(|limits| limits.iter().any(|it| it.controller() == name))
            };
            let file = place.join("cgroup.subtree_control");
            for controller in all.into_iter().filter(asked) {
                let value = format!("+{controller}");
                fs::write(&file, &value).map_err(|error| GroupError::NotTaken {
                    file: "cgroup.subtree_control".to_owned(),
                    value,
                    why: error.to_string(),
                })?;
            }
            place.push("in");
            fs::create_dir(&place)
                .map_err(|error| GroupError::Refused { why: error.to_string() })?;
        }
        Ok(())
    }

    /// Sets a limit of the outermost group, and reads it back.
    fn set(&self, limit: &Limit) -> Result<(), GroupError> {
        let Limit { name, value } = limit;
        let file = self.outermost.join(name);
        let taken = OpenOptions::new()
            .write(true)
            .open(&file)
            .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()));
        let not = |why| GroupError::NotTaken { file: name.clone(), value: value.clone(), why };
        taken.map_err(|error| match error.kind() {
            ErrorKind::NotFound => GroupError::NoFile(name.clone()),
            _ => not(error.to_string()),
        })?;
        let held = self.held(name);
        if has(&held, value) { Ok(()) } else { Err(not(format!("it holds {}", held.trim()))) }
    }

    fn held(&self, name: &str) -> String {
        fs::read_to_string(self.outermost.join(name)).unwrap_or_default()
    }

    /// The list of its processes, for a process that is to move there.
    pub(crate) fn processes(&self) -> io::Result<File> {
        let place = self.outermost.join("in/".repeat(self.depth - 1));
        // Not there while the groups are being made.
        let place = if place.exists() { place } else { self.outermost.clone() };
        list(&place)
    }

    /// Whether the process with this number is in it.
    pub(crate) fn has(&self, process: u32) -> bool {
        own_group(&format!("/proc/{process}/cgroup")).is_some_and(|group| group == self.shown)
    }

    /// What proves it, at the end of a session, in words; or which limit holds no more.
    pub(crate) fn proof(&self) -> String {
        let limits = self.limits.iter().filter(|limit| !limit.is_depth());
        let told = limits.map(|limit| {
            let held = self.held(&limit.name);
            let held = held.trim().replace('\n', "; ");
            if has(&held, &limit.value) {
                format!("{} reads {held}", limit.name)
            } else {
                format!("limit is unproved: {} was changed meanwhile to {held}", limit.name)
            }
        });
        let group = format!("the processes were in the group {}", self.shown);
        std::iter::once(group).chain(told).collect::<Vec<_>>().join(", and its ")
    }

    /// Has the guard remove the groups, whose processes have ended or are about to. What the guard
    /// left is removed here; then it is told, in words, what became of it.
    pub(crate) fn remove(&mut self) -> Option<String> {
        drop(self.guard.stdin.take());
        // It has its own limit of time, and has told of nothing.
        let _ = self.guard.wait();
        if !self.outermost.exists() {
            return None;
        }
        let group = self.outermost.display();
        Some(match self.remove_without_guard() {
            Ok(()) => format!(
                "the process that was to remove the control group {group} was killed before; \
                 pathmeter has removed the group itself"
            ),
            Err(error) => format!("the control group {group} could not be removed: {error}"),
        })
    }

    fn remove_without_guard(&self) -> io::Result<()> {
        let groups = (0..self.depth).rev();
        groups.map(|level| self.outermost.join("in/".repeat(level))).try_for_each(|group| {
            let mut tries = 0;
            loop {
                tries += 1;
                match fs::remove_dir(&group) {
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                    Err(_) if tries < TRIES => thread::sleep(PAUSE),
                    done => return done,
                }
            }
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A session that has a document has removed it before, and told of it.
        let _ = self.remove();
    }
}

/// The list of a group's processes, to be written to.
fn list(place: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(place.join("cgroup.procs"))
}

/// Starts the process that removes the groups.
fn guard(outermost: &Path, depth: usize) -> Result<Child, GroupError> {
    let failed = |error: io::Error| GroupError::Guard(error.to_string());
    let file = timing_program().and_then(|it| memory_file(&it)).map_err(failed)?;
    Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .arg("guard")
        .arg(outermost)
        .arg(depth.to_string())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)
}

/// Where the group may be made: folders, each with its group as the kernel shows it, the outermost
/// first.
fn places(limits: &[Limit]) -> Result<Vec<(PathBuf, String)>, GroupError> {
    let mount = Mount::of_groups().ok_or(GroupError::NotMounted)?;
    let own = own_group("/proc/self/cgroup").ok_or(GroupError::NotMounted)?;
    let around = mount.around(&own);
    let asked: BTreeSet<&str> =
        limits.iter().filter(|limit| !limit.is_depth()).map(Limit::controller).collect();
    let hands_on = |(place, _): &&(PathBuf, String)| {
        let given = words(&place.join("cgroup.subtree_control"));
        asked.iter().all(|controller| given.iter().any(|it| it == controller))
    };
    let places: Vec<_> = around.iter().filter(hands_on).cloned().collect();
    if !places.is_empty() {
        return Ok(places);
    }
    let first = around.first().map_or_else(PathBuf::new, |(place, _)| place.clone());
    let all = words(&first.join("cgroup.controllers"));
    if let Some(missing) = asked.iter().find(|name| !all.iter().any(|it| it == *name)) {
        let more = if version_1(missing) { ", but those of version 1 do" } else { "" };
        return Err(GroupError::NoController { controller: (*missing).to_owned(), more });
    }
    let given = words(&first.join("cgroup.subtree_control"));
    let missing = asked.iter().find(|name| !given.iter().any(|it| it == *name));
    let controller = (*missing.or(asked.first()).unwrap_or(&"")).to_owned();
    let file = first.join("cgroup.subtree_control").display().to_string();
    Err(GroupError::NotHandedOn { controller, file })
}

fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups whose folders are no control groups, since every user can make those.
    fn make_groups(outermost: PathBuf) -> Group {
        fs::create_dir_all(outermost.join("in")).unwrap();
        let guard = guard(&outermost, 2).unwrap();
        Group { guard, outermost, depth: 2, limits: Vec::new(), shown: String::new() }
    }

    #[test]
    fn a_group_is_removed_by_its_guard_or_without_it_and_then_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut guarded = make_groups(folder.path().join("guarded"));
        assert_eq!(guarded.remove(), None);
        let mut left = make_groups(folder.path().join("left"));
        left.guard.kill().unwrap();
        let told = left.remove().unwrap();
        assert!(told.contains("left was killed before") && told.contains("itself"), "{told}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(left.remove(), None);
    }

    #[test]
    fn a_group_that_can_not_be_removed_is_told_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut busy = make_groups(folder.path().join("busy"));
        fs::write(busy.outermost.join("a file"), "").unwrap();
        busy.guard.kill().unwrap();
        let told = busy.remove().unwrap();
        assert!(told.contains("busy could not be removed"), "{told}");
        fs::remove_file(busy.outermost.join("a file")).unwrap();
    }

    /// As where a session ends with an error.
    #[test]
    fn a_group_without_a_guard_is_removed_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let mut left = make_groups(folder.path().join("left"));
        left.guard.kill().unwrap();
        drop(left);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
