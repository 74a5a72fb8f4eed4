//! `softirq.*`: how long a raised softirq waits until its handler is entered (the question of the
//! 2001 thread): in a program's time, in the idle task's, and after a system call that raised it.
//!
//! The lab kernel stamps both moments itself and reports them ([`ring`]); on Linux the guest's own
//! tracepoints do ([`traced`]).

mod ring;
mod spin;
mod traced;

use crate::{
    failure::{Outcome, unsupported},
    lab,
    probe::Probes,
    report::ProbeReport,
};

pub(crate) const PROBES: Probes = &[
    ("softirq.timer+user", timer_user),
    ("softirq.timer+idle", timer_idle),
    ("softirq.net-rx", net_rx),
    ("softirq.net-rx+user", net_rx_user),
    ("softirq.net-rx+idle", net_rx_idle),
];

fn timer_user(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::timer_user(report) } else { traced::timer_user(report) }
}

fn timer_idle(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::timer_idle(report) } else { traced::timer_idle(report) }
}

fn net_rx(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::net_rx(report) } else { traced::net_rx(report) }
}

fn net_rx_user(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::net_rx_user(report) } else { no_device() }
}

fn net_rx_idle(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::net_rx_idle(report) } else { no_device() }
}

fn no_device() -> Outcome {
    unsupported!("no device here raises NET_RX at a time that the probe sets")
}
