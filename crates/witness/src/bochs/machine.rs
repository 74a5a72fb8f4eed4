//! The machine that Bochs makes: its configuration, as data.

use pathmeter_vm::Settings;

use crate::bochs::memory::LOW_AT;

/// The CPU on which QEMU and Bochs agree, as QEMU's text: what both interpreters have of the
/// profile `plain`. Bochs 2.7 reports no feature of CPUID's leaf 7 for a CPU that is put together
/// (`erms`, `smap`, `fsgsbase` and so on); what it has and QEMU lacks, no kernel uses in a path.
/// Nor does it report a third level of cache (leaf 0x80000006), which glibc asks for as a program
/// starts.
pub const WITNESS_CPU: &str = "base,enforce=on,vendor=AuthenticAMD,family=15,model=107,stepping=1,\
    model-id=QEMU TCG CPU version 2.5+,level=13,xlevel=0x8000000a,phys-bits=40,l3-cache=off,\
    3dnow=on,3dnowext=on,acpi=on,aes=on,apic=on,avx=on,clflush=on,cmov=on,cx16=on,cx8=on,de=on,\
    f16c=on,fma=on,fpu=on,fxsr=on,lahf-lm=on,lm=on,mca=on,mce=on,mmx=on,mmxext=on,monitor=on,\
    movbe=on,msr=on,mtrr=on,nx=on,pae=on,pat=on,pclmulqdq=on,pdpe1gb=on,pge=on,pni=on,popcnt=on,\
    pse=on,pse36=on,rdtscp=on,sep=on,sse=on,sse2=on,sse4.1=on,sse4.2=on,sse4a=on,ssse3=on,\
    syscall=on,tsc=on,xsave=on,xsaveopt=on";

/// The same CPU, as Bochs has it put together.
const CPUID: &str = "level=6, family=15, model=107, stepping=1, \
    brand_string=\"QEMU TCG CPU version 2.5+\", mmx=1, apic=xapic, sep=1, simd=avx2, sse4a=1, \
    aes=1, movbe=1, xsave=1, xsaveopt=1, avx_f16c=1, avx_fma=1, 1g_pages=1, pcid=0, mwait=1";

/// Instructions a second of the machine's time: one a nanosecond, as under QEMU's exact clock.
const SPEED: u32 = 1_000_000_000;
/// Seconds since 1970 at which its clock begins, as QEMU's does: 2020-01-01.
const BEGIN: u32 = 1_577_836_800;

/// Descriptors that a Bochs process inherits, by number.
pub(crate) mod fd {
    pub(crate) const CONFIGURATION: i32 = 3;
    pub(crate) const FIRMWARE: i32 = 4;
    pub(crate) const LOW: i32 = 5;
    pub(crate) const HIGH: i32 = 6;
}

/// A vendor of CPUs, as they say it.
const INTEL: &str = "GenuineIntel";

/// Whether the machine's CPU is one of Intel's.
pub(crate) fn is_intels(settings: &Settings) -> bool {
    let vendor = |word: &str| word.strip_prefix("vendor=") == Some(INTEL);
    settings.cpu.text().split(',').any(vendor)
}

/// Bochs' configuration of the machine with these settings, whose memory has the high file at
/// `high_at`.
///
/// Few devices, as QEMU's machine has, so that a kernel is as busy with them. No serial port: at
/// its real speed a line of a kernel's takes as long as a path's measurement. What is written to
/// port 0xe9, as the agent's messages are, Bochs prints.
pub(crate) fn configuration(settings: &Settings, high_at: u64) -> String {
    let vendor = if is_intels(settings) { INTEL } else { "AuthenticAMD" };
    let memory = settings.memory_mib;
    let file = |number: i32| format!("/proc/self/fd/{number}");
    let (firmware, low, high) = (file(fd::FIRMWARE), file(fd::LOW), file(fd::HIGH));
    format!(
        "display_library: sdl2\n\
         config_interface: textconfig\n\
         memory: guest={memory}, host={memory}\n\
         romimage: file={firmware}, address=0xffff0000\n\
         optramimage1: file={low}, address={LOW_AT:#x}\n\
         optramimage2: file={high}, address={high_at:#x}\n\
         log: /dev/null\n\
         panic: action=fatal\n\
         error: action=ignore\n\
         info: action=ignore\n\
         debug: action=ignore\n\
         port_e9_hack: enabled=1\n\
         com1: enabled=0\n\
         pci: enabled=0\n\
         ata0: enabled=0\n\
         clock: sync=none, time0={BEGIN}\n\
         cpu: model=bx_generic, count=1, ips={SPEED}, reset_on_triple_fault=0\n\
         cpuid: vendor_string={vendor}, {CPUID}\n"
    )
}
