//! What libc would have brought: the entry point, memory functions, a panic handler. The program
//! that includes it goes on in its `enter`.
//!
//! The compiler may emit calls to the memory functions for any copy; they are written with
//! instructions of the architecture's, which it can't turn back into calls to themselves.

#[path = "arch/x86_64/memory.rs"]
mod code;

use core::arch::naked_asm;
use core::panic::PanicInfo;

use pathmeter_probes::{sys, vdso};

use super::enter;
use code::{copy_downwards, copy_upwards, fill, start_code};

/// Most arguments that are looked at.
const ARGUMENTS: usize = 5;

/// The kernel enters here with the stack pointer at argc and no return address (System V ABI).
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(start_code!(), begin = sym begin)
}

/// Collects the arguments, learns where the vDSO is, goes on in [`enter`].
extern "C" fn begin(stack: *const usize) -> ! {
    let mut arguments: [&[u8]; ARGUMENTS] = [&[]; ARGUMENTS];
    // SAFETY: the stack holds argc, argv with its null, envp with its null, then the auxiliary
    // vector, all readable and never changed.
    unsafe {
        let count = (*stack).min(ARGUMENTS);
        for (index, argument) in arguments.iter_mut().take(count).enumerate() {
            let text = *stack.add(1 + index) as *const u8;
            *argument = core::slice::from_raw_parts(text, length(text));
        }
        let mut entry = stack.add(1 + *stack + 1);
        while *entry != 0 {
            entry = entry.add(1);
        }
        vdso::learn(entry.add(1).cast());
        enter(&arguments[..count])
    }
}

/// # Safety
/// `text` must be NUL-terminated.
unsafe fn length(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: not past the NUL.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // The exit code tells the waiting process; a message would need code that may panic itself.
    sys::exit(101)
}

/// Named by core's unwind tables; never called, since panics abort.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// # Safety
/// As C's memcpy; the same for those below with theirs.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller gives `count` valid bytes on both sides.
    unsafe { copy_upwards(to, from, count) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= count {
        // SAFETY: copying upwards never overwrites what is still to be read.
        return unsafe { memcpy(to, from, count) };
    }
    // SAFETY: as above; the destination overlaps the source's end, so it is copied downwards.
    unsafe { copy_downwards(to, from, count) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller gives `count` writable bytes.
    unsafe { fill(to, value, count) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    for index in 0..count {
        // SAFETY: the caller gives `count` readable bytes on both sides. Volatile, so that the loop
        // is not recognised and replaced by a call to this function.
        let (a, b) = unsafe { (a.add(index).read_volatile(), b.add(index).read_volatile()) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    // SAFETY: the same contract.
    unsafe { memcmp(a, b, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    // SAFETY: the same contract.
    unsafe { length(text) }
}
