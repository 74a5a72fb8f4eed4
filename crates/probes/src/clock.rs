//! The timestamps around a window.
//!
//! Under an instruction-counting QEMU the clock advances by one an instruction, so the difference
//! of two stamps is the number of instructions executed between them, their own few included.
//!
//! With the feature `pmu` a stamp reads a counter of the processor's instead, for a program that
//! runs on a real one (`docs/evidence/witness-pmu.md`). With the feature `batch` a window is a
//! batch of calls, for a program that takes times on a live host ([`crate::batch`]). The agent is
//! never built with either.

use core::arch::asm;

pub use crate::arch::{COUNTER, COUNTER_ADDS, STRAIGHT, marker_code, stamp, straight};
use crate::arch::{load_after_marker, nops};

/// Whether a stamp reads a counter of the processor's, not its clock.
pub const READS_COUNTER: bool = cfg!(feature = "pmu");

/// A page of which a load after a path marker tells by its place which path it is: plugins see
/// where instructions access memory, not what is in registers (`plugin/common/marker.h`).
#[repr(C, align(4096))]
struct PathNumbers([u8; 4096]);

static PATH_NUMBERS: PathNumbers = PathNumbers([0; 4096]);

/// No path: the last one has ended.
const NO_PATH: usize = 0xfff;

/// Marks that the path with this index begins.
#[inline(always)]
pub fn mark_path(index: usize) {
    mark(index.min(NO_PATH));
}

/// Marks that the path which was marked last has ended.
#[inline(always)]
pub fn mark_path_end() {
    mark(NO_PATH);
}

#[inline(always)]
fn mark(number: usize) {
    let place = PATH_NUMBERS.0.as_ptr().wrapping_add(number);
    load_after_marker(place);
}

/// Marks where waits begin that count: those between this mark and the next of
/// [`mark_observed`].
#[inline(always)]
pub fn mark_counted() {
    // SAFETY: a nop; not `nomem`, so that no access moves across it. The same below.
    unsafe { asm!(marker_code!(begin), options(nostack, preserves_flags)) };
}

/// Marks that waits which begin from here on don't count; and, marked again, that what has not
/// ended until then is not waited for any longer.
#[inline(always)]
pub fn mark_observed() {
    // SAFETY: as above.
    unsafe { asm!(marker_code!(end), options(nostack, preserves_flags)) };
}

/// Executions of the path in a window: one in a guest, and on a live host as many as its batches
/// have, an odd number.
#[cfg(not(feature = "batch"))]
#[inline(always)]
pub const fn calls() -> u64 {
    1
}

#[cfg(feature = "batch")]
pub use crate::batch::{calls, window};

/// Runs `code` in a window; returns its cost and its result.
#[cfg(not(feature = "batch"))]
#[inline(always)]
pub fn window<R>(code: impl FnOnce() -> R) -> (u64, R) {
    // SAFETY: a nop; not `nomem`, so that no access moves across it. The same at the end.
    unsafe { asm!(marker_code!(begin), options(nostack, preserves_flags)) };
    let begin = stamp();
    let result = code();
    let end = stamp();
    // SAFETY: as above.
    unsafe { asm!(marker_code!(end), options(nostack, preserves_flags)) };
    (end.wrapping_sub(begin), result)
}

/// Executes about `instructions` instructions in user mode, and nothing else.
///
/// Long straight blocks of `nop` rather than reads of the clock: an interpreter has next to
/// nothing to do for them, but must leave its translated code for a clock.
#[inline(never)]
pub fn busy(instructions: u64) {
    nops(instructions);
}
