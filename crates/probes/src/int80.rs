//! `int 0x80`: the 32-bit entry that 64-bit code can take too.

use core::arch::asm;

use crate::{
    failure::{Failure, unsupported},
    sys::nr32,
    task::{self, Ended},
};

/// Whether int 0x80 is an entry of this kernel. A trial, since it kills the caller if it isn't.
pub(crate) fn supported() -> Result<(), Failure> {
    // SAFETY: takes no pointer.
    match task::trial(|| usize::from(unsafe { int80(nr32::GETPPID, [0; 3]) } == 0)) {
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
/// As [`crate::sys::call`]; pointers must lie below 4 GiB.
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
