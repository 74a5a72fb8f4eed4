//! The timestamps around a window.
//!
//! Under an instruction-counting QEMU the TSC advances by one an instruction, so the difference of
//! two stamps is the number of instructions executed between them, the stamps' own few included.
//!
//! With the feature `pmu` a stamp reads a counter of the processor's instead, for a program that
//! runs on a real one (`docs/evidence/witness-pmu.md`). The agent is never built with it.

use core::{arch::asm, sync::atomic::AtomicU32};

/// The code of a marker: a `nopl` with a displacement that nothing else uses. The recorder sees
/// every instruction and knows it by that (`plugin/recorder/`). Markers stand outside the stamps.
#[macro_export]
macro_rules! marker_code {
    (begin) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x01, 0x4d, 0x50"
    };
    (end) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x4d, 0x50"
    };
    (path) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x03, 0x4d, 0x50"
    };
    (program_begin) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x04, 0x4d, 0x50"
    };
    (program_end) => {
        ".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x05, 0x4d, 0x50"
    };
}
pub use marker_code;

/// The code of a stamp, to edx and eax.
#[cfg(not(feature = "pmu"))]
macro_rules! stamp_code {
    () => {
        "rdtsc"
    };
}
/// The code of a stamp, to edx and eax. It keeps ecx in xmm15: so the compiler finds the same
/// registers free as in the agent, and makes the same code around it. In memory it would be a page
/// fault after a fork.
///
/// The fence makes the counter wait for all that comes before (Intel SDM volume 2, `RDPMC`: the
/// instruction by itself does not).
#[cfg(feature = "pmu")]
macro_rules! stamp_code {
    () => {
        "movq xmm15, rcx
        mov ecx, dword ptr [rip + pathmeter_counter]
        lfence
        rdpmc
        movq rcx, xmm15"
    };
}
pub(crate) use stamp_code;

/// Whether a stamp reads a counter of the processor's, not its clock.
pub const READS_COUNTER: bool = cfg!(feature = "pmu");

/// Instructions by which a window with stamps that read the counter has more of than one with
/// `rdtsc`: after its first reading one, before its second three.
pub const COUNTER_ADDS: u64 = 4;

/// Which counter [`READS_COUNTER`] reads, as the instruction `rdpmc` has it. Set before any stamp.
#[unsafe(export_name = "pathmeter_counter")]
pub static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Instructions of [`straight`] between its readings, one of them included, besides its nops; if
/// stamps read the counter.
pub const STRAIGHT: u64 = 2 + COUNTER_ADDS;

/// What two stamps say of so many nops, written out by hand: the counter's own error is what it
/// says beyond `NOPS` and [`STRAIGHT`].
pub fn straight<const NOPS: usize>() -> u64 {
    let count: u32;
    // SAFETY: two stamps, nops, and two registers.
    unsafe {
        asm!(stamp_code!(), "mov {begin:e}, eax", ".fill {nops}, 1, 0x90", stamp_code!(),
            "sub eax, {begin:e}", begin = out(reg) _, nops = const NOPS, out("eax") count,
            out("edx") _, out("xmm15") _, options(nostack));
    }
    u64::from(count)
}

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
    // Aligned, so that no page ends between the two: QEMU would translate them apart, and plugins
    // look for the load right after the marker. SAFETY: nops, and a load from the page.
    unsafe {
        asm!(".balign 16", marker_code!(path), "test byte ptr [{place}], 0", place = in(reg) place,
            options(nostack, readonly));
    }
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

/// The time-stamp counter, or the one of the feature `pmu`, read where this call stands.
///
/// No fence: exact mode executes in order, and an `lfence` would be counted into every window.
#[inline(always)]
pub fn stamp() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter; CR4.TSD is clear on Linux unless a task asks for it. A program with
    // the feature `pmu` sees to it that it may read that counter.
    unsafe {
        // Not `nomem`, so that no access moves into a window or out of it.
        #[cfg(not(feature = "pmu"))]
        asm!(stamp_code!(), out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        #[cfg(feature = "pmu")]
        asm!(stamp_code!(), out("rax") low, out("rdx") high, out("xmm15") _,
            options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// Runs `code` in a window; returns its cost and its result.
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
/// nothing to do for them, but must leave its translated code for a clock. A block has as many
/// instructions as QEMU translates in one piece (`CF_COUNT_MASK` less one), and lies in one page.
#[inline(never)]
pub fn busy(instructions: u64) {
    const BLOCK: u64 = 510;
    // SAFETY: counts a register down.
    unsafe {
        asm!(".balign 1024", "2:", ".fill {nops}, 1, 0x90", "dec {count}", "jnz 2b",
            nops = const BLOCK - 2,
            count = inout(reg) instructions / BLOCK + 1 => _, options(nostack, nomem));
    }
}
