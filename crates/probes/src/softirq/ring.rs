//! The waits of softirqs by the records that the lab kernel keeps of each run: two stamps, of which
//! four instructions fall into the wait, and what the raise interrupted.
//!
//! TIMER is raised by the tick. `NET_RX` is raised by a system call, or by the lab's test device:
//! an interrupt at a time that the probe sets. That time falls a little later after the tick from
//! window to window, over a whole period, so that the worst case is met where it depends on the
//! next tick.
//!
//! Proof: each raise of `NET_RX` or HI has left exactly one record, none was dropped, and the raise
//! interrupted what the path names. A thread that runs softirqs (`softirq=thread`) has its turn
//! when the probe sleeps, at the latest: the probe is an ordinary task, and sleeps at the end of
//! each window.

use crate::{
    clock,
    failure::{Failure, Outcome, broken, prove, unsupported},
    lab::{self, SoftirqRecord},
    report::ProbeReport,
    sys,
    task::{self, sleep},
};

/// Instructions from tick to tick: 250 a second (`lab/kernel/time.h`).
pub(super) const TICK: u64 = 4_000_000;
/// By how much a raise comes later after the tick than the last: so eleven cover a whole period.
pub(super) const STEP: u64 = TICK / 11;
/// Instructions between two system calls of a program that makes many.
const PAUSE: u64 = 5_000;
/// Rounds, or raises for one window, after which a path that never ran is given up.
pub(super) const ROUNDS: usize = 12;
/// A sleep in which a thread gets its turn, in nanoseconds; and how often it is waited for.
const MOMENT: u64 = 20_000;
const MOMENTS: usize = 500;

pub(super) fn timer_user(report: &mut ProbeReport) -> Outcome {
    timer(report, lab::IN_USER, busy)
}

pub(super) fn timer_idle(report: &mut ProbeReport) -> Outcome {
    timer(report, lab::IN_IDLE, sleep)
}

/// Waits of the TIMER softirqs that CPU 0's ticks raised in `context` while `pass` lets some ticks
/// pass.
///
/// Each of them counts, however long it waits: records are taken until there is one of a later
/// raise, and a softirq is not raised again before it has run.
fn timer(report: &mut ProbeReport, context: u16, pass: impl Fn(u64) -> Outcome) -> Outcome {
    forget()?;
    for _ in 0..ROUNDS {
        clock::mark_counted();
        let begin = clock::stamp();
        pass((report.windows() as u64 + 1) * TICK)?;
        let during = begin..clock::stamp();
        clock::mark_observed();
        let seen = report.samples().len();
        let later = timer_runs(during.end, |run| {
            if run.context == context && during.contains(&run.raised) && !report.is_full() {
                report.push(wait(run));
            }
        })?;
        if !later {
            prove!(report.samples().len() == seen, "a softirq was raised and never run");
            return unsupported!("no tick of this kernel raises TIMER");
        }
        clock::mark_observed();
        if report.is_full() {
            return Ok(());
        }
    }
    let seen = report.samples().len();
    unsupported!("only {seen} of {} softirqs came in {ROUNDS} rounds", report.windows())
}

/// Hands the runs of CPU 0's TIMER to `sink` up to the first that was raised at `end` or later;
/// whether that one came.
///
/// Between two looks a whole tick passes: were it less, all that follows would begin right after a
/// tick, and not where the run's number has put it.
fn timer_runs(end: u64, mut sink: impl FnMut(&SoftirqRecord)) -> Result<bool, Failure> {
    /// The first may be too early by as long as a tick takes to be handled.
    const LOOKS: usize = 4;
    for _ in 0..LOOKS {
        sleep(TICK)?;
        let mut later = false;
        let lost = take(|run| {
            if run.softirq == lab::TIMER && run.cpu == 0 {
                later |= run.raised >= end;
                sink(run);
            }
        })?;
        prove!(lost == 0, "{lost} records were dropped");
        if later {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn net_rx(report: &mut ProbeReport) -> Outcome {
    forget()?;
    report.execute(|| {
        clock::mark_counted();
        prove!(lab::raise_softirq(lab::NET_RX).is_ok(), "the lab refuses to raise NET_RX");
        clock::mark_observed();
        let [run] = the_runs(lab::NET_RX)?;
        clock::mark_observed();
        prove!(run.context == lab::IN_KERNEL, "a system call's raise is told as {}", run.context);
        Ok(wait(&run))
    })
}

pub(super) fn net_rx_user(report: &mut ProbeReport) -> Outcome {
    forget()?;
    report.execute(|| armed(NET_RX_ONCE, &[lab::IN_USER], busy).map(|run| wait(&run)))
}

/// Whether the idle CPU slept or polled is told as the check `idle`.
pub(super) fn net_rx_idle(report: &mut ProbeReport) -> Outcome {
    let mut halted = 0_usize;
    forget()?;
    report.execute(|| {
        let run = armed(NET_RX_ONCE, IDLE, sleep)?;
        halted += usize::from(run.context == lab::IN_HALT);
        Ok(wait(&run))
    })?;
    prove!(halted == 0 || halted == report.executions(), "halted in {halted} windows, not in all");
    let idle = if halted == 0 { "polls" } else { "halted" };
    report.check("idle", format_args!("{idle}"));
    Ok(())
}

/// The program makes a system call every [`PAUSE`] instructions.
pub(super) fn net_rx_calls(report: &mut ProbeReport) -> Outcome {
    let mut window = 0;
    forget()?;
    report.execute(|| {
        // At another distance from the next call each time.
        window += 1;
        let delay = STEP + window * PAUSE / 7;
        let arm = Armed { delay, rest: 8 * PAUSE, ..NET_RX_ONCE };
        armed(arm, &[lab::IN_USER], |instructions| {
            for _ in 0..instructions / PAUSE {
                clock::busy(PAUSE);
                let _ = sys::getpid();
            }
            Ok(())
        })
        .map(|run| wait(&run))
    })
}

pub(super) fn again_user(report: &mut ProbeReport) -> Outcome {
    forget()?;
    report.execute(|| again(&[lab::IN_USER], busy))
}

pub(super) fn again_idle(report: &mut ProbeReport) -> Outcome {
    forget()?;
    report.execute(|| again(IDLE, sleep))
}

/// The program begins a time slice, and has more to compute than fits in.
pub(super) fn again_slice(report: &mut ProbeReport) -> Outcome {
    /// Ticks; the lab's slices have five.
    const LONGER: u64 = 6 * TICK;
    forget()?;
    while !report.is_full() {
        task::ordinary()?;
        report.push(again(&[lab::IN_USER], |_| busy(LONGER))?);
    }
    Ok(())
}

/// The wait of HI, as its own handler raises it once more.
fn again(contexts: &[u16], pass: impl Fn(u64) -> Outcome) -> Result<u64, Failure> {
    let [_, second] =
        armed_runs(Armed { softirq: lab::HI, again: 1, ..NET_RX_ONCE }, contexts, pass)?;
    prove!(second.context == lab::IN_KERNEL, "a handler's raise is told as {}", second.context);
    Ok(wait(&second))
}

/// The idle task, halted or not.
const IDLE: &[u16] = &[lab::IN_IDLE, lab::IN_HALT];

/// When the device interrupts, and what it raises.
#[derive(Clone, Copy)]
pub(super) struct Armed {
    /// Instructions until the device interrupts.
    pub(super) delay: u64,
    /// How much longer the probe does what is to be interrupted.
    pub(super) rest: u64,
    pub(super) softirq: u32,
    /// How often the handler raises it again; HI only.
    pub(super) again: u32,
}

/// Until the next tick must have come.
pub(super) const NET_RX_ONCE: Armed =
    Armed { delay: STEP, rest: TICK, softirq: lab::NET_RX, again: 0 };

#[allow(clippy::unnecessary_wraps, reason = "as sleep() lets a time pass, which may fail")]
fn busy(instructions: u64) -> Outcome {
    clock::busy(instructions);
    Ok(())
}

pub(super) fn wait(run: &SoftirqRecord) -> u64 {
    run.entered.wrapping_sub(run.raised)
}

fn armed(
    arm: Armed,
    contexts: &[u16],
    pass: impl Fn(u64) -> Outcome,
) -> Result<SoftirqRecord, Failure> {
    armed_runs(arm, contexts, pass).map(|[run]| run)
}

/// The device armed for `N` runs of a softirq, of which the first is raised in one of `contexts`;
/// `pass` lets a time pass that ends some time after the raise. Should the tick be handled at that
/// very moment, so that it is what is interrupted, all is repeated, a step later.
fn armed_runs<const N: usize>(
    arm: Armed,
    contexts: &[u16],
    pass: impl Fn(u64) -> Outcome,
) -> Result<[SoftirqRecord; N], Failure> {
    for _ in 0..ROUNDS {
        let runs = raised(arm, &pass)?;
        if runs.first().is_some_and(|run| contexts.contains(&run.context)) {
            return Ok(runs);
        }
    }
    broken!("{ROUNDS} raises in turn interrupted something else")
}

/// The device armed once, whatever it interrupts.
pub(super) fn raised<const N: usize>(
    arm: Armed,
    pass: impl Fn(u64) -> Outcome,
) -> Result<[SoftirqRecord; N], Failure> {
    clock::mark_counted();
    let armed = lab::arm_softirq(arm.delay, arm.softirq, arm.again);
    prove!(armed.is_ok(), "the lab's device can't be armed ({armed:?})");
    pass(arm.delay + arm.rest)?;
    clock::mark_observed();
    let runs = the_runs(arm.softirq);
    clock::mark_observed();
    runs
}

/// The runs of what was raised `N` times; awaited, if a thread has yet to get its turn.
fn the_runs<const N: usize>(softirq: u32) -> Result<[SoftirqRecord; N], Failure> {
    let mut runs = [SoftirqRecord::default(); N];
    let mut count = 0;
    for _ in 0..MOMENTS {
        let lost = take(|taken| {
            if taken.softirq == softirq {
                if let Some(run) = runs.get_mut(count) {
                    *run = *taken;
                }
                count += 1;
            }
        })?;
        prove!(lost == 0 && count <= N, "{N} raises, {count} runs, {lost} records dropped");
        if count == N {
            return Ok(runs);
        }
        sleep(MOMENT)?;
    }
    broken!("a softirq was raised and never run")
}

/// Empties the records of what was before.
pub(super) fn forget() -> Outcome {
    take(|_| ()).map(drop)
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
