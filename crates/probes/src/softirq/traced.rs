//! The waits of softirqs by the guest's own tracepoints `irq:softirq_raise` and
//! `irq:softirq_entry`.
//!
//! For the timer softirq a partner keeps arming a timer-wheel timer, by receiving with a timeout on
//! a socket that stays silent; what the tick then interrupts is the probe's user-mode loop, or the
//! idle task while the probe sleeps. `NET_RX` is raised by datagrams to oneself over loopback.
//!
//! Proof: only raises count that were recorded in the context that the path names, and during the
//! round that makes them; which and how is said in [`waits`](super::waits). Recording an event
//! takes time inside the interval: the same code's cost is measured in the same run (a datagram's
//! send with and without the raise event) and subtracted, once for the pair and once for each other
//! softirq's event in between; the report shows how much.

use core::ops::Range;

use crate::{
    clock,
    failure::{Failure, Outcome, prove, unsupported},
    report::ProbeReport,
    socket::{
        AF_INET, AF_UNIX, SOCK_DGRAM, bind, connect, loopback_up, set_receive_timeout, socket,
    },
    softirq::waits::Observation,
    sys::{self, nr},
    task::{Partner, sleep},
    tracefs::{self, Event, Tracer},
};

const RAISE: &str = "irq/softirq_raise";
const ENTRY: &str = "irq/softirq_entry";
/// Numbers of the softirqs as the tracepoints print them (`<linux/interrupt.h>`).
const TIMER: &str = "vec=1 ";
const NET_RX: &str = "vec=3 ";
/// Rounds after which a path that never ran is given up.
const ROUNDS: usize = 12;

/// Ticks of a round in which raises count: the partner's timer expires at every second.
const COUNTED: u64 = 9;
/// Ticks for which it is observed after that: so a softirq that is left to the next tick is seen to
/// run.
const REST: u64 = 2;
/// The shortest and the longest tick of Linux, in nanoseconds: 1000 and 100 a second.
const TICKS: (u64, u64) = (1_000_000, 10_000_000);

pub(super) fn timer_user(report: &mut ProbeReport) -> Outcome {
    let own = sys::getpid().unwrap_or(0);
    let interrupts_own = |event: &Event<'_>| event.hard_irq && event.pid as usize == own;
    timer(report, interrupts_own, |instructions| {
        clock::busy(instructions);
        Ok(())
    })
}

pub(super) fn timer_idle(report: &mut ProbeReport) -> Outcome {
    timer(report, |event| event.hard_irq && event.pid == 0, sleep)
}

/// Waits of TIMER softirqs raised in `context`, over rounds in which `pass` lets a time pass.
fn timer(
    report: &mut ProbeReport,
    context: impl Fn(&Event<'_>) -> bool,
    pass: impl Fn(u64) -> Outcome,
) -> Outcome {
    // Where there is no such clock (CONFIG_POSIX_TIMERS), rounds are as long as they can be.
    let tick = sys::tick().unwrap_or(TICKS.1).clamp(TICKS.0, TICKS.1);
    let tracer = Tracer::new(&[ENTRY, RAISE])?;
    let recording = recording_cost(report)?;
    let socket = datagram_socket()?;
    let _partner = Partner::process(arm_timers()?)?;
    gather(report, Watch { tracer, recording, vector: TIMER }, context, || {
        // Its end runs all softirqs that are pending: so the first raise seen is no second one.
        send_to_self(socket)?;
        let begin = clock::stamp();
        // That is the least time that passes. What the probe does then is not observed: its own
        // system calls run softirqs that the tick has left.
        pass((COUNTED + REST) * tick)?;
        let counted = begin..begin + COUNTED * tick;
        Ok(Round { end: counted.end + REST * tick, counted })
    })
}

/// What is waited for.
struct Watch {
    tracer: Tracer,
    /// What recording an event costs.
    recording: u64,
    vector: &'static str,
}

/// A round, by the TSC.
struct Round {
    /// When a raise must come to count.
    counted: Range<u64>,
    /// Until when entries are looked at.
    end: u64,
}

/// Records the waits of raises in `context`, over rounds of `round`, until there are enough.
fn gather(
    report: &mut ProbeReport,
    mut watch: Watch,
    context: impl Fn(&Event<'_>) -> bool,
    round: impl Fn() -> Result<Round, Failure>,
) -> Outcome {
    for _ in 0..ROUNDS {
        tracefs::forget()?;
        let Round { counted, end } = round()?;
        let observation = Observation { vector: watch.vector, counted, end, context: &context };
        let events = watch.tracer.read()?;
        observation.waits(events, |wait| wait.record(watch.recording, report))?;
        if report.is_full() {
            return Ok(());
        }
    }
    let seen = report.samples().len();
    unsupported!("only {seen} of {} softirqs came in {ROUNDS} rounds", report.windows())
}

/// What a partner does to have timer-wheel timers expire: it receives, with a timeout, for ever.
fn arm_timers() -> Result<impl FnOnce(), Failure> {
    let socket = socket(AF_UNIX, SOCK_DGRAM)?;
    set_receive_timeout(socket, 1)?;
    Ok(move || {
        loop {
            let _ = sys::read(socket, &mut [0]);
        }
    })
}

pub(super) fn net_rx(report: &mut ProbeReport) -> Outcome {
    let tracer = Tracer::new(&[ENTRY, RAISE])?;
    let recording = recording_cost(report)?;
    let socket = datagram_socket()?;
    let sends = report.windows();
    gather(
        report,
        Watch { tracer, recording, vector: NET_RX },
        |_| true,
        || {
            let begin = clock::stamp();
            // Each ends when its datagram was received, so no raise is left at the end.
            (0..sends).try_for_each(|_| send_to_self(socket).map(drop))?;
            let end = clock::stamp();
            Ok(Round { counted: begin..end, end })
        },
    )
}

/// Datagrams sent to learn what recording costs; their middle one counts.
const SENDS: usize = 5;

/// What recording one event of this kind costs: the sends' cost with the raise event recorded, less
/// that with only the entry event. Each send raises `NET_RX` once. Leaves both events enabled.
fn recording_cost(report: &mut ProbeReport) -> Result<u64, Failure> {
    let socket = datagram_socket()?;
    let both = middle_send(socket)?;
    tracefs::set(RAISE, false)?;
    let entry_only = middle_send(socket)?;
    tracefs::set(RAISE, true)?;
    let recording = both.saturating_sub(entry_only);
    prove!(recording > 0, "recording an event seems to cost nothing ({both}, {entry_only})");
    report.check("recording", format_args!("{recording} a recorded event, subtracted for each"));
    Ok(recording)
}

fn middle_send(socket: usize) -> Result<u64, Failure> {
    let mut costs = [0; SENDS];
    for cost in &mut costs {
        *cost = send_to_self(socket)?;
    }
    costs.sort_unstable();
    Ok(costs[SENDS / 2])
}

/// A datagram socket connected to itself.
fn datagram_socket() -> Result<usize, Failure> {
    let socket = socket(AF_INET, SOCK_DGRAM)?;
    loopback_up(socket)?;
    let address = bind(socket)?;
    connect(socket, &address)?;
    Ok(socket)
}

/// Sends one byte to oneself and takes it off the queue again; what sending cost.
fn send_to_self(socket: usize) -> Result<u64, Failure> {
    let byte = [0x55_u8];
    let place = byte.as_ptr() as usize;
    let begin = clock::stamp();
    // SAFETY: the kernel reads one byte.
    let sent = unsafe { sys::call(nr::SENDTO, [socket, place, 1, 0, 0, 0]) };
    // Not a window: what this path costs is read from the trace.
    let cost = clock::stamp().wrapping_sub(begin);
    let got = sys::read(socket, &mut [0]);
    match (sent, got) {
        (1, Ok(1)) => Ok(cost),
        _ => unsupported!("a loopback datagram was lost (sent {sent:#x}, received {got:?})"),
    }
}
