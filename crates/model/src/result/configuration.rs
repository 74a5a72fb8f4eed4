//! The configuration of a result: everything that its samples depend on.
//!
//! Same configuration, same exact numbers, on any machine. Two results may be compared when they
//! differ in the kernel and in nothing else; whatever else differs is named.

use std::fmt;

use pathmeter_trace::{MeasuredWith, SettingProof};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::identity::{command_line, program_conditions};
use crate::{Program, Unit};

/// Everything that the samples depend on. Hashes are SHA-256 in lower-case hexadecimal.
///
/// Fields not known here are refused when reading: a dependency that this version can't compare
/// must not pass for equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The unit of the timestamps.
    pub clock: Unit,
    /// Hash of the kernel image as given.
    pub image_sha256: String,
    /// The kernel's release, as `uname -r` prints it; null if the image does not contain it.
    pub release: Option<String>,
    /// The kernel's command line, without the words of the condition.
    pub command_line: String,
    /// The settings under which the kernel was measured, beside its machine, a filter of system
    /// calls by the beginning of its program's SHA-256; empty, and left out, for the default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// What became of each of these settings, as the guest's kernel shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<SettingProof>,
    /// The CPU model, as QEMU names it, with its flags.
    pub cpu: String,
    /// The machine type, as QEMU names it, with its options.
    pub machine: String,
    pub qemu: String,
    /// SHA-256 of the bundled firmware that started the kernel; null if QEMU's own did, since the
    /// kernel has no PVH entry.
    #[serde(default)]
    pub firmware_sha256: Option<String>,
    /// Whether the same samples are to be expected of every QEMU that is tested: CPU, machine and
    /// firmware are the fixed ones. Then QEMU's version is no reason to refuse a comparison.
    #[serde(default)]
    pub portable: bool,
    /// Hash of the agent: of its programs that are in the guest.
    pub agent_sha256: String,
    /// Hash of the whole initramfs, as it is under the default condition.
    pub initramfs_sha256: String,
    /// Number of perturbed runs measured.
    pub runs: u32,
    /// The guest's memory, in MiB.
    pub memory_mib: u32,
    /// The guest's CPUs; results without this field were measured with one.
    #[serde(default = "one")]
    pub cpus: u32,
    /// The program that was executed, if the rows are those of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

fn one() -> u32 {
    1
}

/// A field in which two configurations differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationDifference {
    /// The field's name in the result document.
    pub field: String,
    /// Its value in the base.
    pub base: String,
    /// Its value in the new one.
    pub new: String,
}

/// Fields that are hashes, and what it means that two differ.
const HASHES: [(&str, &str); 4] = [
    ("agent_sha256", "other versions of pathmeter measured them"),
    ("initramfs_sha256", "other versions of pathmeter measured them"),
    ("firmware_sha256", "firmware of other versions of pathmeter started the kernels"),
    ("program.packed_sha256", "the program or its files are not the same"),
];
/// Fields that tell the cells of one kernel apart: what a plan varies. What else differs, such as
/// pathmeter's version, is a reason to refuse a comparison, and not another cell.
const OF_CELLS: [&str; 11] = [
    "command_line",
    "condition",
    "cpu",
    "runs",
    "memory_mib",
    "cpus",
    "program.command",
    "program.environment",
    "program.windows",
    "program.process",
    "program.benchmarks",
];
/// Digits of a hash that are shown.
const HASH_DIGITS: usize = 12;

impl fmt::Display for ConfigurationDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((field, words)) = HASHES.iter().find(|(field, _)| *field == self.field) {
            let [base, new] = [&self.base, &self.new]
                .map(|hash| hash.chars().take(HASH_DIGITS).collect::<String>());
            return write!(f, "{words} ({field}: {base} in base, {new} in new)");
        }
        write!(f, "{}: {:?} in base, {:?} in new", self.field, self.base, self.new)
    }
}

impl ConfigurationDifference {
    /// The fields whose values differ; both sides have the same fields in the same order.
    pub(crate) fn between(
        base: impl IntoIterator<Item = (&'static str, String)>,
        new: impl IntoIterator<Item = (&'static str, String)>,
    ) -> impl Iterator<Item = Self> {
        let differing = base.into_iter().zip(new).filter(|((_, base), (_, new))| base != new);
        differing.map(|((field, base), (_, new))| Self { field: field.to_owned(), base, new })
    }
}

impl Configuration {
    /// The fields other than the kernel in which `self`, the base, differs from `new`, in the order
    /// of the document. Empty means that the two can be compared.
    ///
    /// Which firmware starts a kernel follows from the kernel, so only two bundled ones are
    /// compared.
    pub fn differences(&self, new: &Self) -> Vec<ConfigurationDifference> {
        let differences = ConfigurationDifference::between(self.all_fields(), new.all_fields());
        differences.filter(|it| !self.may_differ(new, &it.field)).collect()
    }

    /// What a plan's cells of one kernel are told apart by, as text. A CPU that has a profile goes
    /// by the profile's name.
    pub(crate) fn list_cell_values(&self) -> Vec<String> {
        let of_cells = self.all_fields().filter(|(field, _)| OF_CELLS.contains(field));
        let shorten = |(field, value): (&str, String)| match value.split_once(": ") {
            Some((profile, _)) if field == "cpu" => profile.to_owned(),
            _ => value,
        };
        of_cells.map(shorten).collect()
    }

    /// The same without what is known only once it was measured: what became of the settings.
    #[must_use]
    pub fn as_asked(&self) -> Self {
        Self { proofs: Vec::new(), ..self.clone() }
    }

    /// What every reader of the numbers must know of it.
    pub fn measured_with(&self) -> MeasuredWith {
        MeasuredWith {
            qemu: self.qemu.clone(),
            machine: self.machine.clone(),
            cpu: self.cpu.clone(),
            cpus: self.cpus,
            portable: self.portable,
            memory_mib: self.memory_mib,
            runs: self.runs,
            command_line: self.command_line.clone(),
            condition: self.condition.clone(),
            proofs: self.proofs.clone(),
            program: self.program.as_ref().map(|program| command_line(&program.command)),
        }
    }

    /// Whether the two can be compared although they differ in `field`.
    fn may_differ(&self, new: &Self, field: &str) -> bool {
        match field {
            "qemu" => self.portable && new.portable,
            // What a kernel is measured under is part of its name, as the kernel is.
            "condition" => self.image_sha256 == new.image_sha256,
            // The initramfs of a program is what was packed for it, which has a field of its own.
            "initramfs_sha256" => self.program.is_some() && new.program.is_some(),
            "firmware_sha256" => self.firmware_sha256.is_none() || new.firmware_sha256.is_none(),
            _ => false,
        }
    }

    /// The program's fields, and all others but those of the kernel itself.
    fn all_fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        program_conditions(self.program.as_ref()).into_iter().chain(self.conditions())
    }

    /// All fields but those of the program and of the kernel itself. Taken apart whole, so that a
    /// field added above can't be forgotten here.
    fn conditions(&self) -> [(&'static str, String); 12] {
        let Self {
            image_sha256: _,
            release: _,
            clock,
            command_line,
            condition,
            cpu,
            machine,
            qemu,
            firmware_sha256,
            proofs: _,   // follow from the condition
            portable: _, // decides what a difference of QEMU's versions means
            agent_sha256,
            initramfs_sha256,
            runs,
            memory_mib,
            cpus,
            program: _, // has conditions of its own
        } = self;
        [
            ("clock", clock.to_string()),
            ("command_line", command_line.clone()),
            ("condition", condition.clone()),
            ("cpu", cpu.clone()),
            ("machine", machine.clone()),
            ("qemu", qemu.clone()),
            ("firmware_sha256", firmware_sha256.clone().unwrap_or_default()),
            ("agent_sha256", agent_sha256.clone()),
            ("initramfs_sha256", initramfs_sha256.clone()),
            ("runs", runs.to_string()),
            ("memory_mib", memory_mib.to_string()),
            ("cpus", cpus.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn configuration() -> Configuration {
        Configuration {
            condition: "boot:nopti".into(),
            firmware_sha256: Some("dd".into()),
            ..example::configuration("6.1.0", 8)
        }
    }

    #[test]
    fn another_kernel_is_no_difference() {
        let new = Configuration { image_sha256: "dd".into(), release: None, ..configuration() };
        assert_eq!(configuration().differences(&new), []);
    }

    #[test]
    fn every_field_but_the_kernels_is_compared() {
        let fields = serde_json::to_value(configuration()).unwrap();
        let names: Vec<&str> = configuration().conditions().iter().map(|&(name, _)| name).collect();
        for field in fields.as_object().unwrap().keys() {
            // `portable` is no condition: it decides what a difference of QEMU's versions means.
            let apart = ["image_sha256", "release", "proofs", "portable"].contains(&field.as_str());
            assert_eq!(names.contains(&field.as_str()), !apart, "{field}");
        }
    }

    #[test]
    fn qemus_version_matters_unless_both_machines_are_the_fixed_one() {
        let other = |portable| Configuration { qemu: "11.1".into(), portable, ..configuration() };
        let fixed = Configuration { portable: true, ..configuration() };
        assert_eq!(fixed.differences(&other(true)), []);
        assert_eq!(fixed.differences(&other(false)).len(), 1);
        assert_eq!(configuration().differences(&other(true)).len(), 1);
    }

    #[test]
    fn two_bundled_firmwares_are_compared_and_qemus_own_is_the_kernels_need() {
        let with = |hash: Option<&str>| Configuration {
            firmware_sha256: hash.map(str::to_owned),
            ..configuration()
        };
        assert_eq!(with(Some("dd")).differences(&with(None)), []);
        assert_eq!(with(Some("dd")).differences(&with(Some("ee")))[0].field, "firmware_sha256");
    }

    #[test]
    fn every_field_that_tells_cells_apart_is_one_of_the_document() {
        assert_eq!(configuration().list_cell_values().len(), OF_CELLS.len());
    }

    #[test]
    fn an_older_configuration_is_of_one_cpu() {
        let mut older = serde_json::to_value(configuration()).unwrap();
        older.as_object_mut().unwrap().remove("cpus");
        assert_eq!(serde_json::from_value::<Configuration>(older).unwrap(), configuration());
    }

    #[test]
    fn hashes_that_differ_are_told_in_words() {
        let agent_sha256 = "0123456789abcdef".repeat(4);
        let new = Configuration { agent_sha256, ..configuration() };
        let text = configuration().differences(&new)[0].to_string();
        let (words, hashes) = text.split_once(" (").unwrap();
        assert_eq!(words, "other versions of pathmeter measured them");
        assert!(hashes.ends_with("in base, 0123456789ab in new)"), "{hashes}");
        let fields = configuration();
        let conditions = fields.conditions().into_iter().chain(program_conditions(None));
        let hashes = conditions.map(|(name, _)| name).filter(|name| name.ends_with("sha256"));
        assert!(hashes.into_iter().all(|name| HASHES.iter().any(|(field, _)| *field == name)));
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let new = Configuration { qemu: "8.0.0".into(), runs: 4, ..configuration() };
        let texts: Vec<String> =
            configuration().differences(&new).iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [r#"qemu: "7.2.22" in base, "8.0.0" in new"#, r#"runs: "8" in base, "4" in new"#]
        );
    }
}
