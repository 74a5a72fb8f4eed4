//! A QEMU process: started with inherited descriptors, killed on every way out.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::{
    VmError,
    machine::Clock,
    qemu::host_cpu::{Place, stay_on},
};

/// A process that leads a group of its own: a QEMU, or whatever was named as one. Dropping it ends
/// the whole group.
pub struct Process {
    leader: Child,
    /// How it ended, once that is known. From then on its id may be another process's.
    status: Option<ExitStatus>,
    /// Where it runs, if it is kept to one CPU.
    place: Option<Place>,
}

impl Process {
    /// Runs the QEMU in the file `qemu` with `arguments`, on one CPU if `clock` is the exact one;
    /// each descriptor becomes the number beside it.
    pub(crate) fn spawn(
        qemu: &Path,
        arguments: &[OsString],
        clock: Clock,
        descriptors: Vec<(i32, OwnedFd)>,
    ) -> Result<Self, VmError> {
        let host = |source| VmError::Host { what: "starting QEMU", source };
        require_open_files()?;
        let mappings = descriptors
            .into_iter()
            .map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd })
            .collect();
        let mut command = Command::new(qemu);
        command.args(arguments).stdin(null()?).stdout(null()?).stderr(Stdio::piped());
        command.fd_mappings(mappings).map_err(|error| host(std::io::Error::other(error)))?;
        let place = if clock == Clock::Exact { Place::take() } else { None };
        let cpu = place.as_ref().map(Place::set);
        // SAFETY: runs between fork and exec and makes one system call (sched_setaffinity), which
        // is async-signal-safe and allocates nothing.
        unsafe { command.pre_exec(move || stay_on(cpu.as_ref())) };
        let mut process = Self::start(&mut command).map_err(host)?;
        process.place = place;
        Ok(process)
    }

    /// Runs `command` as the leader of a process group. It ends with the thread that calls this.
    pub fn start(command: &mut Command) -> std::io::Result<Self> {
        let parent = rustix::process::getpid();
        // SAFETY: runs between fork and exec and makes two system calls (prctl and getppid), which
        // are async-signal-safe and allocate nothing.
        unsafe { command.pre_exec(move || die_with(parent)) };
        // A terminal's Ctrl-C is for us; we end QEMU, after having said what happened.
        let leader = command.process_group(0).spawn()?;
        Ok(Self { leader, status: None, place: None })
    }

    /// Its stdout and stderr, if they were piped.
    pub fn take_outputs(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.leader.stdout.take(), self.leader.stderr.take())
    }

    /// Its stdin, if that was piped.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.leader.stdin.take()
    }

    /// Its stderr, to be read as it comes.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.leader.stderr.take()
    }

    /// How it ended, if it has; then the rest of its group is ended too.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && self.has_ended() {
            self.end();
        }
        self.status
    }

    /// Whether the leader has ended, without reaping it: as long as it is not, its id is no
    /// other's.
    fn has_ended(&self) -> bool {
        let Some(id) = self.id() else { return false };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(id), look), Ok(Some(_)))
    }

    /// Ends the group, then reaps the leader. The group, since what was named as QEMU may be a
    /// script that started it.
    fn end(&mut self) {
        if self.status.is_some() {
            return;
        }
        if let Some(group) = self.id() {
            // Fails only if nobody is left in it.
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.status = self.leader.wait().ok();
    }

    fn id(&self) -> Option<Pid> {
        i32::try_from(self.leader.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Has the kernel kill this process when the thread that started it ends, however it ends.
fn die_with(parent: Pid) -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before the call.
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

/// The file that a program reads nothing from and writes to in vain.
const NULL: &str = "/dev/null";
/// Where QEMU finds the files that it is handed.
const OPEN_FILES: &str = "/proc/self/fd";

/// [`NULL`], opened here so that its absence is not taken for the program's.
pub(crate) fn null() -> Result<File, VmError> {
    let opened = File::options().read(true).write(true).open(NULL);
    opened.map_err(|source| VmError::Lacking { what: NULL, source })
}

/// # Errors
/// This system has no [`OPEN_FILES`].
pub(crate) fn require_open_files() -> Result<(), VmError> {
    let found = std::fs::metadata(OPEN_FILES);
    found.map(|_| ()).map_err(|source| VmError::Lacking { what: OPEN_FILES, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that has written its own id and that of a child, which outlives it for long.
    fn shell_with_child(then: &str) -> (Process, Pid) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("sleep 1000 & echo $!; {then}")]).stdout(Stdio::piped());
        let mut process = Process::start(&mut command).unwrap();
        let mut line = String::new();
        let output = process.take_outputs().0.unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        (process, Pid::from_raw(line.trim().parse().unwrap()).unwrap())
    }

    /// Waits until the process is gone, or only waits to be reaped by its new parent.
    fn assert_gone(id: Pid) {
        let stat = format!("/proc/{}/stat", id.as_raw_nonzero());
        for _ in 0..500 {
            match std::fs::read_to_string(&stat) {
                Ok(stat) if !stat.contains(") Z ") => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
        panic!("{id:?} still runs");
    }

    #[test]
    fn dropping_it_ends_what_it_started() {
        let (process, child) = shell_with_child("wait");
        drop(process);
        assert_gone(child);
    }

    #[test]
    fn once_it_has_ended_its_group_is_ended_and_its_id_not_used_again() {
        let (mut process, child) = shell_with_child("exit 3");
        let status = loop {
            if let Some(status) = process.ended() {
                break status;
            }
        };
        assert_eq!(status.code(), Some(3));
        assert_gone(child);
        // A reaped leader's id may be anyone's: from here on nobody is signalled or waited for.
        assert!(!process.has_ended());
        assert_eq!(process.ended(), Some(status));
    }
}
