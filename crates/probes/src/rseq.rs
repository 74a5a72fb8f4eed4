//! `+rseq`: a path as programs execute it since glibc 2.35, which registers an area for
//! restartable sequences in every thread (rseq(2); `Documentation/userspace-api/rseq.rst`). The
//! kernel then has more to do where a task returns to user mode after a switch or a signal.
//!
//! Proof: the call that registers succeeds, and the kernel puts the number of the CPU into the
//! area before that call returns. After the windows, the call that ends the registration succeeds:
//! the kernel refuses it unless this very area is registered, with this length and signature. A
//! partner is registered as well: a process inherits it, and proves that by registering the same
//! once more, which is refused as done already; a thread registers an area of its own.
//!
//! In which windows the kernel writes to the area is its own affair, and changed in Linux 6.19 and
//! 7.0.10: of an area of the original length, the check `rseq` tells whether it did in any.

use core::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::{
    arch::RSEQ_SIGNATURE,
    failure::{Failure, Outcome, prove, unsupported},
    probe::Probe,
    report::ProbeReport,
    sys::{self, errno, nr},
};

/// What the kernel offers, by the auxiliary vector; 0 where it does not tell.
static FEATURE_SIZE: AtomicUsize = AtomicUsize::new(0);

/// The length of the area until kernels offered more.
const ORIGINAL: usize = 32;
const UNREGISTER: usize = 1;
/// What the number of the CPU is before registration (`RSEQ_CPU_ID_UNINITIALIZED`).
const UNINITIALIZED: u32 = u32::MAX;
/// No CPU has this number.
const NOT_WRITTEN: u32 = 0x5a5a_5a5a;

/// Remembers the length that the kernel offers (`AT_RSEQ_FEATURE_SIZE`).
pub(crate) fn learn(feature_size: usize) {
    FEATURE_SIZE.store(feature_size, Relaxed);
}

/// How long an area a program registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// As glibc up to 2.40, tcmalloc and others have it.
    Original,
    /// As glibc has it from 2.41 on: all that the kernel offers.
    Offered,
}

impl Length {
    fn bytes(self) -> Result<usize, Failure> {
        let offered = FEATURE_SIZE.load(Relaxed);
        match self {
            Self::Original => Ok(ORIGINAL),
            Self::Offered if offered <= ORIGINAL => {
                unsupported!("this kernel offers no longer rseq area than {ORIGINAL} bytes")
            }
            Self::Offered if offered > ROOM => {
                unsupported!("this kernel's rseq area has {offered} bytes")
            }
            Self::Offered => Ok(offered),
        }
    }
}

/// Bytes that an area has room for: more than any kernel offers.
const ROOM: usize = 120;

/// `struct rseq`, and how much of it is registered. Its alignment is no less than a kernel asks for
/// (`AT_RSEQ_ALIGN`).
#[repr(C, align(128))]
pub(crate) struct Area {
    cpu_id_start: AtomicU32,
    cpu_id: AtomicU32,
    others: [AtomicU32; ROOM / 4 - 2],
    bytes: usize,
}

impl Area {
    pub(crate) const fn new(bytes: usize) -> Self {
        Self {
            cpu_id_start: AtomicU32::new(0),
            cpu_id: AtomicU32::new(UNINITIALIZED),
            others: [const { AtomicU32::new(0) }; ROOM / 4 - 2],
            bytes,
        }
    }

    /// Whether there is nothing to register.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn call(&self, flags: usize) -> sys::Ret {
        let place = core::ptr::from_ref(self) as usize;
        // SAFETY: the kernel reads and writes that many bytes of the area, through atomics as far
        // as Rust is concerned, until the caller ends the registration or its thread.
        unsafe { sys::checked(nr::RSEQ, [place, self.bytes, flags, RSEQ_SIGNATURE, 0, 0]) }
    }

    /// Registers it for the calling thread, which must stay in the caller's frame, or end, before
    /// the area is gone; or must call [`Self::end`].
    pub(crate) fn register(&self) -> Outcome {
        match self.call(0) {
            Ok(_) => {}
            Err(errno::ENOSYS) => {
                return unsupported!("rseq(2) is not in this kernel (CONFIG_RSEQ)");
            }
            Err(error) => return unsupported!("rseq(2) is refused (error {error})"),
        }
        let (cpu, own) = (self.cpu_id.load(SeqCst), sys::current_cpu());
        prove!(cpu == own, "rseq(2) succeeded and left CPU {cpu:#x} in its area, not {own}");
        Ok(())
    }

    fn end(&self) -> Outcome {
        match self.call(UNREGISTER) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::broken(format_args!(
                "rseq was not registered after the windows (error {error})"
            ))),
        }
    }
}

/// What a probe's partner is to be, as the probe is.
#[derive(Clone, Copy)]
pub(crate) struct Registration {
    /// Of the probe's area; 0 if it is not registered.
    place: usize,
}

impl Registration {
    pub(crate) fn of(report: &ProbeReport) -> Self {
        Self { place: report.rseq() }
    }

    /// Whether the calling process, forked by the probe, has inherited it.
    pub(crate) fn is_inherited(self) -> bool {
        self.area().is_none_or(|area| area.call(0) == Err(errno::EBUSY))
    }

    /// The length of the area; 0 if there is none.
    pub(crate) fn bytes(self) -> usize {
        self.area().map_or(0, |area| area.bytes)
    }

    fn area(&self) -> Option<&Area> {
        // SAFETY: null, or in the frame of `registered`, which a forked process has too; neither
        // that nor the probe's own leaves it before the probe ends.
        unsafe { (self.place as *const Area).as_ref() }
    }
}

/// Executes another path with the calling thread registered.
pub(crate) fn registered(report: &mut ProbeReport, length: Length, probe: Probe) -> Outcome {
    let area = Area::new(length.bytes()?);
    area.register()?;
    report.set_rseq(core::ptr::from_ref(&area) as usize);
    // Linux 7.0.10 and later kill a program that writes to what it may only read, in areas that are
    // longer than the original.
    let watched = length == Length::Original;
    if watched {
        area.cpu_id.store(NOT_WRITTEN, SeqCst);
    }
    let outcome = probe(report);
    let (cpu, own) = (area.cpu_id.load(SeqCst), sys::current_cpu());
    report.set_rseq(0);
    let ended = area.end();
    outcome?;
    ended?;
    let seen = match (watched, cpu) {
        (false, _) => "",
        (true, NOT_WRITTEN) => ", not written while it was measured",
        (true, _) => ", written while it was measured",
    };
    report.check("rseq", format_args!("{} bytes{seen}", area.bytes));
    let right = cpu == own || watched && cpu == NOT_WRITTEN;
    prove!(right, "the kernel left CPU {cpu:#x} in the rseq area, not {own}");
    Ok(())
}
