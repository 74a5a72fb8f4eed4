//! The identity of a result: everything that its samples depend on.
//!
//! Same identity, same exact numbers, on any machine. Two results may be compared when they differ
//! in the kernel and in nothing else; whatever else differs is named.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unit;

/// Everything that the samples depend on. Hashes are SHA-256 in lower-case hexadecimal.
///
/// Fields not known here are refused when reading: a dependency that this version can't compare
/// must not pass for equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The unit of the timestamps.
    pub clock: Unit,
    /// Hash of the kernel image as given.
    pub image_sha256: String,
    /// The kernel's release, as `uname -r` says it; null if the image does not tell.
    pub release: Option<String>,
    /// The kernel's command line.
    pub command_line: String,
    /// The CPU model, as QEMU names it, with its flags.
    pub cpu: String,
    /// The machine type, as QEMU names it, with its options.
    pub machine: String,
    /// The version of QEMU.
    pub qemu: String,
    /// Hash of the agent that is /init in the guest.
    pub agent_sha256: String,
    /// Hash of the whole initramfs.
    pub initramfs_sha256: String,
    /// Number of perturbed starts measured.
    pub starts: u32,
    /// The guest's memory, in MiB.
    pub memory_mib: u32,
    /// The guest's CPUs; results that don't say were measured with one.
    #[serde(default = "one")]
    pub cpus: u32,
}

fn one() -> u32 {
    1
}

/// A field in which two identities differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityDifference {
    /// The field's name in the result document.
    pub field: String,
    /// Its value in the base.
    pub base: String,
    /// Its value in the new one.
    pub new: String,
}

impl fmt::Display for IdentityDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?} in base, {:?} in new", self.field, self.base, self.new)
    }
}

impl Identity {
    /// The fields other than the kernel in which `self`, the base, differs from `new`, in the order
    /// of the document. Empty means that the two can be compared.
    pub fn differences(&self, new: &Self) -> Vec<IdentityDifference> {
        let sides = self.conditions().into_iter().zip(new.conditions());
        sides
            .filter(|((_, base), (_, new))| base != new)
            .map(|((field, base), (_, new))| IdentityDifference { field: field.into(), base, new })
            .collect()
    }

    /// All fields but those of the kernel itself. Taken apart whole, so that a field added above
    /// can't be forgotten here.
    fn conditions(&self) -> [(&'static str, String); 10] {
        let Self {
            image_sha256: _,
            release: _,
            clock,
            command_line,
            cpu,
            machine,
            qemu,
            agent_sha256,
            initramfs_sha256,
            starts,
            memory_mib,
            cpus,
        } = self;
        [
            ("clock", clock.to_string()),
            ("command_line", command_line.clone()),
            ("cpu", cpu.clone()),
            ("machine", machine.clone()),
            ("qemu", qemu.clone()),
            ("agent_sha256", agent_sha256.clone()),
            ("initramfs_sha256", initramfs_sha256.clone()),
            ("starts", starts.to_string()),
            ("memory_mib", memory_mib.to_string()),
            ("cpus", cpus.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            clock: Unit::Instructions,
            image_sha256: "aa".into(),
            release: Some("6.1.0".into()),
            command_line: "quiet".into(),
            cpu: "max".into(),
            machine: "microvm".into(),
            qemu: "7.2.22".into(),
            agent_sha256: "bb".into(),
            initramfs_sha256: "cc".into(),
            starts: 8,
            memory_mib: 256,
            cpus: 1,
        }
    }

    #[test]
    fn another_kernel_is_no_difference() {
        let new = Identity { image_sha256: "dd".into(), release: None, ..identity() };
        assert_eq!(identity().differences(&new), []);
    }

    #[test]
    fn every_field_but_the_kernels_is_compared() {
        let fields = serde_json::to_value(identity()).unwrap();
        let names: Vec<&str> = identity().conditions().iter().map(|&(name, _)| name).collect();
        for field in fields.as_object().unwrap().keys() {
            let of_kernel = ["image_sha256", "release"].contains(&field.as_str());
            assert_eq!(names.contains(&field.as_str()), !of_kernel, "{field}");
        }
    }

    #[test]
    fn an_older_identity_is_of_one_cpu() {
        let mut older = serde_json::to_value(identity()).unwrap();
        older.as_object_mut().unwrap().remove("cpus");
        assert_eq!(serde_json::from_value::<Identity>(older).unwrap(), identity());
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let new = Identity { qemu: "8.0.0".into(), starts: 4, ..identity() };
        let said: Vec<String> =
            identity().differences(&new).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [r#"qemu: "7.2.22" in base, "8.0.0" in new"#, r#"starts: "8" in base, "4" in new"#]
        );
    }
}
