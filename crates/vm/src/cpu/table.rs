//! The profiles. They are of machines without a hypervisor below them, with the microcode of 2025
//! or the last that there is, and with one CPU online of two threads.
//!
//! Left out of all, beside what [`Profile::lacks`] names: performance counters, `monitor` (the
//! interpreter's idle is `hlt`), VMX, and what only programs ask for.

use crate::cpu::{Definition, Lack, Profile, RealCpu};
use crate::machine::CPU;

/// All profiles, the default first.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "plain",
        machine: "no real machine: QEMU 7.2's max, alike in every QEMU",
        lacks: &[],
        definition: Definition::Text(CPU),
    },
    Profile {
        name: "skylake",
        machine: "Intel Xeon Scalable of 2017 (Skylake-SP)",
        lacks: &[PCID, XSAVES, AVX512, CHANCE, X2APIC, DEADLINE],
        definition: Definition::Machine(RealCpu {
            model: 85,
            stepping: 4,
            microcode: 0x0200_7006 << 32,
            features: &[COMMON, INTEL, &["clwb", "pku", "md-clear"]],
            ..SKYLAKE
        }),
    },
    Profile {
        name: "cascadelake",
        machine: "Intel Xeon Scalable of 2019 (Cascade Lake-SP)",
        lacks: &[PCID, XSAVES, AVX512, CHANCE, X2APIC, DEADLINE],
        definition: Definition::Machine(RealCpu {
            model: 85,
            stepping: 7,
            microcode: 0x0500_3901 << 32,
            features: &[COMMON, INTEL, &["clwb", "pku", "md-clear", "arch-capabilities"]],
            arch_capabilities: Some(
                RDCL_NO | IBRS_ALL | SKIP_L1DFL | MDS_NO | TSX_CTRL | FB_CLEAR | GDS_CTRL,
            ),
            ..SKYLAKE
        }),
    },
    Profile {
        name: "icelake",
        machine: "Intel Xeon Scalable of 2021 (Ice Lake-SP)",
        lacks: &[PCID, XSAVES, RDPID, AVX512, VECTOR, CHANCE, X2APIC, DEADLINE],
        definition: Definition::Machine(RealCpu {
            model: 106,
            stepping: 6,
            microcode: 0x0d00_03f5 << 32,
            features: &[
                COMMON,
                INTEL,
                &["clwb", "pku", "md-clear", "arch-capabilities", "fsrm", "umip", "la57"],
            ],
            arch_capabilities: Some(
                RDCL_NO
                    | IBRS_ALL
                    | SKIP_L1DFL
                    | MDS_NO
                    | PSCHANGE_MC_NO
                    | TAA_NO
                    | FB_CLEAR
                    | GDS_CTRL,
            ),
            ..SKYLAKE
        }),
    },
    Profile {
        name: "zen1",
        machine: "AMD EPYC 7001 (Zen)",
        lacks: &[XSAVES, VECTOR, CHANCE],
        definition: Definition::Machine(RealCpu {
            model: 1,
            stepping: 2,
            microcode: 0x0800_126f,
            features: &[COMMON, AMD],
            ..ZEN
        }),
    },
    Profile {
        name: "zen2",
        machine: "AMD EPYC 7002 (Zen 2)",
        lacks: &[XSAVES, RDPID, VECTOR, CHANCE, X2APIC],
        definition: Definition::Machine(RealCpu {
            model: 49,
            stepping: 0,
            microcode: 0x0830_107c,
            features: &[COMMON, AMD, ZEN_2],
            ..ZEN
        }),
    },
    Profile {
        name: "zen3",
        machine: "AMD EPYC 7003 (Zen 3)",
        lacks: &[PCID, XSAVES, RDPID, VECTOR, CHANCE, X2APIC],
        definition: Definition::Machine(RealCpu {
            family: 25,
            model: 1,
            stepping: 1,
            microcode: 0x0a00_11de,
            last_extended: 0x8000_0021,
            features: &[COMMON, AMD, ZEN_2, ZEN_3],
            ..ZEN
        }),
    },
    Profile {
        name: "zen4",
        machine: "AMD EPYC 9004 (Zen 4)",
        lacks: &[PCID, XSAVES, RDPID, AVX512, VECTOR, CHANCE, X2APIC],
        definition: Definition::Machine(RealCpu {
            family: 25,
            model: 17,
            stepping: 1,
            microcode: 0x0a10_1158,
            last_extended: 0x8000_0021,
            address_bits: 52,
            features: &[COMMON, AMD, ZEN_2, ZEN_3, &["auto-ibrs", "la57"]],
            ..ZEN
        }),
    },
    Profile {
        name: "max",
        machine: "no real machine: all that this QEMU's interpreter has",
        lacks: &[],
        definition: Definition::Text("max"),
    },
];

/// What Intel's have in common, on which the others are built.
const SKYLAKE: RealCpu = RealCpu {
    vendor: "GenuineIntel",
    family: 6,
    model: 0,
    stepping: 0,
    microcode: 0,
    last_extended: 0x8000_0008,
    address_bits: 46,
    features: &[],
    arch_capabilities: None,
};

/// What AMD's have in common.
const ZEN: RealCpu = RealCpu {
    vendor: "AuthenticAMD",
    family: 23,
    model: 0,
    stepping: 0,
    microcode: 0,
    last_extended: 0x8000_001e,
    address_bits: 48,
    features: &[],
    arch_capabilities: None,
};

/// All of them.
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
/// Intel's since Skylake.
const INTEL: &[&str] = &["erms", "spec-ctrl", "stibp", "ssbd"];
/// AMD's since Zen.
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
const ZEN_2: &[&str] = &["clwb", "umip", "ibrs", "amd-stibp", "amd-ssbd"];
/// AMD's since Zen 3; QEMU has names for the last three since 8.1.
const ZEN_3: &[&str] = &[
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
const FB_CLEAR: u64 = 1 << 17;
const GDS_CTRL: u64 = 1 << 25;

const PCID: Lack = Lack {
    name: "pcid, invpcid",
    means: "on the real machine, under page table isolation, each system call takes 7 instructions \
            more and a yield round trip 87 (Linux 6.1, measured in Bochs: docs/witness.md)",
};
const XSAVES: Lack = Lack {
    name: "xsaves, xsavec",
    means: "the FPU's state is saved by xsaveopt, one instruction for one",
};
const RDPID: Lack = Lack { name: "rdpid", means: "getcpu in the vDSO reads a segment's limit" };
const AVX512: Lack = Lack {
    name: "avx512",
    means: "the FPU's state is smaller, which fork copies; the kernel's ciphers and RAID use AVX2",
};
const VECTOR: Lack = Lack {
    name: "sha, vaes, vpclmulqdq, gfni",
    means: "the kernel's ciphers and hashes use other instructions",
};
const CHANCE: Lack = Lack {
    name: "rdrand, rdseed",
    means: "the kernel gathers its random numbers without them: what they return would be chance",
};
const X2APIC: Lack = Lack { name: "x2apic", means: "the local APIC is reached through memory" };
const DEADLINE: Lack = Lack {
    name: "tsc-deadline",
    means: "the local APIC's timer is older; ticks come from the PIT on every CPU here",
};
