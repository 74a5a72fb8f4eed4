//! Whether the machine was in the way, so that the same may work at another time or elsewhere; or
//! the same would come out again.

use std::io;

use rustix::io::Errno;

use super::qemu::{AskError, QemuError};
use super::{GuestCause, Step, VmError};

/// What a machine refuses when it is short of something.
const SHORTAGES: [Errno; 12] = [
    Errno::AGAIN,
    Errno::BUSY,
    Errno::DQUOT,
    Errno::INTR,
    Errno::IO,
    Errno::MFILE,
    Errno::NFILE,
    Errno::NOLCK,
    Errno::NOMEM,
    Errno::NOSPC,
    Errno::STALE,
    Errno::TIMEDOUT,
];

/// What QEMU says when it gets no memory.
const NO_MEMORY: [&str; 2] = ["annot allocate memory", "out of memory"];

/// Whether the machine is short of something: space, memory, descriptors, or its disk is gone for a
/// moment.
pub fn is_shortage(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    match number {
        Some(number) => SHORTAGES.contains(&number),
        None => matches!(
            error.kind(),
            io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::OutOfMemory
                | io::ErrorKind::TimedOut
        ),
    }
}

impl VmError {
    /// Whether another try may go well: this machine was in the way, by its load, its memory, its
    /// disk, or by a kill. How long a guest takes is the host's doing, so a limit that was exceeded
    /// counts among these.
    pub fn is_of_the_moment(&self) -> bool {
        match self {
            Self::Guest { step, cause, .. } => match cause {
                GuestCause::Timeout { .. } | GuestCause::Killed { .. } => true,
                GuestCause::Ended { by_guest: false, how } => {
                    *step != Step::Start || NO_MEMORY.iter().any(|words| how.contains(words))
                }
                _ => false,
            },
            Self::Host { source, .. } | Self::Save { source } | Self::Lacking { source, .. } => {
                is_shortage(source)
            }
            Self::Qemu(QemuError::Ask { error, .. }) => match error {
                AskError::Run(error) => is_shortage(error),
                AskError::Silent | AskError::Killed => true,
            },
            Self::Image(error) => error.io().is_some_and(is_shortage),
            _ => false,
        }
    }

    /// Whether the guest took longer than its limit.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self, Self::Guest { cause: GuestCause::Timeout { .. }, .. })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::console::Tail;

    fn guest(step: Step, cause: GuestCause) -> VmError {
        VmError::Guest { step, cause, console: Tail::default() }
    }

    fn ended(step: Step, by_guest: bool, how: &str) -> VmError {
        guest(step, GuestCause::Ended { by_guest, how: how.to_owned() })
    }

    #[test]
    fn what_the_machine_did_may_pass_and_what_the_guest_did_will_not() {
        let limit = Duration::from_secs(1);
        let late = guest(Step::Boot, GuestCause::Timeout { limit });
        assert!(late.is_late() && late.is_of_the_moment());
        let killed = guest(Step::Run, GuestCause::Killed { how: "SIGKILL".into() });
        assert!(!killed.is_late() && killed.is_of_the_moment());
        assert!(ended(Step::Run, false, "exit code 1").is_of_the_moment());
        assert!(ended(Step::Start, false, "Cannot allocate memory").is_of_the_moment());
        assert!(!ended(Step::Start, false, "unable to find CPU model").is_of_the_moment());
        assert!(!ended(Step::Run, true, "a reboot").is_of_the_moment());
        assert!(!guest(Step::Run, GuestCause::Abort { reason: "x".into() }).is_of_the_moment());
    }

    #[test]
    fn a_shortage_may_pass_and_a_missing_file_will_not() {
        let error = |number: Errno| io::Error::from_raw_os_error(number.raw_os_error());
        for number in SHORTAGES {
            assert!(VmError::Save { source: error(number) }.is_of_the_moment(), "{number:?}");
        }
        for number in [Errno::NOENT, Errno::ACCESS, Errno::PERM, Errno::ROFS] {
            let host = VmError::Host { what: "x", source: error(number) };
            assert!(!host.is_of_the_moment(), "{number:?}");
        }
        assert!(is_shortage(&io::ErrorKind::StorageFull.into()));
    }
}
