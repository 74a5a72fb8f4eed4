//! Paths `+cross-cpu`: to a partner on another CPU and back.
//!
//! The partner's CPU is the first other one that the command may execute on; whether that is a
//! sibling thread or a distant core is the machine's. Proof: as for the paths on one CPU.

use core::sync::atomic::{AtomicU32, Ordering};

use pathmeter_probes::{
    Outcome, Probe, ProbeReport, clock, descriptor,
    socket::{AF_UNIX, SOCK_STREAM},
    task::{self, Board},
};

use crate::{
    failure::{prove, unsupported},
    partner::{echo, on_second_cpu, ping},
};

pub(crate) const PROBES: &[(&str, Probe)] = &[
    ("switch.pipe+cross-cpu", pipes),
    ("switch.futex+cross-cpu", futex),
    ("unix.round-trip+cross-cpu", unix),
];

fn pipes(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let (there, back) = (descriptor::pipe()?, descriptor::pipe()?);
    let _partner = on_second_cpu(Board::new()?, || echo(there[0], back[1]))?;
    ping(report, back[0], there[1])
}

fn unix(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let [near, far] = match descriptor::socketpair(AF_UNIX, SOCK_STREAM) {
        Ok(ends) => ends,
        Err(error) => return unsupported!("no unix sockets (socketpair: error {error})"),
    };
    let _partner = on_second_cpu(Board::new()?, || echo(far, far))?;
    ping(report, near, near)
}

/// Values of the futex word: whose turn it is.
const MINE: u32 = 0;
const THEIRS: u32 = 1;

fn futex(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let board = Board::new()?;
    let _partner = on_second_cpu(board, || {
        loop {
            await_turn(&board.word, THEIRS);
            board.take_turn();
            pass_turn(&board.word, MINE);
        }
    })?;
    report.execute(|| {
        let before = board.turns();
        let (cost, ()) = clock::window(|| {
            pass_turn(&board.word, THEIRS);
            await_turn(&board.word, MINE);
        });
        let taken = board.turns() - before;
        prove!(taken == clock::calls(), "the partner took {taken} turns in a batch of calls");
        Ok(cost)
    })
}

#[inline(always)]
fn pass_turn(word: &AtomicU32, to: u32) {
    word.store(to, Ordering::Release);
    task::futex_wake(word);
}

#[inline(always)]
fn await_turn(word: &AtomicU32, mine: u32) {
    loop {
        let now = word.load(Ordering::Acquire);
        if now == mine {
            return;
        }
        task::futex_wait(word, now);
    }
}
