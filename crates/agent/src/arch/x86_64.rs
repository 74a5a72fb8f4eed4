//! x86-64.

#[cfg(feature = "program")]
mod launch;
mod pause;
mod port;
mod words;

#[cfg(feature = "program")]
pub(crate) use launch::{marked_end, marked_execve};
pub(crate) use pause::{leave_loop_code, pause_guest, pause_guest_and_loop};
pub(crate) use port::{
    CONTROL, DATA, FILE, PAUSE, drop_privilege, receive, send, take_privilege, unreachable,
};
pub(crate) use words::LOOKED_FOR;
