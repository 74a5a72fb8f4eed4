//! `int 0x80`: the 32-bit entry that 64-bit code can take too, and a stack for those who do.

use core::arch::asm;

use crate::{
    arch::{MAP_32BIT, nr32},
    failure::{Failure, Outcome, broken, unsupported},
    sys::{self, flag},
    task::{self, Ended},
};

/// What a system-call filter kills with (Linux `Documentation/userspace-api/seccomp_filter.rst`).
const SIGSYS: u32 = 31;

/// Whether int 0x80 is an entry of this kernel. A trial, since it kills the caller if it isn't.
pub(crate) fn supported() -> Result<(), Failure> {
    // SAFETY: takes no pointer.
    match task::trial(|| usize::from(unsafe { int80(nr32::GETPPID, [0; 3]) } == 0)) {
        Ok(Ended::Exit(0)) => Ok(()),
        Ok(Ended::Signal(SIGSYS)) => {
            unsupported!("a filter of system calls kills who takes int 0x80 (SIGSYS)")
        }
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

/// Bytes of the stack of [`on_low_stack`]: many times what windows take.
const STACK: usize = 64 << 10;

/// Runs `body` on a stack below 4 GiB, as a 32-bit program's is.
///
/// Some kernels need it: until 5.15 Linux converts a structure of a 32-bit call just below the
/// caller's stack, and takes its pointer to have 32 bits (5.10 `arch/x86/include/asm/compat.h`:
/// `arch_compat_alloc_user_space`). With any other stack the call fails with EFAULT.
pub(crate) fn on_low_stack<F: FnOnce() -> Outcome>(body: F) -> Outcome {
    let bottom = sys::map(STACK, flag::MAP_PRIVATE | MAP_32BIT).map_err(|error| {
        Failure::unsupported(format_args!("no stack below 4 GiB (mmap: error {error})"))
    })?;
    let mut call = Call { body: Some(body), outcome: None };
    // SAFETY: the stack is ours alone and never unmapped, its top aligned to a page. `run` follows
    // the C ABI, so that r12 still holds the old stack after it, and gets the call that it takes.
    unsafe {
        asm!("mov r12, rsp", "mov rsp, {top}", "call {run}", "mov rsp, r12",
            top = in(reg) bottom + STACK, run = in(reg) run::<F>, in("rdi") &raw mut call,
            out("r12") _, clobber_abi("C"));
    }
    call.outcome.unwrap_or_else(|| broken!("nothing ran on the low stack"))
}

/// What runs on another stack, and what came of it.
struct Call<F> {
    body: Option<F>,
    outcome: Option<Outcome>,
}

/// # Safety
/// `call` must be valid, and nobody else's.
unsafe extern "C" fn run<F: FnOnce() -> Outcome>(call: *mut Call<F>) {
    // SAFETY: by contract.
    let call = unsafe { &mut *call };
    call.outcome = call.body.take().map(|body| body());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::prove;

    #[test]
    fn the_stack_is_below_4_gib_and_what_ran_on_it_is_returned() {
        let mut address = 0;
        let done = on_low_stack(|| {
            let here = 0_u32;
            address = core::hint::black_box(&raw const here) as usize;
            Ok(())
        });
        assert!(done.is_ok() && address != 0 && u32::try_from(address).is_ok(), "{address:#x}");
        let failed = on_low_stack(|| {
            prove!(address == 0, "it fails");
            Ok(())
        });
        assert!(failed.is_err());
    }
}
