//! The timestamps around a window.
//!
//! Under an instruction-counting QEMU the TSC advances by one an instruction, so the difference of
//! two stamps is the number of instructions executed between them, the stamps' own few included.

use core::arch::asm;

/// The code of a marker: a `nopl` with a displacement that nothing else uses. The recorder sees
/// every instruction and knows it by that (`plugin/recorder.c`). Markers stand outside the stamps.
macro_rules! marker_code {
    (begin) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x01, 0x4d, 0x50"
    };
    (end) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x4d, 0x50"
    };
    (path) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x03, 0x4d, 0x50"
    };
}
pub(crate) use marker_code;

/// Marks that the next path of the plan begins.
#[inline(always)]
pub fn mark_path() {
    // SAFETY: a nop.
    unsafe { asm!(marker_code!(path), options(nostack, preserves_flags)) };
}

/// The time-stamp counter, read where this call stands.
///
/// No fence: exact mode executes in order, and an `lfence` would be counted into every window.
#[inline(always)]
pub fn stamp() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter; CR4.TSD is clear on Linux unless a task asks for it.
    unsafe {
        // Not `nomem`, so that no access moves into a window or out of it.
        asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// Runs `code` in a window; returns its cost and its result.
#[inline(always)]
pub fn window<R>(code: impl FnOnce() -> R) -> (u64, R) {
    // SAFETY: a nop; not `nomem`, so that no access moves across it. The same at the end.
    unsafe { asm!(marker_code!(begin), options(nostack, preserves_flags)) };
    let begin = stamp();
    let result = code();
    let end = stamp();
    // SAFETY: as above.
    unsafe { asm!(marker_code!(end), options(nostack, preserves_flags)) };
    (end.wrapping_sub(begin), result)
}

/// Executes about `instructions` instructions in user mode, and nothing else.
///
/// Long straight blocks of `nop` rather than reads of the clock: an interpreter has next to
/// nothing to do for them, but must leave its translated code for a clock. A block has as many
/// instructions as QEMU translates in one piece (`CF_COUNT_MASK` less one), and lies in one page.
#[inline(never)]
pub fn busy(instructions: u64) {
    const BLOCK: u64 = 510;
    // SAFETY: counts a register down.
    unsafe {
        asm!(".balign 1024", "2:", ".fill {nops}, 1, 0x90", "dec {count}", "jnz 2b",
            nops = const BLOCK - 2,
            count = inout(reg) instructions / BLOCK + 1 => _, options(nostack, nomem));
    }
}
