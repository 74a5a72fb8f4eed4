//! The tables: a row a path, group by group.

use crate::path::{
    Kind::{self, Batches, Check, TwoCpus, Wait, Windows},
    Path,
};

/// All paths of exact runs.
pub(crate) static EXACT: &[Path] = &[
    row("syscall.getppid", Windows(51), "getppid(2) by the syscall instruction"),
    row("syscall.getppid-int80", Windows(51), "getppid(2) by int 0x80 from 64-bit code"),
    row("file.open-close", Windows(51), "open(2) and close(2) of a file in the root file system"),
    row("file.read-zero", Windows(51), "read(2) of one byte of /dev/zero"),
    row("file.write-null", Windows(51), "write(2) of one byte to /dev/null"),
    row("file.stat", Windows(51), "stat(2) of a file in the root file system"),
    row("switch.yield", Windows(31), "two FIFO processes yield to each other"),
    row("switch.yield+ioport-0x80", Windows(31), "the same, the measuring one may use port 0x80"),
    row("switch.yield+ioport-0xffff", Windows(31), "the same with port 0xffff"),
    row("switch.yield+ioport-both", Windows(31), "both hold a full I/O bitmap, and different ones"),
    row("switch.iopl-yield", Windows(89), "the same at IOPL 3, interrupts kept out"),
    row("switch.iopl-yield+ioport-0x80", Windows(89), "the same, both inherited port 0x80"),
    row("switch.iopl-yield+ioport-0xffff", Windows(89), "the same, ports 0x80 and 0xffff"),
    row("switch.thread-yield", Windows(31), "two FIFO threads yield to each other"),
    row("switch.pipe", Windows(31), "two FIFO processes pass a byte to and fro by pipes"),
    row("switch.futex", Windows(31), "two FIFO processes wake each other by futex"),
    row("ports.ioperm", Windows(51), "ioperm(2) of port 0x80, which the caller may use already"),
    row("ioctl.native", Windows(51), "SIOCGIFINDEX from 64-bit code; on the lab kernel PARAMS"),
    row("ioctl.compat-int80", Windows(51), "the same by int 0x80, pointers below 4 GiB"),
    row("ioctl.compat-entry", Windows(51), "the same from 32-bit code, by sysenter or syscall"),
    row("ioctl.native+2cpu", TwoCpus(51), "ioctl.native while CPU 1 makes longer ioctls"),
    row("ioctl.compat-int80+2cpu", TwoCpus(51), "ioctl.compat-int80 while CPU 1 makes longer ones"),
    row("ioctl.compat-entry+2cpu", TwoCpus(51), "ioctl.compat-entry while CPU 1 makes longer ones"),
    row(
        "lock.wait+2cpu",
        TwoCpus(51),
        "the big kernel lock, from wanted to held, while CPU 1 uses it",
    ),
    row("flags.pushf", Windows(51), "pushf, and the value popped off"),
    row("flags.popf", Windows(51), "popf of the flags as they are"),
    row("flags.popf-ac", Windows(51), "popf that toggles AC"),
    row("flags.std-cld", Windows(51), "std, then cld"),
    row("flags.isolation", Check, "NT, AC, ID and DF set in one task never show in another"),
    row("getcpu.vdso", Windows(51), "getcpu(2) by the vDSO"),
    row("getcpu.vdso+cache", Windows(51), "the same with a cache, ignored by Linux since 2.6.24"),
    row("getcpu.syscall", Windows(51), "getcpu(2) by system call"),
    row("getcpu.lsl", Windows(51), "lsl of the per-CPU segment's limit"),
    row("getcpu.rdpid", Windows(51), "rdpid"),
    row("getcpu.rdtscp", Windows(51), "rdtscp"),
    row("getcpu.sidt", Windows(51), "sidt: the limit it gives, or what UMIP makes of it"),
    row("softirq.timer+user", Wait(4), "TIMER raised in user code: from raise to entry"),
    row("softirq.timer+idle", Wait(4), "TIMER raised in the idle task: from raise to entry"),
    row("softirq.net-rx", Wait(11), "NET_RX raised in a system call: from raise to entry"),
    row("softirq.net-rx+user", Wait(11), "the same, raised in user code"),
    row("softirq.net-rx+idle", Wait(11), "the same, raised in the idle task"),
    row("softirq.net-rx+hlt", Wait(6), "the same, raised in the idle task, right before hlt"),
    row("softirq.net-rx+calls", Wait(5), "the same, raised in a program of system calls"),
    row("softirq.again+user", Wait(2), "HI raised again as it runs, over user code"),
    row("softirq.again+idle", Wait(2), "the same, over the idle task"),
    row("softirq.again+slice", Wait(1), "the same, over a program that computes for long"),
    row("softirq.round-trip", Wait(2), "a request and its answer over a modelled link"),
    row("process.fork-exit", Windows(11), "fork(2), the child exits, wait4(2)"),
    row("process.thread", Windows(13), "clone(2) of a thread, which exits, joined by futex"),
    row("memory.fault-anon", Windows(51), "first write to a page of anonymous memory"),
    row("signal.deliver", Windows(51), "kill(2) of oneself, handler, return from it"),
    row("pipe.write-read", Windows(31), "a byte into a pipe and out again, one process"),
    row("unix.round-trip", Windows(31), "a byte to a FIFO partner and back by a socketpair"),
    row("tcp.round-trip", Windows(31), "a byte to a FIFO partner and back by loopback TCP"),
    row("wake.switch", Wait(31), "a sleeping task is woken: until the CPU is switched to it"),
    row("irq.softirq", Wait(4), "the tick in user code: from the interrupt to its softirqs"),
    row("timer.expire", Wait(8), "a sleep ends: from the interrupt to the timer's handler"),
    row("fault.return", Wait(51), "a page fault: from its entry back to the program"),
];

/// What is measured in elapsed time: two CPUs at once against one.
pub(crate) static ELAPSED: &[Path] = &[
    row("ioctl.native+2cpu", Batches(25), "batches of ioctl.native by one CPU, and by two"),
    row("ioctl.compat-entry+2cpu", Batches(25), "the same of ioctl.compat-entry"),
];

const fn row(name: &'static str, kind: Kind, about: &'static str) -> Path {
    Path { name, kind, about }
}
