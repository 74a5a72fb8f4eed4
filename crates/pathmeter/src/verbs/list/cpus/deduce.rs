//! MSR 0x10a, `IA32_ARCH_CAPABILITIES`, deduced from what the machine's own kernel prints: it takes
//! root to read the MSR itself.
//!
//! The bits that are found are those by which Linux decides (`arch/x86/kernel/cpu/common.c`,
//! `cpu_set_bug_bits`, and `bugs.c`): a kernel that is given them decides as this one did. Those by
//! which it decides nothing stay 0.

use std::collections::BTreeMap;

/// What the kernel prints of an Intel CPU.
pub(super) struct Printed<'a> {
    /// The CPU's model in family 6.
    pub(super) model: u32,
    /// The words of `flags` in `/proc/cpuinfo`.
    pub(super) flags: &'a [String],
    /// The words of `bugs` there.
    pub(super) bugs: &'a [String],
    /// The files on vulnerabilities, each with its line.
    pub(super) states: &'a BTreeMap<String, String>,
}

const NOT_AFFECTED: &str = "Not affected";
const RSBA: u32 = 2;
const SSB_NO: u32 = 4;
const TSX_CTRL: u32 = 7;
const TAA_NO: u32 = 8;
const FB_CLEAR: u32 = 17;
const BHI_NO: u32 = 20;
const IBRS_ALL: u32 = 1;
const PBRSB_NO: u32 = 24;
const GDS_CTRL: u32 = 25;
const RFDS_CLEAR: u32 = 28;

/// The bits that say that a file reads "Not affected", and the names of all bits.
const WITHOUT: &[(&str, &[u32])] = &[
    ("meltdown", &[0]),
    ("mds", &[5]),
    ("itlb_multihit", &[6]),
    ("mmio_stale_data", &[13, 14, 15]),
    ("gather_data_sampling", &[26]),
    ("reg_file_data_sampling", &[27]),
    ("indirect_target_selection", &[62]),
];
const NAMES: &[(u32, &str)] = &[
    (0, "RDCL_NO"),
    (IBRS_ALL, "IBRS_ALL"),
    (RSBA, "RSBA"),
    (SSB_NO, "SSB_NO"),
    (5, "MDS_NO"),
    (6, "PSCHANGE_MC_NO"),
    (TSX_CTRL, "TSX_CTRL"),
    (TAA_NO, "TAA_NO"),
    (13, "SBDR_SSDP_NO"),
    (14, "FBSDP_NO"),
    (15, "PSDP_NO"),
    (FB_CLEAR, "FB_CLEAR"),
    (BHI_NO, "BHI_NO"),
    (PBRSB_NO, "PBRSB_NO"),
    (GDS_CTRL, "GDS_CTRL"),
    (26, "GDS_NO"),
    (27, "RFDS_NO"),
    (RFDS_CLEAR, "RFDS_CLEAR"),
    (62, "ITS_NO"),
];
/// Models that have the bug `retbleed` whatever the MSR says (`cpu_vuln_blacklist`).
const RETBLEED: &[u32] = &[0x4e, 0x55, 0x5e, 0x66, 0x7e, 0x8a, 0x8e, 0x9e, 0xa5, 0xa6, 0xa7];

/// The value by which a kernel decides as this one did.
pub(super) fn arch_capabilities(printed: &Printed<'_>) -> u64 {
    let line = |file: &str| printed.states.get(file).map_or("", String::as_str);
    let has = |words: &[String], word: &str| words.iter().any(|one| one == word);
    let mitigated = |file: &str| line(file).starts_with("Mitigation: ");
    let (flag, bug) = (|word| has(printed.flags, word), |word| has(printed.bugs, word));
    let mut bits: Vec<u32> = WITHOUT
        .iter()
        .filter(|(file, _)| line(file) == NOT_AFFECTED)
        .flat_map(|(_, bits)| bits.iter().copied())
        .collect();
    let branch_history = flag("ibrs_enhanced") || flag("hypervisor");
    let told = line("spectre_v2").contains("BHI:");
    let found = [
        (flag("ibrs_enhanced"), IBRS_ALL),
        (bug("retbleed") && !RETBLEED.contains(&printed.model), RSBA),
        (line("spec_store_bypass") == NOT_AFFECTED, SSB_NO),
        (bug("taa") && !flag("rtm"), TSX_CTRL),
        (flag("rtm") && line("tsx_async_abort") == NOT_AFFECTED, TAA_NO),
        (mitigated("mmio_stale_data"), FB_CLEAR),
        (branch_history && told && !bug("bhi"), BHI_NO),
        (flag("ibrs_enhanced") && !bug("eibrs_pbrsb"), PBRSB_NO),
        (mitigated("gather_data_sampling"), GDS_CTRL),
        (mitigated("reg_file_data_sampling"), RFDS_CLEAR),
    ];
    bits.extend(found.into_iter().filter(|(holds, _)| *holds).map(|(_, bit)| bit));
    bits.into_iter().fold(0, |value, bit| value | 1 << bit)
}

/// The names of the bits of a value that have one here.
pub(super) fn names(value: u64) -> String {
    let set = NAMES.iter().filter(|(bit, _)| value >> bit & 1 == 1);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn deduced(model: u32, flags: &str, bugs: &str, states: &[(&str, &str)]) -> String {
        let states = states.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let (flags, bugs) = (&words(flags)[..], &words(bugs)[..]);
        names(arch_capabilities(&Printed { model, flags, bugs, states: &states }))
    }

    #[test]
    fn an_ice_lake_without_a_hypervisor() {
        let states = [
            ("meltdown", "Not affected"),
            ("mds", "Not affected"),
            ("itlb_multihit", "Not affected"),
            ("mmio_stale_data", "Mitigation: Clear CPU buffers; SMT vulnerable"),
            ("gather_data_sampling", "Mitigation: Microcode"),
            ("spectre_v2", "Mitigation: Enhanced / Automatic IBRS; BHI: SW loop"),
            ("spec_store_bypass", "Mitigation: disabled via prctl"),
            ("indirect_target_selection", "Mitigation: Aligned branch/return thunks"),
        ];
        let bits = deduced(106, "ibrs_enhanced", "eibrs_pbrsb bhi gds its", &states);
        assert_eq!(bits, "RDCL_NO, IBRS_ALL, MDS_NO, PSCHANGE_MC_NO, FB_CLEAR, GDS_CTRL");
    }

    #[test]
    fn a_guest_on_a_newer_one_that_is_told_to_fear_older_hosts() {
        let states = [
            ("meltdown", "Not affected"),
            ("mmio_stale_data", "Not affected"),
            ("retbleed", "Vulnerable"),
            ("tsx_async_abort", "Vulnerable: Clear CPU buffers attempted, no microcode"),
            ("spectre_v2", "Mitigation: Retpolines; BHI: Retpoline"),
        ];
        let bits = deduced(207, "rtm hypervisor", "taa retbleed bhi its", &states);
        assert_eq!(bits, "RDCL_NO, RSBA, SBDR_SSDP_NO, FBSDP_NO, PSDP_NO");
    }

    #[test]
    fn what_a_kernel_does_not_print_sets_no_bit() {
        assert_eq!(deduced(207, "", "", &[]), "");
        assert_eq!(deduced(85, "", "retbleed", &[("retbleed", "Mitigation: IBRS")]), "");
        assert_eq!(deduced(85, "", "taa", &[]), "TSX_CTRL");
    }
}
