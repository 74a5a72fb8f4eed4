//! A CPU profile in a file, as `pathmeter list cpus --capture` writes it of a machine and users
//! edit it.
//!
//! It comes from outside: what is not known is refused, with the line. `docs/reference/cpu.md` has
//! the keys.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;

use crate::arch::x86_64::cpu::features::{Known, known};
use crate::arch::x86_64::cpu::lacks::{self, Lack};
use crate::arch::x86_64::cpu::states::{KnownStates, branch_of};
use crate::arch::x86_64::cpu::{MOST_NAME, RealCpu};

/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 64 << 10;
/// Most files on vulnerabilities, and the longest line of one, in bytes.
const MOST_STATES: usize = 64;
const LONGEST_STATE: usize = 512;
/// The schema that every file names.
pub const CPU_SCHEMA: &str = "pathmeter.cpu/1";

/// Why a file is no profile.
#[derive(Debug, thiserror::Error)]
pub enum CpuFileError {
    /// The file can't be read.
    #[error("{path}: {error}")]
    Read {
        /// As the user named it.
        path: String,
        error: std::io::Error,
    },
    /// Something in it is not what it may be.
    #[error("{path}, line {line}: {what}")]
    Line {
        /// As the user named it.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what may be there.
        what: String,
    },
}

/// A profile from a file.
#[derive(Debug, PartialEq, Eq)]
pub struct CpuFile {
    /// As the user named it.
    pub path: String,
    /// The machine that it stands for.
    pub machine: String,
    /// What that has and the profile has not, since the interpreter can't execute it.
    pub left_out: Vec<&'static str>,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// How the value of MSR 0x10a became known, if there is one.
    pub value_from: Option<ValueFrom>,
    pub(crate) features: Vec<&'static str>,
    pub(crate) two_threads: bool,
    pub(crate) cpu: RealCpu,
    states: Option<KnownStates>,
}

/// How a value became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueFrom {
    /// It was read from the machine.
    Read,
    /// It was deduced from what the machine's kernel prints.
    Deduced,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    schema: Spanned<String>,
    machine: Spanned<String>,
    vendor: Spanned<String>,
    family: Spanned<u32>,
    model: Spanned<u32>,
    stepping: Spanned<u32>,
    microcode: Spanned<u32>,
    last_extended: Spanned<u32>,
    address_bits: Spanned<u32>,
    threads: Spanned<u32>,
    features: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    left_out: Vec<Spanned<String>>,
    arch_capabilities: Option<Spanned<ArchCapabilities>>,
    states: Option<Spanned<States>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArchCapabilities {
    value: u64,
    from: ValueFrom,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct States {
    kernel: String,
    files: BTreeMap<String, String>,
}

/// What is wrong, and where in the text.
struct Wrong(Range<usize>, String);

impl CpuFile {
    /// The profile in the file at `path`.
    ///
    /// # Errors
    /// [`CpuFileError`], which names the line.
    pub fn read(path: &Path) -> Result<Self, CpuFileError> {
        let shown = path.display().to_string();
        let failed = |error| CpuFileError::Read { path: shown.clone(), error };
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(failed(std::io::Error::other("too large to be a CPU profile")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| failed(std::io::Error::other("not UTF-8, which a CPU profile is")))?;
        Self::parse(&shown, &text)
    }

    /// The profile in a text, named `path` in errors.
    pub fn parse(path: &str, text: &str) -> Result<Self, CpuFileError> {
        let at = |Wrong(span, what)| {
            let before = text.get(..span.start).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            CpuFileError::Line { path: path.to_owned(), line, what: printable(&what) }
        };
        let read: Text = toml::from_str(text)
            .map_err(|error| at(Wrong(error.span().unwrap_or(0..0), error.message().to_owned())))?;
        checked(path, text, read).map_err(at)
    }

    /// What is left out of it, with what follows from that.
    pub fn lacks(&self) -> Vec<&'static Lack> {
        let meltdown = self.states.as_ref().and_then(|states| states.line("meltdown"));
        lacks::of(&self.left_out, meltdown.is_some_and(|line| line.contains("PTI")))
    }

    /// What the guest's files must read under a kernel of this release: the machine's own, if it
    /// ran a kernel of the same branch.
    pub(crate) fn states(&self, release: &str) -> Option<KnownStates> {
        let states = self.states.as_ref()?;
        (branch_of(&states.kernel)? == branch_of(release)?).then(|| KnownStates {
            kernel: format!("{} on the machine itself", states.kernel),
            lines: states.lines.clone(),
        })
    }
}

fn checked(path: &str, text: &str, read: Text) -> Result<CpuFile, Wrong> {
    if read.schema.as_ref() != CPU_SCHEMA {
        return Err(Wrong(read.schema.span(), format!("the schema is not {CPU_SCHEMA:?}")));
    }
    let machine = machine(&read.machine)?;
    let (vendor, intel) = match read.vendor.as_ref().as_str() {
        "GenuineIntel" => ("GenuineIntel", true),
        "AuthenticAMD" => ("AuthenticAMD", false),
        other => {
            let what = format!("vendor {other:?}: it is GenuineIntel or AuthenticAMD");
            return Err(Wrong(read.vendor.span(), what));
        }
    };
    let features = features(&read.features)?;
    let left_out: Result<Vec<_>, Wrong> = read.left_out.iter().map(left_out).collect();
    let (arch_capabilities, value_from) =
        arch_capabilities(read.arch_capabilities, &features, &read.features)?;
    let microcode = u64::from(*read.microcode.as_ref());
    let cpu = RealCpu {
        vendor,
        family: within("family", &read.family, 1, 0x10e)?,
        model: within("model", &read.model, 0, 0xff)?,
        stepping: within("stepping", &read.stepping, 0, 15)?,
        microcode: if intel { microcode << 32 } else { microcode },
        last_extended: within("last_extended", &read.last_extended, 0x8000_0008, 0x8000_00ff)?,
        address_bits: within("address_bits", &read.address_bits, 32, 52)?,
        features: &[],
        without: &[],
        hypervisor: false,
        arch_capabilities,
    };
    Ok(CpuFile {
        path: path.to_owned(),
        machine,
        left_out: left_out?,
        sha256: data_encoding::HEXLOWER.encode(&Sha256::digest(text.as_bytes())),
        value_from,
        features,
        two_threads: within("threads", &read.threads, 1, 2)? == 2,
        cpu,
        states: read.states.map(states).transpose()?,
    })
}

/// A name that CPUID and QEMU's text have room for.
fn machine(name: &Spanned<String>) -> Result<String, Wrong> {
    let text = name.as_ref();
    let plain = |c: char| (c.is_ascii_graphic() || c == ' ') && !matches!(c, ',' | '=');
    if text.is_empty() || text.len() > MOST_NAME || !text.chars().all(plain) {
        let what = format!(
            "machine: 1 to {MOST_NAME} characters of ASCII, without commas and equals signs"
        );
        return Err(Wrong(name.span(), what));
    }
    Ok(text.clone())
}

fn within(name: &str, value: &Spanned<u32>, least: u32, most: u32) -> Result<u32, Wrong> {
    let number = *value.as_ref();
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    let what = format!("{name} = {number:#x}: it is from {least:#x} to {most:#x}");
    Err(Wrong(value.span(), what))
}

fn features(read: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<&'static str>, Wrong> {
    let mut features = Vec::new();
    for name in read.as_ref() {
        let wrong = |what| Wrong(name.span(), format!("feature {:?}: {what}", name.as_ref()));
        match known(name.as_ref()) {
            Some(Known::Kept(feature)) if features.contains(&feature) => {
                return Err(wrong("it is there twice"));
            }
            Some(Known::Kept(feature)) => features.push(feature),
            Some(Known::LeftOut(_)) => {
                let what = "QEMU's interpreter can't execute it, so it belongs to left_out";
                return Err(wrong(what));
            }
            None => return Err(wrong("no feature that a profile may have")),
        }
    }
    if !features.contains(&"lm") {
        let what = "features: without \"lm\" it is no 64-bit CPU".to_owned();
        return Err(Wrong(read.span(), what));
    }
    Ok(features)
}

fn left_out(name: &Spanned<String>) -> Result<&'static str, Wrong> {
    if let Some(Known::LeftOut(feature)) = known(name.as_ref()) {
        return Ok(feature);
    }
    let what = format!("left_out {:?}: nothing that the interpreter lacks", name.as_ref());
    Err(Wrong(name.span(), what))
}

/// The value is there if CPUID says that the MSR is.
fn arch_capabilities(
    read: Option<Spanned<ArchCapabilities>>,
    features: &[&str],
    list: &Spanned<Vec<Spanned<String>>>,
) -> Result<(Option<u64>, Option<ValueFrom>), Wrong> {
    match (read, features.contains(&"arch-capabilities")) {
        (None, false) => Ok((None, None)),
        (Some(read), true) => {
            let ArchCapabilities { value, from } = read.into_inner();
            Ok((Some(value), Some(from)))
        }
        (Some(read), false) => {
            let what = "the feature \"arch-capabilities\" is missing, which says that the CPU has \
                        this MSR";
            Err(Wrong(read.span(), what.to_owned()))
        }
        (None, true) => {
            let what = "the feature \"arch-capabilities\" needs a table [arch_capabilities] with \
                        the MSR's value";
            Err(Wrong(list.span(), what.to_owned()))
        }
    }
}

fn states(read: Spanned<States>) -> Result<KnownStates, Wrong> {
    let span = read.span();
    let States { kernel, files: lines } = read.into_inner();
    let texts = || lines.iter().flat_map(|(file, line)| [file, line]).chain([&kernel]);
    let what = if lines.len() > MOST_STATES {
        format!("states: more than {MOST_STATES} files")
    } else if texts().any(|text| text.len() > LONGEST_STATE || text.chars().any(char::is_control)) {
        format!("states: a line is longer than {LONGEST_STATE} bytes, or has control characters")
    } else if branch_of(&kernel).is_none() {
        "states: kernel is the release, as `uname -r` prints it".to_owned()
    } else {
        return Ok(KnownStates { kernel, lines });
    };
    Err(Wrong(span, what))
}

/// The file's own words, fit for a terminal.
fn printable(text: &str) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    const GOOD: &str = include_str!("../../../../tests/fixtures/cpu.toml");

    fn read(text: &str) -> Result<CpuFile, String> {
        CpuFile::parse("my.toml", text).map_err(|error| error.to_string())
    }

    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        read(&GOOD.replacen(from, to, 1)).unwrap_err()
    }

    #[test]
    fn a_file_is_a_cpu() {
        let file = read(GOOD).unwrap();
        assert_eq!((file.features.len(), file.two_threads), (3, false));
        assert_eq!(file.value_from, Some(ValueFrom::Deduced));
        assert_eq!(file.states("6.18.15+deb13-cloud-amd64").unwrap().lines.len(), 1);
        assert_eq!(file.states("6.1.0"), None);
        let cpu = Cpu::from(file);
        let text = cpu.text();
        assert!(text.contains("vendor=GenuineIntel,family=6,model=207,stepping=2,"), "{text}");
        assert!(text.contains("ucode-rev=0x100000000,"), "{text}");
        assert!(text.ends_with(",lm=on,sse2=on,arch-capabilities=on"), "{text}");
        assert_eq!(cpu.arch_capabilities(), Some(0x6161));
        let about = cpu.description();
        assert!(about.starts_with("file ") && about.ends_with(",msr-0x10a=0x6161"), "{about}");
        assert!(!about.contains("my.toml") && !cpu.is_portable() && !cpu.has_two_threads());
        assert_eq!(cpu.lack_behind("this CPU has no pcid (CPUID)"), Some("pcid"));
    }

    #[test]
    fn the_contents_are_in_the_description_and_the_name_is_not() {
        let other = Cpu::from(read(&GOOD.replace("affected\"", "Affected\"")).unwrap());
        let one = Cpu::from(read(GOOD).unwrap());
        assert_ne!(one.description(), other.description());
        let elsewhere = Cpu::from(CpuFile::parse("b.toml", GOOD).unwrap());
        assert_eq!(one.description(), elsewhere.description());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (from, to, line, word) in [
            ("pathmeter.cpu/1", "pathmeter.cpu/2", 1, "schema"),
            ("Xeon(R)", "Xeon,x=1", 2, "commas"),
            ("Intel(R)", "\\u001b[2J", 2, "machine"),
            ("GenuineIntel", "Cyrix", 3, "Cyrix"),
            ("family = 6", "family = 4096", 4, "family"),
            ("model = 207", "model = -1", 5, "invalid value"),
            ("stepping = 2", "stepping = 2\nspeed = 9", 7, "speed"),
            ("address_bits = 48", "address_bits = 64", 9, "address_bits"),
            ("threads = 1", "threads = 3", 10, "threads"),
            ("\"sse2\"", "\"warp-drive\"", 11, "warp-drive"),
            ("\"sse2\"", "\"rdrand\"", 11, "left_out"),
            ("\"sse2\"", "\"lm\"", 11, "twice"),
            ("\"lm\", ", "", 11, "64-bit"),
            (", \"arch-capabilities\"", "", 14, "arch-capabilities"),
            ("[\"pcid\"]", "[\"sse2\"]", 12, "left_out"),
            ("\"deduced\"", "\"guessed\"", 16, "guessed"),
            ("6.18.44-other", "lab", 18, "uname"),
        ] {
            let error = error(from, to);
            assert!(error.starts_with(&format!("my.toml, line {line}: ")), "{to}: {error}");
            assert!(error.contains(word) && !error.contains('\x1b'), "{to}: {error}");
        }
        let without = GOOD.replace("[arch_capabilities]\nvalue = 0x6161\nfrom = \"deduced\"\n", "");
        assert!(read(&without).unwrap_err().contains("line 11"));
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_or_another_profile() {
        for length in 0..GOOD.len() {
            let _ = read(&GOOD[..length]);
        }
        assert!(read("").is_err() && read("{}").is_err());
    }

    #[test]
    fn a_file_that_is_not_there_or_too_large_is_an_error() {
        assert!(CpuFile::read(Path::new("/nowhere/my.toml")).is_err());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![b'#'; 65 << 10]).unwrap();
        let error = CpuFile::read(file.path()).unwrap_err().to_string();
        assert!(error.contains("too large"), "{error}");
    }
}
