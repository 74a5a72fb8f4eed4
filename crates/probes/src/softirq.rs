//! `softirq.*`: how long a raised softirq waits until its handler is entered (the question of the
//! 2001 thread): in a program's time, in the idle task's, and behind a system call that raised it.
//!
//! The lab kernel stamps both moments itself and tells them ([`ring`]); on Linux the guest's own
//! tracepoints do ([`traced`]).

mod ring;
mod traced;

use crate::{Outcome, Path, Report, clock, lab, unsupported};

pub(crate) static PATHS: &[Path] = &[
    Path {
        name: "softirq.timer+user",
        about: "TIMER softirq, raised while user code runs: from raise to entry",
        windows: 1,
        idles: true,
        probe: timer_user,
    },
    Path {
        name: "softirq.timer+idle",
        about: "TIMER softirq, raised while the CPU idles: from raise to entry",
        windows: 4,
        idles: true,
        probe: timer_idle,
    },
    Path {
        name: "softirq.net-rx",
        about: "NET_RX softirq of a loopback datagram, or a system call: from raise to entry",
        windows: 11,
        idles: true,
        probe: net_rx,
    },
    Path {
        name: "softirq.net-rx+user",
        about: "NET_RX softirq, raised while user code makes no system call: from raise to entry",
        windows: 11,
        idles: true,
        probe: net_rx_user,
    },
    Path {
        name: "softirq.net-rx+idle",
        about: "NET_RX softirq, raised while the CPU idles: from raise to entry",
        windows: 11,
        idles: true,
        probe: net_rx_idle,
    },
];

fn timer_user(report: &mut Report) -> Outcome {
    if lab::records_softirqs() { ring::timer_user(report) } else { traced::timer_user(report) }
}

fn timer_idle(report: &mut Report) -> Outcome {
    if lab::records_softirqs() { ring::timer_idle(report) } else { traced::timer_idle(report) }
}

fn net_rx(report: &mut Report) -> Outcome {
    if lab::records_softirqs() { ring::net_rx(report) } else { traced::net_rx(report) }
}

fn net_rx_user(report: &mut Report) -> Outcome {
    if lab::records_softirqs() { ring::net_rx_user(report) } else { no_device() }
}

fn net_rx_idle(report: &mut Report) -> Outcome {
    if lab::records_softirqs() { ring::net_rx_idle(report) } else { no_device() }
}

fn no_device() -> Outcome {
    unsupported!("no device here raises NET_RX at a time that the probe sets")
}

/// Instructions of a user-mode round; a tick comes every 1 to 10 million.
const SPIN: u64 = 4_000_000;

/// A round in user mode, without any system call.
fn spin() {
    clock::busy(SPIN);
}

/// Records a wait, unless there are enough.
fn keep(report: &mut Report, wait: u64) {
    if report.samples().len() < report.windows() {
        report.push(wait);
    }
}
