//! What a profile names and nobody knows: it changes nothing, so that a misspelt name would be
//! measured without a word.

use std::collections::BTreeSet;

use super::library::Library;
use super::{BUNDLED, Conditions, Profile, Rule};

/// Capabilities by their numbers (Linux 6.19, `include/uapi/linux/capability.h`).
const CAPABILITIES: [&str; 41] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
];
/// Architectures as conditions of rules name them: Go's names for those of libseccomp, and the
/// others that Docker's profile has.
const ARCHITECTURES: [&str; 21] = [
    "386",
    "amd64",
    "arm",
    "arm64",
    "loong64",
    "m68k",
    "mips",
    "mips64",
    "mips64le",
    "mips64n32",
    "mips64p32",
    "mips64p32le",
    "mipsle",
    "parisc",
    "ppc64",
    "ppc64le",
    "riscv64",
    "s390",
    "s390x",
    "x32",
    "x86",
];
/// No kernel that is measured is older: a rule for newer ones than this is one that some lack.
const OLDEST: (u32, u32) = (4, 8);

impl Profile {
    /// What of it is measured otherwise than a reader may think, in words, a line a kind.
    pub(super) fn doubts(&self, library: &Library) -> Result<Vec<String>, String> {
        let conditions = || {
            let rules = self.syscalls.iter();
            rules.flat_map(|rule| [&rule.includes, &rule.excludes]).flatten()
        };
        let unknown = |what: &str, names: BTreeSet<&str>| {
            let names = list_names(&names)?;
            Some(format!(
                "no {what} is called {names}: what the profile says of it changes nothing"
            ))
        };
        let capabilities = conditions().flat_map(|it| it.caps.iter().flatten());
        let architectures = conditions().flat_map(|it| it.arches.iter().flatten());
        let doubts = [
            unknown("system call", self.find_unknown_calls(library)?),
            unknown("capability", find_unknown(capabilities, &CAPABILITIES)),
            unknown("architecture", find_unknown(architectures, &ARCHITECTURES)),
            unknown("architecture", self.find_unknown_architectures(library)?),
            doubt_kernels(conditions()),
        ];
        Ok(doubts.into_iter().flatten().collect())
    }

    /// Names of calls that this libseccomp does not know, but for those in bundled profiles: these
    /// are calls that are newer than the library.
    fn find_unknown_calls(&self, library: &Library) -> Result<BTreeSet<&str>, String> {
        let names = self.syscalls.iter().flat_map(Rule::names).map(String::as_str);
        let mut unknown = BTreeSet::new();
        for name in names {
            if library.call(name)?.is_none() && !is_bundled(name) {
                unknown.insert(name);
            }
        }
        Ok(unknown)
    }

    /// Architectures of the map that libseccomp does not know, but for those in bundled profiles;
    /// only that of x86-64 is looked up.
    fn find_unknown_architectures(&self, library: &Library) -> Result<BTreeSet<&str>, String> {
        let mut unknown = BTreeSet::new();
        for map in &self.arch_map {
            let known = library.architecture(&map.architecture)?.is_some();
            if !known && !is_bundled(&map.architecture) {
                unknown.insert(map.architecture.as_str());
            }
        }
        Ok(unknown)
    }
}

/// Whether a bundled profile has this name.
fn is_bundled(name: &str) -> bool {
    BUNDLED.iter().any(|(_, text, _)| text.contains(&format!("\"{name}\"")))
}

/// Those that are not known.
fn find_unknown<'a>(names: impl Iterator<Item = &'a String>, known: &[&str]) -> BTreeSet<&'a str> {
    names.map(String::as_str).filter(|name| !known.contains(name)).collect()
}

/// Versions of kernels that rules ask about, and that are taken to be older than any.
fn doubt_kernels<'a>(conditions: impl Iterator<Item = &'a Conditions>) -> Option<String> {
    let is_old = |version: &str| {
        let parts = version.split_once('.');
        let parts = parts.and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)));
        parts.is_some_and(|version: (u32, u32)| version <= OLDEST)
    };
    let versions = conditions.filter_map(|it| it.min_kernel.as_deref());
    let names = list_names(&versions.filter(|version| !is_old(version)).collect())?;
    Some(format!("every kernel is taken to be as new as minKernel {names}"))
}

/// The first of these names, and how many more there are; None if there are none.
fn list_names(names: &BTreeSet<&str>) -> Option<String> {
    /// Most names that are shown, and their longest.
    const MOST: usize = 8;
    const LONGEST: usize = 40;
    let cut = |name: &&str| name.chars().take(LONGEST).collect::<String>();
    let first: Vec<String> = names.iter().take(MOST).map(cut).collect();
    let more = names.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| first.join(", ") + &more)
}
