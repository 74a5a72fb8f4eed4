//! The guest's CPU: a profile of a real machine, or QEMU's own text.
//!
//! A profile is data. It is written feature by feature, so that it is the same machine with every
//! QEMU that knows the features' names: QEMU's models have other features in other versions, and
//! under the interpreter they lose whatever that does not list. `x-force-features=on` keeps it.
//! What a kernel would execute and the interpreter can't is left out, and named in
//! [`Profile::lacks`]. `docs/reference/cpu.md` has what a kernel makes of each.
//!
//! Sources: CPUID as Intel and AMD document it, Linux `arch/x86/kernel/cpu/` for what a kernel
//! decides by, QEMU `target/i386/cpu.c` for the features' names.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use self::table::PLAIN;

mod features;
mod file;
mod lacks;
mod made;
mod states;
mod table;

pub(crate) use features::named_since;
pub use features::{CpuidRegister, FEATURES, FeatureWord};
pub use file::{CPU_SCHEMA, CpuFile, CpuFileError, ValueFrom};
pub use lacks::{Lack, Priced};
pub use states::{KnownStates, Looked, Sourced};
pub use table::PROFILES;

/// The guest's CPU, as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// One that is tested, under its name.
    Profile(&'static Profile),
    /// One that a file describes.
    File(Arc<CpuFile>),
    /// QEMU's own text for one, passed on as it is.
    Qemu(String),
}

/// A CPU that is tested, under its name.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// What the user calls it by.
    pub name: &'static str,
    /// The machine that it stands for, or on which it is a guest.
    pub machine: &'static str,
    /// What that has and the profile has not, since the interpreter can't execute it.
    pub lacks: &'static [Lack],
    pub(crate) definition: Definition,
}

/// How QEMU is told of a profile.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    /// This text, as it is.
    Text(&'static str),
    Machine(RealCpu),
}

/// A real machine's CPU, as far as a kernel decides by it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RealCpu {
    pub(crate) vendor: &'static str,
    pub(crate) family: u32,
    pub(crate) model: u32,
    pub(crate) stepping: u32,
    /// What the MSR of the microcode's revision reads: Intel's has it in the upper half. Linux
    /// distrusts old ones.
    pub(crate) microcode: u64,
    /// The last extended leaf of CPUID.
    pub(crate) last_extended: u32,
    /// Bits of a physical address.
    pub(crate) address_bits: u32,
    /// QEMU's names of its features.
    pub(crate) features: &'static [&'static [&'static str]],
    /// Those among them that it has not.
    pub(crate) without: &'static [&'static str],
    /// Whether it says that a hypervisor is below it.
    pub(crate) hypervisor: bool,
    /// What MSR 0x10a (`IA32_ARCH_CAPABILITIES`) reads, if the CPU has it. The interpreter's reads
    /// 0, so whoever boots a kernel on it has to supply the value.
    pub(crate) arch_capabilities: Option<u64>,
}

/// Most characters of a name in CPUID.
pub(crate) const MOST_NAME: usize = 47;

/// What newer versions of QEMU report differently unless it is turned off: caches, and leaves of
/// another vendor's CPUs. Each with the first version that has it.
const CORRECTIONS: &[((u32, u32), &str)] = &[
    ((9, 1), "x-l1-cache-per-thread"),
    ((10, 1), "x-vendor-cpuid-only-v2"),
    ((10, 1), "x-consistent-cache"),
];

fn corrections(version: (u32, u32)) -> impl Iterator<Item = &'static str> {
    CORRECTIONS.iter().filter(move |(since, _)| version >= *since).map(|(_, word)| *word)
}

impl From<CpuFile> for Cpu {
    fn from(file: CpuFile) -> Self {
        Self::File(Arc::new(file))
    }
}

impl Cpu {
    /// The profile in a file, if the text names one, by a slash or the end `.toml`; or else as
    /// [`Cpu::from_name`].
    ///
    /// # Errors
    /// [`CpuFileError`]: the file can't be read, or is no profile.
    pub fn read(text: &str) -> Result<Self, CpuFileError> {
        let extension = Path::new(text).extension();
        if text.contains('/') || extension.is_some_and(|extension| extension == "toml") {
            return CpuFile::read(Path::new(text)).map(Self::from);
        }
        Ok(Self::from_name(text))
    }

    /// The profile of this name, which may have `-server` in it, as QEMU's models do; any other
    /// text is QEMU's own.
    pub fn from_name(text: &str) -> Self {
        let called = |name: &str| PROFILES.iter().find(|profile| profile.name == name);
        let profile = called(text).or_else(|| called(&text.replacen("-server", "", 1)));
        profile.map_or_else(|| Self::Qemu(text.to_owned()), Self::Profile)
    }

    pub fn text(&self) -> String {
        match self {
            Self::Profile(profile) => profile.text(),
            Self::File(file) => file.cpu.text(&file.machine, file.features.iter().copied()),
            Self::Qemu(text) => text.clone(),
        }
    }

    /// What this version of QEMU must be told besides, so that it is the same CPU as in any other.
    pub(crate) fn corrections(&self, version: (u32, u32)) -> String {
        let words = self.model().map(|_| corrections(version));
        words.into_iter().flatten().fold(String::new(), |text, word| text + "," + word + "=off")
    }

    /// What the user calls it, or QEMU's text.
    pub fn name(&self) -> &str {
        match self {
            Self::Profile(profile) => profile.name,
            Self::File(file) => &file.path,
            Self::Qemu(text) => text,
        }
    }

    /// All that it is, for a result's configuration. A profile that is no machine is its text
    /// alone, and so is one that QEMU knows by that name; a file is known by its contents.
    pub fn description(&self) -> String {
        let mut text = self.text();
        let name = match self {
            Self::Profile(profile) if profile.model().is_some() => profile.name.to_owned(),
            Self::File(file) => format!("file {}", file.sha256),
            _ => return text,
        };
        if let Some(value) = self.arch_capabilities() {
            // Writing to a string can't fail.
            let _ = write!(text, ",msr-0x10a={value:#x}");
        }
        format!("{name}: {text}")
    }

    /// The name of the profile that [`Cpu::description`] gives this text of.
    pub fn name_of(description: &str) -> Option<&'static str> {
        let described = |one: &&'static Profile| Self::Profile(one).description() == description;
        PROFILES.iter().find(described).map(|profile| profile.name)
    }

    /// The instruction that the machine has and the profile lacks, if `reason` says that this CPU
    /// has none.
    pub fn lack_behind(&self, reason: &str) -> Option<&'static str> {
        let names: Vec<&str> = match self {
            Self::Profile(profile) => {
                profile.lacks.iter().flat_map(|lack| lack.name.split(", ")).collect()
            }
            Self::File(file) => file.left_out.clone(),
            Self::Qemu(_) => return None,
        };
        names.into_iter().find(|name| {
            let rest = reason.strip_prefix("this CPU has no ").and_then(|r| r.strip_prefix(name));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        })
    }

    /// What the guest's files on vulnerabilities must read under a kernel of this release, if that
    /// is known.
    pub fn states(&self, release: &str) -> Option<KnownStates> {
        match self {
            Self::Profile(profile) => states::of(profile, release),
            Self::File(file) => file.states(release),
            Self::Qemu(_) => None,
        }
    }

    /// Whether every tested QEMU that can have it gives the same samples on it.
    pub(crate) fn is_portable(&self) -> bool {
        match self {
            Self::Profile(profile) => match &profile.definition {
                Definition::Text(text) => *text == PLAIN,
                Definition::Machine(_) => true,
            },
            // What it has was never tried with every one.
            Self::File(_) => false,
            Self::Qemu(text) => text == PLAIN,
        }
    }

    /// Whether it has a second thread, which stays offline: as on a machine whose CPUs have two,
    /// where Linux chooses its mitigations by that.
    pub(crate) fn has_two_threads(&self) -> bool {
        match self {
            Self::Profile(profile) => profile.model().is_some(),
            Self::File(file) => file.two_threads,
            Self::Qemu(_) => false,
        }
    }

    /// What MSR 0x10a has to read, if the interpreter's does not.
    pub(crate) fn arch_capabilities(&self) -> Option<u64> {
        self.model()?.arch_capabilities
    }

    /// What QEMU of this version needs a name for; nothing if the text is not ours.
    pub(crate) fn properties(&self, version: (u32, u32)) -> Vec<&'static str> {
        match self {
            Self::Profile(profile) => profile.properties(version).collect(),
            Self::File(file) => {
                let own = ["x-force-features"].into_iter().chain(corrections(version));
                own.chain(file.features.iter().copied()).collect()
            }
            Self::Qemu(_) => Vec::new(),
        }
    }

    fn model(&self) -> Option<&RealCpu> {
        match self {
            Self::Profile(profile) => profile.model(),
            Self::File(file) => Some(&file.cpu),
            Self::Qemu(_) => None,
        }
    }
}

/// The texts of all profiles by their names: a plan of many cells asks for one in each.
static TEXTS: LazyLock<HashMap<&str, String>> =
    LazyLock::new(|| PROFILES.iter().map(|profile| (profile.name, profile.composed())).collect());

impl Profile {
    fn text(&self) -> String {
        TEXTS.get(self.name).cloned().unwrap_or_else(|| self.composed())
    }

    fn composed(&self) -> String {
        match &self.definition {
            Definition::Text(text) => (*text).to_owned(),
            Definition::Machine(model) => model.text(self.machine, model.features()),
        }
    }

    /// QEMU's names of its features; nothing if the text is not ours.
    pub fn features(&self) -> impl Iterator<Item = &'static str> {
        self.model().into_iter().flat_map(RealCpu::features)
    }

    /// The oldest tested QEMU that can have it, if an older one can't.
    pub fn needs_qemu(&self) -> Option<&'static str> {
        self.features().find_map(|feature| named_since(&[feature]))
    }

    /// What its files on vulnerabilities read on the kernels that were looked at.
    pub fn looked(&self) -> Vec<Looked> {
        states::looked(self)
    }

    /// Whether it is what a guest on the machine sees.
    pub fn is_guest(&self) -> bool {
        self.model().is_some_and(|model| model.hypervisor)
    }

    /// Whether QEMU itself defines it, so that it is another CPU in another version.
    pub fn is_qemus_own(&self) -> bool {
        matches!(self.definition, Definition::Text(text) if text != PLAIN)
    }

    /// What QEMU of this version needs a name for; nothing if the text is not ours.
    pub(crate) fn properties(&self, version: (u32, u32)) -> impl Iterator<Item = &'static str> {
        let model = self.model().into_iter();
        model.flat_map(move |model| {
            let forced = ["x-force-features"].into_iter();
            forced.chain(corrections(version)).chain(model.features())
        })
    }

    /// Whether both have the same vendor, and both or neither is the CPU of a guest.
    pub(crate) fn is_like(&self, cpu: &Cpu) -> bool {
        let kind = |model: &RealCpu| (model.vendor, model.hypervisor);
        self.model().map(kind).is_some_and(|own| cpu.model().map(kind) == Some(own))
    }

    fn model(&self) -> Option<&RealCpu> {
        match &self.definition {
            Definition::Text(_) => None,
            Definition::Machine(model) => Some(model),
        }
    }
}

impl RealCpu {
    fn features(&self) -> impl Iterator<Item = &'static str> {
        let has = |feature: &&str| !self.without.contains(feature);
        let hypervisor = self.hypervisor.then_some("hypervisor");
        self.features.iter().copied().flatten().copied().filter(has).chain(hypervisor)
    }

    /// `check=off`: that the interpreter lacks features is known, and not worth a warning each.
    fn text<'a>(&self, machine: &str, features: impl Iterator<Item = &'a str>) -> String {
        let Self { vendor, family, model, stepping, microcode, .. } = self;
        let (last, bits) = (self.last_extended, self.address_bits);
        let head = format!(
            "base,check=off,x-force-features=on,vendor={vendor},family={family},model={model},\
             stepping={stepping},model-id={machine},ucode-rev={microcode:#x},level=13,\
             xlevel={last:#x},phys-bits={bits}"
        );
        features.fold(head, |text, feature| text + "," + feature + "=on")
    }
}

/// The profiles' names, for those who look for one: a test compares it with the table.
pub const NAMES: &str = "haswell, skylake, cascadelake, icelake, sapphirerapids, zen1, zen2, \
    zen3, zen4, each of these as a guest sees it (skylake-guest), plain, max";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn machines() -> impl Iterator<Item = (&'static Profile, &'static RealCpu)> {
        PROFILES.iter().filter_map(|profile| Some((profile, profile.model()?)))
    }

    #[test]
    fn names_are_unique_plain_words_and_listed() {
        let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
        let bare = || names.iter().filter(|name| !name.ends_with("-guest"));
        let listed = NAMES.split(", ").filter(|name| !name.contains(' '));
        assert!(bare().copied().eq(listed), "{names:?}");
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        for name in bare() {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{name}");
        }
    }

    #[test]
    fn each_expands_to_a_valid_text_for_qemu() {
        for (profile, _) in machines() {
            let text = profile.text();
            let mut words = text.split(',');
            assert_eq!(words.next(), Some("base"), "{text}");
            let mut keys = HashSet::new();
            for word in words {
                let (key, value) = word.split_once('=').unwrap();
                assert!(keys.insert(key), "{}: {key} twice", profile.name);
                assert!(!value.is_empty() && !key.contains(char::is_whitespace), "{word}");
            }
            let machine = profile.machine;
            assert!(machine.len() <= MOST_NAME, "CPUID has 47 characters for a name: {machine}");
        }
    }

    #[test]
    fn what_the_interpreter_cannot_execute_is_in_none() {
        const KILLERS: &[&str] = &[
            "pcid",
            "invpcid",
            "xsaves",
            "xsavec",
            "rdpid",
            "sha-ni",
            "rdrand",
            "rdseed",
            "x2apic",
            "tsc-deadline",
        ];
        for (profile, model) in machines() {
            for feature in model.features() {
                assert!(!KILLERS.contains(&feature), "{}: {feature}", profile.name);
                assert!(!feature.starts_with("avx512"), "{}: {feature}", profile.name);
            }
        }
    }

    #[test]
    fn each_machine_is_there_as_a_guest_too_which_differs_in_the_hypervisor_alone() {
        let mut guests = 0;
        for (guest, _) in machines() {
            let Some(name) = guest.name.strip_suffix("-guest") else { continue };
            let (bare, _) = machines().find(|(bare, _)| bare.name == name).unwrap();
            assert_eq!(guest.text(), bare.text() + ",hypervisor=on");
            assert_eq!(guest.lacks, bare.lacks);
            guests += 1;
        }
        assert_eq!(guests * 2, machines().count());
    }

    #[test]
    fn what_a_profile_is_without_is_in_what_it_is_built_of() {
        for (profile, model) in machines() {
            for feature in model.without {
                let all = model.features.concat();
                assert!(all.contains(feature), "{}: {feature}", profile.name);
                assert!(model.features().all(|one| one != *feature), "{}", profile.name);
            }
        }
    }

    #[test]
    fn the_msr_is_there_if_cpuid_says_so() {
        for (profile, model) in machines() {
            let said = model.features().any(|feature| feature == "arch-capabilities");
            assert_eq!(said, model.arch_capabilities.is_some(), "{}", profile.name);
        }
    }

    #[test]
    fn a_profile_goes_by_its_name_and_anything_else_is_qemus() {
        assert_eq!(Cpu::from_name("plain").text(), PLAIN);
        assert_eq!(Cpu::from_name("plain").description(), PLAIN);
        assert_eq!(Cpu::from_name("qemu64"), Cpu::Qemu("qemu64".to_owned()));
        assert_eq!(Cpu::from_name("skylake-server"), Cpu::from_name("skylake"));
        assert_eq!(Cpu::from_name("icelake-server-guest"), Cpu::from_name("icelake-guest"));
        assert_eq!(Cpu::from_name("Skylake-Server").name(), "Skylake-Server");
        assert_eq!(Cpu::from_name("qemu64").description(), "qemu64");
        for profile in PROFILES {
            assert_eq!(Cpu::name_of(&Cpu::Profile(profile).description()), Some(profile.name));
        }
        assert_eq!(Cpu::name_of("qemu64"), None);
        let icelake = Cpu::from_name("icelake");
        assert!(icelake.description().starts_with("icelake: base,check=off,"));
        assert!(icelake.description().ends_with(",msr-0x10a=0x202016b"));
        assert!(!icelake.text().contains("msr-0x10a"));
    }

    #[test]
    fn newer_versions_are_told_to_report_what_older_ones_do() {
        let icelake = Cpu::from_name("icelake");
        assert_eq!(icelake.corrections((7, 2)), "");
        assert_eq!(icelake.corrections((10, 0)), ",x-l1-cache-per-thread=off");
        assert!(icelake.corrections((11, 1)).ends_with(",x-consistent-cache=off"));
        assert_eq!(Cpu::from_name("plain").corrections((11, 1)), "");
    }

    #[test]
    fn a_reason_that_is_the_interpreters_is_known() {
        let reason = "this CPU has no rdpid (CPUID leaf 7, ECX bit 22)";
        assert_eq!(Cpu::from_name("zen2").lack_behind(reason), Some("rdpid"));
        assert_eq!(Cpu::from_name("zen1").lack_behind(reason), None);
        assert_eq!(Cpu::from_name("plain").lack_behind(reason), None);
        assert_eq!(Cpu::from_name("zen2").lack_behind("this CPU has no rdpidx"), None);
        assert_eq!(Cpu::from_name("zen2").lack_behind("no device here"), None);
    }

    #[test]
    fn what_qemu_itself_defines_is_not_portable() {
        assert!(!Cpu::from_name("max").is_portable() && !Cpu::from_name("qemu64").is_portable());
        assert!(Cpu::from_name("plain").is_portable() && Cpu::from_name("zen2").is_portable());
        let own: Vec<_> = PROFILES.iter().filter(|one| one.is_qemus_own()).collect();
        assert_eq!(own.iter().map(|profile| profile.name).collect::<Vec<_>>(), ["max"]);
    }
}
