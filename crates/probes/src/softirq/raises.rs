//! Softirqs raised on Linux, for QEMU's counter to see them wait.
//!
//! For the timer softirq a partner keeps arming a timer-wheel timer, by receiving with a timeout on
//! a socket that stays silent; what the tick then interrupts is the probe's user-mode loop, or the
//! idle task while the probe sleeps. A timer expires two or three ticks after the one before, in an
//! order that follows from the run's number: so the raises are in step with nothing that a kernel
//! does at every second or third tick. `NET_RX` is raised by datagrams to oneself over loopback.
//!
//! Proof: the counter takes a raise only in the context that the path names, between the marks; it
//! tells how many of them there were. Which raises count is decided by where and when they come,
//! never by how long they wait: one that is not handled until the last mark has waited for at
//! least as long, and is told as such.

use crate::{
    clock,
    failure::{Failure, Outcome, unsupported},
    report::ProbeReport,
    socket::{
        AF_INET, AF_UNIX, SOCK_DGRAM, bind, connect, loopback_up, set_receive_timeout, socket,
    },
    sys::{self, nr},
    task::{Partner, sleep},
};

/// Ticks in which raises count, for each window that is wanted: the partner's timer expires in two
/// of them, on average.
const COUNTED: u64 = 5;
/// Ticks for which it is observed after that: so a softirq that is left to the next tick is seen to
/// run.
const REST: u64 = 2;
/// The shortest and the longest tick of Linux, in nanoseconds: 1000 and 100 a second.
const TICKS: (u64, u64) = (1_000_000, 10_000_000);

pub(super) fn timer_user(report: &mut ProbeReport) -> Outcome {
    timer(report, |instructions| {
        clock::busy(instructions);
        Ok(())
    })
}

pub(super) fn timer_idle(report: &mut ProbeReport) -> Outcome {
    timer(report, sleep)
}

/// Has TIMER softirqs raised while `pass` lets a time pass.
fn timer(report: &ProbeReport, pass: impl Fn(u64) -> Outcome) -> Outcome {
    // Where there is no such clock (CONFIG_POSIX_TIMERS), ticks are as long as they can be.
    let tick = sys::tick().unwrap_or(TICKS.1).clamp(TICKS.0, TICKS.1);
    let socket = datagram_socket()?;
    let _partner = Partner::process(arm_timers(tick, report.bits())?)?;
    // Its end runs all softirqs that are pending: so the first raise seen is no second one.
    send_to_self(socket)?;
    clock::mark_counted();
    pass(COUNTED * report.windows() as u64 * tick)?;
    clock::mark_observed();
    // What the probe does after that is not observed: its own system calls run softirqs that the
    // tick has left.
    pass(REST * tick)?;
    clock::mark_observed();
    Ok(())
}

/// What a partner does to have timer-wheel timers expire: it receives, with a timeout, for ever.
/// Linux rounds a timeout up to ticks and adds one: one of up to a tick ends at the second tick,
/// one of up to two at the third. Each of `bits` chooses.
fn arm_timers(tick: u64, bits: u64) -> Result<impl FnOnce(), Failure> {
    let sockets = [socket(AF_UNIX, SOCK_DGRAM)?, socket(AF_UNIX, SOCK_DGRAM)?];
    set_receive_timeout(sockets[0], tick / 2)?;
    set_receive_timeout(sockets[1], tick + tick / 2)?;
    Ok(move || {
        let mut bits = bits;
        loop {
            let _ = sys::read(sockets[(bits & 1) as usize], &mut [0]);
            bits = bits.rotate_right(1);
        }
    })
}

pub(super) fn net_rx(report: &mut ProbeReport) -> Outcome {
    let socket = datagram_socket()?;
    send_to_self(socket)?;
    clock::mark_counted();
    // Each ends when its datagram was received, so no raise is left at the end.
    (0..report.executions()).try_for_each(|_| send_to_self(socket))?;
    clock::mark_observed();
    clock::mark_observed();
    Ok(())
}

/// A datagram socket connected to itself.
fn datagram_socket() -> Result<usize, Failure> {
    let socket = socket(AF_INET, SOCK_DGRAM)?;
    loopback_up(socket)?;
    let address = bind(socket)?;
    connect(socket, &address)?;
    Ok(socket)
}

/// Sends one byte to oneself and takes it off the queue again.
fn send_to_self(socket: usize) -> Outcome {
    let byte = [0x55_u8];
    let place = byte.as_ptr() as usize;
    // SAFETY: the kernel reads one byte.
    let sent = unsafe { sys::call(nr::SENDTO, [socket, place, 1, 0, 0, 0]) };
    let got = sys::read(socket, &mut [0]);
    match (sent, got) {
        (1, Ok(1)) => Ok(()),
        _ => unsupported!("a loopback datagram was lost (sent {sent:#x}, received {got:?})"),
    }
}
