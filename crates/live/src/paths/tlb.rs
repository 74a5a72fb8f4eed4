//! `tlb.*`: a protection that is taken from a page while a thread of the process executes on
//! another CPU, which has to be told.
//!
//! Proof: the calls succeed, and the thread has executed during each window; one without it is
//! executed again.

use pathmeter_probes::{
    Outcome, Probe, ProbeReport,
    sys::{self, flag, nr},
    task::{self, Board},
    tried, window,
};

use crate::{
    failure::Failure,
    given,
    partner::{await_first_turn, second_cpu},
};

pub(crate) const PROBES: &[(&str, Probe)] = &[("tlb.shootdown", shootdown)];

/// The thread's life: it ends with the process.
extern "C" fn spin(board: usize) -> ! {
    // SAFETY: the address of a board, which lives as long as the process.
    let board = unsafe { &*(board as *const Board) };
    if given::second_cpu().is_some_and(|cpu| task::pin(cpu).is_ok()) {
        loop {
            board.take_turn();
        }
    }
    task::exit_thread()
}

fn start() -> Result<&'static Board, Failure> {
    let cpu = second_cpu()?;
    let (board, stack) = (Board::new()?, task::thread_stack()?);
    // SAFETY: a fresh stack; the board lives until the process ends, and the thread with it.
    let thread =
        unsafe { task::spawn(stack, &board.word, spin, core::ptr::from_ref(board) as usize) };
    tried("clone of a thread", thread)?;
    await_first_turn(board, cpu)?;
    Ok(board)
}

/// Returns when the thread executes: another task may have its CPU for a while, a real-time task up
/// to a second.
fn await_turn(board: &Board) -> Result<(), Failure> {
    const TURN: usize = 1000;
    const PAUSE: u64 = 100_000;
    const LOOKS: u32 = 8000;
    for _ in 0..LOOKS {
        let before = board.turns();
        if (0..TURN).any(|_| board.turns() > before) {
            return Ok(());
        }
        task::sleep(PAUSE)?;
    }
    broken("the thread does not get its CPU")
}

fn broken<T>(reason: &str) -> Result<T, Failure> {
    Err(Failure::broken(format_args!("{reason}")))
}

fn shootdown(report: &mut ProbeReport) -> Outcome {
    const PAGE: usize = 4096;
    const ATTEMPTS: u32 = 8;
    task::fifo()?;
    let board = start()?;
    let place = tried("mmap", sys::map(PAGE, flag::MAP_PRIVATE))?;
    // SAFETY: the page is this probe's, and writable when it is written.
    unsafe { (place as *mut u8).write_volatile(1) };
    // SAFETY: as above.
    let protect = |how| unsafe { sys::call(nr::MPROTECT, [place, PAGE, how, 0, 0, 0]) };
    let mut once = || protect(flag::PROT_READ) == 0 && protect(flag::PROT_READ_WRITE) == 0;
    report.execute(|| {
        for _ in 0..ATTEMPTS {
            await_turn(board)?;
            let before = board.turns();
            let cost = window::one(&mut once)?;
            if board.turns() > before {
                return Ok(cost);
            }
        }
        broken("the thread was interrupted in each window")
    })
}
