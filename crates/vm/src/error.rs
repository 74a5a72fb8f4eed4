//! What can go wrong between the host and a guest.

mod help;
pub(crate) mod qemu;
mod retry;

use std::time::Duration;

pub use retry::is_shortage;

use crate::Unmet;
use crate::arch::{Doubt, UNANSWERED};
use crate::console::Tail;
use crate::error::qemu::QemuError;
use crate::interrupt::Interrupted;

/// Why a kernel could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum VmError {
    /// There is no QEMU to run.
    #[error(transparent)]
    Qemu(#[from] QemuError),
    /// The kernel file can't be booted.
    #[error(transparent)]
    Image(#[from] pathmeter_image::ImageError),
    /// Another interpreter than QEMU is not there, or can't start the kernel.
    #[error("{why}")]
    Interpreter {
        why: String,
        /// What the user can do about it.
        help: Option<&'static str>,
    },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// Something went wrong with the guest.
    #[error("{step}: {cause}")]
    Guest {
        /// What the guest was doing.
        step: Step,
        cause: GuestCause,
        /// The end of its console.
        console: Tail,
    },
    /// QEMU would not start with the recorder.
    #[error("recording: QEMU does not take the recorder plugin: {how}")]
    Recorder {
        /// The end of QEMU's error output.
        how: String,
    },
    /// QEMU has another memory, or another CPU, than was asked for.
    #[error("this QEMU made another machine than was asked for: {}", .0.join(", "))]
    OtherMachine(Vec<String>),
    #[error("{step}: QEMU refused {command}: {answer}")]
    Refused {
        step: Step,
        /// The command, as QMP names it.
        command: String,
        answer: String,
    },
    /// This system lacks a file that every Linux system has, and that running QEMU takes.
    #[error("{what} can't be used: {source}")]
    Lacking {
        /// The path of the file.
        what: &'static str,
        source: std::io::Error,
    },
    /// A call to the host's kernel failed.
    #[error("{what}: {source}")]
    Host {
        /// What was being done, in words.
        what: &'static str,
        source: std::io::Error,
    },
    /// The kernel can't be told what the CPU is not vulnerable to: too many places in its code may
    /// ask.
    #[error(
        "too many places in the kernel's code may read what this CPU is not vulnerable to ({})",
        UNANSWERED
    )]
    ArchCapabilityPlaces,
    /// The kernel booted without reading what the CPU is not vulnerable to, though its code could.
    #[error(
        "the kernel did not read what this CPU is not vulnerable to ({}) where pathmeter could \
         answer it",
        UNANSWERED
    )]
    ArchCapabilities,
    /// Settings of the condition, at least one, that can't be had in the guest.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unmet(Vec<Unmet>),
    /// The guest can't be saved as a snapshot.
    #[error("writing the snapshot: {source}")]
    Save { source: std::io::Error },
}

/// What went wrong with a guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuestCause {
    #[error("not done after {} s", .limit.as_secs())]
    Timeout { limit: Duration },
    #[error("{message}{doubt}")]
    Panicked {
        /// The panic's message, in the kernel's words.
        message: String,
        /// Whether that may be QEMU's doing.
        doubt: Doubt,
    },
    /// QEMU was killed from outside.
    #[error("QEMU was killed ({how})")]
    Killed {
        /// The signal that killed it, in words.
        how: String,
    },
    /// The recorder gave up on the path: it executes more than can be recorded.
    #[error("{why}")]
    Overlong {
        /// Which limit was reached, in words.
        why: String,
    },
    /// The guest shut down or rebooted, or QEMU ended by itself.
    #[error("{how}")]
    Ended {
        /// Whether it was the guest's doing.
        by_guest: bool,
        /// How, as far as is known.
        how: String,
    },
    /// What arrived on the protocol port is not the protocol.
    #[error("the protocol port carried {what}")]
    Protocol { what: String },
    #[error("the agent gave up: {reason}")]
    Abort {
        /// Why, in the agent's own words.
        reason: String,
    },
}

/// What a guest was doing when something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// QEMU is starting, up to its first answer on the control channel.
    Start,
    /// Booting, up to where the agent pauses the guest.
    Boot,
    /// Being saved as a snapshot.
    Save,
    /// Being restored from a snapshot.
    Restore,
    /// Being put under its condition.
    Condition,
    /// Running, between two paths or runs.
    Run,
    /// Running a path of the plan.
    Path {
        /// Its index in the plan.
        index: usize,
        name: String,
    },
    /// In a run of the user's program.
    Program {
        /// The run, from 1.
        run: u64,
    },
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start => f.write_str("starting QEMU"),
            Self::Boot => f.write_str("booting the kernel"),
            Self::Save => f.write_str("saving the guest's snapshot"),
            Self::Restore => f.write_str("restoring the guest's snapshot"),
            Self::Condition => f.write_str("putting the guest under its condition"),
            Self::Run => f.write_str("running the agent"),
            Self::Path { name, .. } => write!(f, "running {name}"),
            Self::Program { run } => write!(f, "run {run} of the program"),
        }
    }
}

impl From<Interrupted> for VmError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl VmError {
    /// The path in which the kernel died or fell silent, if it was in one: leaving it out may help.
    /// One that breaks the protocol is not given another chance, and if QEMU was killed or crashed,
    /// the kernel is not to blame.
    pub(crate) fn in_path(&self) -> Option<usize> {
        let Self::Guest { step: Step::Path { index, .. }, cause, .. } = self else { return None };
        match cause {
            GuestCause::Protocol { .. }
            | GuestCause::Killed { .. }
            | GuestCause::Ended { by_guest: false, .. } => None,
            _ => Some(*index),
        }
    }

    /// How the guest ended, if it did before anything of it ran: its snapshot is no use then.
    pub(crate) fn unrestored(&self) -> Option<&str> {
        match self {
            Self::Guest {
                step: Step::Start | Step::Restore,
                cause: GuestCause::Ended { how, .. },
                ..
            } => Some(how),
            _ => None,
        }
    }

    /// The end of the guest's console, if the guest is what went wrong.
    pub fn console(&self) -> Option<&Tail> {
        if let Self::Guest { console, .. } = self { Some(console) } else { None }
    }
}
