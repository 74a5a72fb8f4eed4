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
        why: String,
    },
    /// The time stamp counter does not advance with the kernel's clock.
    #[error("the time stamp counter of CPU {cpu} does not advance with the kernel's clock")]
    Clock { cpu: u32 },
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
        ("bpf-load" | "bpf-attach", rustix::io::Errno::PERM | rustix::io::Errno::ACCESS) => {
            "BPF programs are refused: root, or CAP_BPF with CAP_PERFMON and for packets \
             CAP_NET_ADMIN, is necessary, and a kernel that is not locked down"
                .into()
        }
        ("bpf-load", rustix::io::Errno::NOSYS) => {
            "this kernel has no BPF (CONFIG_BPF_SYSCALL)".into()
        }
        ("bpf-load", rustix::io::Errno::INVAL) => {
            "this kernel has no BPF programs of this type, or not for this function".into()
        }
        ("bpf-attach", rustix::io::Errno::NOENT) => {
            "this kernel has no such place for a BPF program".into()
        }
        ("bpf-attach", rustix::io::Errno::TOOBIG) => {
            "the kernel takes fewer BPF programs there".into()
        }
        ("bpf-network", _) => {
            "a BPF program for packets would be in the machine's own network: the measured \
             processes have none of their own here"
                .into()
        }
        ("bpf-list", _) => "these are too many BPF programs for one condition".into(),
        ("cgroup", errno) => format!("no process can be moved to its control group: {errno}"),
        _ => format!("{step}: {errno}"),
    }
}
