//! A small measurement to vary.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses some of these helpers")]

pub(crate) mod program;

use pathmeter_model::{Check, Configuration, Measurement, PathResult, Unit, example};

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
        command_line: "console=ttyS0 quiet".into(),
        memory_mib: 256,
        ..example::configuration("6.1.0-18-cloud-amd64", 2)
    };
    example::measurement(name, configuration, paths)
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
