//! Why a session has no times.

use thiserror::Error;

use crate::server::ServerError;

/// Why a session has no times.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The program that executes the paths failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The user has asked for the end.
    #[error("interrupted")]
    Interrupted,
    /// What is measured can't be put under a condition.
    #[error("{condition}: {why}")]
    Condition {
        /// The condition, as the user called it.
        condition: String,
        /// Why not.
        why: String,
    },
    /// The time stamp counter does not advance with the kernel's clock.
    #[error("the time stamp counter of CPU {cpu} does not advance with the kernel's clock")]
    Clock {
        /// The CPU.
        cpu: u32,
    },
}

/// What a process lacks that was refused a step of its condition.
pub(super) fn why(step: &str, error: i32) -> String {
    let errno = rustix::io::Errno::from_raw_os_error(error);
    match (step, errno) {
        ("ioperm", rustix::io::Errno::NOSYS) => {
            "this kernel permits no I/O ports: it is built without CONFIG_X86_IOPL_IOPERM".into()
        }
        ("ioperm", rustix::io::Errno::PERM) => {
            "I/O ports are refused: root, or CAP_SYS_RAWIO, is necessary, and a kernel that is not \
             locked down"
                .into()
        }
        ("in", _) => "I/O port 0x80 was permitted, and yet can't be read".into(),
        ("perf_event_open", rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            "tracepoints are refused: root, or CAP_PERFMON, is necessary, or \
             kernel.perf_event_paranoid of at most 1"
                .into()
        }
        _ => format!("{step}: {errno}"),
    }
}
