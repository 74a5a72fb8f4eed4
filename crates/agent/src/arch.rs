//! What the agent needs to know of the processor, from the folder of its architecture.
//!
//! The code of a program without libc is not a part of this library: `runtime.rs`.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;
