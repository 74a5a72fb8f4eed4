//! The CPU of this machine, as its kernel and CPUID show it to anybody.

use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use pathmeter_plan::FileStep;
use pathmeter_vm::{CPU_SCHEMA, CpuFile, CpuidRegister, FEATURES, FeatureWord, Profile, ValueFrom};

use super::deduce::{self, Printed};
use crate::failure::Failure;

/// MSR 0x10a, through which Intel's CPUs say what they are not vulnerable to.
const ARCH_CAPABILITIES: u64 = 0x10a;
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
/// Leaves whose features are AMD's.
const AMDS: [u32; 3] = [0x8000_0008, 0x8000_000a, 0x8000_0021];
/// Most characters of the name, as CPUID has room for.
const MOST_NAME: usize = 47;
/// Words of a list in a line of the file.
const A_LINE: usize = 84;

/// What is known of it.
pub(crate) struct Machine {
    name: String,
    vendor: String,
    family: u32,
    model: u32,
    stepping: u32,
    microcode: u32,
    last_extended: u32,
    address_bits: u32,
    threads: u32,
    features: Vec<&'static str>,
    left_out: Vec<&'static str>,
    arch_capabilities: Option<(u64, ValueFrom)>,
    release: String,
    states: BTreeMap<String, String>,
}

impl Machine {
    /// The CPU that this process runs on.
    ///
    /// # Errors
    /// There is no `/proc/cpuinfo`, or the CPU's vendor is neither Intel nor AMD.
    pub(crate) fn here() -> Result<Self, Failure> {
        let path = Path::new("/proc/cpuinfo");
        let failed =
            |error| Failure::File { doing: FileStep::Reading, path: path.to_owned(), error };
        let cpuinfo = cpuinfo(&fs::read_to_string(path).map_err(failed)?);
        let line = |name: &str| cpuinfo.get(name).map_or("", String::as_str);
        let words = |name| line(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (family, model, stepping) = signature(__cpuid(1).eax);
        let (features, left_out) = features(line("vendor_id") == "AuthenticAMD");
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let (flags, bugs, states) = (words("flags"), words("bugs"), states());
        let printed = Printed { model, flags: &flags, bugs: &bugs, states: &states };
        let there = features.contains(&"arch-capabilities");
        let machine = Self {
            name: plain_name(line("model name")),
            vendor: line("vendor_id").to_owned(),
            family,
            model,
            stepping,
            microcode: hexadecimal(line("microcode")),
            last_extended: __cpuid(0x8000_0000).eax,
            address_bits: __cpuid(0x8000_0008).eax & 0xff,
            threads: threads(),
            features,
            left_out,
            arch_capabilities: there.then(|| value(&printed)),
            release,
            states,
        };
        machine.checked()
    }

    /// Itself, if it can be a profile at all.
    fn checked(self) -> Result<Self, Failure> {
        CpuFile::parse("this machine", &self.to_toml()).map(|_| ()).map_err(|error| {
            let message = format!("this machine's CPU can't be a profile: {error}");
            let help = "profiles are of Intel's and AMD's CPUs with 64 bits".to_owned();
            Failure::Usage { message, help }
        })?;
        Ok(self)
    }

    /// Its profile, as a file.
    pub(crate) fn to_toml(&self) -> String {
        let Self { family, model, stepping, microcode, last_extended, .. } = self;
        let head = format!(
            "# A CPU profile, for --cpu FILE.toml; `pathmeter list cpus --capture` wrote it.\n\
             schema = {:?}\nmachine = {:?}\nvendor = {:?}\nfamily = {family}\nmodel = {model}\n\
             stepping = {stepping}\nmicrocode = {microcode:#x}\n\
             last_extended = {last_extended:#x}\naddress_bits = {}\n\
             # Threads of a core: with two, one stays offline.\nthreads = {}\n\
             # QEMU's names of what the guest's CPU has. A program whose C library asks for\n\
             # transactions (\"rtm\") needs a QEMU that can execute xtest.\nfeatures = {}\n\
             # What this machine has and QEMU's interpreter can't execute.\nleft_out = {}\n",
            CPU_SCHEMA,
            self.name,
            self.vendor,
            self.address_bits,
            self.threads,
            list(&self.features),
            list(&self.left_out),
        );
        head + &self.arch_capabilities_toml() + &self.states_toml()
    }

    fn arch_capabilities_toml(&self) -> String {
        let Some((value, from)) = self.arch_capabilities else { return String::new() };
        let from = match from {
            ValueFrom::Read => "read",
            ValueFrom::Deduced => "deduced",
        };
        format!(
            "\n# MSR 0x10a, which kernels read: {}.\n[arch_capabilities]\nvalue = {value:#x}\n\
             # \"deduced\": from what this machine's kernel prints. Root can have it read.\n\
             from = \"{from}\"\n",
            deduce::names(value)
        )
    }

    fn states_toml(&self) -> String {
        if self.states.is_empty() {
            return String::new();
        }
        let files = self.states.iter().map(|(file, line)| format!("{file} = {line:?}\n"));
        format!(
            "\n# What this machine's kernel prints: a guest's of the same branch should, too.\n\
             [states]\nkernel = {:?}\n\n[states.files]\n{}",
            self.release,
            files.collect::<String>()
        )
    }

    /// How near a profile comes to this machine.
    pub(crate) fn nearness(&self, profile: &Profile) -> Nearness {
        let theirs: Vec<_> = profile.features().collect();
        let missing = |from: &[&'static str], of: &[&'static str]| {
            from.iter().copied().filter(|feature| !of.contains(feature)).collect()
        };
        Nearness {
            only_here: missing(&self.features, &theirs),
            only_there: missing(&theirs, &self.features),
            equal: self.features.iter().filter(|feature| theirs.contains(feature)).count(),
        }
    }

    /// What `uname -r` prints.
    pub(crate) fn release(&self) -> &str {
        &self.release
    }

    /// The files on vulnerabilities, each with its line.
    pub(crate) fn states(&self) -> &BTreeMap<String, String> {
        &self.states
    }
}

/// How near a profile comes to a machine.
pub(crate) struct Nearness {
    /// Features that only the machine has.
    pub(crate) only_here: Vec<&'static str>,
    /// Features that only the profile has.
    pub(crate) only_there: Vec<&'static str>,
    /// How many features both have.
    pub(crate) equal: usize,
}

/// The MSR's value: read if that is allowed, or else deduced.
fn value(printed: &Printed<'_>) -> (u64, ValueFrom) {
    let mut bytes = [0; 8];
    let read = File::open("/dev/cpu/0/msr")
        .and_then(|file| file.read_exact_at(&mut bytes, ARCH_CAPABILITIES));
    match read {
        Ok(()) => (u64::from_le_bytes(bytes), ValueFrom::Read),
        Err(_) => (deduce::arch_capabilities(printed), ValueFrom::Deduced),
    }
}

/// Family, model and stepping, as CPUID's leaf 1 has them in EAX (Intel's manual, volume 2A).
fn signature(eax: u32) -> (u32, u32, u32) {
    let (family, model) = (eax >> 8 & 15, eax >> 4 & 15);
    let extended = |family| if family == 6 || family == 15 { eax >> 16 & 15 } else { 0 };
    let whole = if family == 15 { family + (eax >> 20 & 0xff) } else { family };
    (whole, extended(family) << 4 | model, eax & 15)
}

/// What the CPU has of the known features: those that a profile may have, and those left out. A
/// hypervisor may set AMD's bits on Intel's CPUs, where they mean nothing.
fn features(is_amds: bool) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut found = (Vec::new(), Vec::new());
    let read = FEATURES.iter().filter(|word| is_amds || !AMDS.contains(&word.of.leaf));
    for FeatureWord { of, kept, left_out } in read {
        let bits = cpuid(*of);
        let set = |(bit, name): &(u32, &'static str)| (bits >> bit & 1 == 1).then_some(*name);
        found.0.extend(kept.iter().filter_map(set));
        found.1.extend(left_out.iter().filter_map(set));
    }
    found
}

/// A register; 0 if the CPU has no such leaf.
fn cpuid(CpuidRegister { leaf, subleaf, register }: CpuidRegister) -> u32 {
    // The last leaf of the basic or of the extended ones; of leaf 7, the last subleaf.
    let within = leaf <= __cpuid(leaf & 0x8000_0000).eax
        && (leaf != 7 || subleaf <= __cpuid_count(7, 0).eax);
    if !within {
        return 0;
    }
    let all = __cpuid_count(leaf, subleaf);
    [all.eax, all.ebx, all.ecx, all.edx][register & 3]
}

/// The lines `name\t: value` of the first CPU.
fn cpuinfo(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let named = lines.filter_map(|line| line.split_once(':'));
    named.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// Without what QEMU's text can't hold.
fn plain_name(name: &str) -> String {
    let plain = |c: &char| (c.is_ascii_graphic() || *c == ' ') && !matches!(c, ',' | '=');
    name.chars().filter(plain).take(MOST_NAME).collect()
}

fn hexadecimal(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or(0)
}

/// Threads of a core that the kernel uses.
fn threads() -> u32 {
    let control = fs::read_to_string("/sys/devices/system/cpu/smt/control").unwrap_or_default();
    if control.trim() == "on" { 2 } else { 1 }
}

/// The files on vulnerabilities; empty if there are none.
fn states() -> BTreeMap<String, String> {
    let files = fs::read_dir(VULNERABILITIES).into_iter().flatten().flatten();
    let line = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let text = fs::read_to_string(file.path()).ok()?;
        Some((name, text.lines().next()?.to_owned()))
    };
    files.filter_map(line).collect()
}

/// A list of words in TOML, in lines of bounded length.
fn list(words: &[&str]) -> String {
    let mut text = String::from("[");
    let mut length = A_LINE;
    for word in words {
        if length + word.len() > A_LINE {
            text.push_str("\n   ");
            length = 0;
        }
        // Writing to a string can't fail.
        let _ = write!(text, " {word:?},");
        length += word.len() + 4;
    }
    text + "\n]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_taken_apart() {
        assert_eq!(signature(0x000c_06f2), (6, 207, 2));
        assert_eq!(signature(0x00a2_0f10), (25, 33, 0));
        assert_eq!(signature(0x0080_0f12), (23, 1, 2));
        assert_eq!(signature(0x0000_0543), (5, 4, 3));
    }

    #[test]
    fn the_first_cpus_lines_are_taken() {
        let lines = cpuinfo("microcode\t: 0x2b\nbugs\t\t:\n\nmicrocode\t: 0x1\n");
        assert_eq!((&*lines["microcode"], &*lines["bugs"]), ("0x2b", ""));
        assert_eq!((hexadecimal("0x2b"), hexadecimal("none")), (0x2b, 0));
    }

    #[test]
    fn what_is_written_is_a_profile() {
        let states = [("mds".to_owned(), "Vulnerable: \"x\"".to_owned())].into();
        let machine = Machine {
            name: plain_name("AMD, EPYC = \x1bä 7003"),
            vendor: "AuthenticAMD".to_owned(),
            family: 25,
            model: 1,
            stepping: 1,
            microcode: 0x0a00_11de,
            last_extended: 0x8000_0021,
            address_bits: 48,
            threads: 2,
            features: vec!["lm", "sse2"],
            left_out: vec!["pcid"],
            arch_capabilities: None,
            release: "6.18.1".to_owned(),
            states,
        };
        let file = CpuFile::parse("a", &machine.to_toml()).unwrap();
        assert_eq!((&*file.machine, &file.left_out[..]), ("AMD EPYC   7003", &["pcid"][..]));
        let with = Machine { arch_capabilities: Some((0x61, ValueFrom::Deduced)), ..machine };
        assert!(CpuFile::parse("a", &with.to_toml()).is_err(), "the feature is missing");
    }

    #[test]
    fn this_machine_is_a_profile_or_says_why_not() {
        match Machine::here() {
            Ok(machine) => assert!(CpuFile::parse("a", &machine.to_toml()).is_ok()),
            Err(failure) => assert!(failure.to_string().contains("this machine"), "{failure}"),
        }
    }
}
