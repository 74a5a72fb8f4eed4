//! Pausing the guest so that it resumes from the same state every time.
//!
//! The write that pauses stops the CPU at once, at the same instruction of every boot. But then
//! QEMU may find the CPU idle before it finds that it shall stop, and if so moves the guest's clock
//! on to its next timer (QEMU `softmmu/icount.c`, `icount_start_warp_timer`). It is a race of two
//! of its threads: about one boot in four is resumed later than it was paused.
//!
//! So what the guest does after the write is made the same either way: it executes one and the same
//! instruction, a jump to itself, until that next timer's interrupt. Whether the clock was moved
//! there or ran there, the interrupt comes at the same time, at the same instruction, with the same
//! registers. The timer is a short one of our own, and its signal ends the loop.
//!
//! That takes the exact clock. In the host's time any moment may last, the signal may come before
//! the loop, and there is no exact state to be resumed from: there the write is all.

use core::arch::naked_asm;

use pathmeter_probes::call_code;
use pathmeter_probes::sys::{self, flag, nr};

use crate::arch::{leave_loop_code, pause_guest, pause_guest_and_loop};

const SA_SIGINFO: usize = 4;
const SA_RESTORER: usize = 0x0400_0000;
/// Microseconds of the guest's clock, so 1000 times as many instructions, at most until the signal.
/// A kernel without high-resolution timers rounds it up to its tick.
const WAIT: u64 = 200;

/// `struct sigaction` as the kernel has it.
#[repr(C)]
struct Action {
    handler: unsafe extern "C" fn(),
    flags: usize,
    restorer: unsafe extern "C" fn(),
    mask: u64,
}

const _: () = assert!(size_of::<Action>() == 32);

/// Ends the loop: moves the interrupted context past the jump.
#[unsafe(naked)]
unsafe extern "C" fn leave_loop() {
    naked_asm!(leave_loop_code!())
}

#[unsafe(naked)]
unsafe extern "C" fn restorer() {
    naked_asm!(call_code!(), number = const nr::RT_SIGRETURN)
}

/// Pauses the guest; the caller may do so. Where there are no timers it only writes, and the race
/// stays open.
pub(crate) fn at_an_exact_state() {
    let action = Action { handler: leave_loop, flags: SA_SIGINFO | SA_RESTORER, restorer, mask: 0 };
    let action_place = &raw const action as usize;
    let once = [0_u64, 0, 0, WAIT];
    let timer_place = once.as_ptr() as usize;
    // SAFETY: the kernel reads one `struct sigaction` and one `struct itimerval`; the handler
    // changes nothing but the interrupted instruction pointer, and the timer goes off only once, in
    // the loop: it is armed for far longer than the way there.
    unsafe {
        let armed = sys::checked(nr::RT_SIGACTION, [flag::SIGALRM, action_place, 0, 8, 0, 0])
            .and_then(|_| sys::checked(nr::SETITIMER, [0, timer_place, 0, 0, 0, 0]));
        if armed.is_ok() {
            pause_guest_and_loop();
        } else {
            pause_guest();
        }
    }
}

/// Gives the timer's signal its default action again, by which process 1 ignores it: a program may
/// send it too, and outside the loop the handler would move the agent to anywhere.
pub(crate) fn forget_signal() {
    let default = [0_u64; size_of::<Action>() / size_of::<u64>()];
    let place = default.as_ptr() as usize;
    // SAFETY: the kernel reads one `struct sigaction`.
    let _ = unsafe { sys::checked(nr::RT_SIGACTION, [flag::SIGALRM, place, 0, 8, 0, 0]) };
}

/// Pauses the guest; the caller may do so.
pub(crate) fn somewhere() {
    pause_guest();
}
