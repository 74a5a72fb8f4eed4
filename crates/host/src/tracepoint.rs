//! The kernel's tracepoints, as tracefs has them.
//!
//! Where tracefs is mounted nowhere, root makes a mount of its own that is attached to no place: it
//! ends when it is closed, and nobody else sees it.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use thiserror::Error;

/// Where tracefs is mounted, if it is.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Why a tracepoint can't be had.
#[derive(Debug, Error)]
pub enum TracepointError {
    /// The kernel has no such one.
    #[error("this kernel has no such tracepoint")]
    Unknown {
        /// All that it has, each as `CATEGORY:EVENT`.
        names: Vec<String>,
    },
    #[error("tracefs is mounted nowhere, and can't be: {0}")]
    Mount(io::Error),
    #[error("tracefs can't be read: {0}")]
    Read(io::Error),
}

/// The number of a tracepoint.
///
/// # Errors
/// The kernel does not have it, or tracefs can't be read.
pub fn number(category: &str, event: &str) -> Result<u64, TracepointError> {
    let (events, _mount) = events()?;
    let id = events.join(category).join(event).join("id");
    match fs::read_to_string(id) {
        Ok(text) => text.trim().parse().map_err(|_| {
            TracepointError::Read(io::Error::new(ErrorKind::InvalidData, "its id is no number"))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(TracepointError::Unknown { names: names(&events) })
        }
        Err(error) => Err(TracepointError::Read(error)),
    }
}

/// The folder of all tracepoints, and what it is in if that was mounted for it.
fn events() -> Result<(PathBuf, Option<OwnedFd>), TracepointError> {
    for place in PLACES.map(|place| Path::new(place).join("events")) {
        match fs::read_dir(&place) {
            Ok(_) => return Ok((place, None)),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(TracepointError::Read(error));
            }
            Err(_) => {}
        }
    }
    let mount = mount().map_err(|error| TracepointError::Mount(error.into()))?;
    let place = PathBuf::from(format!("/proc/self/fd/{}/events", mount.as_raw_fd()));
    Ok((place, Some(mount)))
}

fn mount() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// All tracepoints, each as `CATEGORY:EVENT`.
fn names(events: &Path) -> Vec<String> {
    let folders = |place: &Path| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        folders.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
    };
    let of_category = |category: String| {
        let events = folders(&events.join(&category)).into_iter();
        events.map(move |event| format!("{category}:{event}"))
    };
    folders(events).into_iter().flat_map(of_category).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This holds whatever the machine permits.
    #[test]
    fn a_tracepoint_has_a_number_or_there_is_a_reason_and_none_has_no_name_like_this() {
        match number("sched", "sched_switch") {
            Ok(number) => {
                assert!(number > 0);
                let Err(TracepointError::Unknown { names }) = number_of_none() else { panic!() };
                assert!(names.contains(&"sched:sched_switch".to_owned()));
            }
            Err(TracepointError::Unknown { .. }) => panic!("every kernel with tracefs has it"),
            Err(error) => assert!(error.to_string().contains("tracefs"), "{error}"),
        }
    }

    fn number_of_none() -> Result<u64, TracepointError> {
        number("sched", "no_such_event")
    }
}
