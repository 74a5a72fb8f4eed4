//! `getcpu.*`: ways for a program to learn which CPU it is on (the question of the 2007 vgetcpu
//! thread). Proof: the number is that of the CPU that the task is pinned to, in every window.

use core::arch::asm;

use crate::{
    clock,
    failure::{Failure, Outcome, prove, unsupported},
    probe::Probes,
    report::ProbeReport,
    sys::{self, nr},
    task::{self, Ended},
    vdso,
};

pub(crate) const PROBES: Probes = &[
    ("getcpu.vdso", by_vdso),
    ("getcpu.vdso+cache", by_vdso_cached),
    ("getcpu.syscall", by_syscall),
    ("getcpu.lsl", by_lsl),
    ("getcpu.rdpid", by_rdpid),
    ("getcpu.rdtscp", by_rdtscp),
    ("getcpu.sidt", by_sidt),
];

/// Linux keeps node << 12 | cpu in the segment's limit and in `TSC_AUX`
/// (`arch/x86/include/asm/segment.h`, `VDSO_CPUNODE_BITS`).
const CPU_MASK: u32 = 0xfff;
/// Selector of that segment: entry 15, requested privilege 3.
const CPU_SEGMENT: u32 = 15 << 3 | 3;

/// Records windows of `read`, which must give the number of the CPU that the task is pinned to.
fn execute(report: &mut ProbeReport, read: impl Fn() -> u32) -> Outcome {
    let pinned = pinned()?;
    report.execute(|| {
        let (cost, cpu) = clock::window(&read);
        prove!(cpu == pinned, "it said CPU {cpu}, but the task is pinned to {pinned}");
        Ok(cost)
    })
}

/// [`execute`] where the kernel must have set a register or segment: what was never set reads 0,
/// which is the first CPU's number, so there the report notes that it proves nothing.
fn execute_set_by_kernel(report: &mut ProbeReport, read: impl Fn() -> u32) -> Outcome {
    if pinned()? == 0 {
        report.check("cpu", format_args!("0, which a register never set would give too"));
    }
    execute(report, read)
}

/// Pins the task to the CPU it is on; its number.
fn pinned() -> Result<u32, Failure> {
    let cpu = syscall()?;
    match task::pin(cpu as usize) {
        Ok(_) => Ok(cpu),
        Err(error) => unsupported!("the task can't be pinned (sched_setaffinity: error {error})"),
    }
}

fn syscall() -> Result<u32, Failure> {
    let mut cpu = u32::MAX;
    // SAFETY: the kernel writes one int to `cpu`.
    match unsafe { sys::checked(nr::GETCPU, [&raw mut cpu as usize, 0, 0, 0, 0, 0]) } {
        Ok(_) => Ok(cpu),
        Err(error) => unsupported!("getcpu(2) failed (error {error})"),
    }
}

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

fn by_vdso(report: &mut ProbeReport) -> Outcome {
    let getcpu = vdso_getcpu()?;
    execute(report, || {
        let mut cpu = u32::MAX;
        getcpu(&raw mut cpu, core::ptr::null_mut(), core::ptr::null_mut());
        cpu
    })
}

fn by_vdso_cached(report: &mut ProbeReport) -> Outcome {
    let getcpu = vdso_getcpu()?;
    let mut cache = Cache::default();
    let cache = &raw mut cache;
    execute(report, || {
        let mut cpu = u32::MAX;
        getcpu(&raw mut cpu, core::ptr::null_mut(), cache);
        cpu
    })
}

fn by_syscall(report: &mut ProbeReport) -> Outcome {
    syscall()?;
    execute(report, || {
        let mut cpu = u32::MAX;
        // SAFETY: the kernel writes one int to `cpu`.
        unsafe { sys::call(nr::GETCPU, [&raw mut cpu as usize, 0, 0, 0, 0, 0]) };
        cpu
    })
}

fn by_lsl(report: &mut ProbeReport) -> Outcome {
    execute_set_by_kernel(report, || {
        let mut limit = u32::MAX;
        // SAFETY: lsl only reads a descriptor; where it may not, it leaves `limit` as it was.
        unsafe {
            asm!("lsl {limit:e}, {selector:e}", limit = inout(reg) limit,
                selector = in(reg) CPU_SEGMENT, options(nostack, nomem));
        }
        limit & CPU_MASK
    })
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
    execute_set_by_kernel(report, || {
        let value: u32;
        // SAFETY: the CPU has the instruction; it reads one MSR into the whole register.
        unsafe { asm!("rdpid {:r}", out(reg) value, options(nostack, nomem, preserves_flags)) };
        value & CPU_MASK
    })
}

fn by_rdtscp(report: &mut ProbeReport) -> Outcome {
    if cpuid(0x8000_0001).edx & 1 << 27 == 0 {
        return unsupported!("this CPU has no rdtscp (CPUID leaf 8000_0001h, EDX bit 27)");
    }
    execute_set_by_kernel(report, || {
        let value: u32;
        // SAFETY: the CPU has the instruction; it reads two MSRs.
        unsafe {
            asm!("rdtscp", out("eax") _, out("edx") _, out("ecx") value,
                options(nostack, nomem, preserves_flags));
        }
        value & CPU_MASK
    })
}

/// The IDT register as `sidt` stores it.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Idtr {
    limit: u16,
    base: u64,
}

const _: () = assert!(size_of::<Idtr>() == 10);

/// Today's kernels don't keep the CPU's number there, so what is proved is that the instruction
/// gives the same limit every time; under UMIP the kernel emulates it, and that is its cost.
fn by_sidt(report: &mut ProbeReport) -> Outcome {
    match task::trial(|| usize::from(sidt().limit == 0)) {
        Ok(Ended::Exit(_)) => {}
        other => return unsupported!("sidt kills the program ({other:?}): UMIP without emulation"),
    }
    let first = sidt();
    let (limit, base) = (first.limit, first.base);
    report.check("idt", format_args!("limit {limit:#x}, base {base:#x}; not a CPU number"));
    report.execute(|| {
        let (cost, seen) = clock::window(sidt);
        let seen = seen.limit;
        prove!(seen == limit, "the limit changed from {limit:#x} to {seen:#x}");
        Ok(cost)
    })
}

#[inline(always)]
fn sidt() -> Idtr {
    let mut idtr = Idtr { limit: 0, base: 0 };
    // SAFETY: stores ten bytes to `idtr`.
    unsafe { asm!("sidt [{}]", in(reg) &raw mut idtr, options(nostack)) };
    idtr
}
