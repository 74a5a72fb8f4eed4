//! A small measurement to vary.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses some of these helpers")]

pub(crate) mod runs;

pub(crate) use pathmeter_model::example::{check, path};
use pathmeter_model::{Configuration, Measurement, PathResult, example};

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
        example::unsupported("getcpu.rdpid", "the CPU has no rdpid"),
        example::failed("tcp.round-trip", "the guest panicked"),
    ];
    measurement("vmlinuz", paths)
}
