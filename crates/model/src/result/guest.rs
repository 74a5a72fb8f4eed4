//! What a guest's kernel itself prints about the CPU that it runs on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the guest's kernel printed before the first path, and how that compares with what a profile
/// says it should. Texts are the kernel's, without control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuestReport {
    /// What `/proc/cpuinfo` has of the first CPU; null if the kernel has no such file.
    pub cpu: Option<GuestCpu>,
    /// The files of `/sys/devices/system/cpu/vulnerabilities`, each with its line; null if the
    /// kernel has no such folder.
    pub vulnerabilities: Option<BTreeMap<String, String>>,
    /// The kernel whose lines on this CPU the profile holds, if it holds those of this branch:
    /// the files were compared with them.
    pub compared_with: Option<String>,
    /// The files that read differently than there. A file that only one of the two kernels has is
    /// none.
    pub unexpected: Vec<UnexpectedState>,
}

/// The first CPU, as the guest's kernel sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuestCpu {
    /// The vendor, as CPUID has it.
    pub vendor: String,
    /// The family; null if the kernel printed no number.
    pub family: Option<u32>,
    /// The model in the family.
    pub model: Option<u32>,
    pub stepping: Option<u32>,
    /// The microcode's revision, as the kernel prints it; empty if it prints none.
    pub microcode: String,
    /// The name that the CPU gives itself.
    pub name: String,
    /// The features that the kernel uses or shows.
    pub flags: Vec<String>,
    /// The bugs that the kernel takes the CPU to have.
    pub bugs: Vec<String>,
}

/// A file that reads differently than a profile says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnexpectedState {
    pub file: String,
    pub expected: String,
    pub found: String,
}

impl GuestReport {
    /// From the lines of `/proc/cpuinfo`, by their names, and the files of the folder; empty ones
    /// are not there.
    pub fn new(
        cpuinfo: &BTreeMap<String, String>,
        vulnerabilities: &BTreeMap<String, String>,
    ) -> Self {
        let cpu = (!cpuinfo.is_empty()).then(|| GuestCpu::of(cpuinfo));
        let vulnerabilities = (!vulnerabilities.is_empty()).then(|| vulnerabilities.clone());
        Self { cpu, vulnerabilities, ..Self::default() }
    }

    /// Whether a text in it has what could move a terminal's cursor.
    pub(crate) fn has_control_characters(&self) -> bool {
        let cpu = self.cpu.iter().flat_map(|cpu| {
            let texts = [&cpu.vendor, &cpu.microcode, &cpu.name];
            texts.into_iter().chain(&cpu.flags).chain(&cpu.bugs)
        });
        let files = self.vulnerabilities.iter().flatten().flat_map(|(file, line)| [file, line]);
        let unexpected = self.unexpected.iter();
        let unexpected = unexpected.flat_map(|one| [&one.file, &one.expected, &one.found]);
        let texts = cpu.chain(files).chain(unexpected).chain(&self.compared_with);
        texts.into_iter().any(|text| text.chars().any(char::is_control))
    }
}

impl GuestCpu {
    fn of(cpuinfo: &BTreeMap<String, String>) -> Self {
        let text = |name: &str| cpuinfo.get(name).cloned().unwrap_or_default();
        let number = |name: &str| cpuinfo.get(name).and_then(|number| number.parse().ok());
        let words = |name: &str| text(name).split_whitespace().map(str::to_owned).collect();
        Self {
            vendor: text("vendor_id"),
            family: number("cpu family"),
            model: number("model"),
            stepping: number("stepping"),
            microcode: text("microcode"),
            name: text("model name"),
            flags: words("flags"),
            bugs: words("bugs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_the_kernel_printed_is_taken_apart() {
        let cpuinfo = map(&[("cpu family", "6"), ("model", "x"), ("bugs", "mds  taa")]);
        let report = GuestReport::new(&cpuinfo, &map(&[("mds", "Not affected")]));
        let cpu = report.cpu.unwrap();
        assert_eq!((cpu.family, cpu.model), (Some(6), None));
        assert_eq!((&cpu.bugs[..], &cpu.flags[..]), (&["mds".into(), "taa".into()][..], &[][..]));
        assert_eq!(report.vulnerabilities.unwrap()["mds"], "Not affected");
    }

    #[test]
    fn what_the_kernel_has_not_is_null() {
        let report = GuestReport::new(&map(&[]), &map(&[]));
        assert_eq!(report, GuestReport::default());
    }

    #[test]
    fn control_characters_are_seen_everywhere() {
        let clean = GuestReport::new(&map(&[("bugs", "mds")]), &map(&[("mds", "a")]));
        assert!(!clean.has_control_characters());
        let cpuinfo = GuestReport::new(&map(&[("bugs", "m\x1bds")]), &map(&[]));
        let file = GuestReport::new(&map(&[]), &map(&[("mds", "\x07")]));
        let compared_with = Some("6.1\n".to_owned());
        let with = GuestReport { compared_with, ..GuestReport::default() };
        assert!([cpuinfo, file, with].iter().all(GuestReport::has_control_characters));
    }
}
