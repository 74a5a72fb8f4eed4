//! `softirq.*`: how long a raised softirq waits until its handler is entered (the question of the
//! 2001 thread): in a program's time, in the idle task's, and after a system call that raised it.
//!
//! Both moments are points of the kernel's code, and a plugin in QEMU sees them (`points.rs` has
//! `WAITS`): the probes only have softirqs raised, and mark when a raise counts ([`raises`]). The
//! lab kernel stamps both as well, and reports them ([`ring`]).

mod raises;
mod ring;
mod trip;
mod window;

use crate::{
    failure::{Outcome, unsupported},
    lab,
    path::Kind::Wait,
    probe::{Probes, row},
    report::ProbeReport,
};

pub(crate) const PROBES: Probes = &[
    row(
        "softirq.timer+user",
        Wait(4),
        "TIMER raised in user code: from raise to entry",
        timer_user,
    ),
    row(
        "softirq.timer+idle",
        Wait(4),
        "TIMER raised in the idle task: from raise to entry",
        timer_idle,
    ),
    row("softirq.net-rx", Wait(11), "NET_RX raised in a system call: from raise to entry", net_rx),
    row("softirq.net-rx+user", Wait(11), "the same, raised in user code", net_rx_user),
    row("softirq.net-rx+idle", Wait(11), "the same, raised in the idle task", net_rx_idle),
    row(
        "softirq.net-rx+hlt",
        Wait(6),
        "the same, raised in the idle task, right before hlt",
        net_rx_hlt,
    ),
    row(
        "softirq.net-rx+calls",
        Wait(5),
        "the same, raised in a program of system calls",
        net_rx_calls,
    ),
    row("softirq.again+user", Wait(2), "HI raised again as it runs, over user code", again_user),
    row("softirq.again+idle", Wait(2), "the same, over the idle task", again_idle),
    row(
        "softirq.again+slice",
        Wait(1),
        "the same, over a program that computes for long",
        again_slice,
    ),
    row("softirq.round-trip", Wait(2), "a request and its answer over a modelled link", round_trip),
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
