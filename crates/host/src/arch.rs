//! What a session needs to know of the processor, from the folder of its architecture.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::ticks;
