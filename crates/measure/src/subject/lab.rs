//! The lab kernel as a subject: how many CPUs its machine has and whose they are, its variants on
//! its command line, and its own words when it stops.

use std::path::Path;

use pathmeter_lab::mechanisms;
use pathmeter_model::suggestion::suggest;
use pathmeter_vm::{BaseWords, Cpu, Settings, VmError};

use crate::error::MeasureError;
use crate::subject;

/// Begins words that are no mechanism's, and left to others.
const OTHERS: [&str; 3] = ["init=", "test.", "virtio_mmio.device="];

/// The lab kernel, as a subject asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lab {
    /// Its variants: `mechanism=variant,…`.
    pub variants: String,
    /// CPUs of its machine, 1 or 2, which are no variant: results with other ones are not compared.
    /// The kernel knows eight, but more than two don't run exactly
    /// (`docs/explanation/exactness.md`).
    pub cpus: u32,
    /// Whose CPU its machine has, which is no variant either.
    pub vendor: Vendor,
}

/// Whose CPU a machine has: 32-bit programs enter the kernel by AMD's `syscall`, which saves their
/// flags, or by Intel's `sysenter`, which doesn't.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vendor {
    /// Whose the usual CPU is.
    Usual,
    Amd,
    Intel,
}

impl Vendor {
    /// What CPUID names it by; None for the usual CPU's.
    fn id(self) -> Option<&'static str> {
        match self {
            Self::Usual => None,
            Self::Amd => Some("AuthenticAMD"),
            Self::Intel => Some("GenuineIntel"),
        }
    }
}

impl Lab {
    /// What `subject` asks for, if it is the lab kernel; of its words only `cpus=N` and `vendor=V`
    /// are known here, the kernel judges the others.
    pub(super) fn asked_by(subject: &Path) -> Result<Option<Self>, MeasureError> {
        let Some(words) = subject::lab_words(subject) else { return Ok(None) };
        let (cpus, words): (Vec<&str>, Vec<&str>) =
            words.split(',').partition(|word| word.starts_with("cpus="));
        let (vendor, variants): (Vec<&str>, Vec<&str>) =
            words.into_iter().partition(|word| word.starts_with("vendor="));
        let cpus = match cpus[..] {
            [] | ["cpus=1"] => 1,
            ["cpus=2"] => 2,
            _ => {
                let help = "give cpus=1 or cpus=2, once: more CPUs would not run exactly";
                return Err(unsupported_failure(subject, "these CPUs", help));
            }
        };
        let vendor = match vendor[..] {
            [] => Vendor::Usual,
            ["vendor=amd"] => Vendor::Amd,
            ["vendor=intel"] => Vendor::Intel,
            _ => {
                let help = "give vendor=amd or vendor=intel, once";
                return Err(unsupported_failure(subject, "this vendor's CPU", help));
            }
        };
        Ok(Some(Self { variants: variants.join(","), cpus, vendor }))
    }

    /// Refuses what the kernel would refuse once it was booted. What numbers may be is its own to
    /// say.
    pub(super) fn refuse_unknown(&self, subject: &Path) -> Result<(), MeasureError> {
        let words = self.variants.split(',').filter(|word| !word.is_empty());
        for word in words.filter(|word| !OTHERS.iter().any(|other| word.starts_with(other))) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let (what, help) = match mechanisms().find(|(known, _)| *known == name) {
                None => {
                    let names: Vec<&str> = mechanisms().map(|(name, _)| name).collect();
                    let close = suggest(name, &names);
                    let all = format!("{close}the mechanisms are {}", names.join(", "));
                    (format!("no mechanism is called \"{name}\""), all)
                }
                Some((_, values)) if !values.is_empty() && !values.contains(&value) => {
                    (format!("{name} can't be \"{value}\""), format!("but {}", values.join(", ")))
                }
                Some(_) => continue,
            };
            return Err(MeasureError::Request {
                message: format!("{}: {what}", subject.display()),
                help,
            });
        }
        Ok(())
    }

    /// The guest's settings for it.
    pub(super) fn settings(&self, usual: &Settings) -> Settings {
        let words = [&pathmeter_lab::command_line(&self.variants), &usual.append[..]].join(" ");
        let append = words.trim().to_owned();
        let made = self.vendor.id().and_then(|id| made_by(id, &usual.cpu.text()));
        let cpu = made.map_or_else(|| usual.cpu.clone(), Cpu::Qemu);
        Settings { base_words: BaseWords::None, append, cpus: self.cpus, cpu, ..usual.clone() }
    }
}

/// The same CPU model, made by this vendor; None if it is that vendor's.
fn made_by(vendor: &str, cpu: &str) -> Option<String> {
    let named = format!("vendor={vendor}");
    if cpu.split(',').any(|word| word == named) {
        return None;
    }
    let others = cpu.split(',').filter(|word| !word.starts_with("vendor="));
    Some(others.chain([&named[..]]).collect::<Vec<_>>().join(","))
}

/// The failure of a lab subject that asks for what the lab kernel can't have.
fn unsupported_failure(subject: &Path, what: &str, help: &str) -> MeasureError {
    let message = format!("{}: the lab kernel can't have {what}", subject.display());
    MeasureError::Request { message, help: help.to_owned() }
}

/// What the lab kernel prints on its console before it stops.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LabComplaint {
    /// A word on its command line that it does not know.
    CommandLine {
        message: String,
        /// The variants that it knows.
        valid: String,
    },
    /// A variant that can't be had on this machine.
    Unsupported { reason: String },
}

impl LabComplaint {
    /// The complaint at the end of the console, if `error` has one.
    pub(super) fn found_in(error: &VmError) -> Option<Self> {
        Self::read(&error.console()?.to_string())
    }

    fn read(console: &str) -> Option<Self> {
        if let Some((message, valid)) = find_printed(console, pathmeter_lab::BAD_COMMAND_LINE) {
            return Some(Self::CommandLine { message, valid });
        }
        let (reason, _) = find_printed(console, pathmeter_lab::UNSUPPORTED)?;
        Some(Self::Unsupported { reason })
    }
}

/// What the console has after `prefix`, and the lines before that.
fn find_printed(console: &str, prefix: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = console
        .lines()
        .map(|line| line.trim_start().strip_prefix("| ").unwrap_or(line).trim_end())
        .filter(|line| !line.is_empty())
        .collect();
    let place = lines.iter().position(|line| line.starts_with(prefix))?;
    let message = lines[place][prefix.len()..].trim().to_owned();
    Some((message, lines[..place].join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_come_before_what_the_user_appends() {
        let usual = Settings { append: "test.x".to_owned(), ..Settings::default() };
        let line = |subject| asked(subject).unwrap().settings(&usual).command_line();
        assert_eq!((line("lab:a=b,c=d"), line("lab")), ("a=b c=d test.x".into(), "test.x".into()));
    }

    #[test]
    fn what_the_kernel_has_not_is_refused_with_what_it_has() {
        let refused = |words: &str| {
            let lab = asked(&format!("lab:{words}")).unwrap();
            lab.refuse_unknown(Path::new("lab")).err()
        };
        let told = |words: &str| refused(words).unwrap().help().unwrap().to_owned();
        assert!(told("foo=bar").contains("the mechanisms are iobitmap, flags, "));
        assert!(told("iobitmp=lazy").starts_with("did you mean iobitmap? "));
        assert_eq!(told("getcpu=lsl,iobitmap=lasy"), "but short, full-copy, tracked, lazy");
        assert!(refused("iobitmap=lazy,test.x,init=/a,max-cpus=9").is_none());
    }

    fn asked(subject: &str) -> Result<Lab, MeasureError> {
        Lab::asked_by(Path::new(subject)).map(Option::unwrap)
    }

    #[test]
    fn cpus_are_the_machines_wherever_the_word_stands() {
        let vendor = Vendor::Usual;
        let two = |variants: &str| Lab { variants: variants.to_owned(), cpus: 2, vendor };
        assert_eq!(asked("lab:cpus=2").unwrap(), two(""));
        for subject in ["lab:cpus=2,a=b,c=d", "lab:a=b,cpus=2,c=d", "lab:a=b,c=d,cpus=2"] {
            assert_eq!(asked(subject).unwrap(), two("a=b,c=d"));
        }
        assert_eq!(asked("lab:max-cpus=9").unwrap().cpus, 1);
        assert_eq!(asked("lab:cpus=2").unwrap().settings(&Settings::default()).cpus, 2);
        assert_eq!(Lab::asked_by(Path::new("./lab:cpus=2")).unwrap(), None);
    }

    #[test]
    fn a_wrong_number_of_cpus_is_answered_with_the_right_ones() {
        for words in [
            "cpus=0",
            "cpus=3",
            "cpus=+2",
            "cpus=02",
            "cpus=x",
            "cpus=",
            "cpus=-1",
            "cpus=2,a=b,cpus=2",
        ] {
            let failure = asked(&format!("lab:{words}")).unwrap_err();
            assert!(matches!(failure, MeasureError::Request { .. }), "{words}");
            assert!(failure.help().unwrap().contains("cpus=1 or cpus=2"), "{words}");
        }
    }

    #[test]
    fn another_vendors_cpu_is_the_usual_one_but_for_its_vendor() {
        let intel = asked("lab:a=b,vendor=intel,c=d").unwrap();
        assert_eq!((&intel.variants[..], intel.vendor), ("a=b,c=d", Vendor::Intel));
        let cpu = |lab: &Lab, usual: &str| {
            lab.settings(&Settings { cpu: Cpu::from_name(usual), ..Settings::default() }).cpu.text()
        };
        let usual = "base,vendor=AuthenticAMD,lm=on";
        assert_eq!(cpu(&intel, usual), "base,lm=on,vendor=GenuineIntel");
        assert_eq!(cpu(&intel, "max"), "max,vendor=GenuineIntel");
        assert_eq!(cpu(&asked("lab:vendor=amd").unwrap(), usual), usual);
        let own = Settings::default();
        // The default is Intel's.
        assert_eq!(intel.settings(&own).cpu, own.cpu);
        let amd = asked("lab:vendor=amd").unwrap().settings(&own);
        assert!(amd.cpu.text().ends_with(",vendor=AuthenticAMD") && !amd.is_portable());
        for words in ["vendor=", "vendor=via", "vendor=intel,vendor=amd"] {
            let failure = asked(&format!("lab:{words}")).unwrap_err();
            assert!(failure.help().unwrap().contains("vendor=amd or vendor=intel"), "{words}");
        }
    }

    #[test]
    fn the_kernels_own_words_are_found_on_its_console() {
        let console = "\n  | variants:\n  |   y=z\n  | lab: bad command line: no x";
        let (message, valid) = ("no x".to_owned(), "variants:\n  y=z".to_owned());
        assert_eq!(LabComplaint::read(console), Some(LabComplaint::CommandLine { message, valid }));
        let console = "\n  | lab: unsupported here: no rdpid";
        let reason = "no rdpid".to_owned();
        assert_eq!(LabComplaint::read(console), Some(LabComplaint::Unsupported { reason }));
        assert_eq!(LabComplaint::read("\n  | lab: hello"), None);
    }
}
