//! Paths that are measured between two points of the kernel (`WAITS` in `points.rs`), other than
//! softirqs: the probes have the kernel come there, and prove that they did what they should.
//!
//! Proof: that of the path whose windows they execute; QEMU's counter sees the points.

use crate::{
    clock,
    failure::{Outcome, prove},
    memory,
    path::Kind::Wait,
    probe::{Probes, row},
    report::ProbeReport,
    softirq, switch,
    task::sleep,
};

pub(crate) const PROBES: Probes = &[
    row(
        "wake.switch",
        Wait(31),
        "a sleeping task is woken: until the CPU is switched to it",
        wake_switch,
    ),
    row(
        "irq.softirq",
        Wait(4),
        "the tick in user code: from the interrupt to its softirqs",
        irq_softirq,
    ),
    row(
        "timer.expire",
        Wait(8),
        "a sleep ends: from the interrupt to the timer's handler",
        timer_expire,
    ),
    row("fault.return", Wait(51), "a page fault: from its entry back to the program", fault_return),
];

/// Nanoseconds of a sleep: longer than any tick. Sleeps differ by so many eighths of `STEPS`, so
/// that they are in step with no tick.
const SLEEP: u64 = 12_000_000;
const STEPS: u64 = 8_000_000;

fn wake_switch(report: &mut ProbeReport) -> Outcome {
    switch::pipes(report)?;
    report.forget_samples();
    Ok(())
}

fn irq_softirq(report: &mut ProbeReport) -> Outcome {
    softirq::timer_over_program(report)?;
    report.forget_samples();
    Ok(())
}

fn timer_expire(report: &mut ProbeReport) -> Outcome {
    clock::mark_counted();
    let mut bits = report.bits();
    for _ in 0..report.executions() {
        let length = SLEEP + (bits & 7) * (STEPS / 8);
        bits = bits.rotate_right(3);
        let begin = clock::stamp();
        sleep(length)?;
        let slept = clock::stamp().wrapping_sub(begin);
        prove!(slept >= length, "a sleep of {length} took {slept}");
    }
    clock::mark_observed();
    clock::mark_observed();
    Ok(())
}

fn fault_return(report: &mut ProbeReport) -> Outcome {
    memory::fault_anon(report)?;
    report.forget_samples();
    Ok(())
}
