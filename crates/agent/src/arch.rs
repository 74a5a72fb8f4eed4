//! What the agent needs to know of the processor, from the folder of its architecture.
//!
//! The code of a program without libc is not a part of this library: `runtime.rs`.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(all(target_arch = "x86_64", feature = "init"))]
pub(crate) use x86_64::launch::{marked_end, marked_execve};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{
    pause::{leave_loop_code, pause_guest, pause_guest_and_loop},
    port::{
        CONTROL, DATA, FILE, PAUSE, drop_privilege, receive, send, take_privilege, unreachable,
    },
    words::LOOKED_FOR,
};
