//! A small measurement to vary.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses some of these helpers")]

pub(crate) mod program;

use pathmeter_model::{Check, Configuration, Measurement, PathResult, ResultSchema, Subject, Unit};

pub(crate) const INSTRUCTIONS: Unit = Unit::Instructions;

/// A path with the same samples in two runs.
pub(crate) fn path(name: &str, samples: &[u64]) -> PathResult {
    PathResult::ok(name, INSTRUCTIONS, &[samples.to_vec(), samples.to_vec()], vec![])
}

/// A path that is a check, passed.
pub(crate) fn check(name: &str) -> PathResult {
    let proof = Check { name: "switches".into(), value: "100".into() };
    PathResult::ok(name, Unit::Check, &[], vec![proof])
}

/// A measurement of the kernel in the file `name`.
pub(crate) fn measurement(name: &str, paths: Vec<PathResult>) -> Measurement {
    let configuration = Configuration {
        clock: INSTRUCTIONS,
        image_sha256: "a0".repeat(32),
        release: Some("6.1.0-18-cloud-amd64".into()),
        command_line: "console=ttyS0 quiet".into(),
        condition: String::new(),
        cpu: "max".into(),
        machine: "microvm".into(),
        qemu: "7.2.22".into(),
        firmware_sha256: None,
        portable: false,
        agent_sha256: "b1".repeat(32),
        initramfs_sha256: "c2".repeat(32),
        runs: 2,
        memory_mib: 256,
        cpus: 1,
    };
    let schema = ResultSchema::V1;
    Measurement {
        schema,
        subject: Subject::kernel_image(name),
        configuration,
        guest: None,
        paths,
        notes: vec![],
    }
}

/// A measurement with a path of every status.
pub(crate) fn whole() -> Measurement {
    let paths = vec![
        path("syscall.getppid", &[330, 330, 330, 331]),
        check("flags.isolation"),
        PathResult::unsupported("getcpu.rdpid", INSTRUCTIONS, "the CPU has no rdpid"),
        PathResult::failed("tcp.round-trip", INSTRUCTIONS, "the guest panicked"),
    ];
    measurement("vmlinuz", paths)
}
