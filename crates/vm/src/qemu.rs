//! Finds QEMU and learns its version and features.

pub(crate) mod alarm;
pub(crate) mod host_cpu;
pub(crate) mod memory_file;
pub(crate) mod plugin;
pub(crate) mod process;
pub(crate) mod qmp;
pub(crate) mod query;
pub(crate) mod recording_limits;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::arch::{ASKS_PROPERTIES, MACHINE_MEANS, MACHINE_NAME, PROGRAM, named_since};
use crate::console::Tail;
use crate::error::qemu::has_folder;
use crate::machine::{OLDEST, SANDBOX};
use crate::qemu::query::{Answer, ask};
use crate::{Cpu, Interrupt, PROFILES, Profile, QemuError, VmError};

/// Versions, by major and minor number, on which `make portability` runs. Any other one has to pass
/// a self-test first.
const TESTED: &[(u32, u32)] = &[(7, 2), (10, 0), (11, 1)];

/// A QEMU that can run exact guests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qemu {
    /// The path of the executable.
    pub path: PathBuf,
    /// Its version as it says itself, such as `7.2.22 (Debian 1:7.2+dfsg-7)`.
    pub version: String,
    /// Major and minor of it.
    pub(crate) number: (u32, u32),
}

/// Something that exact runs need, and that a QEMU may have been built without.
#[derive(Clone, Debug)]
pub struct Feature {
    pub name: &'static str,
    /// Whether this QEMU has it.
    pub present: bool,
    /// What its presence or absence means.
    pub means: &'static str,
    /// The end of what this QEMU complained about when it was asked, if it failed.
    pub errors: Tail,
}

/// How a [`Feature`] is found out: arguments that make QEMU print a list and end, the word that the
/// list must have, and what to say if it has and if it hasn't.
const FEATURES: &[(&str, &[&str], &str, [&str; 2])] = &[
    (
        "interpreter",
        &["-accel", "help"],
        "tcg",
        ["built in (TCG)", "this QEMU was built without TCG, which counts the instructions"],
    ),
    ("machine", &["-M", "help"], MACHINE_NAME, MACHINE_MEANS),
    (
        "sandbox",
        // The sandbox is entered before the list is printed.
        &["-sandbox", SANDBOX, "-M", "help"],
        MACHINE_NAME,
        ["works (seccomp)", "this QEMU can't enter its sandbox: no seccomp, or not allowed to"],
    ),
];

impl Qemu {
    /// The QEMU at `chosen`, or else the first on PATH.
    ///
    /// # Errors
    /// There is none that can run exact guests, it can't be asked, or the user interrupted that.
    pub fn find(chosen: Option<&Path>, interrupt: &Interrupt) -> Result<Self, VmError> {
        let wanted = chosen.unwrap_or(Path::new(PROGRAM));
        let found = if has_folder(wanted) { existing(wanted) } else { on_path(wanted) };
        let path = found.ok_or_else(|| QemuError::Missing { path: wanted.to_owned() })?;
        let answer = ask(&path, &["--version"], vec![], interrupt)?;
        let Some((version, number)) = parse_version(&answer.output) else {
            return Err(not_a_version(path, &answer).into());
        };
        if number < OLDEST {
            return Err(QemuError::Old { path, version }.into());
        }
        Ok(Self { path, version, number })
    }

    /// What it has of the things that exact runs need.
    ///
    /// # Errors
    /// It can't be asked, or the user interrupted that.
    pub fn features(&self, interrupt: &Interrupt) -> Result<Vec<Feature>, VmError> {
        let rows = FEATURES.iter();
        rows.map(|(name, arguments, word, [found, missing])| {
            let answer = ask(&self.path, arguments, vec![], interrupt)?;
            let present = answer.output.split_whitespace().any(|said| said == *word);
            let mut errors = Tail::default();
            if !present && !answer.status.success() {
                errors.extend(answer.errors.as_bytes());
            }
            Ok(Feature { name, present, means: if present { found } else { missing }, errors })
        })
        .collect()
    }

    /// Checks that it can have this CPU. A text of its own it judges itself when it starts.
    ///
    /// # Errors
    /// It can't, it can't be asked, or the user interrupted that.
    pub fn check_cpu(&self, cpu: &Cpu, interrupt: &Interrupt) -> Result<(), VmError> {
        let needed = cpu.properties(self.number);
        if needed.is_empty() {
            return Ok(());
        }
        let known = self.cpu_properties(interrupt)?;
        let missing = missing(&needed, &known);
        if missing.is_empty() {
            return Ok(());
        }
        let nearest = self.nearest(cpu, &known);
        let (path, version) = (self.path.clone(), self.version.clone());
        let since = named_since(&missing);
        let missing = missing.join(", ");
        let profile = cpu.name().into();
        Err(QemuError::Cpu { path, version, profile, missing, since, nearest }.into())
    }

    /// The profile most like `cpu` among those of which it has names for all, in this list: of the
    /// same vendor, with the fewest features that only one of the two has.
    fn nearest(&self, cpu: &Cpu, known: &str) -> Option<&'static str> {
        let wanted: HashSet<&str> = cpu.properties(self.number).into_iter().collect();
        let like = PROFILES.iter().filter(|profile| profile.is_like(cpu)).filter_map(|profile| {
            let has: Vec<&'static str> = profile.properties(self.number).collect();
            let possible = missing(&has, known).is_empty();
            let has: HashSet<&str> = has.into_iter().collect();
            possible.then(|| (has.symmetric_difference(&wanted).count(), profile.name))
        });
        like.min().map(|(_, name)| name)
    }

    /// The names of the CPU models that it has, if `cpu` is QEMU's own text and names none of them.
    ///
    /// # Errors
    /// The user interrupted the asking.
    pub fn lacks_model(
        &self,
        cpu: &Cpu,
        interrupt: &Interrupt,
    ) -> Result<Option<Vec<String>>, VmError> {
        let Cpu::Qemu(text) = cpu else { return Ok(None) };
        let name = text.split(',').next().unwrap_or_default();
        let said = match ask(&self.path, &["-cpu", "help"], vec![], interrupt) {
            Ok(answer) => answer.output,
            Err(VmError::Interrupted) => return Err(VmError::Interrupted),
            // It says so itself when it shall run.
            Err(_) => return Ok(None),
        };
        let models = models(&said);
        let has = models.is_empty() || models.iter().any(|model| model == name);
        Ok((!has).then_some(models))
    }

    /// All profiles, each with what it has no name for.
    ///
    /// # Errors
    /// It can't be asked, or the user interrupted that.
    pub fn profiles(
        &self,
        interrupt: &Interrupt,
    ) -> Result<Vec<(&'static Profile, Vec<&'static str>)>, VmError> {
        let known = self.cpu_properties(interrupt)?;
        let lacks = |profile: &'static Profile| {
            let needed: Vec<_> = profile.properties(self.number).collect();
            (profile, missing(&needed, &known))
        };
        Ok(PROFILES.iter().map(lacks).collect())
    }

    /// QEMU's words on the properties that a CPU can be given.
    fn cpu_properties(&self, interrupt: &Interrupt) -> Result<String, VmError> {
        let asked = [&["-M", "none", "-display", "none"][..], &ASKS_PROPERTIES].concat();
        Ok(ask(&self.path, &asked, vec![], interrupt)?.output)
    }

    /// What tells this QEMU from any other: its version, and the file's place, size and age.
    pub fn description(&self) -> String {
        let file = std::fs::metadata(&self.path).ok();
        let facts = file.map(|file| (file.len(), file.modified().ok()));
        format!("{} {} {facts:?}", self.version, self.path.display())
    }

    /// What it lacks of the things that exact runs need, if anything. One that can't be asked, or
    /// even list its machines, has another fault, and says so itself.
    pub(crate) fn lacking(&self, interrupt: &Interrupt) -> Option<QemuError> {
        let answer = ask(&self.path, &["-M", "help"], vec![], interrupt);
        answer.ok().filter(|answer| answer.status.success())?;
        let missing =
            self.features(interrupt).ok()?.into_iter().find(|feature| !feature.present)?;
        let Feature { means, errors, .. } = missing;
        Some(QemuError::Lacks { path: self.path.clone(), means, errors })
    }

    /// Whether this version is among those that are tested.
    pub fn is_tested(&self) -> bool {
        TESTED.contains(&self.number)
    }
}

/// Why what `path` answered is no version.
fn not_a_version(path: PathBuf, answer: &Answer) -> QemuError {
    let said: String = answer.output.chars().take(80).collect();
    if !said.trim().is_empty() {
        return QemuError::Foreign { path, said };
    }
    let mut errors = Tail::default();
    errors.extend(answer.errors.as_bytes());
    QemuError::Mute { path, how: answer.status.to_string(), errors }
}

/// Whether it names a file by its place, not only by its name.
fn on_path(name: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| existing(&folder.join(name)))
}

fn existing(file: &Path) -> Option<PathBuf> {
    file.is_file().then(|| file.to_owned())
}

/// The models in QEMU's list of them, a line each: indented, or after the architecture.
fn models(said: &str) -> Vec<String> {
    if !said.starts_with("Available") {
        return Vec::new();
    }
    let listed = said.lines().take_while(|line| !line.starts_with("Recognized"));
    let names = listed.filter(|line| !line.starts_with("Available")).filter_map(|line| {
        let before = usize::from(!line.starts_with(' '));
        line.split_whitespace().nth(before).map(str::to_owned)
    });
    names.collect()
}

/// What of `needed` has no name in this list of properties, a line `  name=<type>` for each.
fn missing(needed: &[&'static str], known: &str) -> Vec<&'static str> {
    let names = known.lines().filter_map(|line| line.trim().split_once("=<"));
    let names: HashSet<&str> = names.map(|(name, _)| name).collect();
    needed.iter().copied().filter(|property| !names.contains(property)).collect()
}

/// `QEMU emulator version 7.2.22 (Debian …)` as text and (major, minor).
fn parse_version(said: &str) -> Option<(String, (u32, u32))> {
    let version = said.lines().next()?.strip_prefix("QEMU emulator version ")?.trim();
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let number = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((version.chars().take(120).collect(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_of_old_lists_and_of_new_ones() {
        let old = "Available CPUs:\narch 486                   (alias)\narch host   all\n\n\
                   Recognized CPUID flags:\n  3dnow abm\n";
        let new = "Available CPUs:\n  486     (alias)\n  host    all\n\nRecognized CPUID flags:\n";
        assert_eq!((models(old), models(new)), (vec!["486".into(), "host".into()], models(old)));
        assert!(models("qemu: no such option").is_empty());
    }

    #[test]
    fn the_nearest_profile_is_of_the_same_vendor_and_one_that_can_be_had() {
        let qemu = Qemu { path: "q".into(), version: "7.2.22".into(), number: (7, 2) };
        let known = |without: &[&str]| -> String {
            let all = PROFILES.iter().flat_map(|profile| profile.properties((7, 2)));
            let known = all.filter(|name| !without.contains(name));
            known.map(|name| format!("  {name}=<bool>\n")).collect::<Vec<_>>().concat()
        };
        let nearest = |name| qemu.nearest(&Cpu::from_name(name), &known(&["amd-psfd"]));
        assert_eq!(nearest("zen3"), Some("zen2"));
        assert_eq!(nearest("zen3-guest"), Some("zen2-guest"));
        assert_eq!(qemu.nearest(&Cpu::from_name("zen3"), ""), None);
    }

    #[test]
    fn versions_are_read() {
        let said = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright…";
        let (text, number) = parse_version(said).unwrap();
        assert_eq!((&text[..], number), ("7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", (7, 2)));
        assert_eq!(parse_version("QEMU emulator version 10.0.2").unwrap().1, (10, 0));
    }

    #[test]
    fn what_a_qemu_has_no_name_for_is_missing() {
        let zen3 = PROFILES.iter().find(|profile| profile.name == "zen3").unwrap();
        let line = |name: &str| format!("  {name}=<bool>           - (default: false)\n");
        let needed: Vec<_> = zen3.properties((7, 2)).collect();
        let all: String = needed.iter().copied().map(line).collect();
        assert_eq!(missing(&needed, &all), <[&str; 0]>::default());
        let older = all.replace("  amd-psfd=", "  x-amd-psfd=");
        assert_eq!(missing(&needed, &older), ["amd-psfd"]);
        let max = PROFILES.iter().find(|profile| profile.name == "max").unwrap();
        assert_eq!(max.properties((7, 2)).count(), 0);
    }

    #[test]
    fn other_programs_are_not_qemu() {
        for said in ["", "bash 5.2", "QEMU emulator version x.y"] {
            assert_eq!(parse_version(said), None);
        }
    }
}
