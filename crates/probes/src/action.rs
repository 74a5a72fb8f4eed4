//! `signal.*`: what a program does about signals, and a fault that is one.
//!
//! Proof: what is installed, or masked, is what the next call of the kind says was there; the
//! handler of a fault ran once in each call, and the page kept its content.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{
    arch::fault,
    clock,
    failure::{Failure, Outcome, prove, tried},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    signal::restorer,
    sys::{self, flag, nr},
    window,
};

pub(crate) const PROBES: Probes = &[
    row("signal.install", Windows(13), "rt_sigaction of a handler", install),
    row(
        "signal.mask",
        Windows(13),
        "rt_sigprocmask that blocks a signal, then one that unblocks it",
        mask,
    ),
    row(
        "signal.fault",
        Windows(13),
        "a write to a page that may only be read, its signal's handler, and back",
        denied,
    ),
];

const SIGUSR1: usize = 10;
const SIGSEGV: usize = 11;
const SIGUSR2: usize = 12;
const SA_SIGINFO: usize = 4;
const SA_RESTORER: usize = 0x0400_0000;

/// `struct sigaction` as the kernel has it (not libc's).
#[repr(C)]
struct Action {
    handler: extern "C" fn(i32, usize, *mut u64),
    flags: usize,
    restorer: unsafe extern "C" fn(),
    mask: u64,
}

const _: () = assert!(size_of::<Action>() == 32);

impl Action {
    const fn of(handler: extern "C" fn(i32, usize, *mut u64), mask: u64) -> Self {
        Self { handler, flags: SA_SIGINFO | SA_RESTORER, restorer, mask }
    }

    /// Installs it for `signal`; the mask of what was installed before.
    #[inline(always)]
    fn install(&self, signal: usize) -> Result<u64, i32> {
        let mut before = [0_u64; size_of::<Self>() / 8];
        let (new, old) = (core::ptr::from_ref(self) as usize, before.as_mut_ptr() as usize);
        // SAFETY: the kernel reads one `struct sigaction` and writes another; handler and restorer
        // are static code.
        unsafe { sys::checked(nr::RT_SIGACTION, [signal, new, old, SIGSET, 0, 0]) }?;
        Ok(before[3])
    }
}

/// Bytes of a set of signals.
const SIGSET: usize = 8;

static FAULTS: AtomicU64 = AtomicU64::new(0);

/// The handler of a fault: the store that faulted is left undone.
extern "C" fn skip(_signal: i32, _info: usize, context: *mut u64) {
    FAULTS.fetch_add(1, Relaxed);
    // SAFETY: the kernel's own context, of the only code that faults here.
    unsafe { fault::return_from_store(context) };
}

fn install(report: &mut ProbeReport) -> Outcome {
    // Two actions that differ, in turn.
    let [one, other] = [SIGUSR1, SIGUSR2].map(|also| Action::of(skip, 1 << (also - 1)));
    tried("rt_sigaction", one.install(SIGUSR1).map(|_| 0))?;
    let (actions, mut turn) = ([&one, &other], 0);
    window::each(report, || {
        let (before, next) = (actions[turn], actions[turn ^ 1]);
        turn ^= 1;
        next.install(SIGUSR1) == Ok(before.mask)
    })
}

fn mask(report: &mut ProbeReport) -> Outcome {
    const BLOCK: usize = 0;
    const UNBLOCK: usize = 1;
    let set = 1_u64 << (SIGUSR1 - 1);
    let change = |how| {
        let mut before = 0_u64;
        let (set, old) = (&raw const set as usize, &raw mut before as usize);
        // SAFETY: the kernel reads one set of signals and writes another.
        unsafe { sys::checked(nr::RT_SIGPROCMASK, [how, set, old, SIGSET, 0, 0]) }?;
        Ok::<_, i32>(before)
    };
    window::each(report, || {
        let (first, second) = (change(BLOCK), change(UNBLOCK));
        first.is_ok_and(|before| before & set == 0) && second.is_ok_and(|now| now & set == set)
    })
}

fn denied(report: &mut ProbeReport) -> Outcome {
    let page = read_only_page()?;
    let action = Action::of(skip, 0);
    tried("rt_sigaction", action.install(SIGSEGV).map(|_| 0))?;
    report.execute(|| {
        let before = FAULTS.load(Relaxed);
        // SAFETY: the store faults, and the handler returns in its place.
        let (cost, ()) = clock::window(|| unsafe { fault::store(page) });
        let faults = FAULTS.load(Relaxed) - before;
        // SAFETY: a page of this process's, which may be read.
        let seen = unsafe { page.read_volatile() };
        prove!(faults == clock::calls() && seen == 0, "{faults} faults, the byte is {seen:#x}");
        Ok(cost)
    })
}

fn read_only_page() -> Result<*mut u8, Failure> {
    const PAGE: usize = 4096;
    let page = tried("mmap", sys::map(PAGE, flag::MAP_PRIVATE))?;
    // SAFETY: nobody has a reference to the page.
    let protected = unsafe { sys::checked(nr::MPROTECT, [page, PAGE, flag::PROT_READ, 0, 0, 0]) };
    tried("mprotect", protected)?;
    Ok(page as *mut u8)
}
