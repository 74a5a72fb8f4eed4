//! The waits of softirqs by the guest's own tracepoints `irq:softirq_raise` and
//! `irq:softirq_entry`.
//!
//! For the timer softirq a partner keeps arming a timer-wheel timer, by receiving with a timeout on
//! a socket that stays silent; what the tick then interrupts is the probe's user-mode loop, or the
//! idle task while the probe sleeps. `NET_RX` is raised by datagrams to oneself over loopback.
//!
//! Proof: only pairs count whose raise was recorded in the context that the path names, and during
//! the round that makes it. Recording an event takes time inside the interval: the same code's cost
//! is measured in the same run (a datagram's send with and without the raise event) and subtracted,
//! once for the pair and once for each other softirq's event in between; the report shows how much.

use crate::{
    clock,
    failure::{Failure, Outcome, broken, prove, unsupported},
    report::ProbeReport,
    socket::{
        AF_INET, AF_UNIX, SOCK_DGRAM, bind, connect, loopback_up, set_receive_timeout, socket,
    },
    softirq::spin::spin,
    sys::{self, Timespec, nr},
    task::Partner,
    tracefs::{self, Event, Tracer},
};

const RAISE: &str = "irq/softirq_raise";
const ENTRY: &str = "irq/softirq_entry";
/// Numbers of the softirqs as the tracepoints print them (`<linux/interrupt.h>`).
const TIMER: &str = "vec=1 ";
const NET_RX: &str = "vec=3 ";
/// Rounds after which a path that never ran is given up.
const ROUNDS: usize = 12;

pub(super) fn timer_user(report: &mut ProbeReport) -> Outcome {
    let own = sys::getpid().unwrap_or(0);
    timer(report, |event| event.hard_irq && event.pid as usize == own, spin)
}

pub(super) fn timer_idle(report: &mut ProbeReport) -> Outcome {
    timer(report, |event| event.hard_irq && event.pid == 0, doze)
}

/// A round in which the CPU idles.
fn doze() {
    let _ = sys::sleep(Timespec { seconds: 0, nanoseconds: 20_000_000 });
}

/// Waits of raised TIMER softirqs whose raise `counts`, over rounds of `round`.
fn timer(
    report: &mut ProbeReport,
    counts: impl Fn(&Event<'_>) -> bool,
    round: impl Fn(),
) -> Outcome {
    let tracer = Tracer::new(&[ENTRY, RAISE])?;
    let recording = recording_cost(report)?;
    let _partner = Partner::process(arm_timers()?)?;
    gather(report, Watch { tracer, recording, vector: TIMER }, counts, || {
        round();
        Ok(())
    })
}

/// What is waited for, and what recording it costs.
struct Watch {
    tracer: Tracer,
    recording: u64,
    vector: &'static str,
}

/// Records waits whose raise `counts`, over rounds of `round`, until there are enough.
fn gather(
    report: &mut ProbeReport,
    mut watch: Watch,
    counts: impl Fn(&Event<'_>) -> bool,
    round: impl Fn() -> Result<(), Failure>,
) -> Outcome {
    for _ in 0..ROUNDS {
        tracefs::forget()?;
        let begin = clock::stamp();
        round()?;
        let during = begin..clock::stamp();
        let counts = |event: &Event<'_>| during.contains(&event.stamp) && counts(event);
        let mut wrong = None;
        waits(&mut watch.tracer, watch.vector, counts, |wait| {
            match wait.cost.checked_sub(watch.recording * wait.recorded) {
                Some(cost) => report.keep(cost),
                None => wrong = Some(wait),
            }
        })?;
        if let Some(Wait { cost, recorded }) = wrong {
            return broken!(
                "{recorded} events in a wait of {cost}: recording can't cost that much"
            );
        }
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
        || (0..sends).try_for_each(|_| send_to_self(socket).map(|_| ())),
    )
}

/// From a raise to its entry.
#[derive(Clone, Copy)]
struct Wait {
    /// By the trace's stamps.
    cost: u64,
    /// Events recorded in it: the pair counts once, since the raise is stamped early in its
    /// recording and the entry late.
    recorded: u64,
}

/// Pairs each first raise of `vector` that `counts` with the entry that follows it.
fn waits(
    tracer: &mut Tracer,
    vector: &str,
    counts: impl Fn(&Event<'_>) -> bool,
    mut sink: impl FnMut(Wait),
) -> Result<(), Failure> {
    let mut raised: Option<(Option<u64>, u64)> = None;
    tracer.read(|event| {
        let ours = event.detail.starts_with(vector);
        match (event.name, raised) {
            ("softirq_raise", None) if ours => {
                raised = Some((counts(&event).then_some(event.stamp), 1));
            }
            ("softirq_entry", Some((since, recorded))) if ours => {
                if let Some(since) = since {
                    sink(Wait { cost: event.stamp.wrapping_sub(since), recorded });
                }
                raised = None;
            }
            (_, Some((since, recorded))) => raised = Some((since, recorded + 1)),
            _ => {}
        }
    })
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
