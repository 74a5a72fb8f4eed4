//! Paths that only a live host has: single instructions, for which a guest's clock, which counts
//! instructions, has one answer; programs executed, whose counts depend so much on the state of the
//! page allocator that two builds of one kernel would differ; rings of tasks whose data compete for
//! the caches; and paths between two CPUs, of which an exact guest has one.

/// A path that only a live host has.
#[derive(Debug)]
pub struct HostPath {
    /// `group.what[+variant]`.
    pub name: &'static str,
    /// How often a call of the probe executes it: what is too short for a loop is written out.
    pub repeats: u32,
    /// What is measured, in one line.
    pub about: &'static str,
}

/// Times that a short instruction is written out.
pub const UNROLLED: u32 = 16;

/// What is measured of the clock itself, then the paths, group by group. On a live host their
/// indices follow those of [`super::Suite::Exact`].
pub static HOST: &[HostPath] = &[
    row(EMPTY, "a batch of calls of nothing: what is subtracted of every other"),
    HostPath {
        name: MULTIPLY,
        repeats: CHAIN_LENGTH,
        about: "a multiplication that needs the one before: three core cycles",
    },
    HostPath {
        name: ROTATE,
        repeats: CHAIN_LENGTH,
        about: "a rotation that needs the one before: a core cycle",
    },
    short("insn.pushf", "pushf, and the value popped off"),
    row("insn.popf", "the flags as they are pushed, then popf"),
    row("insn.popf-ac", "popf that sets AC, then one that clears it"),
    row("insn.popf-df", "popf that sets DF, then one that clears it"),
    row("insn.popf-nt", "popf that sets NT, then one that clears it"),
    row("insn.popf-id", "popf that sets ID, then one that clears it"),
    row("insn.std-cld", "std, then cld"),
    short("insn.lahf", "lahf"),
    short("insn.sahf", "sahf of the flags as they are"),
    row("insn.lsl", "lsl of the per-CPU segment's limit"),
    row("insn.lar", "lar of the user's code segment"),
    row("insn.sidt", "sidt, or what UMIP makes of it"),
    row("insn.sgdt", "sgdt, or what UMIP makes of it"),
    row("insn.sldt", "sldt, or what UMIP makes of it"),
    row("insn.str", "str, or what UMIP makes of it"),
    row("insn.rdtsc", "rdtsc"),
    row("insn.rdtscp", "rdtscp"),
    short("insn.rdpid", "rdpid"),
    row("insn.cpuid", "cpuid of leaf 0; a virtual machine leaves for its hypervisor"),
    row("insn.lfence", "lfence"),
    row("insn.mfence", "mfence"),
    short("insn.sfence", "sfence"),
    short("insn.inc", "increment of a word in the cache"),
    row("insn.lock-inc", "the same, locked"),
    row("insn.xsave-xrstor", "xsave of x87, SSE and AVX state, then xrstor"),
    short("insn.rdgsbase", "rdgsbase"),
    row("insn.wrgsbase", "wrgsbase of the base as it is"),
    row("insn.clflush", "clflush of a line, which is written in between"),
    row("insn.pause", "pause"),
    row("insn.div32", "div of 64 bits by 32, each after the one before"),
    row("insn.div64", "div of 128 bits by 64, each after the one before"),
    row("insn.rep-movsb-64", "rep movsb of 64 bytes"),
    row("insn.rep-movsb-4k", "rep movsb of 4 KiB"),
    row("insn.rep-movsb-64k", "rep movsb of 64 KiB"),
    row("insn.rep-stosb-64", "rep stosb of 64 bytes"),
    row("insn.rep-stosb-4k", "rep stosb of 4 KiB"),
    row("insn.rep-stosb-64k", "rep stosb of 64 KiB"),
    row("insn.cold-line", "load of a line after clflush and mfence, all three"),
    row("process.fork-exec", "fork, exec of a small static program, its exit, wait"),
    row(
        "process.spawn-exec",
        "the same with a child that shares memory until exec, as posix_spawn",
    ),
    row("switch.ring-2+16k", "a token around a ring of 2 tasks, each sums 16 KiB of its own"),
    row("switch.ring-2+64k", "a token around a ring of 2 tasks, each sums 64 KiB of its own"),
    row("switch.ring-8+16k", "a token around a ring of 8 tasks, each sums 16 KiB of its own"),
    row("switch.ring-8+64k", "a token around a ring of 8 tasks, each sums 64 KiB of its own"),
    row("switch.ring-16+16k", "a token around a ring of 16 tasks, each sums 16 KiB of its own"),
    row("switch.ring-16+64k", "a token around a ring of 16 tasks, each sums 64 KiB of its own"),
    row("switch.pipe+cross-cpu", "a byte to a task on another CPU by a pipe, and one back"),
    row("switch.futex+cross-cpu", "a turn to a task on another CPU by a futex, and back"),
    row(
        "unix.round-trip+cross-cpu",
        "a byte to a task on another CPU by a Unix socket, and one back",
    ),
    row("tlb.shootdown", "the two calls of memory.mprotect while a thread executes on another CPU"),
];

/// The path that measures the loop and the clock around all others.
pub const EMPTY: &str = "clock.empty";
/// The path that tells how many ticks three core cycles take.
pub const MULTIPLY: &str = "clock.multiply";
/// The path that tells how many ticks a core cycle takes. It must agree with [`MULTIPLY`].
pub const ROTATE: &str = "clock.rotate";
/// Instructions in a call of [`MULTIPLY`] or [`ROTATE`], each of which needs the one before.
pub const CHAIN_LENGTH: u32 = 1000;

const fn row(name: &'static str, about: &'static str) -> HostPath {
    HostPath { name, repeats: 1, about }
}

const fn short(name: &'static str, about: &'static str) -> HostPath {
    HostPath { name, repeats: UNROLLED, about }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_none_is_a_guests() {
        let names: BTreeSet<_> = HOST.iter().map(|path| path.name).collect();
        assert_eq!(names.len(), HOST.len());
        assert!(names.iter().all(|name| Suite::Exact.find(name).is_none()));
    }

    #[test]
    fn the_clock_comes_first() {
        assert_eq!([HOST[0].name, HOST[1].name, HOST[2].name], [EMPTY, MULTIPLY, ROTATE]);
    }
}
