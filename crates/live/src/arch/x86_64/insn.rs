//! `insn.*`: single instructions of x86-64 (Intel SDM volume 2 has each).
//!
//! Each call is the instruction with the few that it needs beside it. No renamer removes what is
//! measured; what it may remove stands beside it: how the stack pointer moves, and the `xor` that
//! clears the upper half of a dividend. Some cores hand on a word that was just stored without the
//! cache (AMD's family 25 if the stack pointer addresses it): the word of `pushf`'s `pop` and, on
//! some, that of `inc`, which is a chain through memory. `docs/reference/paths.md` says so. Proof:
//! the instruction's effect, after each batch.

use core::arch::asm;

use pathmeter_probes::UNROLLED;
use pathmeter_probes::{Failure, Outcome, Probe, ProbeReport, clock};

use pathmeter_probes::window::last as calls;

/// The paths' names in the catalogue, and their probes.
pub(crate) const PROBES: &[(&str, Probe)] = &[
    ("insn.pushf", pushf),
    ("insn.popf", |report| popf(report, 0)),
    ("insn.popf-ac", |report| popf(report, 1 << 18)),
    ("insn.popf-df", |report| popf(report, 1 << 10)),
    ("insn.popf-nt", |report| popf(report, 1 << 14)),
    ("insn.popf-id", |report| popf(report, 1 << 21)),
    ("insn.std-cld", std_cld),
    ("insn.lahf", lahf),
    ("insn.sahf", sahf),
    ("insn.lsl", lsl),
    ("insn.lar", lar),
    ("insn.sidt", sidt),
    ("insn.sgdt", sgdt),
    ("insn.sldt", sldt),
    ("insn.str", task_register),
    ("insn.rdtsc", rdtsc),
    ("insn.rdtscp", rdtscp),
    ("insn.rdpid", rdpid),
    ("insn.cpuid", cpuid),
    ("insn.lfence", lfence),
    ("insn.mfence", mfence),
    ("insn.sfence", sfence),
    ("insn.inc", inc),
    ("insn.lock-inc", lock_inc),
    ("insn.xsave-xrstor", xsave),
    ("insn.rdgsbase", rdgsbase),
    ("insn.wrgsbase", wrgsbase),
    ("insn.clflush", clflush),
    ("insn.pause", pause),
    ("insn.div32", div32),
    ("insn.div64", div64),
    ("insn.rep-movsb-64", |report| copy(report, 64)),
    ("insn.rep-movsb-4k", |report| copy(report, 4 << 10)),
    ("insn.rep-movsb-64k", |report| copy(report, 64 << 10)),
    ("insn.rep-stosb-64", |report| fill(report, 64)),
    ("insn.rep-stosb-4k", |report| fill(report, 4 << 10)),
    ("insn.rep-stosb-64k", |report| fill(report, 64 << 10)),
    ("insn.cold-line", cold_line),
];

/// Its failure says what was seen.
fn proved(holds: bool, what: &str, seen: u64) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::broken(format_args!("{what}: {seen:#x}"))) }
}

#[inline(always)]
fn flags() -> u64 {
    let flags;
    // SAFETY: pushes and pops one word; the same below, and the red zone is kept by not saying
    // `nostack`.
    unsafe { asm!("pushfq", "pop {}", out(reg) flags) };
    flags
}

fn pushf(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let flags: u64;
        // SAFETY: as above.
        unsafe {
            asm!(".rept {times}", "pushfq", "pop {flags}", ".endr", flags = out(reg) flags,
                times = const UNROLLED);
        }
        flags
    };
    calls(report, once, |flags| proved(flags & 2 != 0, "bit 1 of the flags is not set", flags))
}

/// Pushes the flags with `flag` set, pops them, and the same without it. If it is 0, one time.
fn popf(report: &mut ProbeReport, flag: u64) -> Outcome {
    let (plain, mut seen) = (flags() & !flag, 0_u64);
    if flag == 0 {
        // SAFETY: the flags as they are.
        let once = || unsafe { asm!("push {}", "popfq", in(reg) plain) };
        return calls(report, once, |()| Ok(()));
    }
    report.execute(|| {
        // SAFETY: the flag is set only within this asm, whose accesses to the stack are aligned
        // and which needs no direction; the plain flags are restored at its end.
        let (ticks, ()) = clock::window(|| unsafe {
            asm!("push {set}", "popfq", "push {plain}", "popfq", set = in(reg) plain | flag,
                plain = in(reg) plain);
        });
        // SAFETY: as above.
        unsafe {
            asm!("push {set}", "popfq", "pushfq", "pop {seen}", "push {plain}", "popfq",
                set = in(reg) plain | flag, plain = in(reg) plain, seen = out(reg) seen);
        }
        proved(seen & flag != 0 && flags() & flag == 0, "popf did not set the flag", seen)?;
        Ok(ticks)
    })
}

fn std_cld(report: &mut ProbeReport) -> Outcome {
    const DF: u64 = 1 << 10;
    // SAFETY: DF is set and cleared within this asm.
    let once = || unsafe { asm!("std", "cld", options(nostack)) };
    calls(report, once, |()| proved(flags() & DF == 0, "DF is set after cld", flags()))
}

fn lahf(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let seen: u64;
        // SAFETY: reads flags to a register; bit 1 of them is always set.
        unsafe {
            asm!(".rept {times}", "lahf", ".endr", inout("rax") 0_u64 => seen,
                times = const UNROLLED, options(nomem, nostack));
        }
        seen
    };
    calls(report, once, |seen| proved(seen & 0x200 != 0, "lahf gave", seen))
}

fn sahf(report: &mut ProbeReport) -> Outcome {
    // SAFETY: sets arithmetic flags.
    let once = || unsafe {
        asm!(".rept {times}", "sahf", ".endr", in("rax") 0x200_u64, times = const UNROLLED,
            options(nomem, nostack));
    };
    calls(report, once, |()| Ok(()))
}

/// The segment whose limit has the CPU's number (Linux `arch/x86/include/asm/segment.h`,
/// `__CPUNODE_SEG`).
const CPU_SEGMENT: u64 = 0x7b;
/// The user's code segment (`__USER_CS`).
const CODE_SEGMENT: u64 = 0x33;

fn lsl(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let (limit, valid): (u64, u8);
        // SAFETY: reads a limit to a register.
        unsafe {
            asm!("lsl {limit:e}, {segment:e}", "setz {valid}", limit = inout(reg) 0_u64 => limit,
                segment = in(reg) CPU_SEGMENT, valid = out(reg_byte) valid,
                options(nomem, nostack));
        }
        (limit, valid)
    };
    calls(report, once, |(limit, valid)| proved(valid == 1, "the segment has no limit", limit))
}

fn lar(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let (rights, valid): (u64, u8);
        // SAFETY: reads access rights to a register.
        unsafe {
            asm!("lar {rights:e}, {segment:e}", "setz {valid}",
                rights = inout(reg) 0_u64 => rights, segment = in(reg) CODE_SEGMENT,
                valid = out(reg_byte) valid, options(nomem, nostack));
        }
        (rights, valid)
    };
    calls(report, once, |(rights, valid)| proved(valid == 1, "the segment has no rights", rights))
}

/// What `sidt` and `sgdt` write: a limit of two bytes and a base of eight.
type Table = [u8; 10];
const POISON: u8 = 0xa5;

fn sidt(report: &mut ProbeReport) -> Outcome {
    let mut table: Table = [POISON; 10];
    let place = table.as_mut_ptr();
    // SAFETY: writes the table's ten bytes; the same below.
    let once = || unsafe { asm!("sidt [{}]", in(reg) place, options(nostack)) };
    calls(report, once, |()| prove_table_written(place))
}

fn sgdt(report: &mut ProbeReport) -> Outcome {
    let mut table: Table = [POISON; 10];
    let place = table.as_mut_ptr();
    // SAFETY: as above.
    let once = || unsafe { asm!("sgdt [{}]", in(reg) place, options(nostack)) };
    calls(report, once, |()| prove_table_written(place))
}

/// Proves that the table at `place` was written, and poisons it again.
fn prove_table_written(place: *mut u8) -> Outcome {
    // SAFETY: the caller's table, which lives as long as its probe.
    let table = unsafe { &mut *place.cast::<Table>() };
    let seen = *table;
    *table = [POISON; 10];
    proved(seen != [POISON; 10], "no table was written", u64::from(seen[0]))
}

fn sldt(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let selector: u64;
        // SAFETY: reads a selector to a register; the same below.
        unsafe {
            asm!("sldt {:e}", inout(reg) u64::MAX => selector, options(nomem, nostack));
        }
        selector
    };
    calls(report, once, |selector| proved(selector & 0xffff_0000 == 0, "sldt gave", selector))
}

fn task_register(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let selector: u64;
        // SAFETY: as above.
        unsafe { asm!("str {:e}", inout(reg) u64::MAX => selector, options(nomem, nostack)) };
        selector
    };
    calls(report, once, |selector| proved(selector & 0xffff_0000 == 0, "str gave", selector))
}

fn rdtsc(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let (low, high): (u64, u64);
        // SAFETY: reads the counter, as every stamp does; the same below.
        unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nomem, nostack)) };
        high << 32 | low
    };
    calls(report, once, |seen| proved(seen != 0, "the counter stands at 0", seen))
}

fn rdtscp(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let (low, high): (u64, u64);
        // SAFETY: as above.
        unsafe {
            asm!("rdtscp", out("rax") low, out("rdx") high, out("rcx") _, options(nomem, nostack));
        }
        high << 32 | low
    };
    calls(report, once, |seen| proved(seen != 0, "the counter stands at 0", seen))
}

fn rdpid(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let cpu: u64;
        // SAFETY: reads TSC_AUX to a register; the assembler may not know its name.
        unsafe {
            asm!(".rept {times}", ".byte 0xf3, 0x0f, 0xc7, 0xf8", ".endr",
                inout("rax") u64::MAX => cpu, times = const UNROLLED, options(nomem, nostack));
        }
        cpu
    };
    calls(report, once, |cpu| proved(cpu != u64::MAX, "rdpid gave nothing", cpu))
}

fn cpuid(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let highest: u64;
        // SAFETY: rbx is reserved by the compiler, so it is kept around the instruction.
        unsafe {
            asm!("mov {kept}, rbx", "cpuid", "mov rbx, {kept}", kept = out(reg) _,
                inout("rax") 0_u64 => highest, inout("rcx") 0_u64 => _, out("rdx") _,
                options(nomem, nostack));
        }
        highest
    };
    calls(report, once, |highest| proved(highest != 0, "the highest leaf is", highest))
}

/// A probe of an instruction without operands or effect.
macro_rules! bare {
    ($($name:ident $code:literal),*) => {$(
        fn $name(report: &mut ProbeReport) -> Outcome {
            // SAFETY: it orders or delays, and does nothing else.
            calls(report, || unsafe { asm!($code, options(nostack)) }, |()| Ok(()))
        }
    )*};
}
bare!(lfence "lfence", mfence "mfence", pause "pause");

fn sfence(report: &mut ProbeReport) -> Outcome {
    // SAFETY: it orders, and does nothing else.
    let once = || unsafe {
        asm!(".rept {times}", "sfence", ".endr", times = const UNROLLED, options(nostack));
    };
    calls(report, once, |()| Ok(()))
}

fn inc(report: &mut ProbeReport) -> Outcome {
    let mut word = 0_u64;
    let place = &raw mut word;
    // SAFETY: writes the word; the same below.
    let once = || unsafe {
        asm!(".rept {times}", "inc qword ptr [{place}]", ".endr", place = in(reg) place,
            times = const UNROLLED, options(nostack));
    };
    calls(report, once, |()| incremented(place, UNROLLED))
}

fn lock_inc(report: &mut ProbeReport) -> Outcome {
    let mut word = 0_u64;
    let place = &raw mut word;
    // SAFETY: as above.
    let once = || unsafe { asm!("lock inc qword ptr [{}]", in(reg) place, options(nostack)) };
    calls(report, once, |()| incremented(place, 1))
}

/// Proves that the word has grown by so much in each call of a window, and sets it to 0.
fn incremented(place: *mut u64, by: u32) -> Outcome {
    // SAFETY: the caller's word, which lives as long as its probe.
    let seen = unsafe { place.replace(0) };
    proved(seen == clock::calls() * u64::from(by), "increments", seen)
}

/// Room for what `xsave` writes of x87, SSE and AVX, in the standard form.
#[repr(align(64))]
struct State([u8; 4096]);

fn xsave(report: &mut ProbeReport) -> Outcome {
    const X87_SSE_AVX: u64 = 7;
    /// Where the control register of SSE is, and what a program begins with in it.
    const MXCSR: usize = 24;
    const DEFAULT: u8 = 0x1f;
    let mut state = State([0; 4096]);
    let place = state.0.as_mut_ptr();
    let once = || {
        // SAFETY: writes to the state, which is large enough for these parts, and restores the
        // registers from it as they are.
        unsafe {
            asm!("xsave64 [{place}]", "xrstor64 [{place}]", place = in(reg) place,
                in("rax") X87_SSE_AVX, in("rdx") 0_u64, options(nostack));
        }
    };
    calls(report, once, |()| {
        // SAFETY: within the state.
        let seen = unsafe { place.add(MXCSR + 1).replace(0) };
        proved(seen == DEFAULT, "MXCSR was saved as", u64::from(seen))
    })
}

fn rdgsbase(report: &mut ProbeReport) -> Outcome {
    let once = || {
        let base: u64;
        // SAFETY: reads a register, where CR4.FSGSBASE is set; else the probe is killed.
        unsafe {
            asm!(".rept {times}", "rdgsbase {base}", ".endr", base = inout(reg) u64::MAX => base,
                times = const UNROLLED, options(nomem, nostack));
        }
        base
    };
    calls(report, once, |base| proved(base != u64::MAX, "rdgsbase gave", base))
}

fn wrgsbase(report: &mut ProbeReport) -> Outcome {
    // SAFETY: the program does not use gs; its base stays 0, as a program begins with it.
    let once = || unsafe { asm!("wrgsbase {}", in(reg) 0_u64, options(nostack)) };
    calls(report, once, |()| Ok(()))
}

/// A line of the cache by itself.
#[repr(align(64))]
struct CacheLine([u64; 8]);

fn clflush(report: &mut ProbeReport) -> Outcome {
    let mut line = CacheLine([0; 8]);
    let place = line.0.as_mut_ptr();
    let once = || {
        // SAFETY: writes to the line; the same below.
        unsafe {
            asm!("inc qword ptr [{place}]", "clflush [{place}]", place = in(reg) place,
                options(nostack));
        }
    };
    calls(report, once, |()| incremented(place, 1))
}

fn cold_line(report: &mut ProbeReport) -> Outcome {
    let mut line = CacheLine([0; 8]);
    let place = line.0.as_mut_ptr();
    let once = || {
        // SAFETY: as above.
        unsafe {
            asm!("clflush [{place}]", "mfence", "inc qword ptr [{place}]", place = in(reg) place,
                options(nostack));
        }
    };
    calls(report, once, |()| incremented(place, 1))
}

fn div32(report: &mut ProbeReport) -> Outcome {
    const DIVISOR: u64 = 7;
    let mut dividend = 0xffff_fff9_u64;
    let once = || {
        // SAFETY: arithmetic on registers: the quotient fits, since the upper half is 0. The next
        // dividend is the quotient with its upper bits set again, so it waits for it.
        unsafe {
            asm!("xor edx, edx", "div {divisor:e}", "or eax, 0xf0000000",
                divisor = in(reg) DIVISOR, inout("rax") dividend, out("rdx") _,
                options(nomem, nostack));
        }
        dividend
    };
    calls(report, once, |quotient| proved(quotient >> 28 == 0xf, "the quotient is", quotient))
}

fn div64(report: &mut ProbeReport) -> Outcome {
    const DIVISOR: u64 = 7;
    const TOP: u64 = 0xf000_0000_0000_0000;
    let mut dividend = u64::MAX;
    let once = || {
        // SAFETY: as above.
        unsafe {
            asm!("xor edx, edx", "div {divisor}", "or rax, {top}", divisor = in(reg) DIVISOR,
                top = in(reg) TOP, inout("rax") dividend, out("rdx") _, options(nomem, nostack));
        }
        dividend
    };
    calls(report, once, |quotient| proved(quotient >> 60 == 0xf, "the quotient is", quotient))
}

/// Bytes that string instructions read and write.
const STRING: usize = 64 << 10;
static mut FROM: [u8; STRING] = [POISON; STRING];
static mut TO: [u8; STRING] = [0; STRING];

fn copy(report: &mut ProbeReport, length: usize) -> Outcome {
    let (from, to) = ((&raw mut FROM).cast::<u8>(), (&raw mut TO).cast::<u8>());
    // SAFETY: both have the length, and only this probe's process uses them; the same below.
    let once = || unsafe {
        asm!("rep movsb", inout("rcx") length => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack));
    };
    calls(report, once, |()| prove_last_byte_written(to, length))
}

fn fill(report: &mut ProbeReport, length: usize) -> Outcome {
    let to = (&raw mut TO).cast::<u8>();
    // SAFETY: as above.
    let once = || unsafe {
        asm!("rep stosb", inout("rcx") length => _, inout("rdi") to => _, in("al") POISON,
            options(nostack));
    };
    calls(report, once, |()| prove_last_byte_written(to, length))
}

/// Proves that the last byte was written, and clears it.
fn prove_last_byte_written(to: *mut u8, length: usize) -> Outcome {
    // SAFETY: the last of the bytes that the caller wrote.
    let seen = unsafe { to.add(length - 1).replace(0) };
    proved(seen == POISON, "the last byte is", u64::from(seen))
}
