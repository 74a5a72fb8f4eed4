//! The stamps, the markers beside them, and code of a known length.

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
#[cfg(not(any(feature = "pmu", feature = "batch")))]
macro_rules! stamp_code {
    () => {
        "rdtsc"
    };
}
/// The code of a stamp, to edx and eax. All that comes before is executed first, and nothing that
/// follows begins before it (Intel SDM volume 2, `RDTSC`).
#[cfg(feature = "batch")]
macro_rules! stamp_code {
    () => {
        "lfence
        rdtsc
        lfence"
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

/// Instructions by which a window with stamps that read the counter has more of than one with
/// `rdtsc`: after its first reading one, before its second three.
pub const COUNTER_ADDS: u64 = 4;

/// Which counter `READS_COUNTER` reads, as the instruction `rdpmc` has it. Set before any stamp.
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

/// A marker of a path, and a load from `place` right after it.
#[inline(always)]
pub(crate) fn load_after_marker(place: *const u8) {
    // Aligned, so that no page ends between the two: QEMU would translate them apart, and plugins
    // look for the load right after the marker. SAFETY: nops, and a load from the page.
    unsafe {
        asm!(".balign 16", marker_code!(path), "test byte ptr [{place}], 0", place = in(reg) place,
            options(nostack, readonly));
    }
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

/// Executes about `instructions` instructions in blocks that have as many as QEMU translates in one
/// piece (`CF_COUNT_MASK` less one), and lie in one page.
#[inline(always)]
pub(crate) fn nops(instructions: u64) {
    const BLOCK: u64 = 510;
    // SAFETY: counts a register down.
    unsafe {
        asm!(".balign 1024", "2:", ".fill {nops}, 1, 0x90", "dec {count}", "jnz 2b",
            nops = const BLOCK - 2,
            count = inout(reg) instructions / BLOCK + 1 => _, options(nostack, nomem));
    }
}

/// Most rotations of [`rotations`].
const MOST_ROTATIONS: u32 = 1024;

/// So many rotations, each of which needs the one before: a cycle of the core each, on every core.
/// Additions of small numbers would not do: renamers of some cores execute several each cycle
/// (`../live/src/arch/x86_64/chain.rs`). They stand in a row, which is entered so far before its
/// end: a loop would be predicted, or not, by its length. More than [`MOST_ROTATIONS`] count as so
/// many.
#[inline(always)]
fn rotations(count: u32) {
    /// `ror rax, 7`, in this encoding.
    const BYTES: u64 = 4;
    let before_end = u64::from(count.min(MOST_ROTATIONS)) * BYTES;
    // SAFETY: jumps into the row of rotations, to one of them or to its end, by a multiple of their
    // length.
    unsafe {
        asm!("lea {target}, [rip + 3f]", "sub {target}, {before_end}", "jmp {target}",
            ".rept {most}", ".byte 0x48, 0xc1, 0xc8, 0x07", ".endr", "3:",
            target = out(reg) _, before_end = in(reg) before_end, most = const MOST_ROTATIONS,
            out("rax") _, options(nostack, nomem));
    }
}

/// So many rotations, however many, after all that came before has ended and before anything that
/// follows begins: so long a delay, whatever stands around it.
#[inline(always)]
pub(crate) fn delay(count: u32) {
    // SAFETY: a fence; the same below.
    unsafe { asm!("lfence", options(nostack)) };
    for _ in 0..count / MOST_ROTATIONS {
        rotations(MOST_ROTATIONS);
    }
    rotations(count % MOST_ROTATIONS);
    // SAFETY: as above.
    unsafe { asm!("lfence", options(nostack)) };
}
