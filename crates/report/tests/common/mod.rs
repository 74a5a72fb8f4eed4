//! What the tests of several tables use.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_model::{Configuration, Unit};

/// How something was measured in so many runs, on a kernel of this release.
pub(crate) fn configuration(release: &str, runs: usize) -> Configuration {
    Configuration {
        clock: Unit::Instructions,
        image_sha256: "a0".repeat(32),
        release: Some(release.into()),
        command_line: "console=ttyS0 quiet".into(),
        condition: String::new(),
        cpu: "max,-rdrand,-rdseed".into(),
        machine: "microvm".into(),
        qemu: "7.2.22".into(),
        firmware_sha256: None,
        portable: false,
        agent_sha256: "b1".repeat(32),
        initramfs_sha256: "c2".repeat(32),
        runs: u32::try_from(runs).unwrap(),
        memory_mib: 256,
        cpus: 1,
    }
}
