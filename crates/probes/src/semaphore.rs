//! `sem.*` and `futex.*`: semaphores of System V between two tasks on one CPU, and calls of
//! futex(2) that find nothing to do.
//!
//! Proof: the partner took as many turns as there were calls; nobody was woken; who should not
//! sleep is told so. On a live host the semaphores are made in an IPC namespace that ends with the
//! program.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::{
    clock,
    failure::{Failure, Outcome, prove, tried, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, Ret, flag, nr},
    task::{self, Board, Partner},
    window,
};

pub(crate) const PROBES: Probes = &[
    row(
        "sem.round-trip",
        Windows(13),
        "semop that lets a task go on, and one that waits for its answer",
        semaphores,
    ),
    row("futex.wake-none", Windows(13), "FUTEX_WAKE of a word that nobody waits for", wake_none),
    row(
        "futex.wait-eagain",
        Windows(13),
        "FUTEX_WAIT for a value that the word does not have",
        wait_eagain,
    ),
];

/// Whether semaphores end with the program, or with its guest.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Says whether they do: else there are none.
pub fn set_semaphores_end(end: bool) {
    ENDS.store(end, Relaxed);
}

/// Two semaphores, removed when this is dropped.
struct Set {
    id: usize,
}

impl Set {
    fn new() -> Result<Self, Failure> {
        const IPC_PRIVATE: usize = 0;
        const IPC_CREAT: usize = 0o1000;
        if !ENDS.load(Relaxed) {
            return unsupported!("there is no IPC namespace for the semaphores to end with");
        }
        // SAFETY: takes no pointer.
        let made =
            unsafe { sys::checked(nr::SEMGET, [IPC_PRIVATE, 2, IPC_CREAT | 0o600, 0, 0, 0]) };
        Ok(Self { id: tried("semget", made)? })
    }

    /// Adds `by` to the semaphore with this number; sleeps where that would make it negative.
    #[inline(always)]
    fn add(&self, number: u16, by: i16) -> Ret {
        /// `struct sembuf`.
        #[repr(C)]
        struct Operation {
            number: u16,
            by: i16,
            flags: i16,
        }
        let operation = Operation { number, by, flags: 0 };
        // SAFETY: the kernel reads one `struct sembuf`.
        unsafe { sys::checked(nr::SEMOP, [self.id, &raw const operation as usize, 1, 0, 0, 0]) }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        const IPC_RMID: usize = 0;
        // SAFETY: takes no pointer.
        let _ = unsafe { sys::checked(nr::SEMCTL, [self.id, 0, IPC_RMID, 0, 0, 0]) };
    }
}

const THERE: u16 = 0;
const BACK: u16 = 1;

fn semaphores(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let (board, set) = (Board::new()?, Set::new()?);
    let _partner = Partner::process(|| {
        while set.add(THERE, -1).is_ok() {
            board.take_turn();
            let _ = set.add(BACK, 1);
        }
    })?;
    report.execute(|| {
        let before = board.turns();
        let (cost, last) = clock::window(|| set.add(THERE, 1).and_then(|_| set.add(BACK, -1)));
        let taken = board.turns() - before;
        let right = last == Ok(0) && taken == clock::calls();
        prove!(right, "semop gave {last:?}, and the partner took {taken} turns");
        Ok(cost)
    })
}

/// `FUTEX_PRIVATE_FLAG`: only one process uses the futex.
const PRIVATE: usize = 128;

/// One that nobody sleeps on.
fn futex(operation: usize, argument: usize) -> impl Fn() -> Ret {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let args = [WORD.as_ptr() as usize, operation | PRIVATE, argument, 0, 0, 0];
    // SAFETY: the kernel reads the word, and uses its address.
    move || unsafe { sys::checked(nr::FUTEX, args) }
}

fn wake_none(report: &mut ProbeReport) -> Outcome {
    let wake = futex(flag::FUTEX_WAKE, 1);
    tried("futex", wake())?;
    window::each(report, || wake() == Ok(0))
}

fn wait_eagain(report: &mut ProbeReport) -> Outcome {
    const EAGAIN: i32 = 11;
    /// A value that the word, which is 0, does not have.
    const EXPECTED: usize = 1;
    let wait = futex(flag::FUTEX_WAIT, EXPECTED);
    match wait() {
        Err(EAGAIN) => window::each(report, || wait() == Err(EAGAIN)),
        other => unsupported!("futex(2) does not refuse to wait ({other:?})"),
    }
}
