//! `process.*`: making a task and waiting for its end.
//!
//! Proof: the process's exit code is the window's own; the thread left its mark and its number was
//! cleared by the kernel. Both run under `SCHED_FIFO`, so that the new task waits until its maker
//! sleeps: else which of the two goes first would depend on the fair scheduler's history.

use core::sync::atomic::Ordering;

use crate::{
    clock,
    failure::{Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, nr},
    task::{self, Board},
};

pub(crate) const PROBES: Probes = &[
    row("process.fork-exit", Windows(11), "fork(2), the child exits, wait4(2)", fork_exit),
    row(
        "process.thread",
        Windows(13),
        "clone(2) of a thread, which exits, joined by futex",
        thread,
    ),
];

/// fork in the child's eyes.
const CHILD: usize = 0;

fn fork_exit(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let mut code = 0_u32;
    report.execute(|| {
        task::settle()?;
        code = (code + 1) & 0x7f;
        let mut status = 0_u32;
        let (cost, (child, waited)) = clock::window(|| {
            // SAFETY: the child does nothing but exit; the kernel writes one int to `status`.
            unsafe {
                let child = sys::call(nr::FORK, [0; 6]);
                if child == CHILD {
                    sys::call(nr::EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]);
                }
                let place = &raw mut status as usize;
                (child, sys::call(nr::WAIT4, [child, place, 0, 0, 0, 0]))
            }
        });
        prove!(sys::sorted(child).is_ok() && waited == child, "fork {child:#x}, wait {waited:#x}");
        prove!(status == code << 8, "the child ended with status {status:#x}, not code {code}");
        Ok(cost)
    })
}

extern "C" fn thread_body(board: usize) -> ! {
    // SAFETY: `thread` passes the address of its board, which lives as long as the process.
    let board = unsafe { &*(board as *const Board) };
    board.take_turn();
    task::exit_thread()
}

fn thread(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let board = Board::new()?;
    let stack = task::thread_stack()?;
    report.execute(|| {
        task::settle()?;
        let turns = board.turns();
        let (cost, spawned) = clock::window(|| {
            // SAFETY: the thread of the window before has ended (its number was cleared), so the
            // stack is free; the board outlives the thread.
            let spawned = unsafe {
                task::spawn(stack, &board.word, thread_body, core::ptr::from_ref(board) as usize)
            };
            join(board);
            spawned
        });
        if let Err(error) = spawned {
            return unsupported!("no thread (clone: error {error})");
        }
        prove!(board.turns() == turns + clock::calls(), "the thread did not run");
        Ok(cost)
    })
}

/// Sleeps until the kernel has cleared the thread's number.
#[inline(always)]
fn join(board: &Board) {
    loop {
        let number = board.word.load(Ordering::Acquire);
        if number == 0 {
            return;
        }
        task::futex_wait(&board.word, number);
    }
}
