//! Single calls of several groups: one call of the kernel, or one and its opposite.
//!
//! Proof: each call returns what it should; random bytes overwrite what stood there; the area of
//! rseq(2) has the CPU's number while it is registered.

use core::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};

use crate::{
    failure::{Outcome, tried},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, nr},
    window,
};

pub(crate) const PROBES: Probes = &[
    row("getrandom.16", Windows(13), "getrandom of 16 bytes", getrandom),
    row(
        "rseq.register-unregister",
        Windows(13),
        "rseq that registers an area, then one that ends that",
        rseq,
    ),
    row(
        "membarrier.private-expedited",
        Windows(13),
        "membarrier of a process without another thread",
        membarrier,
    ),
    row("pidfd.open-close", Windows(13), "pidfd_open of the caller, then close", pidfd),
];

fn getrandom(report: &mut ProbeReport) -> Outcome {
    const NONBLOCK: usize = 1;
    let mut random = [0_u64; 2];
    let place = random.as_mut_ptr();
    // SAFETY: the kernel writes 16 bytes.
    let call = |flags| unsafe { sys::call(nr::GETRANDOM, [place as usize, 16, flags, 0, 0, 0]) };
    // A kernel that has gathered too little randomness yet would have the caller wait for it.
    tried("getrandom without waiting", sys::sorted(call(NONBLOCK)))?;
    let once = || call(0);
    let mut before = [0; 2];
    window::each(report, || {
        // SAFETY: as above; nobody else uses the words.
        let (raw, now) = (once(), unsafe { place.cast::<[u64; 2]>().read_volatile() });
        let right = raw == 16 && now != before;
        before = now;
        right
    })
}

/// `struct rseq` as it was first.
#[repr(C, align(32))]
struct Area([AtomicU32; 8]);

fn rseq(report: &mut ProbeReport) -> Outcome {
    /// Any number; that of the registration must be that of its end.
    const SIGNATURE: usize = 0x5305_3053;
    const UNREGISTER: usize = 1;
    const UNINITIALIZED: u32 = u32::MAX;
    let area = Area([const { AtomicU32::new(0) }; 8]);
    let cpu = &area.0[1];
    cpu.store(UNINITIALIZED, Relaxed);
    let place = &raw const area as usize;
    let call = |flags| {
        // SAFETY: the kernel writes to the area until its registration ends.
        unsafe { sys::checked(nr::RSEQ, [place, size_of::<Area>(), flags, SIGNATURE, 0, 0]) }
    };
    tried("rseq", call(0).and_then(|_| call(UNREGISTER)))?;
    let own = sys::current_cpu();
    window::each(report, || {
        let registered = call(0);
        let seen = cpu.load(SeqCst);
        registered.and(call(UNREGISTER)).is_ok() && seen == own
    })
}

fn membarrier(report: &mut ProbeReport) -> Outcome {
    const PRIVATE_EXPEDITED: usize = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;
    // SAFETY: takes no pointer.
    let call = |command| unsafe { sys::checked(nr::MEMBARRIER, [command, 0, 0, 0, 0, 0]) };
    tried("membarrier", call(REGISTER_PRIVATE_EXPEDITED))?;
    tried("membarrier", call(PRIVATE_EXPEDITED))?;
    window::each(report, || call(PRIVATE_EXPEDITED) == Ok(0))
}

fn pidfd(report: &mut ProbeReport) -> Outcome {
    let own = tried("getpid", sys::getpid())?;
    // SAFETY: takes no pointer.
    let once =
        || unsafe { sys::checked(nr::PIDFD_OPEN, [own, 0, 0, 0, 0, 0]) }.and_then(sys::close);
    tried("pidfd_open", once())?;
    window::each(report, || once() == Ok(0))
}
