//! A measurement and its configuration to vary, for the tests of every crate that takes results.

use crate::{Configuration, Measurement, PathResult, ResultSchema, Subject, Unit};

/// How a kernel of this release was measured in so many perturbed runs.
#[must_use]
pub fn configuration(release: &str, runs: u32) -> Configuration {
    Configuration {
        clock: Unit::Instructions,
        image_sha256: "a0".repeat(32),
        release: Some(release.into()),
        command_line: "quiet".into(),
        condition: String::new(),
        proofs: Vec::new(),
        cpu: "max".into(),
        machine: "microvm".into(),
        qemu: "7.2.22".into(),
        firmware_sha256: None,
        portable: false,
        agent_sha256: "b1".repeat(32),
        initramfs_sha256: "c2".repeat(32),
        runs,
        memory_mib: 128,
        cpus: 1,
        program: None,
    }
}

/// These paths of the kernel in the file `name`.
#[must_use]
pub fn measurement(
    name: &str,
    configuration: Configuration,
    paths: Vec<PathResult>,
) -> Measurement {
    Measurement {
        schema: ResultSchema::V1,
        subject: Subject::kernel_image(name),
        configuration,
        guest: None,
        paths,
        notes: vec![],
    }
}
