//! What can go wrong between the host and a guest.

use std::path::PathBuf;
use std::time::Duration;

use crate::{
    QemuError, Unmet, UnmetCause, Unplaceable, console::Tail, qemu_error::shortage_help,
    qemu_panic::Doubt,
};

/// Why a kernel could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum VmError {
    /// There is no QEMU to run.
    #[error(transparent)]
    Qemu(#[from] QemuError),
    /// The kernel file can't be booted.
    #[error(transparent)]
    Image(#[from] pathmeter_image::ImageError),
    /// There is no Bochs to run.
    #[error("{}: {how}", .path.display())]
    Bochs {
        /// What was to be run.
        path: PathBuf,
        /// What is wrong with it.
        how: String,
    },
    /// The kernel can't be started in Bochs.
    #[error(transparent)]
    Unplaceable(#[from] Unplaceable),
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// Something went wrong with the guest.
    #[error("{step}: {cause}")]
    Guest {
        /// What it was doing.
        step: Step,
        /// What went wrong.
        cause: GuestCause,
        /// The end of its console.
        console: Tail,
    },
    /// QEMU would not start with the recorder.
    #[error("recording: QEMU does not take the recorder plugin: {how}")]
    Recorder {
        /// What it said.
        how: String,
    },
    /// QEMU refused a command.
    #[error("{step}: QEMU refused {command}: {answer}")]
    Refused {
        /// What was being done.
        step: Step,
        /// The QMP command.
        command: String,
        /// QEMU's answer.
        answer: String,
    },
    /// This system lacks a file that every Linux system has, and that running QEMU takes.
    #[error("{what} can't be used: {source}")]
    Lacking {
        /// The file.
        what: &'static str,
        /// The error.
        source: std::io::Error,
    },
    /// A call to the host's kernel failed.
    #[error("{what}: {source}")]
    Host {
        /// What was being done.
        what: &'static str,
        /// The error.
        source: std::io::Error,
    },
    /// The kernel can't be told what the CPU is not vulnerable to: too many places in its code may
    /// ask.
    #[error(
        "too many places in the kernel's code may read what this CPU is not vulnerable to \
         (MSR 0x10a)"
    )]
    ArchCapabilityPlaces,
    /// The kernel booted without reading what the CPU is not vulnerable to, though its code could.
    #[error(
        "the kernel did not read what this CPU is not vulnerable to (MSR 0x10a) where pathmeter \
         could answer it"
    )]
    ArchCapabilities,
    /// A setting of the condition can't be had in the guest.
    #[error("{0}")]
    Unmet(Unmet),
    /// The guest can't be saved as a snapshot.
    #[error("writing the snapshot: {source}")]
    Save {
        /// The error.
        source: std::io::Error,
    },
}

/// What went wrong with a guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuestCause {
    /// It took too long.
    #[error("not done after {} s", .limit.as_secs())]
    Timeout {
        /// The limit.
        limit: Duration,
    },
    /// The kernel panicked.
    #[error("{message}{doubt}")]
    Panicked {
        /// The kernel's own words.
        message: String,
        /// Whether that may be QEMU's doing.
        doubt: Doubt,
    },
    /// QEMU was killed from outside.
    #[error("QEMU was killed ({how})")]
    Killed {
        /// By which signal.
        how: String,
    },
    /// The recorder gave up on the path: it executes more than can be recorded.
    #[error("{why}")]
    Overlong {
        /// Which limit was reached.
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
    Protocol {
        /// What arrived.
        what: String,
    },
    /// The agent gave up.
    #[error("the agent gave up: {reason}")]
    Abort {
        /// The agent's words.
        reason: String,
    },
}

/// How Linux's last words end if it ran out of memory while it booted (`mm/oom_kill.c`).
const OUT_OF_MEMORY: &str = "deadlocked on memory";

/// What to do about a panic that may be QEMU's (docs/explanation/exactness.md).
const QEMUS_PANIC: &str = "QEMU before 8.0 may set a guest's flags wrongly, by which a kernel dies \
    by chance, the same each time. If it lives with --append printk.any=1, on both sides of a \
    comparison, or with a newer QEMU (--qemu FILE), it was that";

/// What a guest was doing when something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// QEMU is starting, up to its first answer on the control channel.
    Start,
    /// Booting, up to the agent's READY.
    Boot,
    /// Being saved as a snapshot.
    Save,
    /// Being restored from a snapshot.
    Restore,
    /// Between paths.
    Run,
    /// Running a path.
    Path {
        /// Its index in the plan.
        index: usize,
        /// Its name.
        name: String,
    },
    /// Running the user's program.
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
            Self::Run => f.write_str("running the agent"),
            Self::Path { name, .. } => write!(f, "running {name}"),
            Self::Program { run } => write!(f, "run {run} of the program"),
        }
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

    /// What the user can do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Qemu(error) => error.help(),
            Self::Guest { step, cause, .. } => return cause.help(step),
            Self::Recorder { .. } => {
                "explaining needs a QEMU with plugins, 7.2 or newer, built with --enable-plugins \
                 as distributions do; name another one with --qemu FILE. Measuring and comparing \
                 work without"
            }
            Self::Refused { .. } => {
                "`pathmeter doctor` checks QEMU; try another one with --qemu FILE"
            }
            Self::Lacking { source, .. } | Self::Host { source, .. } | Self::Save { source }
                if shortage_help(source).is_some() =>
            {
                return shortage_help(source);
            }
            Self::Bochs { .. } => {
                "install Bochs 2.7 or newer with its SDL display (Debian: bochs, bochs-sdl, \
                 vgabios), or name another one with --bochs FILE"
            }
            Self::Unplaceable(Unplaceable::TooSmall { .. }) => "give it more with --memory MIB",
            Self::ArchCapabilityPlaces | Self::ArchCapabilities => {
                "choose a profile that needs no such answer, such as skylake or zen2; \
                 docs/reference/cpu.md explains them"
            }
            Self::Unmet(Unmet { help: Some(help), .. }) => help,
            Self::Unmet(Unmet { cause: UnmetCause::Unknown, .. }) => {
                "check the spelling; what a kernel lacks depends on its version and configuration, \
                 and on the modules that are built into it"
            }
            Self::Lacking { .. } => {
                "mount /dev and /proc here as every Linux system has them: in a chroot, for \
                 example, `mount --rbind /dev ROOT/dev` and `mount -t proc proc ROOT/proc`"
            }
            _ => return None,
        })
    }
}

impl GuestCause {
    /// What the user can do about it, if it came at `step`.
    fn help(&self, step: &Step) -> Option<&'static str> {
        Some(match (self, step) {
            (Self::Timeout { .. }, Step::Start) => {
                "QEMU does not answer on its control channel: is it a script, or stopped? \
                 `pathmeter doctor` checks it; name another one with --qemu FILE"
            }
            (Self::Timeout { .. }, Step::Boot) => {
                "the kernel must boot with a serial console (CONFIG_SERIAL_8250_CONSOLE) and an \
                 initramfs (CONFIG_BLK_DEV_INITRD, CONFIG_BINFMT_ELF); give a slow one more time \
                 with --timeout SECONDS"
            }
            (Self::Timeout { .. }, Step::Program { .. }) => {
                "give a long program more time with --timeout SECONDS; one that waits for input, a \
                 terminal or the network waits for ever in the guest (--stdin FILE gives it input)"
            }
            (Self::Timeout { .. }, _) => "give it more time with --timeout SECONDS",
            (Self::Panicked { message, .. }, _) if message.contains(OUT_OF_MEMORY) => {
                "this kernel needs more memory than the guest has: give it more, for example \
                 --memory 512, on both sides of a comparison"
            }
            (Self::Panicked { doubt: Doubt::Shown, .. }, _) => QEMUS_PANIC,
            (Self::Panicked { doubt: Doubt::Possible, .. }, Step::Boot) => {
                "the kernel must boot in QEMU's microvm machine without disk or ACPI; add words to \
                 its command line with --append. QEMU before 8.0 may also make a kernel die by \
                 chance, the same each time: try --append printk.any=1, or name a newer QEMU with \
                 --qemu FILE"
            }
            (Self::Panicked { .. }, Step::Boot) => {
                "the kernel must boot in QEMU's microvm machine without disk or ACPI; add words to \
                 its command line with --append"
            }
            (Self::Panicked { .. }, Step::Program { .. }) => {
                "a program that ends process 1, or that has the kernel panic, can't be measured; \
                 if it shall do neither, see the end of the guest's console"
            }
            (Self::Killed { .. }, _) => {
                "somebody killed it, or the system did because memory ran out (`dmesg` tells): end \
                 other programs, or raise the memory limit of this session or container, and try \
                 again"
            }
            (Self::Ended { .. }, Step::Start) => {
                "if QEMU says why above, fix that: --cpu names a profile (haswell, skylake, \
                 cascadelake, icelake, sapphirerapids, zen1, zen2, zen3, zen4, each of these as a \
                 guest sees it (skylake-guest), plain, max) or one of \
                 `qemu-system-x86_64 -cpu help`, --memory what this machine can spare, and a \
                 library or module that is missing is in another package of your distribution's \
                 QEMU; `pathmeter doctor` checks QEMU"
            }
            (Self::Ended { by_guest: false, .. }, _) => {
                "it crashed: try again; `pathmeter doctor` checks QEMU"
            }
            (Self::Ended { .. }, Step::Program { .. }) => {
                "a program that ends or reboots the machine can't be measured; if it shall not, \
                 see the end of the guest's console"
            }
            (Self::Ended { .. }, _) => "see the end of the guest's console for what it did before",
            (Self::Protocol { .. }, Step::Program { .. }) => {
                "the program writes to I/O port 0xe9, or the kernel does for it: nothing but \
                 pathmeter's agent may"
            }
            (Self::Protocol { .. }, _) => "the kernel, or a driver in it, writes to I/O port 0xe9",
            (Self::Panicked { doubt, .. }, _) if doubt.is_there() => QEMUS_PANIC,
            (Self::Panicked { .. } | Self::Abort { .. } | Self::Overlong { .. }, _) => {
                return None;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_qemu_does_not_know_brings_up_the_profiles() {
        let cause = GuestCause::Ended { by_guest: false, how: String::new() };
        assert!(cause.help(&Step::Start).unwrap().contains(crate::NAMES));
    }

    #[test]
    fn a_kernel_that_ran_out_of_memory_is_told_how_to_get_more() {
        let panicked = |message: &str| VmError::Guest {
            step: Step::Boot,
            cause: GuestCause::Panicked { message: message.to_owned(), doubt: Doubt::None },
            console: Tail::default(),
        };
        let memory = panicked("Kernel panic - not syncing: System is deadlocked on memory");
        assert!(memory.help().unwrap().contains("--memory 512"));
        let other = panicked("Kernel panic - not syncing: No working init found");
        assert!(!other.help().unwrap().contains("--memory"));
    }
}
