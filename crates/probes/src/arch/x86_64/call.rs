//! How user space enters the kernel, and what becomes of a new task there.

use core::arch::asm;

use super::nr;

/// The code of a system call without arguments that does not return, for where there is no stack
/// yet or none any more.
#[macro_export]
macro_rules! call_code {
    () => {
        "mov eax, {number}
        syscall
        ud2"
    };
}
pub(crate) use call_code;

/// The `syscall` instruction with six arguments; the raw result.
///
/// # Safety
/// The caller vouches for what the kernel does on its behalf: pointers among `args` must be valid
/// for the accesses that call `number` makes, and memory that Rust owns must not be unmapped by it.
#[inline(always)]
pub unsafe fn call(number: usize, args: [usize; 6]) -> usize {
    let result;
    // SAFETY: as the function's contract; rcx and r11 are what the instruction clobbers.
    unsafe {
        asm!("syscall", inlateout("rax") number => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// clone(2) of a task that begins `room` bytes below the caller's stack pointer with
/// `entry(argument)`; the raw result.
///
/// # Safety
/// As [`call`]; the stack there must be nobody's, and `argument` what `entry` expects.
#[inline(always)]
pub(crate) unsafe fn clone_below<const ROOM: usize>(
    flags: usize,
    entry: extern "C" fn(usize) -> !,
    argument: usize,
) -> usize {
    let result;
    // SAFETY: as the contract; the child keeps entry and argument in registers that the kernel
    // preserves, and leaves this asm only through the call that never returns. The stack is 16-byte
    // aligned at the call.
    unsafe {
        asm!("lea rsi, [rsp - {room}]",
            "and rsi, -16",
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            room = const ROOM,
            inlateout("rax") nr::CLONE => result,
            in("rdi") flags, out("rsi") _,
            in("rdx") 0, in("r10") 0, in("r8") 0, in("r12") argument, in("r13") entry,
            lateout("rcx") _, lateout("r11") _);
    }
    result
}

/// clone(2) of a task that begins on the stack below `top` with `entry(argument)`, and whose number
/// the kernel writes to `number`; the raw result.
///
/// # Safety
/// As [`call`]; the stack must be nobody's, and `argument` what `entry` expects.
#[inline(always)]
pub(crate) unsafe fn clone_onto(
    top: usize,
    flags: usize,
    number: *mut u32,
    entry: extern "C" fn(usize) -> !,
    argument: usize,
) -> usize {
    let result;
    // SAFETY: as the contract; the child keeps entry and argument in callee-saved registers that
    // the kernel preserves, and leaves this asm only through the call that never returns. The
    // parent goes on after it. The stack is 16-byte aligned at the call.
    unsafe {
        asm!("syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") nr::CLONE => result,
            in("rdi") flags, in("rsi") top,
            in("rdx") number, in("r10") number, in("r8") 0,
            in("r12") argument, in("r13") entry,
            lateout("rcx") _, lateout("r11") _);
    }
    result
}
