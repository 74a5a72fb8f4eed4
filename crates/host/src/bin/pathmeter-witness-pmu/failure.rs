//! Every way to fail, with what to do next.

use std::path::PathBuf;

use thiserror::Error;

use crate::lines::LinesError;

/// Why there is no table.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The exact result can't be used.
    #[error("{}: {error}; `pathmeter measure KERNEL -o FILE` writes one", path.display())]
    Exact { path: PathBuf, error: String },
    /// The exact result does not keep user mode and the kernel apart.
    #[error(
        "{}: it has no events, so user mode and the kernel are not apart; measure with a QEMU \
         that takes plugins (`pathmeter doctor` says which)",
        path.display()
    )]
    NoEvents { path: PathBuf },
    /// The user is not root.
    #[error("only root may count a whole CPU, and make namespaces; run it with sudo")]
    NotRoot,
    /// The counting program can't be started.
    #[error("the counting program can't be started: {error}")]
    Start { error: std::io::Error },
    /// A pass gave no counts.
    #[error("the counting program gave no counts ({error}): {}", advice(error, *cpu))]
    Pass {
        error: LinesError,
        /// The CPU that it was for.
        cpu: usize,
    },
    /// What was read is no count of instructions.
    #[error(
        "in {modes} {nops} nops were counted as {counted}: what programs read here is not the \
         counter; newer kernels give them the one of a whole CPU only if root writes 2 to \
         /sys/bus/event_source/devices/cpu/rdpmc (and 1 afterwards)"
    )]
    Miscounts {
        /// The modes that were counted in.
        modes: &'static str,
        /// Nops that it should have counted.
        nops: u64,
        /// What it counted of them.
        counted: i64,
    },
    /// The document can't be written.
    #[error("{}: {error}", path.display())]
    Output { path: PathBuf, error: String },
}

/// Linux's error numbers (`<asm-generic/errno-base.h>`, `errno.h`).
mod errno {
    pub(super) const EPERM: i32 = 1;
    pub(super) const ENOENT: i32 = 2;
    pub(super) const EACCES: i32 = 13;
    pub(super) const EBUSY: i32 = 16;
    pub(super) const ENODEV: i32 = 19;
    pub(super) const ENOSYS: i32 = 38;
    pub(super) const EOPNOTSUPP: i32 = 95;
}

fn advice(error: &LinesError, cpu: usize) -> String {
    let LinesError::Refused { step, error } = error else {
        return "run it again; if it stays so, report it with this line".into();
    };
    let text = match (step.as_str(), *error) {
        ("perf_event_open", errno::ENOENT | errno::ENODEV | errno::EOPNOTSUPP) => {
            "Linux knows no counter of retired instructions here. A virtual machine often has \
             none: run it on the machine itself. `dmesg | grep -i 'performance events'` has what \
             Linux found. On a machine with two kinds of core --pin chooses another CPU"
        }
        ("perf_event_open", errno::ENOSYS) => "this kernel has no perf events (CONFIG_PERF_EVENTS)",
        ("perf_event_open", errno::EBUSY) | ("free-counter", _) => {
            "another program, or the kernel's watchdog, has all counters: end it"
        }
        (_, errno::EPERM | errno::EACCES) => {
            "even root may not do that here. In a container: run it outside. Elsewhere a lock-down \
             of the kernel, or /proc/sys/kernel/perf_event_paranoid, forbids it"
        }
        ("rdpmc", _) => {
            "programs may not read counters here: write 1 or 2 to \
             /sys/bus/event_source/devices/cpu/rdpmc"
        }
        ("sched_setaffinity", _) => return format!("CPU {cpu} can't be used; --pin names another"),
        _ => "the step before the counting failed; report it with this line",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_refusal(step: &str, error: i32) -> String {
        let error = LinesError::Refused { step: step.into(), error };
        Failure::Pass { error, cpu: 3 }.to_string()
    }

    #[test]
    fn each_refusal_has_its_advice() {
        for (step, error, advice) in [
            ("perf_event_open", 2, "virtual machine"),
            ("perf_event_open", 95, "virtual machine"),
            ("perf_event_open", 13, "perf_event_paranoid"),
            ("perf_event_open", 1, "container"),
            ("unshare", 1, "container"),
            ("free-counter", 0, "another program"),
            ("rdpmc", 0, "devices/cpu/rdpmc"),
            ("sched_setaffinity", 22, "CPU 3 can't be used"),
        ] {
            let told = format_refusal(step, error);
            assert!(told.contains(advice), "{told}");
            assert!(told.contains(&format!("{step}: error {error}")), "{told}");
        }
    }
}
