//! The markers and the readings of the clock around a run of the user's program.

use core::arch::asm;

use pathmeter_probes::{clock, sys::nr};

/// The begin marker, the clock, which is written to `place`, and execve(2) with these arguments;
/// its raw result, if it returns.
///
/// # Safety
/// The arguments must be execve's, and `place` writable without a fault.
#[allow(clippy::inline_always, reason = "a call after the marker would be counted")]
#[inline(always)]
pub(crate) unsafe fn marked_execve(
    [executable, arguments, environment]: [usize; 3],
    place: *mut u64,
) -> usize {
    let result;
    // SAFETY: as the contract; the marker is a nop and the clock may be read.
    unsafe {
        asm!(clock::marker_code!(program_begin),
            "rdtsc",
            "shl rdx, 32",
            "or rax, rdx",
            "mov qword ptr [r8], rax",
            "mov eax, {execve}",
            "mov rdx, r9",
            "syscall",
            execve = const nr::EXECVE,
            in("rdi") executable, in("rsi") arguments, in("r9") environment,
            in("r8") place, out("rax") result, out("rdx") _,
            lateout("rcx") _, lateout("r11") _);
    }
    result
}

/// The end marker, and the clock after it: as far from it as after the begin marker.
#[allow(clippy::inline_always, reason = "a call before the marker would be counted")]
#[inline(always)]
pub(crate) fn marked_end() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: a nop, and the clock may be read.
    unsafe {
        asm!(clock::marker_code!(program_end), "rdtsc", out("rax") low, out("rdx") high,
            options(nostack));
    }
    high << 32 | low
}
