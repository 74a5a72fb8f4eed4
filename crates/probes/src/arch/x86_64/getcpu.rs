//! `getcpu.*`: ways for a program to learn which CPU it is on (the question of the 2007 vgetcpu
//! thread).
//!
//! Proof: CPU and node are those of the place that the task is pinned to, in every window; and
//! before the windows, on CPU 1, where the guest has one. CPU 0 on node 0 proves little: a register
//! that was never set reads 0, too.

use core::{arch::asm, fmt, ptr};

use crate::{
    clock,
    failure::{Failure, Outcome, broken, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, nr},
    task::{self, Ended},
    vdso,
};

pub(crate) const PROBES: Probes = &[
    row("getcpu.vdso", Windows(51), "getcpu(2) by the vDSO", by_vdso),
    row(
        "getcpu.vdso+cache",
        Windows(51),
        "the same with a cache, ignored by Linux since 2.6.24",
        by_vdso_cached,
    ),
    row("getcpu.syscall", Windows(51), "getcpu(2) by system call", by_syscall),
    row("getcpu.lsl", Windows(51), "lsl of the per-CPU segment's limit", by_lsl),
    row("getcpu.rdpid", Windows(51), "rdpid", by_rdpid),
    row("getcpu.rdtscp", Windows(51), "rdtscp", by_rdtscp),
    row("getcpu.sidt", Windows(51), "sidt: the limit it gives, or what UMIP makes of it", by_sidt),
];

/// A CPU, and the node that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    cpu: u32,
    node: u32,
}

impl Place {
    const UNKNOWN: Self = Self { cpu: u32::MAX, node: u32::MAX };

    /// Whether `number` is this place in one word: node << 12 | cpu, as Linux keeps it in the
    /// segment's limit and in `TSC_AUX` (`arch/x86/include/asm/segment.h`, `VDSO_CPUNODE_BITS`), or
    /// cpu << bits | node, as the patch of 2007 and the lab kernel do (`node-bits=`).
    fn is_packed_in(self, number: u32) -> bool {
        const LINUX_CPU_BITS: u32 = 12;
        const MOST_NODE_BITS: u32 = 8;
        let Self { cpu, node } = self;
        let lab = |bits| node >> bits == 0 && number == cpu << bits | node;
        number == node << LINUX_CPU_BITS | cpu || (0..=MOST_NODE_BITS).any(lab)
    }

    fn prove_packed(self, number: u32) -> Outcome {
        prove!(self.is_packed_in(number), "it said {number:#x}, but the task is on {self}");
        Ok(())
    }

    fn prove_cpu(self, cpu: u32) -> Outcome {
        prove!(cpu == self.cpu, "it said CPU {cpu}, but the task is on {self}");
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU {}, node {}", self.cpu, self.node)
    }
}

/// Records windows of `read`; `agrees` proves what it gave, there and on CPU 1.
fn execute<T>(
    report: &mut ProbeReport,
    read: impl Fn() -> T,
    agrees: impl Fn(T, Place) -> Outcome,
) -> Outcome {
    let home = pinned()?;
    prove_elsewhere(report, home, |there| agrees(read(), there))?;
    execute_at(report, home, read, agrees)
}

/// Records windows of `read` at `home`, where `agrees` proves what it gave.
fn execute_at<T>(
    report: &mut ProbeReport,
    home: Place,
    read: impl Fn() -> T,
    agrees: impl Fn(T, Place) -> Outcome,
) -> Outcome {
    report.execute(|| {
        let (cost, seen) = clock::window(&read);
        agrees(seen, home)?;
        Ok(cost)
    })
}

/// Pins the task to the CPU it is on.
fn pinned() -> Result<Place, Failure> {
    let here = asked()?;
    match task::pin(here.cpu as usize) {
        Ok(_) => Ok(here),
        Err(error) => unsupported!("the task can't be pinned (sched_setaffinity: error {error})"),
    }
}

/// Where the task is by getcpu(2).
fn asked() -> Result<Place, Failure> {
    let mut here = Place::UNKNOWN;
    let [cpu, node] = [&raw mut here.cpu as usize, &raw mut here.node as usize];
    // SAFETY: the kernel writes one int to each.
    match unsafe { sys::checked(nr::GETCPU, [cpu, node, 0, 0, 0, 0]) } {
        Ok(_) => Ok(here),
        Err(error) => unsupported!("getcpu(2) failed (error {error})"),
    }
}

/// Runs `body` on CPU 1 and comes back to `home`; none where the guest has no CPU 1.
fn on_second_cpu<R>(
    home: Place,
    body: impl FnOnce(Place) -> Result<R, Failure>,
) -> Result<Option<R>, Failure> {
    const SECOND: u32 = 1;
    if task::pin(SECOND as usize).is_err() {
        return Ok(None);
    }
    let result = asked().and_then(|there| {
        prove!(there.cpu == SECOND, "getcpu(2) said CPU {} on CPU {SECOND}", there.cpu);
        body(there)
    });
    match task::pin(home.cpu as usize) {
        Ok(_) => result.map(Some),
        Err(error) => broken!("the task can't come back from CPU {SECOND} (error {error})"),
    }
}

/// Runs `proof` on CPU 1; reports the place that it proved, or that there is no other.
fn prove_elsewhere(
    report: &mut ProbeReport,
    home: Place,
    proof: impl FnOnce(Place) -> Outcome,
) -> Outcome {
    match on_second_cpu(home, |there| proof(there).map(|()| there))? {
        Some(there) => report.check("proved on", format_args!("{there}")),
        None => report.check("proved on", format_args!("{home} alone; lab:cpus=2 has CPU 1")),
    }
    Ok(())
}

/// Selector of the segment whose limit is the number: entry 15, requested privilege 3.
const CPU_SEGMENT: u32 = 15 << 3 | 3;

/// `__vdso_getcpu`: where to put CPU and node (either may be null), and the caller's cache or null.
type VdsoGetcpu = extern "C" fn(*mut u32, *mut u32, *mut Cache) -> i64;

/// `struct getcpu_cache` (Linux `include/linux/getcpu.h`).
#[repr(C)]
#[derive(Default)]
struct Cache {
    blob: [u64; 16],
}

fn vdso_getcpu() -> Result<VdsoGetcpu, Failure> {
    let Some(address) = vdso::find(b"__vdso_getcpu\0") else {
        return unsupported!("this kernel's vDSO has no __vdso_getcpu");
    };
    // SAFETY: the vDSO's symbol of this name has this signature and the C calling convention.
    Ok(unsafe { core::mem::transmute::<usize, VdsoGetcpu>(address) })
}

/// What the vDSO says, asked for both with this cache or null.
fn vdso_says(getcpu: VdsoGetcpu, cache: *mut Cache) -> Place {
    let mut said = Place::UNKNOWN;
    getcpu(&raw mut said.cpu, &raw mut said.node, cache);
    said
}

fn prove_vdso(getcpu: VdsoGetcpu, place: Place) -> Outcome {
    let said = vdso_says(getcpu, ptr::null_mut());
    prove!(said == place, "it said {said}, but the task is on {place}");
    Ok(())
}

fn by_vdso(report: &mut ProbeReport) -> Outcome {
    let getcpu = vdso_getcpu()?;
    let home = pinned()?;
    prove_elsewhere(report, home, |there| prove_vdso(getcpu, there))?;
    prove_vdso(getcpu, home)?;
    let read = || {
        let mut cpu = u32::MAX;
        getcpu(&raw mut cpu, ptr::null_mut(), ptr::null_mut());
        cpu
    };
    execute_at(report, home, read, |cpu, here| here.prove_cpu(cpu))
}

fn by_vdso_cached(report: &mut ProbeReport) -> Outcome {
    let getcpu = vdso_getcpu()?;
    let home = pinned()?;
    prove_elsewhere(report, home, |there| prove_vdso(getcpu, there))?;
    let told = on_second_cpu(home, |_| Ok(ldt_register()))?;
    if let Some(told) = told {
        report.check("LDT register", format_args!("{told}"));
        let told = if is_stale_after_a_move(getcpu, home)? { STALE } else { "right" };
        report.check("after a move", format_args!("{told}"));
    }
    let mut cache = Cache::default();
    let cache = &raw mut cache;
    let read = || {
        let mut cpu = u32::MAX;
        getcpu(&raw mut cpu, ptr::null_mut(), cache);
        cpu
    };
    execute_at(report, home, read, |cpu, here| here.prove_cpu(cpu))
}

/// What a cached answer is if it still names the CPU that the task left.
const STALE: &str = "old for a tick";

/// Whether the task, moved to CPU 1, still hears of `home` from the cache that it filled there.
/// Proves that it does no longer after a tick.
fn is_stale_after_a_move(getcpu: VdsoGetcpu, home: Place) -> Result<bool, Failure> {
    /// Instructions of more than a tick of the lab kernel, 250 a second.
    const TICK: u64 = 5_000_000;
    /// A tick may come between filling the cache and asking, but not twice in a row.
    const ATTEMPTS: usize = 2;
    for _ in 0..ATTEMPTS {
        let mut cache = Cache::default();
        let cache = &raw mut cache;
        let filled = vdso_says(getcpu, cache);
        prove!(filled == home, "with an empty cache it said {filled}, but the task is on {home}");
        let moved = on_second_cpu(home, |there| {
            let at_once = vdso_says(getcpu, cache);
            prove!([home, there].contains(&at_once), "after a move to {there} it said {at_once}");
            if at_once == there {
                return Ok(false);
            }
            clock::busy(TICK);
            let later = vdso_says(getcpu, cache);
            prove!(later == there, "a tick after a move to {there} it said {later}");
            Ok(true)
        })?;
        if moved == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the LDT's register, which holds a selector for a program with an LDT of its own, is free
/// for that, or holds a number: `getcpu=sldt`. Zero is no number there.
fn ldt_register() -> &'static str {
    match task::trial(|| usize::from(ldt_selector() != 0)) {
        Ok(Ended::Exit(0)) => "free for programs",
        Ok(Ended::Exit(_)) => "taken by the number",
        _ => "not shown to programs",
    }
}

fn ldt_selector() -> u32 {
    let selector: u32;
    // SAFETY: stores a selector in a register; where it may not, the kernel ends this trial.
    unsafe { asm!("sldt {:e}", out(reg) selector, options(nostack, nomem, preserves_flags)) };
    selector
}

fn by_syscall(report: &mut ProbeReport) -> Outcome {
    asked()?;
    let read = || {
        let mut cpu = u32::MAX;
        // SAFETY: the kernel writes one int to `cpu`.
        unsafe { sys::call(nr::GETCPU, [&raw mut cpu as usize, 0, 0, 0, 0, 0]) };
        cpu
    };
    execute(report, read, |cpu, place| place.prove_cpu(cpu))
}

fn by_lsl(report: &mut ProbeReport) -> Outcome {
    let read = || {
        let mut limit = u32::MAX;
        // SAFETY: lsl only reads a descriptor; where it may not, it leaves `limit` as it was.
        unsafe {
            asm!("lsl {limit:e}, {selector:e}", limit = inout(reg) limit,
                selector = in(reg) CPU_SEGMENT, options(nostack, nomem));
        }
        limit
    };
    execute(report, read, |limit, place| place.prove_packed(limit))
}

/// The CPU's own description under this leaf.
#[allow(unused_unsafe, reason = "newer compilers have it as a safe function")]
fn cpuid(leaf: u32) -> core::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 CPU has the instruction, which changes registers only.
    unsafe { core::arch::x86_64::__cpuid_count(leaf, 0) }
}

fn by_rdpid(report: &mut ProbeReport) -> Outcome {
    if cpuid(7).ecx & 1 << 22 == 0 {
        return unsupported!("this CPU has no rdpid (CPUID leaf 7, ECX bit 22)");
    }
    let read = || {
        let value: u32;
        // SAFETY: the CPU has the instruction; it reads one MSR into the whole register.
        unsafe { asm!("rdpid {:r}", out(reg) value, options(nostack, nomem, preserves_flags)) };
        value
    };
    execute(report, read, |value, place| place.prove_packed(value))
}

fn by_rdtscp(report: &mut ProbeReport) -> Outcome {
    if cpuid(0x8000_0001).edx & 1 << 27 == 0 {
        return unsupported!("this CPU has no rdtscp (CPUID leaf 8000_0001h, EDX bit 27)");
    }
    let read = || {
        let value: u32;
        // SAFETY: the CPU has the instruction; it reads two MSRs.
        unsafe {
            asm!("rdtscp", out("eax") _, out("edx") _, out("ecx") value,
                options(nostack, nomem, preserves_flags));
        }
        value
    };
    execute(report, read, |value, place| place.prove_packed(value))
}

/// The IDT register as `sidt` stores it.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Idtr {
    limit: u16,
    base: u64,
}

const _: () = assert!(size_of::<Idtr>() == 10);

impl Idtr {
    /// The limit of a table of 256 gates. The patch of 2007 adds one and the CPU's number, so that
    /// a larger limit tells that there is one.
    const WHOLE_TABLE: u16 = 0xfff;

    /// The number that the limit holds, if any.
    fn number(self) -> Option<u32> {
        let limit = self.limit;
        limit.checked_sub(Self::WHOLE_TABLE + 1).map(u32::from)
    }

    /// Proves its number, if it has one.
    fn prove(self, place: Place) -> Outcome {
        self.number().map_or(Ok(()), |number| place.prove_packed(number))
    }
}

/// A limit without a number must be the same every time; under UMIP the kernel emulates the
/// instruction, and that is its cost.
fn by_sidt(report: &mut ProbeReport) -> Outcome {
    match task::trial(|| usize::from(sidt().limit == 0)) {
        Ok(Ended::Exit(_)) => {}
        other => return unsupported!("sidt kills the program ({other:?}): UMIP without emulation"),
    }
    let home = pinned()?;
    let first = sidt();
    let (limit, base) = (first.limit, first.base);
    match first.number() {
        None => report.check("idt", format_args!("limit {limit:#x}, base {base:#x}; no number")),
        Some(number) => {
            report.check("idt", format_args!("limit 0x1000 + {number:#x}, base {base:#x}"));
            prove_elsewhere(report, home, |there| sidt().prove(there))?;
        }
    }
    execute_at(report, home, sidt, |seen, here| {
        let seen_limit = seen.limit;
        prove!(seen_limit == limit, "the limit changed from {limit:#x} to {seen_limit:#x}");
        seen.prove(here)
    })
}

#[inline(always)]
fn sidt() -> Idtr {
    let mut idtr = Idtr { limit: 0, base: 0 };
    // SAFETY: stores ten bytes to `idtr`.
    unsafe { asm!("sidt [{}]", in(reg) &raw mut idtr, options(nostack)) };
    idtr
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_holds_its_cpu_and_its_node() {
        let place = Place { cpu: 1, node: 1 };
        for number in [1 << 12 | 1, 1 << 2 | 1, 1 << 8 | 1] {
            assert!(place.is_packed_in(number), "{number:#x}");
        }
        // Nothing set, no node, another CPU, another node, no such instruction.
        for number in [0, 1, 1 << 2, 3 << 2 | 1, 1 << 2 | 2, 2 << 12 | 1, u32::MAX] {
            assert!(!place.is_packed_in(number), "{number:#x}");
        }
        assert!(Place { cpu: 3, node: 0 }.is_packed_in(3));
        // A node that the bits have no room for.
        assert!(!Place { cpu: 0, node: 2 }.is_packed_in(0));
    }

    #[test]
    fn an_idt_limit_holds_a_number_above_the_whole_table() {
        let number = |limit| Idtr { limit, base: 0 }.number();
        assert_eq!([0, 0xfff].map(number), [None, None]);
        assert_eq!([0x1000, 0x1005, 0xffff].map(number), [Some(0), Some(5), Some(0xefff)]);
    }
}
