//! Batches of calls in elapsed time, by one CPU alone and by two at once: what a lock shared by all
//! CPUs costs shows only where CPUs run in parallel, so under no exact clock.
//!
//! A path's samples alternate: nanoseconds of a batch of [`CALLS_PER_BATCH`] calls by one CPU while
//! the other one sleeps, then of a batch of [`CALLS_PER_BATCH`] calls by each of the two, from
//! their common beginning until both are done; as many times as the catalogue states. Taken in
//! turn, so that what disturbs the host disturbs both alike.
//!
//! On a busy host the two take turns. The one that waits for a lock then spins until the host lets
//! its holder go on, so that each of a batch's calls may cost a time slice of the host. Therefore
//! many short batches: each is likely to fall into one slice, and one that does not comes to its
//! end.
//!
//! The call is the 64-bit one, or the 32-bit one by the CPU's fast entry. For each `int 0x80` the
//! interpreter takes a lock of its own, at which two CPUs meet in any kernel.
//!
//! Proof: every call succeeds, and after each batch the device's serial has grown by its calls;
//! each CPU has a device of its own.

use core::sync::atomic::Ordering;

use crate::{
    failure::{Failure, Outcome, broken, prove},
    fast32::Fast32,
    ioctl::target::{self, Target},
    path::{CALLS_PER_BATCH, Kind::Batches},
    probe::{Probes, row},
    report::ProbeReport,
    sys,
    task::{self, Board, Partner},
};

pub(crate) const PROBES: Probes = &[
    row("ioctl.native+2cpu", Batches(25), "batches of ioctl.native by one CPU, and by two", native),
    row("ioctl.compat-entry+2cpu", Batches(25), "the same of ioctl.compat-entry", entry),
];

/// Seconds after which all pairs are given up, on a host that takes ever so long for them.
const PATIENCE: u64 = 60;

fn native(report: &mut ProbeReport) -> Outcome {
    batches(report, |_| Ok(None))
}

fn entry(report: &mut ProbeReport) -> Outcome {
    batches(report, |target| target.fast().map(Some))
}

/// How a device is called: by code for the fast entry, or natively.
type Way = Option<Fast32>;

/// All pairs, after one that is not recorded.
fn batches(report: &mut ProbeReport, way: fn(&Target) -> Result<Way, Failure>) -> Outcome {
    let (first, second) = target::devices()?;
    task::fifo()?;
    let board = Board::new()?;
    let mut second = Caller::new(way(&second)?, second)?;
    let _partner = Partner::on_second_cpu(board, || partner(board, &mut second))?;
    let mut own = Caller::new(way(&first)?, first)?;
    let deadline = now()? + PATIENCE * 1_000_000_000;
    for pair in 0..=report.windows() / 2 {
        let (one, two) = (alone(&mut own)?, together(board, &mut own, deadline)?);
        if pair > 0 {
            report.push(one);
            report.push(two);
        }
    }
    Ok(())
}

/// A device, and what its serial is.
struct Caller {
    target: Target,
    way: Way,
    serial: u32,
}

impl Caller {
    fn new(way: Way, target: Target) -> Result<Self, Failure> {
        Ok(Self { serial: target.learn()?, target, way })
    }

    /// [`CALLS_PER_BATCH`] calls, proved.
    fn batch(&mut self) -> Outcome {
        self.target.poison(self.target.native);
        if let Some(fast) = self.way {
            let raws = self.target.calls_by(fast, CALLS_PER_BATCH);
            prove!(raws == Some(0), "of the ioctls' results the or is {raws:?}");
        } else {
            for _ in 0..CALLS_PER_BATCH {
                let raw = self.target.call_native();
                prove!(raw == 0, "the ioctl returned {raw:#x}");
            }
        }
        self.serial += CALLS_PER_BATCH;
        let serial = self.target.answer(self.target.native);
        prove!(serial == self.serial, "serial {serial} behind a batch, not {}", self.serial);
        Ok(())
    }
}

/// Nanoseconds of a batch while the partner sleeps.
fn alone(own: &mut Caller) -> Result<u64, Failure> {
    /// Long enough for the partner's way into its sleep.
    const MOMENT: u64 = 200_000;
    task::sleep(MOMENT)?;
    let begin = now()?;
    own.batch()?;
    Ok(now()? - begin)
}

/// What the board's word asks of the partner.
const REST: u32 = 0;
const COME: u32 = 1;
const GO: u32 = 2;

/// Nanoseconds of a batch by each CPU, from the word to go until both are done.
fn together(board: &Board, own: &mut Caller, deadline: u64) -> Result<u64, Failure> {
    let turns = board.turns();
    board.word.store(COME, Ordering::Release);
    task::futex_wake(&board.word);
    await_turn(board, turns + 1, deadline)?;
    let begin = now()?;
    board.word.store(GO, Ordering::Release);
    own.batch()?;
    let end = await_turn(board, turns + 2, deadline)?;
    board.word.store(REST, Ordering::Release);
    prove!(board.value.load(Ordering::Acquire) == 0, "the partner's calls failed");
    Ok(end - begin)
}

/// The partner's life: a turn as it begins; then it sleeps until it is to come, and takes a turn as
/// it is there and one as it is done.
fn partner(board: &Board, own: &mut Caller) {
    let word = || board.word.load(Ordering::Acquire);
    board.take_turn();
    loop {
        while word() == REST {
            task::futex_wait(&board.word, REST);
        }
        board.take_turn();
        while word() == COME {
            core::hint::spin_loop();
        }
        if own.batch().is_err() {
            board.value.store(1, Ordering::Release);
        }
        board.take_turn();
        while word() == GO {
            core::hint::spin_loop();
        }
    }
}

/// Waits, without sleeping, until the partner has taken so many turns; the time then.
fn await_turn(board: &Board, turns: u64, deadline: u64) -> Result<u64, Failure> {
    loop {
        let there = board.turns() >= turns;
        let time = now()?;
        prove!(
            time < deadline,
            "two CPUs at once did not come to an end in {PATIENCE} s; run it on a quiet host"
        );
        if there {
            return Ok(time);
        }
        core::hint::spin_loop();
    }
}

/// Nanoseconds of the monotonic clock.
fn now() -> Result<u64, Failure> {
    match sys::monotonic() {
        Ok(time) => Ok(time),
        Err(error) => broken!("clock_gettime failed (error {error})"),
    }
}
