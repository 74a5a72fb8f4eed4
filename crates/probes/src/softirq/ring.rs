//! The waits of softirqs by the records that the lab kernel keeps of each run: two stamps, of which
//! four instructions fall into the wait, and what the raise interrupted.
//!
//! TIMER is raised by the tick. `NET_RX` is raised by a system call, or by the lab's test device:
//! an interrupt at a time that the probe sets. That time falls a little later after the tick from
//! window to window, over a whole period, so that the worst case is met where it depends on the
//! next tick.
//!
//! Proof: each raise of `NET_RX` has left exactly one record, none was dropped, and the raise
//! interrupted what the path names. A thread that runs softirqs (`softirq=thread`) has its turn
//! when the probe sleeps, at the latest: the probe is an ordinary task, and sleeps at the end of
//! each window.

use crate::{
    clock,
    failure::{Failure, Outcome, broken, prove, unsupported},
    lab::{self, SoftirqRecord},
    report::ProbeReport,
    softirq::spin::spin,
    task::sleep,
};

/// Instructions from tick to tick: 250 a second (`lab/kernel/time.h`).
const TICK: u64 = 4_000_000;
/// By how much a raise comes later after the tick than the last: so eleven cover a whole period.
const STEP: u64 = TICK / 11;
/// Rounds, or raises for one window, after which a path that never ran is given up.
const ROUNDS: usize = 12;
/// A sleep in which a thread gets its turn, in nanoseconds; and how often it is waited for.
const MOMENT: u64 = 20_000;
const MOMENTS: usize = 500;

pub(super) fn timer_user(report: &mut ProbeReport) -> Outcome {
    timer(report, lab::IN_USER, || {
        spin();
        Ok(())
    })
}

pub(super) fn timer_idle(report: &mut ProbeReport) -> Outcome {
    timer(report, lab::IN_IDLE, || sleep(TICK + STEP))
}

/// Waits of the TIMER softirqs that CPU 0's ticks raised in `context` during rounds of `round`.
fn timer(report: &mut ProbeReport, context: u16, round: impl Fn() -> Outcome) -> Outcome {
    forget()?;
    for _ in 0..ROUNDS {
        let begin = clock::stamp();
        round()?;
        let during = begin..clock::stamp();
        sleep(MOMENT)?;
        let lost = take(|run| {
            let ours = run.softirq == lab::TIMER && run.cpu == 0 && run.context == context;
            if ours && during.contains(&run.raised) {
                report.keep(run.entered.wrapping_sub(run.raised));
            }
        })?;
        prove!(lost == 0, "{lost} records were dropped");
        if report.is_full() {
            return Ok(());
        }
    }
    let seen = report.samples().len();
    unsupported!("only {seen} of {} softirqs came in {ROUNDS} rounds", report.windows())
}

pub(super) fn net_rx(report: &mut ProbeReport) -> Outcome {
    forget()?;
    report.execute(|| {
        prove!(lab::raise_softirq(lab::NET_RX).is_ok(), "the lab refuses to raise NET_RX");
        let run = the_run()?;
        prove!(run.context == lab::IN_KERNEL, "a system call's raise is told as {}", run.context);
        Ok(run.entered.wrapping_sub(run.raised))
    })
}

pub(super) fn net_rx_user(report: &mut ProbeReport) -> Outcome {
    armed(report, lab::IN_USER, |instructions| {
        clock::busy(instructions);
        Ok(())
    })
}

pub(super) fn net_rx_idle(report: &mut ProbeReport) -> Outcome {
    armed(report, lab::IN_IDLE, sleep)
}

/// The device armed in each window; `pass` lets a time pass that ends a tick's period after the
/// raise. Should the tick be handled at that very moment, so that it is what is interrupted, the
/// window is repeated, a step later.
fn armed(report: &mut ProbeReport, context: u16, pass: impl Fn(u64) -> Outcome) -> Outcome {
    forget()?;
    report.execute(|| {
        for _ in 0..ROUNDS {
            let armed = lab::arm_softirq(STEP, lab::NET_RX);
            prove!(armed.is_ok(), "the lab's device can't be armed ({armed:?})");
            pass(STEP + TICK)?;
            let run = the_run()?;
            if run.context == context {
                return Ok(run.entered.wrapping_sub(run.raised));
            }
        }
        broken!("{ROUNDS} raises in turn interrupted something else")
    })
}

/// The run of the one `NET_RX` that was raised; awaited, if a thread has yet to get its turn.
fn the_run() -> Result<SoftirqRecord, Failure> {
    for _ in 0..MOMENTS {
        let mut run = SoftirqRecord::default();
        let mut runs = 0;
        let lost = take(|taken| {
            if taken.softirq == lab::NET_RX {
                run = *taken;
                runs += 1;
            }
        })?;
        prove!(lost == 0 && runs <= 1, "one raise, {runs} runs, {lost} records dropped");
        if runs == 1 {
            return Ok(run);
        }
        sleep(MOMENT)?;
    }
    broken!("a softirq was raised and never run")
}

/// Empties the records of what was before.
fn forget() -> Result<(), Failure> {
    take(|_| ()).map(|_| ())
}

/// Hands all records to `sink`; how many more a full ring has dropped.
fn take(mut sink: impl FnMut(&SoftirqRecord)) -> Result<u64, Failure> {
    /// Many more than come while they are taken.
    const AT_ONCE: usize = 64;
    const ALL: usize = 8 * 1024 / AT_ONCE + 1;
    let mut records = [SoftirqRecord::default(); AT_ONCE];
    let mut dropped = 0;
    for _ in 0..ALL {
        let (taken, lost) = lab::take_softirqs(&mut records)
            .map_err(|error| Failure::broken(format_args!("no records (error {error})")))?;
        taken.iter().for_each(&mut sink);
        dropped += lost;
        if taken.len() < AT_ONCE {
            return Ok(dropped);
        }
    }
    broken!("the records have no end")
}
