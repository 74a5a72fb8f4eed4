//! What a guest's kernel printed about its CPU before it was READY: `/proc/cpuinfo`, and the files
//! of `/sys/devices/system/cpu/vulnerabilities`.
//!
//! The guest is not believed: there are at most so many files, each is cut, and control characters
//! are escaped.

use std::collections::BTreeMap;

use pathmeter_wire::message::MAX_FACTS;
use serde_json::{Map, Value, json};

/// The file that is not one of the folder's.
const CPUINFO: &str = "cpuinfo";
/// What is kept of `/proc/cpuinfo`; the rest are the host's clocks and sizes.
const KEPT: [&str; 8] =
    ["vendor_id", "cpu family", "model", "stepping", "microcode", "model name", "flags", "bugs"];
/// Longest line that is kept, in characters: the flags of a CPU take two thousand.
const MAX_LINE: usize = 6000;

/// What the guest's kernel printed about its CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Of `/proc/cpuinfo`, the first CPU's lines on what it is, by their names; empty if the kernel
    /// has no such file.
    pub cpuinfo: BTreeMap<String, String>,
    /// The first line of each file of the folder `vulnerabilities`, by the file's name; empty if
    /// the kernel has no such folder.
    pub vulnerabilities: BTreeMap<String, String>,
}

impl Facts {
    /// Takes in what one file holds; false if it is one too many.
    pub(crate) fn take(&mut self, name: &str, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text);
        if name == CPUINFO {
            self.cpuinfo = cpuinfo(&text);
            return true;
        }
        let first = text.lines().next().unwrap_or_default();
        self.vulnerabilities.insert(printable(name), printable(first));
        self.vulnerabilities.len() < MAX_FACTS
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ CPUINFO: self.cpuinfo, "vulnerabilities": self.vulnerabilities })
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let part = |name: &str| strings(value.get(name)?.as_object()?);
        Some(Self { cpuinfo: part(CPUINFO)?, vulnerabilities: part("vulnerabilities")? })
    }
}

fn strings(map: &Map<String, Value>) -> Option<BTreeMap<String, String>> {
    map.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

/// The lines `name\t: value` of the first CPU, which an empty line ends.
fn cpuinfo(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let named = lines.filter_map(|line| line.split_once(':'));
    let named = named.map(|(name, value)| (name.trim(), printable(value.trim())));
    named.filter(|(name, _)| KEPT.contains(name)).map(|(name, v)| (name.to_owned(), v)).collect()
}

/// A guest's text with its control characters escaped, and not too much of it.
fn printable(text: &str) -> String {
    let plain = |c: char| {
        if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
    };
    text.chars().take(MAX_LINE).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: X\x1b[2J\n\
        cpu MHz\t\t: 1000\nflags\t\t: fpu vme\nbugs\t\t:\n\nprocessor\t: 1\nmodel\t: 7\n";

    #[test]
    fn of_cpuinfo_the_first_cpu_is_kept() {
        let mut facts = Facts::default();
        assert!(facts.take("cpuinfo", CPU.as_bytes()));
        let found: Vec<_> = facts.cpuinfo.iter().map(|(name, v)| (&**name, &**v)).collect();
        let name = ("model name", "X\\u{1b}[2J");
        assert_eq!(
            found,
            [("bugs", ""), ("flags", "fpu vme"), name, ("vendor_id", "GenuineIntel")]
        );
    }

    #[test]
    fn of_a_file_the_first_line_is_kept_without_control_characters() {
        let mut facts = Facts::default();
        assert!(facts.take("melt\x07down", b"Mitigation: PTI\xff\x1b\nmore\n"));
        let found = facts.vulnerabilities.into_iter().next().unwrap();
        let said = "Mitigation: PTI\u{fffd}\\u{1b}".to_owned();
        assert_eq!(found, ("melt\\u{7}down".to_owned(), said));
    }

    #[test]
    fn too_many_files_and_too_long_ones_are_not_kept() {
        let mut facts = Facts::default();
        assert!(facts.take("0", &[b'a'; 2 * MAX_LINE]));
        assert_eq!(facts.vulnerabilities["0"].len(), MAX_LINE);
        assert!((1..MAX_FACTS - 1).all(|number| facts.take(&number.to_string(), b"a")));
        assert!(!facts.take("one more", b"a"));
    }

    #[test]
    fn they_are_read_back() {
        let mut facts = Facts::default();
        facts.take("cpuinfo", CPU.as_bytes());
        facts.take("mds", b"Not affected");
        assert_eq!(Facts::from_json(&facts.to_json()), Some(facts));
        assert_eq!(Facts::from_json(&json!({ "cpuinfo": {} })), None);
    }
}
