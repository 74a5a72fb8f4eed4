//! Entry and memory functions: a program's code before and below what the compiler makes. `rep`
//! string instructions are never turned back into calls.

use core::arch::asm;

/// The code at the entry: calls `begin` with the stack pointer that the kernel left.
macro_rules! start_code {
    () => {
        "xor ebp, ebp
        mov rdi, rsp
        and rsp, -16
        call {begin}
        ud2"
    };
}
pub(crate) use start_code;

/// Copies from the first byte to the last.
///
/// # Safety
/// As C's memcpy, but that the two may overlap if `to` is below `from`.
#[allow(clippy::inline_always, reason = "it is all that memcpy does")]
#[inline(always)]
pub(crate) unsafe fn copy_upwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: as the contract; DF is clear by the ABI.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
}

/// Copies from the last byte to the first.
///
/// # Safety
/// As C's memcpy, but that the two may overlap if `to` is above `from`.
#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(crate) unsafe fn copy_downwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: as the contract; DF is set for just that instruction.
    unsafe {
        asm!("std", "rep movsb", "cld",
            inout("rcx") count => _, inout("rdi") to.wrapping_add(count).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(count).wrapping_sub(1) => _, options(nostack));
    }
}

/// # Safety
/// As C's memset.
#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(crate) unsafe fn fill(to: *mut u8, value: i32, count: usize) {
    // SAFETY: as the contract; DF is clear by the ABI.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("eax") value,
            options(nostack, preserves_flags));
    }
}
