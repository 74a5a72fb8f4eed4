//! `switch.*`: from one task to another and back on one CPU (the measurement of the 2004 ioperm
//! thread: a pair of `SCHED_FIFO` tasks, the time stamps around `sched_yield`).
//!
//! A window is a round trip: the probe gives the CPU away, its partner runs and gives it back.
//! Proof: in each window the partner took exactly one turn; over all windows the kernel counted
//! exactly one switch away from the probe for each.

#[path = "arch/x86_64/ports.rs"]
pub(crate) mod ports;
pub(crate) mod ring;

use core::sync::atomic::Ordering;

use crate::{
    clock, descriptor,
    failure::{Failure, Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    rseq::{
        self, Area,
        Length::{Offered, Original},
        Registration,
    },
    sys::{self, flag, nr},
    task::{self, Board, Partner},
};

pub(crate) const PROBES: Probes = &[
    row("switch.yield", Windows(31), "two FIFO processes yield to each other", bare),
    row(
        "switch.yield+rseq",
        Windows(31),
        "the same, both registered for rseq as by glibc",
        |report| rseq::registered(report, Original, bare),
    ),
    row(
        "switch.yield+rseq-offered",
        Windows(31),
        "the same, areas as long as the kernel offers",
        |report| rseq::registered(report, Offered, bare),
    ),
];

/// Those that come after the ones with ports ([`ports`]).
pub(crate) const PROBES_AFTER_PORTS: Probes = &[
    row("switch.thread-yield", Windows(31), "two FIFO threads yield to each other", threads),
    row("switch.thread-yield+rseq", Windows(31), "the same, both registered for rseq", |report| {
        rseq::registered(report, Original, threads)
    }),
    row("switch.pipe", Windows(31), "two FIFO processes pass a byte to and fro by pipes", pipes),
    row("switch.pipe+rseq", Windows(31), "the same, both registered for rseq", |report| {
        rseq::registered(report, Original, pipes)
    }),
    row("switch.futex", Windows(31), "two FIFO processes wake each other by futex", futex),
    row("switch.futex+rseq", Windows(31), "the same, both registered for rseq", |report| {
        rseq::registered(report, Original, futex)
    }),
];

fn bare(report: &mut ProbeReport) -> Outcome {
    task::real_time()?;
    let board = Board::new()?;
    let _partner = partner(report, || yield_forever(board))?;
    while board.turns() == 0 {
        prove!(sys::sched_yield().is_ok(), "sched_yield failed");
    }
    round_trips(report, board, Counts::Any, yield_once)
}

/// A process that plays the other end, registered for rseq if the probe is; if that fails it takes
/// no turn.
fn partner(report: &ProbeReport, body: impl FnOnce()) -> Result<Partner, Failure> {
    let registration = Registration::of(report);
    Partner::process(move || {
        if registration.is_inherited() {
            body();
        }
    })
}

#[inline(always)]
fn yield_once() {
    // SAFETY: takes no pointer.
    unsafe { sys::call(nr::SCHED_YIELD, [0; 6]) };
}

fn yield_forever(board: &Board) {
    loop {
        board.take_turn();
        yield_once();
    }
}

extern "C" fn thread_body(board: usize) -> ! {
    // SAFETY: `threads` passes the address of its board, which lives as long as the process.
    let board = unsafe { &*(board as *const Board) };
    let area = Area::new(usize::try_from(board.value.load(Ordering::Acquire)).unwrap_or(0));
    if area.is_empty() || area.register().is_ok() {
        yield_forever(board);
    }
    task::exit_thread()
}

fn threads(report: &mut ProbeReport) -> Outcome {
    task::real_time()?;
    let board = Board::new()?;
    board.value.store(Registration::of(report).bytes() as u64, Ordering::Release);
    let stack = task::thread_stack()?;
    // SAFETY: a fresh stack; the board lives until the process ends, and the thread with it.
    let spawned = unsafe {
        task::spawn(stack, &board.word, thread_body, core::ptr::from_ref(board) as usize)
    };
    if let Err(error) = spawned {
        return unsupported!("no thread (clone: error {error})");
    }
    while board.turns() == 0 {
        yield_once();
    }
    round_trips(report, board, Counts::Any, yield_once)
}

/// How the probe leaves the CPU: what the kernel must have counted.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    /// It blocks: one voluntary switch a window.
    Voluntary,
    /// It yields, which Linux counts as involuntary: either kind.
    Any,
}

/// Runs `once` in every window, proving the partner's turn in each and the switches over all.
fn round_trips(
    report: &mut ProbeReport,
    board: &Board,
    counts: Counts,
    once: impl FnMut(),
) -> Outcome {
    proved_round_trips(report, board, counts, || (), once, |()| true)
}

/// [`round_trips`], with `prepare` before each window; its result `proof` checks, after it.
fn proved_round_trips<R>(
    report: &mut ProbeReport,
    board: &Board,
    counts: Counts,
    mut prepare: impl FnMut(),
    mut once: impl FnMut() -> R,
    mut proof: impl FnMut(R) -> bool,
) -> Outcome {
    let before = sys::usage(flag::RUSAGE_THREAD);
    let executions = i64::try_from(report.executions()).unwrap_or(0);
    report.execute(|| {
        let turns = board.turns();
        prepare();
        let (cost, result) = clock::window(&mut once);
        let taken = board.turns().wrapping_sub(turns);
        prove!(proof(result), "what came back is wrong");
        #[cfg(not(feature = "batch"))]
        prove!(taken == 1, "the partner took {taken} turns in a window, not 1");
        #[cfg(feature = "batch")]
        prove!(taken == clock::calls(), "the partner took {taken} turns in a batch of calls");
        Ok(cost)
    })?;
    let after = sys::usage(flag::RUSAGE_THREAD);
    let voluntary = after.voluntary - before.voluntary;
    let all = voluntary + after.involuntary - before.involuntary;
    let counted = if counts == Counts::Voluntary { voluntary } else { all };
    // On a live host others may take the CPU in between, and a task that is woken may take it.
    #[cfg(feature = "batch")]
    prove!(all >= executions, "the kernel counted {all} switches in {executions} calls");
    #[cfg(not(feature = "batch"))]
    prove!(counted == executions, "the kernel counted {counted} switches in {executions} windows");
    Ok(())
}

pub(crate) fn pipes(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let board = Board::new()?;
    let [there_read, there_write] = descriptor::pipe()?;
    let [back_read, back_write] = descriptor::pipe()?;
    let _partner = partner(report, || {
        let mut byte = [0];
        while sys::read(there_read, &mut byte) == Ok(1) {
            board.take_turn();
            byte[0] = !byte[0];
            let _ = sys::write(back_write, &byte);
        }
    })?;
    let round_trip = || {
        let mut byte = [SENT];
        let _ = sys::write(there_write, &byte);
        let _ = sys::read(back_read, &mut byte);
        byte[0]
    };
    let proof = |byte| byte == !SENT;
    proved_round_trips(report, board, Counts::Voluntary, || (), round_trip, proof)
}

/// The byte that goes to and fro; it comes back as its complement.
const SENT: u8 = 0x5a;

/// Values of the futex word: whose turn it is.
const MINE: u32 = 0;
const THEIRS: u32 = 1;

fn futex(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let board = Board::new()?;
    if task::futex_wait(&board.word, THEIRS) == (-38_isize).cast_unsigned() {
        return unsupported!("futex(2) is not in this kernel (CONFIG_FUTEX)");
    }
    let _partner = partner(report, || {
        loop {
            await_turn(&board.word, THEIRS);
            board.take_turn();
            pass_turn(&board.word, MINE);
        }
    })?;
    round_trips(report, board, Counts::Voluntary, || {
        pass_turn(&board.word, THEIRS);
        await_turn(&board.word, MINE);
    })
}

#[inline(always)]
fn pass_turn(word: &core::sync::atomic::AtomicU32, to: u32) {
    word.store(to, Ordering::Release);
    task::futex_wake(word);
}

#[inline(always)]
fn await_turn(word: &core::sync::atomic::AtomicU32, mine: u32) {
    loop {
        let now = word.load(Ordering::Acquire);
        if now == mine {
            return;
        }
        task::futex_wait(word, now);
    }
}
