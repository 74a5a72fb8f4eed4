//! A QEMU process: started with inherited descriptors, killed on every way out.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use command_fds::{CommandFdExt, FdMapping};
use rustix::thread::CpuSet;

use crate::{Qemu, VmError, machine::Clock};

/// Tells running measurements that the user wants them to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The flag itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// An error once the flag is set.
    pub fn check(&self) -> Result<(), VmError> {
        if self.0.load(Ordering::Relaxed) { Err(VmError::Interrupted) } else { Ok(()) }
    }
}

/// A running QEMU.
pub(crate) struct Process(Child);

impl Process {
    /// Starts QEMU with `arguments`, on one CPU if `clock` is the exact one; each descriptor becomes the
    /// number beside it.
    pub(crate) fn spawn(
        qemu: &Qemu,
        arguments: &[OsString],
        clock: Clock,
        descriptors: Vec<(i32, OwnedFd)>,
    ) -> Result<Self, VmError> {
        let host = |source| VmError::Host { what: "starting QEMU", source };
        let mappings = descriptors
            .into_iter()
            .map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd })
            .collect();
        let mut command = Command::new(&qemu.path);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.fd_mappings(mappings).map_err(|error| host(std::io::Error::other(error)))?;
        // A terminal's Ctrl-C is for us; we end QEMU, after having said what happened.
        command.process_group(0);
        let cpu = if clock == Clock::Exact { one_cpu() } else { None };
        // SAFETY: runs between fork and exec and makes two system calls (prctl and
        // sched_setaffinity), which are async-signal-safe and allocate nothing.
        unsafe {
            command.pre_exec(move || {
                die_with_parent()?;
                stay_on(cpu.as_ref())
            })
        };
        command.spawn().map(Self).map_err(host)
    }

    /// Its stderr, to be read as it comes.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.0.stderr.take()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // All fail only when it has ended already. The group too: what was named as QEMU may be a
        // script that started it.
        if let Some(group) =
            i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has the kernel kill QEMU when the thread that started it ends, however it ends.
fn die_with_parent() -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// The CPU for the next QEMU: those that we may use in turn, beginning anywhere, so that the two sides
/// of a comparison, and several runs at once, are spread.
///
/// All of QEMU's threads go to one. One executes the guest; another moves the guest's clock on when the
/// guest idles. Were both to run at once, the second could, once in some ten thousand times, look
/// at the clock while the first had not yet added to it what it had executed (`docs/exactness.md`).
fn one_cpu() -> Option<CpuSet> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let cpus = allowed_cpus();
    let turn = NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() as usize;
    let mut one = CpuSet::new();
    one.set(*cpus.get(turn % cpus.len().max(1))?);
    Some(one)
}

/// The host's CPUs that we may use, by number; none if the host does not say.
fn allowed_cpus() -> Vec<usize> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

/// How many of the host's CPUs a guest in the host's time may use at once.
pub fn host_cpus() -> usize {
    allowed_cpus().len()
}

fn stay_on(cpu: Option<&CpuSet>) -> std::io::Result<()> {
    if let Some(cpu) = cpu {
        rustix::thread::sched_setaffinity(None, cpu)?;
    }
    Ok(())
}

/// Reads what is there, without waiting for more; 0 at the end of the stream.
pub(crate) fn read_available(
    source: &mut impl Read,
    buffer: &mut [u8],
) -> std::io::Result<Option<usize>> {
    match source.read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(Some(0)),
        Err(error) => Err(error),
    }
}
