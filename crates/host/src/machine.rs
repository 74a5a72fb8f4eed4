//! What the reader of a table must know of the machine that it was made on.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

/// Largest text that is kept of a file, in characters.
const MAX_TEXT: usize = 300;

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name, family, model and stepping.
    pub processor: String,
    /// Its microcode's revision.
    pub microcode: String,
    /// Whether it says that it is virtual.
    pub hypervisor: bool,
    /// The kernel's release, as `uname -r` prints it.
    pub release: String,
    /// The kernel's release and version.
    pub kernel: String,
    /// What the kernel says of each vulnerability: on which its code depends.
    pub vulnerabilities: BTreeMap<String, String>,
    /// Who may read counters: at 1, which is usual, the kernel switches that with the process.
    pub rdpmc: String,
    /// The CPU that the paths were executed on.
    pub cpu: usize,
}

impl Machine {
    /// This machine, of which paths are executed on `cpu`; what can't be read is empty.
    pub fn of(cpu: usize) -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| field(&info, name);
        Self {
            processor: format!(
                "{}, family {}, model {}, stepping {}",
                field("model name"),
                field("cpu family"),
                field("model"),
                field("stepping")
            ),
            microcode: field("microcode"),
            hypervisor: field("flags").split(' ').any(|flag| flag == "hypervisor"),
            release: text("/proc/sys/kernel/osrelease"),
            kernel: text("/proc/version"),
            vulnerabilities: vulnerabilities(),
            rdpmc: text("/sys/bus/event_source/devices/cpu/rdpmc"),
            cpu,
        }
    }
}

/// A field of the first CPU.
fn field(info: &str, name: &str) -> String {
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    let value = fields.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim());
    value.unwrap_or_default().to_owned()
}

fn vulnerabilities() -> BTreeMap<String, String> {
    let folder = fs::read_dir("/sys/devices/system/cpu/vulnerabilities");
    let entries = folder.into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry)));
    named.map(|(name, entry)| (name, text(&entry.path().to_string_lossy()))).collect()
}

fn text(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_first_cpus_and_not_one_that_begins_alike() {
        let info = "model name\t: Some CPU @ 2: GHz\nmodel\t\t: 85\n\nmodel\t\t: 86\n";
        assert_eq!(field(info, "model"), "85");
        assert_eq!(field(info, "model name"), "Some CPU @ 2: GHz");
        assert_eq!(field(info, "stepping"), "");
    }
}
