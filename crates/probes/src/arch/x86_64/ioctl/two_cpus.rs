//! The `+2cpu` paths: what a call costs while another CPU makes ioctls to another device, so that
//! the two share nothing but what the kernel makes them share: the big kernel lock, or nothing.
//!
//! The partner on CPU 1 does nothing but call, as the thread's two programs did. Its device has to
//! be waited for, as by drivers that look until theirs is ready: [`LOOKS`] looks, a `pause` after
//! each, and whatever lock the kernel has for the call held all the time.
//!
//! Under the exact clock of two CPUs one gives way at `pause` and at `hlt`, and where a timer is
//! due or set. The windows run where no timer is due, so the two go on pause by pause in
//! turn. The probe pauses before each window, up to [`LOOKS`] times, so that windows begin at each
//! of the partner's looks. Where the lock is taken, the probe waits for it with `pause`, and its
//! window holds what the partner executes meanwhile; where not, nothing of the partner's. It is one
//! interleaving of many, and nearly always the same (`docs/explanation/exactness.md`).

use core::sync::atomic::Ordering;

use crate::{
    clock, compat32,
    failure::{Failure, Outcome, broken, prove, unsupported},
    int80::supported,
    ioctl::{
        table,
        target::{self, Target},
        windows::execute,
    },
    lab,
    report::ProbeReport,
    task::{self, Board, Partner},
};

/// Looks of one of the partner's calls.
const LOOKS: u32 = 8;
/// Before a window there are one to eight pauses, by this mask of the window's number: a whole turn
/// of the partner's.
const PAUSES: u32 = LOOKS - 1;

const _: () = assert!((PAUSES + 1).is_power_of_two());

pub(super) fn native(report: &mut ProbeReport) -> Outcome {
    contended(report, Target::poll_native, |report, target, learnt| {
        let mut pauses = pause_before_each();
        execute(report, target, target.native, learnt, &mut pauses, Target::native_by)
    })
}

pub(super) fn int80(report: &mut ProbeReport) -> Outcome {
    supported()?;
    contended(report, Target::poll_int80, |report, target, learnt| {
        let mut pauses = pause_before_each();
        execute(report, target, target.compat, learnt, &mut pauses, Target::int80_by)
    })?;
    table::tell(report)
}

pub(super) fn entry(report: &mut ProbeReport) -> Outcome {
    supported()?;
    contended(report, Target::poll_int80, |report, target, learnt| {
        compat32::execute_windows(report, target, learnt, PAUSES)
    })
}

/// How long each of our calls waits for the lock, by the kernel's own stamps: one before its first
/// look in vain, one when it has the lock. No look in vain is no wait.
pub(super) fn lock_wait(report: &mut ProbeReport) -> Outcome {
    execute_while_partner_calls(report, Target::poll_native, |report, target, _| {
        let mut pauses = pause_before_each();
        report.execute(|| {
            // Takes the lock itself, and so meets the partner: the pauses come after it.
            lock_counts()?;
            pauses();
            let raw = target.native_by(target.fd);
            let own = lock_counts()?[0];
            prove!(raw == 0, "the ioctl returned {raw:#x}");
            if own.acquired == 0 {
                return unsupported!("this kernel takes no lock for the call");
            }
            prove!(own.acquired == 1, "one call took the lock {} times", own.acquired);
            Ok(own.waited)
        })
    })
}

fn pause_before_each() -> impl FnMut() {
    let mut window = 0;
    move || {
        for _ in 0..=window & PAUSES {
            core::hint::spin_loop();
        }
        window += 1;
    }
}

/// Executes while a partner on CPU 1 calls, and reports what happened at the lock.
fn contended(
    report: &mut ProbeReport,
    poll: fn(&Target, u32) -> usize,
    execute: impl FnOnce(&mut ProbeReport, &Target, u32) -> Outcome,
) -> Outcome {
    execute_while_partner_calls(report, poll, |report, target, learnt| {
        lock_counts()?;
        execute(report, target, learnt)?;
        tell(report, &lock_counts()?)
    })
}

/// Executes while a partner on CPU 1 calls; proves that the partner did.
fn execute_while_partner_calls(
    report: &mut ProbeReport,
    poll: fn(&Target, u32) -> usize,
    execute: impl FnOnce(&mut ProbeReport, &Target, u32) -> Outcome,
) -> Outcome {
    let (target, second) = target::devices()?;
    task::fifo()?;
    let board = Board::new()?;
    let _partner = Partner::on_second_cpu(board, || poll_forever(board, &second, poll))?;
    let learnt = target.learn()?;
    await_tick();
    await_turn(board)?;
    let before = board.turns();
    execute(report, &target, learnt)?;
    prove!(board.turns() > before, "the partner on CPU 1 made no call meanwhile");
    let wrong = board.value.load(Ordering::Relaxed);
    prove!(wrong == 0, "the partner's ioctl returned {wrong:#x}");
    Ok(())
}

/// The partner's life: each call is a turn; a result that is wrong is left in `value`.
fn poll_forever(board: &Board, target: &Target, poll: fn(&Target, u32) -> usize) {
    loop {
        let raw = poll(target, LOOKS);
        if raw != 0 {
            board.value.store(raw as u64, Ordering::Relaxed);
        }
        board.take_turn();
    }
}

/// Waits for a tick, of either CPU: so the next of the same is far after the windows. A tick shows
/// as time that passes in a loop.
fn await_tick() {
    /// Instructions of a look, of the shortest tick, and of the longest wait for one.
    const LOOK: u64 = 2000;
    const TICK: u64 = 200;
    const LONGEST: u64 = 4_000_000;
    let mut last = u64::MAX;
    for _ in 0..LONGEST / LOOK {
        let begin = clock::stamp();
        clock::busy(LOOK);
        let look = clock::stamp().wrapping_sub(begin);
        if look > last.saturating_add(TICK) {
            return;
        }
        last = last.min(look);
    }
}

/// Pauses until the partner has taken its next turn: so the windows always begin at the same point
/// of its loop, whatever came before.
fn await_turn(board: &Board) -> Outcome {
    const MOST: usize = 1000;
    let before = board.turns();
    for _ in 0..MOST {
        if board.turns() != before {
            return Ok(());
        }
        core::hint::spin_loop();
    }
    broken!("the partner on CPU 1 makes no calls")
}

/// Proves that all windows, the warm-up's among them, took the lock equally often, and reports the
/// counts of both CPUs.
fn tell(report: &mut ProbeReport, counts: &[lab::LockCounts]) -> Outcome {
    let (taken, windows) = (counts[0].acquired, report.executions() as u64);
    prove!(taken.is_multiple_of(windows), "the lock was taken {taken} times in {windows} windows");
    let values = counts.iter().flat_map(|cpu| [cpu.acquired, cpu.contended, cpu.spins, cpu.waited]);
    for (name, value) in NAMES.iter().zip(values) {
        report.check(name, format_args!("{value}"));
    }
    Ok(())
}

/// What the counts of both CPUs are called; those of CPU 1 hold its calls between the windows, too.
const NAMES: [&str; 8] = [
    "CPU 0: lock taken",
    "CPU 0: found taken",
    "CPU 0: looks in vain",
    "CPU 0: instructions waited",
    "CPU 1: lock taken",
    "CPU 1: found taken",
    "CPU 1: looks in vain",
    "CPU 1: instructions waited",
];

fn lock_counts() -> Result<[lab::LockCounts; lab::CPUS], Failure> {
    lab::take_lock_counts()
        .map_err(|error| Failure::broken(format_args!("no counts of the lock (error {error})")))
}
