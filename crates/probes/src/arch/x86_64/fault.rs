//! Code around a fault that is a signal.

use core::arch::naked_asm;

/// Writes to a byte, by its first instruction: what stands on the stack is where it returns to.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn store(place: *mut u8) {
    naked_asm!("mov byte ptr [rdi], 1", "ret")
}

/// Has [`store`], whose first instruction a signal has interrupted, return.
///
/// # Safety
/// `context` must be what the kernel gave to the signal's handler (`struct ucontext`).
pub(crate) unsafe fn return_from_store(context: *mut u64) {
    /// Flags, link and stack, five words, are before `struct sigcontext`, which begins with the
    /// fifteen registers but for the stack pointer.
    const STACK_POINTER: usize = 5 + 15;
    const INSTRUCTION_POINTER: usize = STACK_POINTER + 1;
    // SAFETY: as the contract; the word on the interrupted stack is the return address.
    unsafe {
        let stack = context.add(STACK_POINTER);
        let back = (*stack as *const u64).read();
        context.add(INSTRUCTION_POINTER).write(back);
        *stack += size_of::<u64>() as u64;
    }
}
