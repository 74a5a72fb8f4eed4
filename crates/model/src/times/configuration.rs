//! What times depend on besides the kernel: two sessions that differ in it are no series.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ConfigurationDifference, Times, clean};

/// Words of a command line that name the kernel's own files: the boot loader writes them.
const OF_THE_KERNEL: [&str; 2] = ["BOOT_IMAGE=", "initrd="];

/// Everything but the kernel that is known to change times: the machine, and how they were taken.
///
/// Fields not known here are refused when reading, as of [`crate::Configuration`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimesConfiguration {
    processor: String,
    microcode: String,
    hypervisor: Option<String>,
    cpu: u32,
    siblings: String,
    governor: String,
    clock_source: String,
    command_line: String,
    condition: String,
    real_time: bool,
    apart: bool,
    root_cgroup: bool,
    boots: BootNumber,
}

/// Of several boots the boot is the replicate, and of one the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BootNumber {
    One,
    Several,
}

impl TimesConfiguration {
    /// Those of a document's sessions: of the first, which all others are like.
    pub fn of(sessions: &[Times]) -> Option<Self> {
        let Times { host, method, conditions, .. } = sessions.first()?;
        let words = host.command_line.split_whitespace();
        let own = |word: &&str| !OF_THE_KERNEL.iter().any(|name| word.starts_with(name));
        Some(Self {
            processor: host.processor.clone(),
            microcode: host.microcode.clone(),
            hypervisor: host.hypervisor.clone(),
            cpu: host.cpu,
            siblings: host.siblings.clone(),
            governor: host.governor.clone(),
            clock_source: host.clock_source.clone(),
            command_line: words.filter(own).collect::<Vec<_>>().join(" "),
            condition: conditions.first().cloned().unwrap_or_default(),
            real_time: method.real_time,
            apart: method.apart,
            root_cgroup: method.root_cgroup,
            boots: if sessions.len() > 1 { BootNumber::Several } else { BootNumber::One },
        })
    }

    /// The machine, in words: `AMD EPYC, virtual (KVM), CPU 1`.
    pub fn machine(&self) -> String {
        let hypervisor = match self.hypervisor.as_deref() {
            None => String::new(),
            Some("unknown") => ", virtual".to_owned(),
            Some(name) => format!(", virtual ({name})"),
        };
        clean(&format!("{}{hypervisor}, CPU {}", self.processor, self.cpu))
    }

    /// Whether a replicate is a boot, and not a process.
    pub fn is_of_several_boots(&self) -> bool {
        self.boots == BootNumber::Several
    }

    /// In what `self`, the base, differs from `new`.
    pub fn differences(&self, new: &Self) -> Vec<ConfigurationDifference> {
        ConfigurationDifference::between(self.fields(), new.fields()).collect()
    }

    /// Taken apart whole, so that a field added above can't be forgotten here.
    fn fields(&self) -> [(&'static str, String); 13] {
        let Self {
            processor,
            microcode,
            hypervisor,
            cpu,
            siblings,
            governor,
            clock_source,
            command_line,
            condition,
            real_time,
            apart,
            root_cgroup,
            boots,
        } = self;
        let boots = match boots {
            BootNumber::One => "one",
            BootNumber::Several => "several",
        };
        [
            ("processor", processor.clone()),
            ("microcode", microcode.clone()),
            ("hypervisor", hypervisor.clone().unwrap_or_default()),
            ("cpu", cpu.to_string()),
            ("siblings", siblings.clone()),
            ("governor", governor.clone()),
            ("clock_source", clock_source.clone()),
            ("command_line", command_line.clone()),
            ("condition", condition.clone()),
            ("real_time", real_time.to_string()),
            ("apart", apart.to_string()),
            ("root_cgroup", root_cgroup.to_string()),
            ("boots", boots.to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn session(change: impl Fn(&mut Times)) -> Times {
        let mut times = example::times(&[("a.b", 1, &[900; 3])]);
        times.host.command_line = "BOOT_IMAGE=/boot/vmlinuz-6.1 ro quiet".into();
        change(&mut times);
        times
    }

    fn differing(base: &[Times], new: &[Times]) -> Vec<String> {
        let [base, new] = [base, new].map(|side| TimesConfiguration::of(side).unwrap());
        base.differences(&new).into_iter().map(|it| it.field).collect()
    }

    #[test]
    fn another_kernel_and_its_files_are_no_difference() {
        let next = session(|times| {
            times.host.kernel = "6.12".into();
            times.host.release = "6.12".into();
            times.host.boot_id = "other".into();
            times.host.command_line = "BOOT_IMAGE=/boot/vmlinuz-6.12 ro quiet".into();
        });
        assert_eq!(differing(&[session(|_| ())], &[next]), [""; 0]);
    }

    #[test]
    fn another_machine_another_way_and_several_boots_are() {
        let base = session(|_| ());
        let next = session(|times| {
            times.host.processor = "other".into();
            times.host.command_line += " mitigations=off";
            times.method.apart = !times.method.apart;
        });
        let named = ["processor", "command_line", "apart", "boots"];
        assert_eq!(differing(&[base], &[next.clone(), next]), named);
    }

    #[test]
    fn a_machine_has_no_control_characters() {
        let session = session(|times| times.host.processor = "a\u{1b}[31m".into());
        assert!(!TimesConfiguration::of(&[session]).unwrap().machine().contains('\u{1b}'));
    }
}
