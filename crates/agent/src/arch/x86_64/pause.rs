//! The instructions of a pause: the write to the port, the loop after it and the way out of it.

use core::arch::asm;

use super::port::{CONTROL, PAUSE};

/// The code of a handler that ends the loop of [`pause_guest_and_loop`].
///
/// rdx = `struct ucontext`: 40 bytes of header, then the registers, of which the instruction
/// pointer is the 17th (Linux `arch/x86/include/uapi/asm/sigcontext.h`). The jump has two bytes.
macro_rules! leave_loop_code {
    () => {
        "add qword ptr [rdx + 40 + 16 * 8], 2
        ret"
    };
}
pub(crate) use leave_loop_code;

/// Writes to the port that pauses the guest, and executes a jump to itself from then on.
///
/// # Safety
/// The caller holds the I/O privilege, and has a signal coming whose handler ends the loop.
#[allow(clippy::inline_always, reason = "the code of its caller is what it was")]
#[inline(always)]
pub(crate) unsafe fn pause_guest_and_loop() {
    // SAFETY: as the contract; the device at the port touches no memory.
    unsafe { asm!("out dx, al", "2: jmp 2b", in("dx") CONTROL as u16, in("al") PAUSE) };
}

/// Writes to the port that pauses the guest; the caller holds the I/O privilege.
pub(crate) fn pause_guest() {
    // SAFETY: the instruction touches no memory, and the device at the port none of ours.
    unsafe { asm!("out dx, al", in("dx") CONTROL as u16, in("al") PAUSE, options(nostack)) };
}
