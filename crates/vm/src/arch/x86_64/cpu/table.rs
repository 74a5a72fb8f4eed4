//! The profiles. They are machines with the microcode of 2025 or the last that there is, and with
//! one CPU online of two threads: each without a hypervisor, and as one sees it in a guest.
//!
//! Left out of all, beside what [`Profile::lacks`] names: performance counters, `monitor` (the
//! interpreter's idle is `hlt`), VMX, and what only programs ask for.

use super::lacks::{
    AMX, AVX512, CET, CHANCE, DEADLINE, PCID, PCID_ISOLATED, RDPID, VECTOR, WAITING, X2APIC, XSAVES,
};
use crate::arch::x86_64::cpu::{Definition, Lack, Profile, RealCpu};

/// The text of the profile `plain`: the CPU that QEMU 7.2 calls `max`, less its random number
/// instructions (what they return must not decide a measurement), spelled out feature by feature.
/// `max` itself is another CPU in each version of QEMU. `enforce`: a QEMU that lacks a feature says
/// so instead of dropping it.
pub(super) const PLAIN: &str = "base,enforce=on,vendor=AuthenticAMD,family=15,model=107,stepping=1,\
    model-id=QEMU TCG CPU version 2.5+,level=13,xlevel=0x8000000a,phys-bits=40,\
    3dnow=on,3dnowext=on,abm=on,acpi=on,adx=on,aes=on,apic=on,arat=on,avx=on,avx2=on,bmi1=on,\
    bmi2=on,clflush=on,clflushopt=on,clwb=on,cmov=on,cr8legacy=on,cx16=on,cx8=on,de=on,erms=on,\
    f16c=on,fma=on,fpu=on,fsgsbase=on,fxsr=on,hypervisor=on,la57=on,lahf-lm=on,lm=on,mca=on,mce=on,\
    mmx=on,mmxext=on,monitor=on,movbe=on,mpx=on,msr=on,mtrr=on,npt=on,nx=on,pae=on,pat=on,\
    pclmulqdq=on,pdpe1gb=on,pge=on,pks=on,pku=on,pni=on,popcnt=on,pse=on,pse36=on,rdtscp=on,sep=on,\
    smap=on,smep=on,ss=on,sse=on,sse2=on,sse4.1=on,sse4.2=on,sse4a=on,ssse3=on,svm=on,\
    svme-addr-chk=on,syscall=on,tsc=on,umip=on,vaes=on,vgif=on,xgetbv1=on,xsave=on,xsaveopt=on";

/// All profiles: each machine with its guest, then those that are no machine.
pub const PROFILES: &[Profile] = &[
    bare("haswell", E5_V3, HASWELL_LACKS, HASWELL),
    guest("haswell-guest", E5_V3, HASWELL_LACKS, HASWELL),
    bare("skylake", XEON_2017, SKYLAKE_LACKS, SKYLAKE),
    guest("skylake-guest", XEON_2017, SKYLAKE_LACKS, SKYLAKE),
    bare("cascadelake", XEON_2019, CASCADE_LAKE_LACKS, CASCADE_LAKE),
    guest("cascadelake-guest", XEON_2019, CASCADE_LAKE_LACKS, CASCADE_LAKE),
    bare("icelake", XEON_2021, ICE_LAKE_LACKS, ICE_LAKE),
    guest("icelake-guest", XEON_2021, ICE_LAKE_LACKS, ICE_LAKE),
    bare("sapphirerapids", XEON_2023, SAPPHIRE_RAPIDS_LACKS, SAPPHIRE_RAPIDS),
    guest("sapphirerapids-guest", XEON_2023, SAPPHIRE_RAPIDS_LACKS, SAPPHIRE_RAPIDS),
    bare("zen1", EPYC_7001, ZEN_1_LACKS, ZEN_1),
    guest("zen1-guest", EPYC_7001, ZEN_1_LACKS, ZEN_1),
    bare("zen2", EPYC_7002, ZEN_2_LACKS, ZEN_2),
    guest("zen2-guest", EPYC_7002, ZEN_2_LACKS, ZEN_2),
    bare("zen3", EPYC_7003, ZEN_3_LACKS, ZEN_3),
    guest("zen3-guest", EPYC_7003, ZEN_3_LACKS, ZEN_3),
    bare("zen4", EPYC_9004, ZEN_4_LACKS, ZEN_4),
    guest("zen4-guest", EPYC_9004, ZEN_4_LACKS, ZEN_4),
    Profile {
        name: "plain",
        machine: "no real machine: QEMU 7.2's max, alike in every QEMU",
        lacks: &[],
        definition: Definition::Text(PLAIN),
    },
    Profile {
        name: "max",
        machine: "no real machine: all that this QEMU's interpreter has",
        lacks: &[],
        definition: Definition::Text("max"),
    },
];

const E5_V3: &str = "Intel Xeon E5 v3 of 2014 (Haswell-EP)";
const XEON_2017: &str = "Intel Xeon Scalable of 2017 (Skylake-SP)";
const XEON_2019: &str = "Intel Xeon Scalable of 2019 (Cascade Lake-SP)";
const XEON_2021: &str = "Intel Xeon Scalable of 2021 (Ice Lake-SP)";
const XEON_2023: &str = "Intel Xeon Scalable of 2023 (Sapphire Rapids)";
const EPYC_7001: &str = "AMD EPYC 7001 (Zen)";
const EPYC_7002: &str = "AMD EPYC 7002 (Zen 2)";
const EPYC_7003: &str = "AMD EPYC 7003 (Zen 3)";
const EPYC_9004: &str = "AMD EPYC 9004 (Zen 4)";

const HASWELL_LACKS: &[Lack] = &[PCID_ISOLATED, CHANCE, X2APIC, DEADLINE];
const SKYLAKE_LACKS: &[Lack] = &[PCID_ISOLATED, XSAVES, AVX512, CHANCE, X2APIC, DEADLINE];
const CASCADE_LAKE_LACKS: &[Lack] = &[PCID, XSAVES, AVX512, CHANCE, X2APIC, DEADLINE];
const ICE_LAKE_LACKS: &[Lack] = &[PCID, XSAVES, RDPID, AVX512, VECTOR, CHANCE, X2APIC, DEADLINE];
const SAPPHIRE_RAPIDS_LACKS: &[Lack] =
    &[PCID, XSAVES, RDPID, AVX512, AMX, CET, WAITING, VECTOR, CHANCE, X2APIC, DEADLINE];
const ZEN_1_LACKS: &[Lack] = &[XSAVES, VECTOR, CHANCE];
const ZEN_2_LACKS: &[Lack] = &[XSAVES, RDPID, VECTOR, CHANCE, X2APIC];
const ZEN_3_LACKS: &[Lack] = &[PCID, XSAVES, RDPID, VECTOR, CHANCE, X2APIC];
const ZEN_4_LACKS: &[Lack] = &[PCID, XSAVES, RDPID, AVX512, VECTOR, CHANCE, X2APIC];

/// A machine without a hypervisor below it.
const fn bare(
    name: &'static str,
    machine: &'static str,
    lacks: &'static [Lack],
    cpu: RealCpu,
) -> Profile {
    Profile { name, machine, lacks, definition: Definition::Machine(cpu) }
}

/// The same as a guest on it sees it.
const fn guest(
    name: &'static str,
    machine: &'static str,
    lacks: &'static [Lack],
    mut cpu: RealCpu,
) -> Profile {
    cpu.hypervisor = true;
    Profile { name, machine, lacks, definition: Definition::Machine(cpu) }
}

const HASWELL: RealCpu = RealCpu {
    model: 63,
    stepping: 2,
    microcode: 0x49 << 32,
    features: &[COMMON, INTEL, &["md-clear"]],
    without: &["xgetbv1", "3dnowprefetch", "adx", "smap", "clflushopt"],
    ..XEON
};
const SKYLAKE: RealCpu = RealCpu {
    model: 85,
    stepping: 4,
    microcode: 0x0200_7006 << 32,
    features: &[COMMON, INTEL, &["clwb", "pku", "md-clear"]],
    ..XEON
};
const CASCADE_LAKE: RealCpu = RealCpu {
    model: 85,
    stepping: 7,
    microcode: 0x0500_3901 << 32,
    features: &[COMMON, INTEL, &["clwb", "pku", "md-clear", "arch-capabilities"]],
    arch_capabilities: Some(
        RDCL_NO | IBRS_ALL | SKIP_L1DFL | MDS_NO | TSX_CTRL | FB_CLEAR | GDS_CTRL,
    ),
    ..XEON
};
const ICE_LAKE: RealCpu = RealCpu {
    model: 106,
    stepping: 6,
    microcode: 0x0d00_03f5 << 32,
    features: &[
        COMMON,
        INTEL,
        &["clwb", "pku", "md-clear", "arch-capabilities", "fsrm", "umip", "la57"],
    ],
    arch_capabilities: Some(
        RDCL_NO | IBRS_ALL | SKIP_L1DFL | MDS_NO | PSCHANGE_MC_NO | TAA_NO | FB_CLEAR | GDS_CTRL,
    ),
    ..XEON
};
const SAPPHIRE_RAPIDS: RealCpu = RealCpu {
    model: 143,
    stepping: 8,
    microcode: 0x2b00_0650 << 32,
    features: &[
        COMMON,
        INTEL,
        &["clwb", "pku", "md-clear", "arch-capabilities", "fsrm", "umip", "la57"],
        SINCE_SAPPHIRE_RAPIDS,
    ],
    arch_capabilities: Some(
        RDCL_NO
            | IBRS_ALL
            | SKIP_L1DFL
            | MDS_NO
            | PSCHANGE_MC_NO
            | TAA_NO
            | SBDR_SSDP_NO
            | FBSDP_NO
            | PSDP_NO
            | GDS_NO
            | RFDS_NO,
    ),
    ..XEON
};
const ZEN_1: RealCpu =
    RealCpu { model: 1, stepping: 2, microcode: 0x0800_126f, features: &[COMMON, AMD], ..EPYC };
const ZEN_2: RealCpu = RealCpu {
    model: 49,
    stepping: 0,
    microcode: 0x0830_107c,
    features: &[COMMON, AMD, SINCE_ZEN_2],
    ..EPYC
};
const ZEN_3: RealCpu = RealCpu {
    family: 25,
    model: 1,
    stepping: 1,
    microcode: 0x0a00_11de,
    last_extended: 0x8000_0021,
    features: &[COMMON, AMD, SINCE_ZEN_2, SINCE_ZEN_3],
    ..EPYC
};
const ZEN_4: RealCpu = RealCpu {
    family: 25,
    model: 17,
    stepping: 1,
    microcode: 0x0a10_1158,
    last_extended: 0x8000_0021,
    address_bits: 52,
    features: &[COMMON, AMD, SINCE_ZEN_2, SINCE_ZEN_3, &["auto-ibrs", "la57"]],
    ..EPYC
};

/// What Intel's have in common, on which the others are built.
const XEON: RealCpu = RealCpu {
    vendor: "GenuineIntel",
    family: 6,
    model: 0,
    stepping: 0,
    microcode: 0,
    last_extended: 0x8000_0008,
    address_bits: 46,
    features: &[],
    without: &[],
    hypervisor: false,
    arch_capabilities: None,
};

/// What AMD's have in common.
const EPYC: RealCpu = RealCpu {
    vendor: "AuthenticAMD",
    family: 23,
    model: 0,
    stepping: 0,
    microcode: 0,
    last_extended: 0x8000_001e,
    address_bits: 48,
    features: &[],
    without: &[],
    hypervisor: false,
    arch_capabilities: None,
};

/// All of them, less what is left out of one.
const COMMON: &[&str] = &[
    "fpu",
    "de",
    "pse",
    "tsc",
    "msr",
    "pae",
    "mce",
    "cx8",
    "apic",
    "sep",
    "mtrr",
    "pge",
    "mca",
    "cmov",
    "pat",
    "pse36",
    "clflush",
    "mmx",
    "fxsr",
    "sse",
    "sse2",
    "pni",
    "pclmulqdq",
    "ssse3",
    "fma",
    "cx16",
    "sse4.1",
    "sse4.2",
    "movbe",
    "popcnt",
    "aes",
    "xsave",
    "xsaveopt",
    "xgetbv1",
    "avx",
    "f16c",
    "arat",
    "fsgsbase",
    "bmi1",
    "avx2",
    "smep",
    "bmi2",
    "syscall",
    "nx",
    "rdtscp",
    "lm",
    "lahf-lm",
    "abm",
    "3dnowprefetch",
    "pdpe1gb",
    "adx",
    "smap",
    "clflushopt",
    "invtsc",
];
/// Features of Intel's CPUs, beside [`COMMON`].
const INTEL: &[&str] = &["erms", "spec-ctrl", "stibp", "ssbd"];
/// Intel's since Sapphire Rapids; QEMU has names for all of them since 10.0 at the latest.
const SINCE_SAPPHIRE_RAPIDS: &[&str] =
    &["fzrm", "fsrs", "fsrc", "intel-psfd", "ipred-ctrl", "rrsba-ctrl", "bhi-ctrl"];
/// Features of AMD's CPUs since Zen.
const AMD: &[&str] = &[
    "mmxext",
    "fxsr-opt",
    "cr8legacy",
    "sse4a",
    "misalignsse",
    "osvw",
    "topoext",
    "svm",
    "npt",
    "nrip-save",
    "xsaveerptr",
    "ibpb",
];
/// AMD's since Zen 2.
const SINCE_ZEN_2: &[&str] = &["clwb", "umip", "ibrs", "amd-stibp", "amd-ssbd"];
/// AMD's since Zen 3; QEMU has names for the last three since 8.1.
const SINCE_ZEN_3: &[&str] = &[
    "erms",
    "fsrm",
    "pku",
    "stibp-always-on",
    "amd-psfd",
    "no-nested-data-bp",
    "lfence-always-serializing",
    "null-sel-clr-base",
];

// Bits of IA32_ARCH_CAPABILITIES: Linux arch/x86/include/asm/msr-index.h.
const RDCL_NO: u64 = 1;
const IBRS_ALL: u64 = 1 << 1;
const SKIP_L1DFL: u64 = 1 << 3;
const MDS_NO: u64 = 1 << 5;
const PSCHANGE_MC_NO: u64 = 1 << 6;
const TSX_CTRL: u64 = 1 << 7;
const TAA_NO: u64 = 1 << 8;
const SBDR_SSDP_NO: u64 = 1 << 13;
const FBSDP_NO: u64 = 1 << 14;
const PSDP_NO: u64 = 1 << 15;
const FB_CLEAR: u64 = 1 << 17;
const GDS_CTRL: u64 = 1 << 25;
const GDS_NO: u64 = 1 << 26;
const RFDS_NO: u64 = 1 << 27;
