//! `signal.*`: a signal to oneself, its handler, and back.
//!
//! Proof: the handler ran once in each window, before kill returned.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::{
    arch::call_code,
    clock,
    failure::{Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    rseq::{
        self,
        Length::{Offered, Original},
    },
    sys::{self, nr},
};

pub(crate) const PROBES: Probes = &[
    row("signal.deliver", Windows(51), "kill(2) of oneself, handler, return from it", deliver),
    row("signal.deliver+rseq", Windows(51), "the same, registered for rseq", |report| {
        rseq::registered(report, Original, deliver)
    }),
    row(
        "signal.deliver+rseq-offered",
        Windows(51),
        "the same, as long as the kernel offers",
        |report| rseq::registered(report, Offered, deliver),
    ),
];

const SIGUSR1: usize = 10;
/// The action has a restorer, which some architectures' kernels insist on.
const SA_RESTORER: usize = 0x0400_0000;

/// `struct sigaction` as the kernel has it (not libc's).
#[repr(C)]
struct Action {
    handler: extern "C" fn(i32),
    flags: usize,
    restorer: unsafe extern "C" fn(),
    mask: u64,
}

const _: () = assert!(size_of::<Action>() == 32);

static DELIVERED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_signal: i32) {
    DELIVERED.store(DELIVERED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Where the handler returns to: the stack pointer stands at the signal frame.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn restorer() {
    naked_asm!(call_code!(), number = const nr::RT_SIGRETURN)
}

fn deliver(report: &mut ProbeReport) -> Outcome {
    let action = Action { handler, flags: SA_RESTORER, restorer, mask: 0 };
    let place = &raw const action as usize;
    // SAFETY: the kernel reads one `struct sigaction`; handler and restorer are static code.
    if let Err(error) = unsafe { sys::checked(nr::RT_SIGACTION, [SIGUSR1, place, 0, 8, 0, 0]) } {
        return unsupported!("no signal handler (rt_sigaction: error {error})");
    }
    let own = sys::getpid().unwrap_or(0);
    report.execute(|| {
        let before = DELIVERED.load(Ordering::Relaxed);
        let (cost, raw) = clock::window(|| {
            // SAFETY: a signal to this process, whose handler is installed.
            unsafe { sys::call(nr::KILL, [own, SIGUSR1, 0, 0, 0, 0]) }
        });
        let delivered = DELIVERED.load(Ordering::Relaxed) - before;
        prove!(
            raw == 0 && delivered == clock::calls(),
            "kill returned {raw:#x}, the handler ran {delivered} times"
        );
        Ok(cost)
    })
}
