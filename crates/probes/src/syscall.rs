//! `syscall.*`: into the kernel and back, with as little as possible in between.
//!
//! Proof: getppid must return the number that the probe's parent knows itself by.

use core::arch::asm;

use crate::{
    Failure, Outcome, Path, Report, clock, prove,
    sys::{self, nr},
    task::{self, Ended},
    unsupported,
};

pub(crate) static PATHS: &[Path] = &[
    Path {
        name: "syscall.getppid",
        about: "getppid(2) by the syscall instruction",
        windows: 51,
        idles: false,
        probe: getppid,
    },
    Path {
        name: "syscall.getppid-int80",
        about: "getppid(2) by int 0x80 from 64-bit code",
        windows: 51,
        idles: false,
        probe: getppid_int80,
    },
];

/// getppid in the 32-bit table.
const GETPPID_32: usize = 64;

fn getppid(report: &mut Report) -> Outcome {
    let parent = report.parent();
    report.walk(|| {
        // SAFETY: takes no pointer.
        let (cost, raw) = clock::window(|| unsafe { sys::call(nr::GETPPID, [0; 6]) });
        prove!(raw == parent, "getppid returned {raw}, not the parent's number {parent}");
        Ok(cost)
    })
}

fn getppid_int80(report: &mut Report) -> Outcome {
    supported()?;
    let parent = report.parent();
    report.walk(|| {
        // SAFETY: takes no pointer.
        let (cost, raw) = clock::window(|| unsafe { int80(GETPPID_32, [0; 3]) });
        prove!(raw == parent, "getppid returned {raw}, not the parent's number {parent}");
        Ok(cost)
    })
}

/// Whether int 0x80 is an entry of this kernel. A trial, since it kills the caller if it isn't.
pub(crate) fn supported() -> Result<(), Failure> {
    // SAFETY: takes no pointer.
    match task::trial(|| usize::from(unsafe { int80(GETPPID_32, [0; 3]) } == 0)) {
        Ok(Ended::Exit(0)) => Ok(()),
        Ok(Ended::Signal(signal)) => {
            unsupported!(
                "int 0x80 is no entry of this kernel (signal {signal}; CONFIG_IA32_EMULATION)"
            )
        }
        other => unsupported!("int 0x80 did not work here ({other:?})"),
    }
}

/// `int 0x80` with three arguments, by the 32-bit table's numbers; the raw, sign-extended result.
///
/// # Safety
/// As [`sys::call`]; pointers must lie below 4 GiB.
#[inline(always)]
pub(crate) unsafe fn int80(number: usize, args: [usize; 3]) -> usize {
    let result;
    // SAFETY: rbx is reserved by the compiler, so it is exchanged around the call; the entry zeroes
    // r8 to r11 on some kernels.
    unsafe {
        asm!("xchg {first}, rbx", "int 0x80", "xchg {first}, rbx",
            first = inout(reg) args[0] => _, inlateout("rax") number => result,
            in("rcx") args[1], in("rdx") args[2],
            lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _,
            options(nostack));
    }
    result
}
