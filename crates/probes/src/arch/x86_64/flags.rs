//! `flags.*`: instructions that read and write EFLAGS in user mode, and whether flags leak (the
//! questions of the 2006 thread on pushf and popf in the task switch).
//!
//! Bits as the manual names them (Intel SDM volume 1, section 3.4.3).

use core::arch::asm;
use core::sync::atomic::Ordering;

use crate::{
    arch::{marker_code, stamp_code},
    clock,
    compat32::{self, Signalled},
    failure::{Failure, Outcome, broken, prove},
    lab,
    path::Kind::{Check, Windows},
    probe::{Probes, row},
    report::ProbeReport,
    sys,
    task::{self, Board, Ended, Partner},
};

pub(crate) const PROBES: Probes = &[
    row("flags.pushf", Windows(51), "pushf, and the value popped off", pushf),
    row("flags.popf", Windows(51), "popf of the flags as they are", popf),
    row("flags.popf-ac", Windows(51), "popf that toggles AC", popf_ac),
    row("flags.std-cld", Windows(51), "std, then cld", std_cld),
    row(
        "flags.isolation",
        Check,
        "NT, AC, ID and DF set in one task never show in another",
        isolation,
    ),
];

/// The direction flag of the flags register.
const DF: u64 = 1 << 10;
/// The nested-task flag of the flags register.
const NT: u64 = 1 << 14;
/// The alignment-check flag of the flags register.
const AC: u64 = 1 << 18;
/// CPUID may be used, if it can be toggled.
const ID: u64 = 1 << 21;

/// Flags that a user program may set and that must stay its own: as checks name them there, in the
/// kernel and in 32-bit programs. Every way into the kernel clears DF, for the compiler's code.
const PRIVATE: [(&str, &str, Option<&str>, u64); 4] = [
    ("NT", "NT in kernel", Some("NT in a 32-bit program"), NT),
    ("AC", "AC in kernel", Some("AC in a 32-bit program"), AC),
    ("ID", "ID in kernel", Some("ID in a 32-bit program"), ID),
    ("DF", "DF in kernel", None, DF),
];

#[inline(always)]
fn read_flags() -> u64 {
    let flags;
    // SAFETY: pushes and pops one word; the red zone is kept by not saying `nostack`.
    unsafe { asm!("pushfq", "pop {}", out(reg) flags) };
    flags
}

/// # Safety
/// AC and DF must be clear again before compiled code runs: it may access memory unaligned and
/// relies on the direction flag.
#[inline(always)]
unsafe fn write_flags(flags: u64) {
    // SAFETY: as the contract; a user program can't change IF or IOPL this way.
    unsafe { asm!("push {}", "popfq", in(reg) flags) };
}

fn pushf(report: &mut ProbeReport) -> Outcome {
    report.execute(|| {
        let (cost, flags) = clock::window(read_flags);
        prove!(flags & 2 != 0, "pushf gave {flags:#x}, whose bit 1 is not set");
        Ok(cost)
    })
}

fn popf(report: &mut ProbeReport) -> Outcome {
    report.execute(|| {
        let flags = read_flags();
        // SAFETY: the flags as they are.
        let (cost, ()) = clock::window(|| unsafe { write_flags(flags) });
        let changed = (read_flags() ^ flags) & (DF | NT | AC | ID);
        prove!(changed == 0, "popf changed the flags {changed:#x}");
        Ok(cost)
    })
}

fn popf_ac(report: &mut ProbeReport) -> Outcome {
    report.execute(|| {
        let flags = read_flags();
        let (begin, seen, end): (u64, u64, u64);
        // SAFETY: AC is set only between the two stamps and the read-back, all within this asm,
        // whose stack accesses are aligned; the old flags are restored at its end.
        unsafe {
            asm!("push {set}",
                marker_code!(begin), stamp_code!(), "shl rdx, 32", "or rax, rdx",
                "mov {begin}, rax",
                "popfq",
                stamp_code!(), marker_code!(end), "shl rdx, 32", "or rax, rdx",
                "pushfq", "pop {seen}", "push {flags}", "popfq",
                set = in(reg) flags | AC, flags = in(reg) flags, begin = out(reg) begin,
                seen = out(reg) seen, out("rax") end, out("rdx") _, out("xmm15") _);
        }
        prove!(seen & AC != 0, "AC was not set by popf: {seen:#x}");
        Ok(end.wrapping_sub(begin))
    })
}

fn std_cld(report: &mut ProbeReport) -> Outcome {
    report.execute(|| {
        // SAFETY: DF is set and cleared within this asm.
        let (cost, ()) = clock::window(|| unsafe { asm!("std", "cld", options(nostack)) });
        prove!(read_flags() & DF == 0, "DF is set after cld");
        Ok(cost)
    })
}

/// Switches for each flag in [`isolation`].
const SWITCHES: u64 = 32;

/// Yields of each 32-bit task in [`in_32_bits`].
const YIELDS: u32 = 16;
/// The signal that kills a program whose return to user mode faults.
const SIGSEGV: u32 = 11;

/// What one task sets of its flags, checked for in another: in 64-bit programs, in the kernel where
/// it reports its flags, and in 32-bit programs.
fn isolation(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let in_kernel = in_64_bits(report)?;
    let leaked = in_32_bits(report)?;
    match (in_kernel, leaked) {
        (None, None) => Ok(()),
        (Some(name), _) => {
            broken!("{name} of another task shows in the kernel's flags after a switch")
        }
        (None, Some(name)) => {
            broken!("{name} of another task shows in a 32-bit program after a switch")
        }
    }
}

/// The partner yields for ever with one flag set, the probe checks for it after every switch: in
/// its own flags, and where the kernel reports them, in the kernel's. The first that leaks into
/// those.
fn in_64_bits(report: &mut ProbeReport) -> Result<Option<&'static str>, Failure> {
    let mut leaked = None;
    for (name, in_kernel, _, flag) in PRIVATE {
        let board = Board::new()?;
        let _partner = Partner::process(|| yield_with(board, flag))?;
        while board.turns() < SWITCHES {
            prove!(sys::sched_yield().is_ok(), "sched_yield failed");
            let flags = read_flags();
            prove!(flags & flag == 0, "{name} of another task shows here: flags {flags:#x}");
        }
        let kept = board.value.load(Ordering::Relaxed);
        prove!(kept & flag != 0, "{name} was lost in the task that set it: flags {kept:#x}");
        report.check(name, format_args!("its task's own over {SWITCHES} switches"));
        if let Ok(flags) = lab::yield_flags() {
            let leaks = flags as u64 & flag != 0;
            report.check(in_kernel, format_args!("{}", leak(leaks)));
            leaked = leaked.or(leaks.then_some(name));
        }
    }
    Ok(leaked)
}

/// The same between two 32-bit programs, whose fast way out of the kernel may restore no flags; the
/// first flag that leaks. And what becomes of a task with NT, its own or another's, that leaves the
/// kernel by `iret`, which faults if NT is set in the kernel.
fn in_32_bits(report: &mut ProbeReport) -> Result<Option<&'static str>, Failure> {
    let own = match compat32::yields(NT, YIELDS, Signalled::Setter) {
        Ok(own) => own,
        Err(Failure::Unsupported(reason)) => {
            let reason = core::str::from_utf8(reason.as_bytes()).unwrap_or_default();
            report.check(ENTRY, format_args!("none: {reason}"));
            return Ok(None);
        }
        Err(failure) => return Err(failure),
    };
    report.check(ENTRY, format_args!("{}", own.entry));
    let mut leaked = None;
    for (name, _, in_program, flag) in PRIVATE {
        let Some(in_program) = in_program else { continue };
        let yields = compat32::yields(flag, YIELDS, Signalled::None)?;
        let leaks = u64::from(yields.seen) & flag != 0;
        report.check(in_program, format_args!("{}", leak(leaks)));
        if flag == NT {
            let kept = yields.setter == Some(Ended::Exit(1));
            report.check(
                "own NT over a yield",
                format_args!("{}", if kept { "kept" } else { "lost" }),
            );
        }
        leaked = leaked.or(leaks.then_some(name));
    }
    // Last, since its partner may not have ended yet.
    let other = compat32::yields(NT, YIELDS, Signalled::Other)?;
    let ends = [("own NT at iret", own.setter), ("another's NT at iret", Some(other.other))];
    for (name, ended) in ends {
        let faults = ended == Some(Ended::Signal(SIGSEGV));
        report.check(name, format_args!("{}", if faults { "fault" } else { "no fault" }));
    }
    Ok(leaked)
}

fn leak(leaks: bool) -> &'static str {
    if leaks { "leaks" } else { "kept out" }
}

/// By which instruction 32-bit programs enter the kernel.
const ENTRY: &str = "32-bit entry";

/// Yields for ever with `flag` set across the system call, and reports the flags that it saw after
/// it.
fn yield_with(board: &Board, flag: u64) {
    loop {
        let plain = read_flags();
        let seen: u64;
        // SAFETY: the flag is set just around the system call, which clobbers rcx and r11, and the
        // old flags are restored within this asm, whose stack accesses are aligned.
        unsafe {
            asm!("push {set}", "popfq", "syscall", "pushfq", "pop {seen}", "push {plain}", "popfq",
                set = in(reg) plain | flag, plain = in(reg) plain, seen = out(reg) seen,
                inlateout("rax") sys::nr::SCHED_YIELD => _, out("rcx") _, out("r11") _);
        }
        board.value.store(seen, Ordering::Relaxed);
        board.take_turn();
    }
}
