//! What the probes need to know of the processor, from the folder of its architecture.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::{
    call::call,
    nr,
    stamp::{COUNTER, COUNTER_ADDS, STRAIGHT, marker_code, stamp, straight},
};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{
    call::{call_code, clone_below, clone_onto},
    fault,
    layout::{CLOCK_GETTIME, EpollEvent, MAP_32BIT, RSEQ_SIGNATURE, stat},
    nr32,
    stamp::{delay, load_after_marker, nops, stamp_code},
};
