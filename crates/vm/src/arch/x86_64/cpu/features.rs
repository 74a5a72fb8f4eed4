//! CPUID's bits by QEMU's names: those that a profile may have, and those that a kernel would
//! execute and the interpreter can't.

/// A register that CPUID fills: leaf, subleaf, and which of EAX, EBX, ECX, EDX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuidRegister {
    /// The leaf, which CPUID takes in EAX.
    pub leaf: u32,
    /// The subleaf, which CPUID takes in ECX.
    pub subleaf: u32,
    /// 0 for EAX, 1 for EBX, 2 for ECX, 3 for EDX.
    pub register: usize,
}

/// The features in one register: their bits and QEMU's names.
pub struct FeatureWord {
    pub of: CpuidRegister,
    /// What a profile may have.
    pub kept: &'static [(u32, &'static str)],
    /// What it may not: the interpreter can't execute it, or it is chance or a timer of the host's.
    pub left_out: &'static [(u32, &'static str)],
}

const fn register(leaf: u32, subleaf: u32, register: usize) -> CpuidRegister {
    CpuidRegister { leaf, subleaf, register }
}

/// Features that profiles have and for which QEMU has had names since 10.0 at the latest: among the
/// tested versions, those from 10.0 on have them all, and 7.2 has none.
const NAMED_SINCE_10_0: [&str; 13] = [
    "amd-psfd",
    "auto-ibrs",
    "bhi-ctrl",
    "fsrc",
    "fsrs",
    "fzrm",
    "intel-psfd",
    "ipred-ctrl",
    "lfence-always-serializing",
    "no-nested-data-bp",
    "null-sel-clr-base",
    "rrsba-ctrl",
    "stibp-always-on",
];

/// The oldest tested QEMU that has names for all of these features, if an old one has not.
pub(crate) fn named_since(features: &[&str]) -> Option<&'static str> {
    let is_new = |name: &&str| NAMED_SINCE_10_0.contains(name);
    (!features.is_empty() && features.iter().all(is_new)).then_some("10.0")
}

/// All features that are known, by register.
pub const FEATURES: &[FeatureWord] = &[
    FeatureWord {
        of: register(1, 0, 3),
        kept: &[
            (0, "fpu"),
            (2, "de"),
            (3, "pse"),
            (4, "tsc"),
            (5, "msr"),
            (6, "pae"),
            (7, "mce"),
            (8, "cx8"),
            (9, "apic"),
            (11, "sep"),
            (12, "mtrr"),
            (13, "pge"),
            (14, "mca"),
            (15, "cmov"),
            (16, "pat"),
            (17, "pse36"),
            (19, "clflush"),
            (23, "mmx"),
            (24, "fxsr"),
            (25, "sse"),
            (26, "sse2"),
            (27, "ss"),
        ],
        left_out: &[],
    },
    FeatureWord {
        of: register(1, 0, 2),
        kept: &[
            (0, "pni"),
            (1, "pclmulqdq"),
            (9, "ssse3"),
            (12, "fma"),
            (13, "cx16"),
            (19, "sse4.1"),
            (20, "sse4.2"),
            (22, "movbe"),
            (23, "popcnt"),
            (25, "aes"),
            (26, "xsave"),
            (28, "avx"),
            (29, "f16c"),
            (31, "hypervisor"),
        ],
        left_out: &[
            (3, "monitor"),
            (5, "vmx"),
            (17, "pcid"),
            (21, "x2apic"),
            (24, "tsc-deadline"),
            (30, "rdrand"),
        ],
    },
    FeatureWord { of: register(6, 0, 0), kept: &[(2, "arat")], left_out: &[] },
    FeatureWord {
        of: register(7, 0, 1),
        kept: &[
            (0, "fsgsbase"),
            (3, "bmi1"),
            (4, "hle"),
            (5, "avx2"),
            (7, "smep"),
            (8, "bmi2"),
            (9, "erms"),
            (11, "rtm"),
            (19, "adx"),
            (20, "smap"),
            (23, "clflushopt"),
            (24, "clwb"),
        ],
        left_out: &[
            (1, "tsc-adjust"),
            (10, "invpcid"),
            (16, "avx512f"),
            (17, "avx512dq"),
            (18, "rdseed"),
            (21, "avx512ifma"),
            (28, "avx512cd"),
            (29, "sha-ni"),
            (30, "avx512bw"),
            (31, "avx512vl"),
        ],
    },
    FeatureWord {
        of: register(7, 0, 2),
        kept: &[(2, "umip"), (3, "pku"), (16, "la57")],
        left_out: &[
            (1, "avx512vbmi"),
            (6, "avx512vbmi2"),
            (8, "gfni"),
            (9, "vaes"),
            (10, "vpclmulqdq"),
            (11, "avx512vnni"),
            (12, "avx512bitalg"),
            (14, "avx512-vpopcntdq"),
            (22, "rdpid"),
        ],
    },
    FeatureWord {
        of: register(7, 0, 3),
        kept: &[
            (4, "fsrm"),
            (10, "md-clear"),
            (26, "spec-ctrl"),
            (27, "stibp"),
            (28, "flush-l1d"),
            (29, "arch-capabilities"),
            (31, "ssbd"),
        ],
        left_out: &[(14, "serialize"), (20, "ibt")],
    },
    FeatureWord {
        of: register(7, 1, 0),
        kept: &[(10, "fzrm"), (11, "fsrs"), (12, "fsrc")],
        left_out: &[],
    },
    FeatureWord {
        of: register(7, 2, 3),
        kept: &[
            (0, "intel-psfd"),
            (1, "ipred-ctrl"),
            (2, "rrsba-ctrl"),
            (4, "bhi-ctrl"),
            (5, "mcdt-no"),
        ],
        left_out: &[],
    },
    FeatureWord {
        of: register(13, 1, 0),
        kept: &[(0, "xsaveopt"), (2, "xgetbv1")],
        left_out: &[(1, "xsavec"), (3, "xsaves")],
    },
    FeatureWord {
        of: register(0x8000_0001, 0, 3),
        kept: &[
            (11, "syscall"),
            (20, "nx"),
            (22, "mmxext"),
            (25, "fxsr-opt"),
            (26, "pdpe1gb"),
            (27, "rdtscp"),
            (29, "lm"),
        ],
        left_out: &[],
    },
    FeatureWord {
        of: register(0x8000_0001, 0, 2),
        kept: &[
            (0, "lahf-lm"),
            (2, "svm"),
            (4, "cr8legacy"),
            (5, "abm"),
            (6, "sse4a"),
            (7, "misalignsse"),
            (8, "3dnowprefetch"),
            (9, "osvw"),
            (22, "topoext"),
        ],
        left_out: &[],
    },
    FeatureWord { of: register(0x8000_0007, 0, 3), kept: &[(8, "invtsc")], left_out: &[] },
    FeatureWord {
        of: register(0x8000_0008, 0, 1),
        kept: &[
            (2, "xsaveerptr"),
            (12, "ibpb"),
            (14, "ibrs"),
            (15, "amd-stibp"),
            (17, "stibp-always-on"),
            (24, "amd-ssbd"),
            (25, "virt-ssbd"),
            (26, "amd-no-ssb"),
            (28, "amd-psfd"),
        ],
        left_out: &[(0, "clzero"), (9, "wbnoinvd")],
    },
    FeatureWord {
        of: register(0x8000_000a, 0, 3),
        kept: &[(0, "npt"), (3, "nrip-save")],
        left_out: &[],
    },
    FeatureWord {
        of: register(0x8000_0021, 0, 0),
        kept: &[
            (0, "no-nested-data-bp"),
            (2, "lfence-always-serializing"),
            (5, "verw-clear"),
            (6, "null-sel-clr-base"),
            (8, "auto-ibrs"),
            (27, "sbpb"),
            (28, "ibpb-brtype"),
            (29, "srso-no"),
            (30, "srso-user-kernel-no"),
        ],
        left_out: &[],
    },
];

/// What may be asked of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// A profile may have it, under this name.
    Kept(&'static str),
    /// No profile may have it.
    LeftOut(&'static str),
}

/// The feature of this name.
pub(crate) fn known(name: &str) -> Option<Known> {
    let find = |list: &'static [(u32, &'static str)]| list.iter().find(|(_, one)| *one == name);
    FEATURES.iter().find_map(|word| {
        let kept = find(word.kept).map(|(_, name)| Known::Kept(name));
        kept.or_else(|| find(word.left_out).map(|(_, name)| Known::LeftOut(name)))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::PROFILES;

    #[test]
    fn no_name_and_no_bit_is_there_twice() {
        let words = || FEATURES.iter();
        let all = || words().flat_map(|word| word.kept.iter().chain(word.left_out));
        assert_eq!(all().map(|(_, name)| name).collect::<HashSet<_>>().len(), all().count());
        for word in words() {
            let bits: HashSet<_> =
                word.kept.iter().chain(word.left_out).map(|(bit, _)| bit).collect();
            assert_eq!(bits.len(), word.kept.len() + word.left_out.len(), "{:?}", word.of);
            assert!(bits.iter().all(|bit| **bit < 32));
        }
    }

    #[test]
    fn every_profiles_features_are_known_and_kept() {
        for profile in PROFILES {
            for feature in profile.features() {
                assert_eq!(known(feature), Some(Known::Kept(feature)), "{}", profile.name);
            }
        }
    }

    #[test]
    fn what_no_profile_may_have_is_known_as_that() {
        assert_eq!(known("pcid"), Some(Known::LeftOut("pcid")));
        assert_eq!(known("warp-drive"), None);
    }
}
