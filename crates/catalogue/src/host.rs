//! Paths that only a live host has: they are measured in time, and a guest's clock, which counts
//! instructions, has one answer for most of them.

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
/// indices follow those of [`crate::Suite::Exact`].
pub static HOST: &[HostPath] = &[
    row(EMPTY, "a batch of calls of nothing: what is subtracted of every other"),
    HostPath {
        name: CHAIN,
        repeats: CHAIN_LENGTH,
        about: "an addition that needs the one before: a core cycle",
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
    row("file.fstat", "fstat of a file in memory"),
    row("file.statx", "statx of a file in the root folder, in memory"),
    row("file.openat2-close", "openat2 of such a file, then close"),
    row("file.create-delete", "open that creates such a file, close, unlink"),
    row("file.create-delete+4k", "the same with a write of 4 KiB in between"),
    row("file.close-range", "dup2 of eight descriptors, then close_range of them"),
    row("file.getdents", "lseek to the begin of a folder of ten files, then getdents64"),
    row("select.10", "select of 10 pipes, the last of which is ready, without waiting"),
    row("select.100", "the same of 100"),
    row("poll.10", "poll of 10 pipes, the last of which is ready, without waiting"),
    row("poll.100", "the same of 100"),
    row("epoll.wait-10", "epoll_wait on 10 pipes, one of which is ready, without waiting"),
    row("epoll.wait-100", "the same of 100"),
    row("epoll.add-delete", "epoll_ctl that adds a pipe, then one that deletes it"),
    row("eventfd.write-read", "write to an eventfd, then read from it"),
    row("signal.install", "rt_sigaction of a handler"),
    row("signal.mask", "rt_sigprocmask that blocks a signal, then one that unblocks it"),
    row("signal.fault", "a write to a page that may only be read, its signal's handler, and back"),
    row("process.fork-exec", "fork, exec of a small static program, its exit, wait"),
    row(
        "process.spawn-exec",
        "the same with a child that shares memory until exec, as posix_spawn",
    ),
    row("switch.ring-2", "a token once around a ring of 2 tasks, by pipes: 2 switches"),
    row("switch.ring-2+16k", "the same, and each task sums 16 KiB of its own"),
    row("switch.ring-2+64k", "the same, and each task sums 64 KiB of its own"),
    row("switch.ring-8", "a token once around a ring of 8 tasks, by pipes: 8 switches"),
    row("switch.ring-8+16k", "the same, and each task sums 16 KiB of its own"),
    row("switch.ring-8+64k", "the same, and each task sums 64 KiB of its own"),
    row("switch.ring-16", "a token once around a ring of 16 tasks, by pipes: 16 switches"),
    row("switch.ring-16+16k", "the same, and each task sums 16 KiB of its own"),
    row("switch.ring-16+64k", "the same, and each task sums 64 KiB of its own"),
    row("switch.pipe+cross-cpu", "a byte to a task on another CPU by a pipe, and one back"),
    row("switch.futex+cross-cpu", "a turn to a task on another CPU by a futex, and back"),
    row(
        "unix.round-trip+cross-cpu",
        "a byte to a task on another CPU by a Unix socket, and one back",
    ),
    row("memory.mmap-munmap", "mmap of a page, not touched, then munmap"),
    row("memory.mmap-munmap+touch", "mmap of a page, a write to it, munmap"),
    row("memory.mmap-64k", "mmap of 16 pages, a write to each, munmap"),
    row(
        "memory.mprotect",
        "mprotect of a page that takes its write permission, then one that gives it",
    ),
    row("memory.madvise-dontneed", "a write to a page, then MADV_DONTNEED, which gives it back"),
    row("memory.fault-file", "the first read of a page of a file in memory, mapped privately"),
    row("memory.fault-huge", "the first write to a huge page of 2 MiB, then MADV_DONTNEED"),
    row("tlb.shootdown", "the two calls of memory.mprotect while a thread executes on another CPU"),
    row("udp.round-trip", "a datagram of a byte to a task by loopback, and one back"),
    row("tcp.connect", "socket, connect and accept by loopback, closed by a reset"),
    row("sem.round-trip", "semop that lets a task go on, and one that waits for its answer"),
    row("futex.wake-none", "FUTEX_WAKE of a word that nobody waits for"),
    row("futex.wait-eagain", "FUTEX_WAIT for a value that the word does not have"),
    row("time.clock-gettime", "clock_gettime of the monotonic clock by the vDSO"),
    row("time.clock-gettime+syscall", "the same by the system call"),
    row("io-uring.nop", "an operation without effect by io_uring, and its completion"),
    row("io-uring.read", "a read of a byte from /dev/zero by io_uring, and its completion"),
    row("getrandom.16", "getrandom of 16 bytes"),
    row("rseq.register-unregister", "rseq that registers an area, then one that ends that"),
    row("membarrier.private-expedited", "membarrier of a process without another thread"),
    row("pidfd.open-close", "pidfd_open of the caller, then close"),
];

/// The path that measures the loop and the clock around all others.
pub const EMPTY: &str = "clock.empty";
/// The path that tells how many ticks a core cycle takes.
pub const CHAIN: &str = "clock.chain";
/// Additions in a call of [`CHAIN`].
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
        assert_eq!([HOST[0].name, HOST[1].name], [EMPTY, CHAIN]);
    }
}
