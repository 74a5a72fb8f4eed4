//! Where real machines printed the profiles' lines: a constant a machine, with its kernel, and the
//! files that it printed as a profile shows them.
//!
//! Three differences of form are none of content. `lscpu` writes "Mitigation; X: Y" as
//! "Mitigation; X Y", and inxi has the word "mitigation" before the colon. A line that ends with
//! "SMT disabled" stands for one that ends with what a machine says that uses both threads: the
//! profile's second thread is offline (docs/reference/cpu.md).

use super::{BOTH, Branch, ONLY_NEW, ONLY_OLD};

/// No output of such a machine is known; the kernel's source decides so by what the profile has.
const COMPUTED: &str = "computed from the kernel's source";

/// A machine in the data of Spare Cores, who rent servers of each type and keep what `lscpu`
/// prints. The kernel is what the same run's benchmarks name.
macro_rules! rented {
    ($commit:literal, $server:literal) => {
        concat!(
            "https://github.com/SpareCores/sc-inspector-data/blob/",
            $commit,
            "/data/",
            $server,
            "/lscpu/stdout"
        )
    };
}

/// A machine of the cluster of TUM-DSE, which keeps what inxi prints on each.
macro_rules! cluster {
    ($commit:literal, $host:literal) => {
        concat!(
            "https://github.com/TUM-DSE/doctor-cluster-config/blob/",
            $commit,
            "/docs/hosts/",
            $host,
            ".md"
        )
    };
}

/// A user's machine in the `lscpu` reports of linux-hardware.org, whose kernels are not stated; the
/// last are of March 2022, so all are older than 5.18.
macro_rules! reported {
    ($path:literal) => {
        concat!("https://github.com/linuxhw/LsCPU/blob/b0dfbec10b/Intel/Xeon/", $path)
    };
    (AMD $path:literal) => {
        concat!("https://github.com/linuxhw/LsCPU/blob/b0dfbec10b/AMD/EPYC/", $path)
    };
}

/// A Xeon Platinum 8160 with SMT off, in a study of the costs of VM exits.
macro_rules! studied {
    ($commit:literal, $run:literal) => {
        concat!(
            "https://github.com/esmakokten/cos-vmimg/blob/",
            $commit,
            "/measurements/exit-anatomy/",
            $run,
            ".md"
        )
    };
}

/// Xeon E5-1620 v3.
const E5_1620_V3: &str = reported!("Xeon%20E5-1620%20v3/6-63-2/697E2F24F0");
/// Azure Standard_GS5-16, Xeon E5-2698B v3, Ubuntu 6.8.0-1015.
const AZURE_GS5: &str = rented!("08c16feabb", "azure/Standard_GS5-16");
/// GCP n1-highmem-64, a Xeon of model 63, Ubuntu 6.8.0-1009.
const GCP_N1: &str = rented!("b690cdf1b0", "gcp/n1-highmem-64");
/// Xeon Platinum 8160, Ubuntu 6.8.0-94.
const XEON_8160: &str = studied!("a97cf0ad89", "153-w3-base-ladder");
/// Xeon Platinum 8160, Ubuntu 6.14.0-37.
const XEON_8160_NEWER: &str = studied!("70b9e8f35a", "baseline-qemu-prelim");
/// Xeon W-2145, of the same model and stepping, with VMX turned off.
const W_2145: &str = reported!("Xeon%20W-2145/6-85-4/672448ACFD");
/// Vultr vc2-6c-16gb, "Intel Xeon Processor (Skylake, IBRS)", Ubuntu 6.8.0-124.
const VULTR_VC2: &str = rented!("52035d9767", "vultr/vc2-6c-16gb");
/// Hetzner cx23, "Intel Xeon Processor (Skylake, IBRS, no TSX)", Ubuntu 6.8.0-71.
const HETZNER_CX23: &str = rented!("b991d13087", "hcloud/cx23");
/// Alibaba ecs.e4.small, Xeon Platinum 8163, Ubuntu 6.8.0-106.
const ALIBABA_E4: &str = rented!("a43279cacf", "alicloud/ecs.e4.small");
/// Xeon Gold 5215, Linux 6.12.66.
const XEON_5215: &str = cluster!("5f5ed9eafa", "astrid");
/// GCP m2-hypermem-416, a Xeon of model 85 and stepping 7, Debian 6.1.0-49.
const GCP_M2: &str = rented!("656f277aa4", "gcp/m2-hypermem-416");
/// OVH t2-180, Xeon Gold 6226R, Ubuntu 6.8.0-86.
const OVH_T2: &str = rented!("c94e667276", "ovh/t2-180");
/// Alibaba ecs.d2c.6xlarge, Xeon Platinum 8269CY, Ubuntu 6.8.0-117.
const ALIBABA_D2C: &str = rented!("147d21dc1e", "alicloud/ecs.d2c.6xlarge");
/// Xeon Gold 5317 with SMT off, Linux 6.12.66.
const XEON_5317: &str = cluster!("5f5ed9eafa", "adelaide");
/// GCP m3-megamem-64, a Xeon of model 106, Ubuntu 6.17.0-1020.
const GCP_M3: &str = rented!("8283cdd0cd", "gcp/m3-megamem-64");
/// Alibaba ecs.sgn7i-vws-m4s.2xlarge, Xeon Platinum 8369B, Ubuntu 6.8.0-106.
const ALIBABA_SGN7I: &str = rented!("a566c733ca", "alicloud/ecs.sgn7i-vws-m4s.2xlarge");
/// AWS hpc6id.32xlarge, Xeon Platinum 8375C, Ubuntu 6.8.0-1016.
const AWS_HPC6ID: &str = rented!("573dc8e48c", "aws/hpc6id.32xlarge");
/// AWS m7i.metal-24xl, a whole Xeon Platinum 8488C, Ubuntu 6.8.0-1008.
const AWS_M7I: &str = rented!("6cdfb74685", "aws/m7i.metal-24xl");
/// GCP c3-standard-22, a Xeon of model 143, Ubuntu 6.17.0-1020.
const GCP_C3: &str = rented!("f48d82b8ad", "gcp/c3-standard-22");
/// EPYC 7401P.
const EPYC_7401P: &str = reported!(AMD "EPYC%207401P%2024-Core/23-1-2/6D486A7EE9");
/// Azure `Standard_L80s_v2`, EPYC 7551, Ubuntu 6.8.0-1017.
const AZURE_L80S: &str = rented!("cbd7e33056", "azure/Standard_L80s_v2");
/// EPYC 7252.
const EPYC_7252: &str = reported!(AMD "EPYC%207252%208-Core/23-49-0/632FF33B77");
/// Alibaba ecs.c6a.16xlarge, EPYC 7H12, Ubuntu 6.8.0-117.
const ALIBABA_C6A: &str = rented!("1abb36b91d", "alicloud/ecs.c6a.16xlarge");
/// `UpCloud` CLOUDNATIVE-8xCPU-96GB, EPYC 7542, Ubuntu 6.8.0-31.
const UPCLOUD: &str = rented!("fb2ef6dd8a", "upcloud/CLOUDNATIVE-8xCPU-96GB");
/// EPYC 7713P with SMT off, Linux 6.18.6.
const EPYC_7713P: &str = cluster!("5f5ed9eafa", "graham");
/// Vultr vbm-24c-256gb-amd, a whole EPYC 7443P, Ubuntu 6.8.0-124.
const EPYC_7443P: &str = rented!("c35d646e46", "vultr/vbm-24c-256gb-amd");
/// EPYC 7413, Linux 6.4.16.
const EPYC_7413: &str = cluster!("811cccd104", "amy");
/// Vultr voc-g-1c-4gb-30s-amd, "AMD EPYC-Milan Processor", Ubuntu 6.8.0-124.
const VULTR_MILAN: &str = rented!("c5ba9e9a12", "vultr/voc-g-1c-4gb-30s-amd");
/// AWS inf2.48xlarge, EPYC 7R13, Ubuntu 6.8.0-1014.
const AWS_INF2: &str = rented!("85ef70a931", "aws/inf2.48xlarge");
/// Vultr vbm-64c-1536gb-amd, a whole EPYC 9354, Ubuntu 6.8.0-136.
const EPYC_9354: &str = rented!("acdaa75782", "vultr/vbm-64c-1536gb-amd");
/// EPYC 9334 with SMT off, Linux 6.6.0-rc1.
const EPYC_9334: &str = cluster!("3a4925cab9", "vislor");
/// Vultr voc-s-2c-16gb-320s-amd, "AMD EPYC-Genoa Processor", Ubuntu 6.8.0-124.
const VULTR_GENOA: &str = rented!("9767515492", "vultr/voc-s-2c-16gb-320s-amd");
/// Vultr voc-s-1c-8gb-150s-amd, the same with one thread.
const VULTR_GENOA_1: &str = rented!("628c627895", "vultr/voc-s-1c-8gb-150s-amd");

/// Files of a profile that a machine printed.
struct Printed {
    profile: &'static str,
    branches: &'static [Branch],
    files: &'static [&'static str],
    source: &'static str,
}

/// Where a machine printed this file of a profile as the profile shows it on a branch, or that none
/// is known to have.
pub(super) fn of(profile: &str, branch: (u32, u32), file: &str) -> &'static str {
    let printed_line = |one: &&Printed| {
        one.profile == profile
            && one.branches.iter().any(|known| known.number == branch)
            && one.files.contains(&file)
    };
    PRINTED.iter().find(printed_line).map_or(COMPUTED, |one| one.source)
}

const fn printed(
    profile: &'static str,
    branches: &'static [Branch],
    files: &'static [&'static str],
    source: &'static str,
) -> Printed {
    Printed { profile, branches, files, source }
}

const PRINTED: &[Printed] = &[
    printed(
        "haswell",
        BOTH,
        &["itlb_multihit", "l1tf", "mds", "meltdown", "spectre_v1"],
        E5_1620_V3,
    ),
    printed(
        "haswell-guest",
        BOTH,
        &["itlb_multihit", "l1tf", "mds", "meltdown", "mmio_stale_data", "spectre_v1"],
        AZURE_GS5,
    ),
    printed("haswell-guest", BOTH, &["spec_store_bypass"], GCP_N1),
    printed(
        "skylake",
        BOTH,
        &["mds", "meltdown", "retbleed", "spec_store_bypass", "spectre_v1", "vmscape"],
        XEON_8160,
    ),
    printed("skylake", ONLY_OLD, &["spectre_v2"], XEON_8160),
    printed("skylake", ONLY_NEW, &["spectre_v2"], XEON_8160_NEWER),
    printed("skylake", BOTH, &["itlb_multihit", "l1tf"], W_2145),
    printed(
        "skylake-guest",
        BOTH,
        &[
            "gather_data_sampling",
            "indirect_target_selection",
            "itlb_multihit",
            "l1tf",
            "meltdown",
            "mmio_stale_data",
            "retbleed",
            "spec_store_bypass",
            "spectre_v1",
        ],
        VULTR_VC2,
    ),
    printed("skylake-guest", ONLY_NEW, &["spectre_v2"], VULTR_VC2),
    printed("skylake-guest", ONLY_OLD, &["spectre_v2"], ALIBABA_E4),
    printed("skylake-guest", BOTH, &["mds"], HETZNER_CX23),
    printed(
        "cascadelake",
        BOTH,
        &[
            "gather_data_sampling",
            "indirect_target_selection",
            "mmio_stale_data",
            "retbleed",
            "spec_store_bypass",
            "spectre_v1",
            "spectre_v2",
            "tsx_async_abort",
            "vmscape",
        ],
        XEON_5215,
    ),
    printed(
        "cascadelake-guest",
        BOTH,
        &["indirect_target_selection", "retbleed", "spec_store_bypass", "spectre_v1", "spectre_v2"],
        GCP_M2,
    ),
    printed("cascadelake-guest", BOTH, &["mmio_stale_data", "tsx_async_abort"], OVH_T2),
    printed("cascadelake-guest", BOTH, &["gather_data_sampling", "itlb_multihit"], ALIBABA_D2C),
    printed(
        "icelake",
        BOTH,
        &[
            "gather_data_sampling",
            "indirect_target_selection",
            "mmio_stale_data",
            "spec_store_bypass",
            "spectre_v1",
            "spectre_v2",
        ],
        XEON_5317,
    ),
    printed(
        "icelake-guest",
        BOTH,
        &["indirect_target_selection", "spec_store_bypass", "spectre_v1", "spectre_v2"],
        GCP_M3,
    ),
    printed("icelake-guest", BOTH, &["gather_data_sampling"], ALIBABA_SGN7I),
    printed("icelake-guest", BOTH, &["mmio_stale_data"], AWS_HPC6ID),
    printed("sapphirerapids", BOTH, &["spec_store_bypass", "spectre_v1"], AWS_M7I),
    printed(
        "sapphirerapids-guest",
        BOTH,
        &["spec_store_bypass", "spectre_v1", "spectre_v2"],
        GCP_C3,
    ),
    printed("zen1", BOTH, &["spectre_v1"], EPYC_7401P),
    printed("zen1-guest", BOTH, &["retbleed", "spec_store_bypass", "spectre_v1"], AZURE_L80S),
    printed("zen1-guest", ONLY_NEW, &["spec_rstack_overflow"], AZURE_L80S),
    printed("zen2", BOTH, &["spectre_v1"], EPYC_7252),
    printed("zen2-guest", BOTH, &["retbleed", "spec_store_bypass", "spectre_v1"], ALIBABA_C6A),
    printed("zen2-guest", ONLY_OLD, &["spectre_v2"], ALIBABA_C6A),
    printed("zen2-guest", ONLY_NEW, &["spec_rstack_overflow", "spectre_v2"], UPCLOUD),
    printed("zen3", BOTH, &["spec_store_bypass", "spectre_v1", "vmscape"], EPYC_7713P),
    printed("zen3", ONLY_NEW, &["spec_rstack_overflow", "spectre_v2"], EPYC_7713P),
    printed("zen3", ONLY_OLD, &["spec_rstack_overflow"], EPYC_7413),
    printed("zen3", ONLY_OLD, &["spectre_v2"], EPYC_7443P),
    printed("zen3-guest", BOTH, &["spec_store_bypass", "spectre_v1", "tsa"], VULTR_MILAN),
    printed("zen3-guest", ONLY_NEW, &["spec_rstack_overflow", "spectre_v2"], VULTR_MILAN),
    printed("zen3-guest", ONLY_OLD, &["spectre_v2"], AWS_INF2),
    printed("zen4", BOTH, &["spec_store_bypass", "spectre_v1", "tsa", "vmscape"], EPYC_9354),
    printed("zen4", ONLY_NEW, &["spec_rstack_overflow"], EPYC_9354),
    printed("zen4", ONLY_OLD, &["spec_rstack_overflow"], EPYC_9334),
    printed("zen4", ONLY_OLD, &["spectre_v2"], EPYC_9354),
    printed("zen4-guest", BOTH, &["spec_store_bypass", "spectre_v1", "tsa"], VULTR_GENOA),
    printed("zen4-guest", ONLY_NEW, &["spec_rstack_overflow"], VULTR_GENOA),
    printed("zen4-guest", ONLY_OLD, &["spectre_v2"], VULTR_GENOA),
    printed("zen4-guest", ONLY_NEW, &["spectre_v2"], VULTR_GENOA_1),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::PROFILES;
    use crate::arch::x86_64::cpu::states::rows_of;

    #[test]
    fn what_a_machine_printed_is_a_line_of_the_profile_and_told_once() {
        let mut told = HashSet::new();
        for one in PRINTED {
            let name = one.profile;
            let profile = PROFILES.iter().find(|profile| profile.name == name).unwrap();
            for (branch, file) in one
                .branches
                .iter()
                .flat_map(|branch| one.files.iter().map(move |file| (branch, *file)))
            {
                let number = branch.number;
                let has = rows_of(profile, number).any(|row| row.file == file);
                assert!(has, "{name} shows no {file} on {number:?}");
                assert!(told.insert((name, number, file)), "{name} has {file} twice on {number:?}");
            }
            assert!(one.source.starts_with("https://github.com/"), "{}", one.source);
            assert!(!one.source.contains(' '), "{}", one.source);
        }
    }

    #[test]
    fn a_line_that_no_machine_is_known_to_have_printed_says_so() {
        assert_eq!(of("icelake", (6, 12), "spectre_v2"), XEON_5317);
        assert_eq!(of("skylake", (6, 1), "spectre_v2"), XEON_8160);
        assert_eq!(of("skylake", (6, 12), "spectre_v2"), XEON_8160_NEWER);
        assert_eq!(of("haswell", (6, 12), "vmscape"), COMPUTED);
        assert_eq!(of("haswell", (5, 10), "meltdown"), COMPUTED);
    }
}
