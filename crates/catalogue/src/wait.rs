//! Waits: what the kernel does between two points of its code, of paths that are measured so.
//!
//! A point is the entry of a function, by the names that it has on kernels at hand. Linux names are
//! those of `kernel/softirq.c`, `kernel/time/timer.c`, `net/core/dev.c`, `kernel/sched/core.c`,
//! `arch/x86/include/asm/idtentry.h` (5.10 to 7.3); what one version has inlined, another has not,
//! so each name that a kernel has counts. Those of the lab kernel stand beside them.

/// What the CPU did when the kernel was entered in which a wait begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It executed a program, and was interrupted.
    Program,
    /// It executed a program, which made a system call.
    Call,
    /// It executed the kernel, and was interrupted.
    Kernel,
    /// It idled, and was interrupted.
    Idle,
}

/// Where a wait begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPoint {
    /// Functions of which an entry is the point.
    pub functions: &'static [&'static str],
    /// Functions of which one must have called it; any, if there is none here.
    pub callers: &'static [&'static str],
}

/// What is measured of a path between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The path's name.
    pub path: &'static str,
    /// What the kernel may have been entered from; anything, if there is none here.
    pub origins: &'static [Origin],
    /// It begins at any of these.
    pub from: &'static [WaitPoint],
    /// It ends at any of these.
    pub to: &'static [WaitPoint],
}

impl Wait {
    /// The wait of the path with this name.
    pub fn of(path: &str) -> Option<&'static Self> {
        WAITS.iter().find(|wait| wait.path == path)
    }
}

const fn entry(functions: &'static [&'static str]) -> WaitPoint {
    WaitPoint { functions, callers: &[] }
}

/// TIMER, raised by the tick.
const RAISE_TIMER: &[WaitPoint] = &[WaitPoint {
    functions: &[
        "raise_softirq",
        "raise_softirq_irqoff",
        "__raise_softirq_irqoff",
        "raise_ktimers_thread",
    ],
    callers: &["run_local_timers", "update_process_times", "raise_timer_softirq", "tick"],
}];
/// TIMER's handler.
const ENTER_TIMER: &[WaitPoint] = &[entry(&["run_timer_softirq", "nothing"])];
/// `NET_RX`, raised by a datagram to oneself; on the lab kernel by its test device or system call.
const RAISE_NET_RX: &[WaitPoint] = &[WaitPoint {
    functions: &["raise_softirq_irqoff", "__raise_softirq_irqoff", "raise_softirq"],
    callers: &[
        "enqueue_to_backlog",
        "____napi_schedule",
        "__napi_schedule",
        "napi_schedule_rps",
        "softirq_test_interrupt",
        "lab_softirq_raise",
    ],
}];
/// Its handler.
const ENTER_NET_RX: &[WaitPoint] = &[entry(&["net_rx_action", "nothing", "receive"])];

const fn timer(path: &'static str, origins: &'static [Origin]) -> Wait {
    Wait { path, origins, from: RAISE_TIMER, to: ENTER_TIMER }
}

const fn net_rx(path: &'static str, origins: &'static [Origin]) -> Wait {
    Wait { path, origins, from: RAISE_NET_RX, to: ENTER_NET_RX }
}

/// All paths that are waits.
pub const WAITS: &[Wait] = &[
    timer("softirq.timer+user", &[Origin::Program]),
    timer("softirq.timer+idle", &[Origin::Idle]),
    net_rx("softirq.net-rx", &[]),
    net_rx("softirq.net-rx+user", &[Origin::Program]),
    net_rx("softirq.net-rx+idle", &[Origin::Idle]),
    net_rx("softirq.net-rx+hlt", &[Origin::Idle]),
    net_rx("softirq.net-rx+calls", &[Origin::Program]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Suite};

    #[test]
    fn each_wait_is_of_a_path_that_is_one() {
        for wait in WAITS {
            let (_, path) = Suite::Exact.find(wait.path).expect("a path");
            assert!(matches!(path.kind, Kind::SoftirqWait(_)), "{}", wait.path);
        }
    }
}
