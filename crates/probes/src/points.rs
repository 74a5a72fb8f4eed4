//! Waits: what the kernel does between two points of its code, of paths that are measured so.
//!
//! A point is the entry of a function, by the names that it has on kernels at hand. Linux names are
//! those of `kernel/softirq.c`, `kernel/time/timer.c`, `net/core/dev.c`, `kernel/sched/core.c`,
//! of the entries in `idtentry.h` (5.10 to 7.3); what one version has inlined, another has not,
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
    pub path: &'static str,
    /// What the kernel may have been entered from; anything, if there is none here.
    pub origins: &'static [Origin],
    /// It begins at any of these.
    pub from: &'static [WaitPoint],
    /// It ends at any of these, or where a program goes on if there is none here.
    pub to: &'static [WaitPoint],
    /// Whether a begin while one is open begins it anew.
    pub latest: bool,
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
        "raise_timer_softirq",
        "raise_ktimers_thread",
    ],
    callers: &["run_local_timers", "update_process_times", "timer_interrupt"],
}];
/// Where the handler of TIMER is entered.
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
/// Where the handler of `NET_RX` is entered.
const ENTER_NET_RX: &[WaitPoint] = &[entry(&["net_rx_action", "nothing", "receive"])];

const fn timer(path: &'static str, origins: &'static [Origin]) -> Wait {
    Wait { path, origins, from: RAISE_TIMER, to: ENTER_TIMER, latest: false }
}

const fn net_rx(path: &'static str, origins: &'static [Origin]) -> Wait {
    Wait { path, origins, from: RAISE_NET_RX, to: ENTER_NET_RX, latest: false }
}

/// An interrupt's first instruction, of the devices that give the tick.
const INTERRUPT: &[WaitPoint] =
    &[entry(&["asm_common_interrupt", "asm_sysvec_apic_timer_interrupt", "entry_timer"])];

/// HI on the lab kernel, raised by its own handler.
const fn again(path: &'static str) -> Wait {
    const RAISE: &[WaitPoint] =
        &[WaitPoint { functions: &["raise_softirq"], callers: &["raise_again"] }];
    const ENTER: &[WaitPoint] = &[entry(&["raise_again"])];
    Wait { path, origins: &[], from: RAISE, to: ENTER, latest: false }
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
    again("softirq.again+user"),
    again("softirq.again+idle"),
    again("softirq.again+slice"),
    Wait {
        path: "wake.switch",
        origins: &[],
        from: &[entry(&["try_to_wake_up", "wake_up_task"])],
        to: &[entry(&["finish_task_switch", "finish_switch"])],
        latest: false,
    },
    Wait {
        path: "irq.softirq",
        origins: &[Origin::Program],
        from: INTERRUPT,
        to: &[entry(&["handle_softirqs", "__do_softirq", "softirq_run"])],
        // Most interrupts have none.
        latest: true,
    },
    Wait {
        path: "timer.expire",
        origins: &[],
        from: INTERRUPT,
        to: &[entry(&["hrtimer_wakeup", "wake_sleeper"])],
        latest: true,
    },
    Wait {
        path: "fault.return",
        origins: &[Origin::Program],
        from: &[entry(&["asm_exc_page_fault", "exception_14"])],
        to: &[],
        latest: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EXACT_PATHS, Kind};

    #[test]
    fn each_wait_is_of_a_path_that_is_one() {
        for wait in WAITS {
            let path = EXACT_PATHS.iter().find(|path| path.name == wait.path).expect("a path");
            assert!(matches!(path.kind, Kind::Wait(_)), "{}", wait.path);
        }
    }
}
