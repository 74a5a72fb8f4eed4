//! What the files of `/sys/devices/system/cpu/vulnerabilities` read on each profile, on the kernel
//! branches on which that was looked at: data beside the profiles.
//!
//! A row is a line, the branches and the profiles. What no row has reads "Not affected". Where real
//! machines printed the lines is in `sources`.

mod sources;

use std::collections::BTreeMap;

use crate::arch::x86_64::cpu::Profile;

/// What the files read on a CPU, on a kernel's branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownStates {
    /// The kernel that printed them.
    pub kernel: String,
    /// The line of each of its files.
    pub(crate) lines: BTreeMap<String, String>,
}

impl KnownStates {
    /// The line of this file; None if the kernel has no such file.
    pub fn line(&self, file: &str) -> Option<&str> {
        self.lines.get(file).map(String::as_str)
    }

    /// Whether a kernel that reads `found` in this file is on the profile's CPU, as far as the
    /// file tells.
    pub fn agrees(&self, file: &str, found: &str) -> bool {
        self.line(file).is_none_or(|line| line == found) || WITHOUT_KVM.contains(&(file, found))
    }

    /// Each file with its line.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().map(|(file, line)| (&**file, &**line))
    }
}

/// A branch, its kernel that was looked at, and the profiles' rows.
#[derive(Clone, Copy)]
struct Branch {
    number: (u32, u32),
    kernel: &'static str,
}

const OLD: Branch = Branch { number: (6, 1), kernel: "Debian 6.1.192" };
const NEW: Branch = Branch { number: (6, 12), kernel: "Debian 6.12.117" };
const BRANCHES: [Branch; 2] = [OLD, NEW];

/// The files of these kernels.
const FILES: [&str; 17] = [
    "gather_data_sampling",
    "indirect_target_selection",
    "itlb_multihit",
    "l1tf",
    "mds",
    "meltdown",
    "mmio_stale_data",
    "reg_file_data_sampling",
    "retbleed",
    "spec_rstack_overflow",
    "spec_store_bypass",
    "spectre_v1",
    "spectre_v2",
    "srbds",
    "tsa",
    "tsx_async_abort",
    "vmscape",
];

/// What files read in a kernel that was built without KVM. It can have no guests, and no path
/// depends on how it would treat them. Source: Linux `arch/x86/kernel/cpu/bugs.c`,
/// `itlb_multihit_show_state` (`CONFIG_KVM_INTEL`), and `MITIGATION_VMSCAPE` in `arch/x86/Kconfig`.
const WITHOUT_KVM: [(&str, &str); 2] =
    [("itlb_multihit", "Processor vulnerable"), ("vmscape", "Vulnerable")];

/// A line that profiles show.
struct Row {
    branches: &'static [Branch],
    file: &'static str,
    line: &'static str,
    profiles: &'static [&'static str],
}

/// All real machines, each as itself and as its guest.
const EVERY: &[&str] = &[
    "haswell",
    "haswell-guest",
    "skylake",
    "skylake-guest",
    "cascadelake",
    "cascadelake-guest",
    "icelake",
    "icelake-guest",
    "sapphirerapids",
    "sapphirerapids-guest",
    "zen1",
    "zen1-guest",
    "zen2",
    "zen2-guest",
    "zen3",
    "zen3-guest",
    "zen4",
    "zen4-guest",
];

/// What this profile shows on the branch of a kernel of this release, if that is known.
pub(crate) fn of(profile: &Profile, release: &str) -> Option<KnownStates> {
    let branch = BRANCHES.iter().find(|branch| Some(branch.number) == branch_of(release))?;
    let rows: Vec<&Row> = rows_of(profile, branch.number).collect();
    if rows.is_empty() {
        return None;
    }
    let line = |file: &&str| {
        let row = rows.iter().find(|row| row.file == *file);
        ((*file).to_owned(), row.map_or("Not affected", |row| row.line).to_owned())
    };
    let lines = FILES.iter().map(line).collect();
    Some(KnownStates { kernel: branch.kernel.to_owned(), lines })
}

/// What was looked at with a profile on one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    pub kernel: &'static str,
    /// Each line but "Not affected".
    pub lines: Vec<Sourced>,
}

/// A line with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sourced {
    /// The file's name, without its folder.
    pub file: &'static str,
    /// What is read from the file.
    pub line: &'static str,
    /// Where a real machine printed it, or that none is known to have.
    pub source: &'static str,
}

/// What was looked at with this profile.
pub(crate) fn looked(profile: &Profile) -> Vec<Looked> {
    let of_branch = |branch: &Branch| {
        let sourced = |&Row { file, line, .. }: &Row| {
            let source = sources::of(profile.name, branch.number, file);
            Sourced { file, line, source }
        };
        let lines = rows_of(profile, branch.number).map(sourced).collect();
        Looked { kernel: branch.kernel, lines }
    };
    BRANCHES.iter().map(of_branch).filter(|looked| !looked.lines.is_empty()).collect()
}

fn rows_of(profile: &Profile, branch: (u32, u32)) -> impl Iterator<Item = &'static Row> {
    let name = profile.name;
    let of_branch = move |row: &&Row| row.branches.iter().any(|one| one.number == branch);
    ROWS.iter().filter(of_branch).filter(move |row| row.profiles.contains(&name))
}

/// The branch of a release: (6, 1) of `6.1.0-55-cloud-amd64`.
pub(crate) fn branch_of(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

const BOTH: &[Branch] = &[OLD, NEW];
const ONLY_OLD: &[Branch] = &[OLD];
const ONLY_NEW: &[Branch] = &[NEW];

const fn row(
    branches: &'static [Branch],
    file: &'static str,
    line: &'static str,
    profiles: &'static [&'static str],
) -> Row {
    Row { branches, file, line, profiles }
}

const ROWS: &[Row] = &[
    row(BOTH, "gather_data_sampling", "Vulnerable: No microcode", &["skylake"]),
    row(BOTH, "gather_data_sampling", "Mitigation: Microcode", &["cascadelake", "icelake"]),
    row(
        BOTH,
        "gather_data_sampling",
        "Unknown: Dependent on hypervisor status",
        &["skylake-guest", "cascadelake-guest", "icelake-guest"],
    ),
    row(
        BOTH,
        "indirect_target_selection",
        "Mitigation: Aligned branch/return thunks",
        &[
            "haswell-guest",
            "skylake-guest",
            "cascadelake",
            "cascadelake-guest",
            "icelake",
            "icelake-guest",
        ],
    ),
    row(
        BOTH,
        "itlb_multihit",
        "KVM: Mitigation: VMX unsupported",
        &[
            "haswell",
            "haswell-guest",
            "skylake",
            "skylake-guest",
            "cascadelake",
            "cascadelake-guest",
        ],
    ),
    row(
        BOTH,
        "l1tf",
        "Mitigation: PTE Inversion",
        &["haswell", "haswell-guest", "skylake", "skylake-guest"],
    ),
    row(BOTH, "mds", "Mitigation: Clear CPU buffers; SMT disabled", &["haswell", "skylake"]),
    row(
        BOTH,
        "mds",
        "Mitigation: Clear CPU buffers; SMT Host state unknown",
        &["haswell-guest", "skylake-guest"],
    ),
    row(
        BOTH,
        "meltdown",
        "Mitigation: PTI",
        &["haswell", "haswell-guest", "skylake", "skylake-guest"],
    ),
    row(
        BOTH,
        "mmio_stale_data",
        "Vulnerable: Clear CPU buffers attempted, no microcode; SMT disabled",
        &["haswell", "skylake"],
    ),
    row(
        BOTH,
        "mmio_stale_data",
        "Mitigation: Clear CPU buffers; SMT disabled",
        &["cascadelake", "icelake"],
    ),
    row(
        BOTH,
        "mmio_stale_data",
        "Vulnerable: Clear CPU buffers attempted, no microcode; \
         SMT Host state unknown",
        &["haswell-guest", "skylake-guest"],
    ),
    row(
        BOTH,
        "mmio_stale_data",
        "Mitigation: Clear CPU buffers; SMT Host state unknown",
        &["cascadelake-guest", "icelake-guest"],
    ),
    row(BOTH, "retbleed", "Mitigation: IBRS", &["skylake", "skylake-guest"]),
    row(BOTH, "retbleed", "Mitigation: Enhanced IBRS", &["cascadelake", "cascadelake-guest"]),
    row(
        BOTH,
        "retbleed",
        "Mitigation: untrained return thunk; SMT disabled",
        &["zen1", "zen1-guest", "zen2", "zen2-guest"],
    ),
    row(
        ONLY_OLD,
        "spec_rstack_overflow",
        "Mitigation: safe RET",
        &["zen1", "zen1-guest", "zen2", "zen2-guest", "zen3", "zen3-guest", "zen4", "zen4-guest"],
    ),
    row(ONLY_NEW, "spec_rstack_overflow", "Mitigation: SMT disabled", &["zen1", "zen2"]),
    row(ONLY_NEW, "spec_rstack_overflow", "Mitigation: Safe RET", &["zen3", "zen4"]),
    row(
        ONLY_NEW,
        "spec_rstack_overflow",
        "Vulnerable: Safe RET, no microcode",
        &["zen1-guest", "zen2-guest", "zen3-guest", "zen4-guest"],
    ),
    row(
        BOTH,
        "spec_store_bypass",
        "Mitigation: Speculative Store Bypass disabled via prctl",
        EVERY,
    ),
    row(
        BOTH,
        "spectre_v1",
        "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
        EVERY,
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: IBRS; IBPB: conditional; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["skylake"],
    ),
    row(
        BOTH,
        "spectre_v2",
        "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; \
         PBRSB-eIBRS: SW sequence; BHI: SW loop, KVM: SW loop",
        &["cascadelake", "cascadelake-guest", "icelake", "icelake-guest"],
    ),
    row(
        BOTH,
        "spectre_v2",
        "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; \
         PBRSB-eIBRS: SW sequence; BHI: BHI_DIS_S",
        &["sapphirerapids", "sapphirerapids-guest"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; STIBP: disabled; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["zen1", "zen1-guest"],
    ),
    row(
        ONLY_NEW,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; STIBP: disabled; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["zen1", "zen1-guest", "zen2", "zen2-guest"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; STIBP: always-on; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["zen2", "zen2-guest"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: always-on; \
         RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["zen3", "zen3-guest"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["zen4", "zen4-guest"],
    ),
    row(
        ONLY_NEW,
        "spectre_v2",
        "Mitigation: IBRS; IBPB: conditional; STIBP: disabled; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["skylake"],
    ),
    row(
        ONLY_NEW,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: disabled; \
         RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["haswell", "zen3", "zen3-guest"],
    ),
    row(
        ONLY_NEW,
        "spectre_v2",
        "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: disabled; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["zen4", "zen4-guest"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Not affected",
        &["haswell"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: Retpoline",
        &["haswell-guest"],
    ),
    row(
        ONLY_OLD,
        "spectre_v2",
        "Mitigation: IBRS; IBPB: conditional; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: SW loop, KVM: SW loop",
        &["skylake-guest"],
    ),
    row(
        ONLY_NEW,
        "spectre_v2",
        "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: disabled; \
         RSB filling; PBRSB-eIBRS: Not affected; BHI: Retpoline",
        &["haswell-guest"],
    ),
    row(
        ONLY_NEW,
        "spectre_v2",
        "Mitigation: IBRS; IBPB: conditional; STIBP: disabled; RSB filling; \
         PBRSB-eIBRS: Not affected; BHI: SW loop, KVM: SW loop",
        &["skylake-guest"],
    ),
    row(BOTH, "tsa", "Mitigation: Clear CPU buffers", &["zen3", "zen4"]),
    row(
        BOTH,
        "tsa",
        "Vulnerable: Clear CPU buffers attempted, no microcode",
        &["zen3-guest", "zen4-guest"],
    ),
    row(BOTH, "tsx_async_abort", "Mitigation: TSX disabled", &["cascadelake", "cascadelake-guest"]),
    row(
        BOTH,
        "vmscape",
        "Mitigation: IBPB before exit to userspace",
        &["haswell", "skylake", "cascadelake", "sapphirerapids", "zen1", "zen2", "zen3", "zen4"],
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::PROFILES;

    #[test]
    fn every_machine_has_its_lines_on_every_branch_and_no_file_two() {
        for profile in PROFILES.iter().filter(|profile| profile.model().is_some()) {
            for branch in BRANCHES {
                let rows: Vec<_> = rows_of(profile, branch.number).collect();
                let files: HashSet<_> = rows.iter().map(|row| row.file).collect();
                let (name, kernel) = (profile.name, branch.kernel);
                assert!(files.len() == rows.len(), "{name} on {kernel} has a file twice");
                assert!(files.contains("spectre_v2"), "{name} on {kernel}");
                assert!(files.iter().all(|file| FILES.contains(file)), "{name}: {files:?}");
            }
        }
    }

    #[test]
    fn every_row_is_of_profiles_that_there_are() {
        for row in ROWS {
            for name in row.profiles {
                let found = PROFILES.iter().any(|profile| profile.name == *name);
                assert!(found, "{}: {name}", row.file);
            }
        }
    }

    #[test]
    fn a_release_says_its_branch() {
        assert_eq!(branch_of("6.1.0-55-cloud-amd64"), Some((6, 1)));
        assert_eq!(branch_of("6.12.117+deb13"), Some((6, 12)));
        assert_eq!([branch_of("lab"), branch_of(""), branch_of("6")], [None; 3]);
        assert_eq!(branch_of("99999999999999999999.1"), None);
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        let plain = PROFILES.iter().find(|profile| profile.name == "plain").unwrap();
        assert_eq!(of(plain, "6.1.0"), None);
        let skylake = PROFILES.iter().find(|profile| profile.name == "skylake").unwrap();
        assert_eq!(of(skylake, "5.10.0"), None);
        let known = of(skylake, "6.1.192").unwrap();
        assert_eq!(known.line("meltdown"), Some("Mitigation: PTI"));
        assert_eq!(known.line("srbds"), Some("Not affected"));
        assert_eq!(known.line("of a later kernel"), None);
    }
}
