//! What the profiles lack of their machines, and what that costs or saves, where it was measured.
//!
//! The prices are from Bochs, which executes what QEMU's interpreter can't: the same kernel with
//! the feature and without it (docs/evidence/witness.md, "What QEMU can't show").

/// Something that a machine has and the interpreter has not.
#[derive(Debug, PartialEq, Eq)]
pub struct Lack {
    pub name: &'static str,
    /// What follows from that for a measurement.
    pub means: &'static str,
    /// What it costs the real machine, on each kernel on which that was measured.
    pub priced: &'static [Priced],
}

/// What a feature costs the paths of one kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Priced {
    pub kernel: &'static str,
    /// Bochs' model of a CPU that has it.
    pub model: &'static str,
    /// The paths that differ: the steps of the clock that each takes more with the feature, the
    /// least and the most of all runs. The others do not differ.
    pub paths: &'static [(&'static str, i32, i32)],
}

/// What follows from it that a machine lacks these features, which may isolate page tables.
pub(super) fn of(left_out: &[&str], isolates: bool) -> Vec<&'static Lack> {
    let pcid = if isolates { &PCID_ISOLATED } else { &PCID };
    let all =
        [pcid, &XSAVES, &RDPID, &AVX512, &CET, &WAITING, &VECTOR, &CHANCE, &X2APIC, &DEADLINE];
    let lacks = |name| left_out.iter().any(|one: &&str| one.starts_with(name));
    all.into_iter().filter(|lack| lack.name.split(", ").any(lacks)).collect()
}

const DEBIAN_6_1: &str = "Debian 6.1.192";
const DEBIAN_6_12: &str = "Debian 6.12.117";
const BOCHS_SKYLAKE: &str = "corei7_skylake_x";
const BOCHS_ICE_LAKE: &str = "corei7_icelake_u";

/// On a machine with page table isolation.
pub(super) const PCID_ISOLATED: Lack = Lack {
    name: "pcid, invpcid",
    means: "with page table isolation: on the real machine each system call takes 7 instructions \
            more, and a yield round trip 87 to 95 (measured in Bochs: docs/evidence/witness.md)",
    priced: &[
        Priced {
            kernel: DEBIAN_6_1,
            model: BOCHS_SKYLAKE,
            paths: &[
                ("syscall.getppid", 7, 7),
                ("syscall.getppid-int80", 7, 7),
                ("file.open-close", 14, 14),
                ("file.read-zero", 7, 7),
                ("file.write-null", 7, 7),
                ("file.stat", 7, 7),
                ("switch.yield", 87, 87),
                ("switch.yield+ioport-0x80", 109, 109),
                ("switch.yield+ioport-0xffff", 120, 120),
                ("switch.yield+ioport-both", 131, 131),
                ("switch.thread-yield", 14, 14),
                ("switch.pipe", 101, 101),
                ("switch.futex", 57, 57),
                ("ports.ioperm", 7, 7),
                ("ioctl.native", 7, 7),
                ("ioctl.compat-int80", 7, 7),
                ("getcpu.syscall", 7, 7),
                ("process.fork-exit", 182, 227),
                ("process.thread", 21, 21),
                ("memory.fault-anon", 7, 7),
                ("signal.deliver", 14, 14),
                ("pipe.write-read", 14, 14),
                ("unix.round-trip", 123, 123),
                ("tcp.round-trip", 75, 79),
            ],
        },
        Priced {
            kernel: DEBIAN_6_12,
            model: BOCHS_SKYLAKE,
            paths: &[
                ("syscall.getppid", 7, 7),
                ("syscall.getppid-int80", 7, 7),
                ("file.open-close", 11, 14),
                ("file.read-zero", 7, 7),
                ("file.write-null", 7, 7),
                ("file.stat", 4, 7),
                ("switch.yield", 95, 95),
                ("switch.yield+ioport-0x80", 60, 60),
                ("switch.yield+ioport-0xffff", 74, 74),
                ("switch.yield+ioport-both", 81, 81),
                ("switch.thread-yield", 14, 14),
                ("switch.pipe", 109, 109),
                ("switch.futex", 81, 81),
                ("ports.ioperm", 7, 7),
                ("ioctl.native", 7, 7),
                ("ioctl.compat-int80", 7, 7),
                ("getcpu.syscall", 7, 7),
                ("process.fork-exit", 78, 410),
                ("process.thread", 21, 21),
                ("memory.fault-anon", 7, 7),
                ("signal.deliver", 14, 14),
                ("pipe.write-read", 14, 14),
                ("unix.round-trip", 81, 81),
                ("tcp.round-trip", 88, 88),
            ],
        },
    ],
};
/// On a machine without page table isolation.
pub(super) const PCID: Lack = Lack {
    name: "pcid, invpcid",
    means: "without page table isolation: on the real machine a yield round trip takes 65 to 93 \
            instructions more, a system call none (measured in Bochs: docs/evidence/witness.md)",
    priced: &[
        Priced {
            kernel: DEBIAN_6_1,
            model: BOCHS_ICE_LAKE,
            paths: &[
                ("switch.yield", 93, 93),
                ("switch.yield+ioport-0x80", 104, 104),
                ("switch.yield+ioport-0xffff", 49, 49),
                ("switch.yield+ioport-both", 71, 71),
                ("switch.pipe", 93, 93),
                ("switch.futex", 115, 115),
                ("process.fork-exit", 124, 130),
                ("unix.round-trip", 49, 49),
                ("tcp.round-trip", 62, 62),
            ],
        },
        Priced {
            kernel: DEBIAN_6_12,
            model: BOCHS_ICE_LAKE,
            paths: &[
                ("switch.yield", 65, 65),
                ("switch.yield+ioport-0x80", 72, 72),
                ("switch.yield+ioport-0xffff", 37, 37),
                ("switch.yield+ioport-both", 51, 51),
                ("switch.pipe", 65, 65),
                ("switch.futex", 79, 101),
                ("process.fork-exit", 94, 98),
                ("unix.round-trip", 37, 37),
                ("tcp.round-trip", 43, 44),
            ],
        },
    ],
};
pub(super) const XSAVES: Lack = Lack {
    name: "xsaves, xsavec",
    means: "the FPU's state is saved by xsaveopt, one instruction for one",
    priced: &[Priced { kernel: DEBIAN_6_1, model: "ryzen", paths: &[] }],
};
/// `lsl` has 3 bytes and `rdpid` 4, so Linux fills the gap with a `nop` where it puts `lsl`.
const GETCPU: &[(&str, i32, i32)] = &[("getcpu.vdso", -1, -1), ("getcpu.vdso+cache", -1, -1)];
pub(super) const RDPID: Lack = Lack {
    name: "rdpid",
    means: "getcpu in the vDSO reads a segment's limit: lsl and a nop where the real machine \
            executes rdpid, so that one takes an instruction less",
    priced: &[
        Priced { kernel: DEBIAN_6_1, model: BOCHS_ICE_LAKE, paths: GETCPU },
        Priced { kernel: DEBIAN_6_12, model: BOCHS_ICE_LAKE, paths: GETCPU },
    ],
};
pub(super) const AVX512: Lack = Lack {
    name: "avx512",
    means: "the FPU's state, which fork and clone copy, is smaller: 832 bytes for 2,432 (2,688 in \
            Bochs, which saves it by xsaveopt); the kernel's ciphers and RAID use AVX2",
    priced: &[
        Priced {
            kernel: DEBIAN_6_1,
            model: BOCHS_ICE_LAKE,
            paths: &[("process.fork-exit", 1_009, 1_017), ("process.thread", 1_015, 1_015)],
        },
        Priced {
            kernel: DEBIAN_6_12,
            model: BOCHS_ICE_LAKE,
            paths: &[("process.fork-exit", 1_009, 1_037), ("process.thread", 1_015, 1_019)],
        },
    ],
};
pub(super) const AMX: Lack = Lack {
    name: "amx",
    means: "no register tiles: where the real machine returns to a task after a switch, Linux also \
            compares MSR XFD's value with the one that the task needs",
    priced: &[],
};
pub(super) const CET: Lack = Lack {
    name: "ibt, shstk",
    means: "indirect branches are not checked and there are no shadow stacks; the kernel's endbr64 \
            are executed all the same",
    priced: &[],
};
pub(super) const WAITING: Lack = Lack {
    name: "waitpkg, serialize",
    means: "delays are loops of rdtsc and not tpause; code is patched with iret and not serialize",
    priced: &[],
};
pub(super) const VECTOR: Lack = Lack {
    name: "sha, vaes, vpclmulqdq, gfni",
    means: "the kernel's ciphers and hashes use other instructions",
    priced: &[],
};
pub(super) const CHANCE: Lack = Lack {
    name: "rdrand, rdseed",
    means: "the kernel gathers its random numbers without them: what they return would be chance",
    priced: &[],
};
pub(super) const X2APIC: Lack = Lack {
    name: "x2apic",
    means: "the local APIC is reached through memory: by the code of Linux 6.1, the end of its \
            interrupts takes 2 instructions more on the real machine, one of them a wrmsr",
    priced: &[],
};
pub(super) const DEADLINE: Lack = Lack {
    name: "tsc-deadline",
    means: "the local APIC's timer is older; ticks come from the PIT on every CPU here",
    priced: &[],
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use pathmeter_probes::Suite;

    use crate::PROFILES;

    #[test]
    fn prices_are_of_paths_that_there_are_each_told_once() {
        let known: HashSet<_> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        let lacks = PROFILES.iter().flat_map(|profile| profile.lacks);
        for priced in lacks.flat_map(|lack| lack.priced) {
            let mut told = HashSet::new();
            for (path, least, most) in priced.paths {
                assert!(known.contains(path), "{path}");
                assert!(told.insert(path), "{path} twice on {}", priced.kernel);
                assert!(least <= most && *least != 0 && *most != 0, "{path}: {least}, {most}");
            }
        }
    }

    #[test]
    fn a_file_lacks_what_is_left_out_of_it() {
        let names = |left_out: &[&str], isolates| {
            super::of(left_out, isolates).iter().map(|lack| lack.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["invpcid", "avx512bw", "clzero"], false), ["pcid, invpcid", "avx512"]);
        assert_eq!(names(&["sha-ni", "rdpid"], true), ["rdpid", "sha, vaes, vpclmulqdq, gfni"]);
        assert!(super::of(&["pcid"], true).contains(&&super::PCID_ISOLATED));
        assert!(super::of(&["pcid"], false).contains(&&super::PCID));
        assert_eq!(names(&[], true), [""; 0]);
    }

    #[test]
    fn only_a_machine_with_meltdown_isolates_page_tables() {
        for profile in PROFILES {
            let isolated = profile.lacks.contains(&super::PCID_ISOLATED);
            let meltdown = profile.looked().iter().any(|looked| {
                looked.lines.iter().any(|line| line.file == "meltdown" && line.line.contains("PTI"))
            });
            assert_eq!(isolated, meltdown, "{}", profile.name);
        }
    }
}
