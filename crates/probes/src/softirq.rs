//! `softirq.*`: how long a raised softirq waits until its handler is entered (the question of the
//! 2001 thread): in a program's time, in the idle task's, and after a system call that raised it.
//!
//! Both moments are points of the kernel's code, and a plugin in QEMU sees them (the catalogue's
//! `WAITS`): the probes only have softirqs raised, and mark when a raise counts ([`raises`]). The
//! lab kernel stamps both as well, and reports them ([`ring`]).

mod raises;
mod ring;
mod trip;
mod window;

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
    ("softirq.net-rx+hlt", net_rx_hlt),
    ("softirq.net-rx+calls", net_rx_calls),
    ("softirq.again+user", again_user),
    ("softirq.again+idle", again_idle),
    ("softirq.again+slice", again_slice),
    ("softirq.round-trip", round_trip),
];

/// Has ticks come while a program computes, of which some raise TIMER.
pub(crate) fn timer_over_program(report: &mut ProbeReport) -> Outcome {
    timer_user(report)
}

fn timer_user(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::timer_user(report) } else { raises::timer_user(report) }
}

fn timer_idle(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::timer_idle(report) } else { raises::timer_idle(report) }
}

fn net_rx(report: &mut ProbeReport) -> Outcome {
    if lab::records_softirqs() { ring::net_rx(report) } else { raises::net_rx(report) }
}

fn net_rx_user(report: &mut ProbeReport) -> Outcome {
    device()?;
    ring::net_rx_user(report)
}

fn net_rx_idle(report: &mut ProbeReport) -> Outcome {
    device()?;
    ring::net_rx_idle(report)
}

fn net_rx_hlt(report: &mut ProbeReport) -> Outcome {
    device()?;
    window::before_hlt(report)
}

fn net_rx_calls(report: &mut ProbeReport) -> Outcome {
    device()?;
    ring::net_rx_calls(report)
}

fn again_user(report: &mut ProbeReport) -> Outcome {
    device()?;
    ring::again_user(report)
}

fn again_idle(report: &mut ProbeReport) -> Outcome {
    device()?;
    ring::again_idle(report)
}

fn again_slice(report: &mut ProbeReport) -> Outcome {
    device()?;
    ring::again_slice(report)
}

fn round_trip(report: &mut ProbeReport) -> Outcome {
    device()?;
    trip::round_trip(report)
}

/// Refuses a kernel without the lab's test device.
fn device() -> Outcome {
    if lab::records_softirqs() {
        return Ok(());
    }
    unsupported!("no device here raises a softirq at a time that the probe sets")
}
