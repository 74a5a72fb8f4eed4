//! Results, each named by its state.

use pathmeter_model::example::path;
use pathmeter_model::{Configuration, Measurement, PathResult, Unit, example};

fn measurement(name: &str, release: &str, paths: Vec<PathResult>) -> Measurement {
    let configuration = Configuration {
        command_line: "console=ttyS0 quiet".into(),
        ..example::configuration(release, 2)
    };
    example::measurement(name, configuration, paths)
}

/// What the others differ from.
pub(crate) fn base() -> Measurement {
    let paths = vec![
        path("syscall.getppid", &[330, 330, 330]),
        path("switch.yield", &[3300, 3300, 3300]),
        path("switch.pipe", &[11_331, 11_331, 11_331]),
        PathResult::ok("flags.isolation", Unit::Check, &[], vec![]),
        example::unsupported("getcpu.rdpid", "the CPU has no rdpid"),
    ];
    measurement("old/vmlinuz-old", "6.1.0-old", paths)
}

/// Another kernel with the same numbers.
pub(crate) fn unchanged() -> Measurement {
    measurement("new/vmlinuz-new", "6.1.0-new", base().paths)
}

/// One path costs more, by 1 %, and one less.
pub(crate) fn more_expensive() -> Measurement {
    let mut more_expensive = unchanged();
    more_expensive.paths[1] = path("switch.yield", &[3333, 3333, 3333]);
    more_expensive.paths[2] = path("switch.pipe", &[11_000, 11_000, 11_000]);
    more_expensive
}

/// One path costs less, the others the same.
pub(crate) fn cheaper() -> Measurement {
    let mut cheaper = unchanged();
    cheaper.paths[0] = path("syscall.getppid", &[320, 320, 320]);
    cheaper
}

/// One path shows a second value in half of its samples.
pub(crate) fn bimodal() -> Measurement {
    let mut bimodal = unchanged();
    bimodal.paths[0] = path("syscall.getppid", &[330, 330, 330, 900, 900, 900]);
    bimodal
}

/// The check of isolation failed.
pub(crate) fn leaking() -> Measurement {
    let mut leaking = unchanged();
    leaking.paths[3] = PathResult::failed("flags.isolation", Unit::Check, "AC shows in the other");
    leaking
}

/// The same numbers, by another QEMU and in more runs.
pub(crate) fn measured_otherwise() -> Measurement {
    let mut other = unchanged();
    other.configuration.qemu = "9.0.0".into();
    other.configuration.runs = 4;
    other
}

/// So many paths that no pipe holds their comparison.
pub(crate) fn large() -> Measurement {
    let paths = (0..2000).map(|number| path(&format!("path.number-{number}"), &[330]));
    measurement("vmlinuz", "6.1.0", paths.collect())
}

/// One path more than [`base`], of which nobody asked before.
pub(crate) fn with_a_new_path() -> Measurement {
    let mut newer = unchanged();
    newer.paths.push(path("switch.futex", &[2051]));
    newer
}

/// One path that could be measured can't be any more.
pub(crate) fn without_a_path() -> Measurement {
    let mut lacking = unchanged();
    lacking.paths[2] = example::unsupported("switch.pipe", "no pipes");
    lacking
}

/// A kernel that can't run a thing.
pub(crate) fn nothing_measured() -> Measurement {
    let mut nothing = unchanged();
    for path in &mut nothing.paths {
        *path = PathResult::unsupported(&path.path, path.unit, "not here");
    }
    nothing
}

pub(crate) fn without_paths() -> Measurement {
    measurement("empty", "6.1.0", vec![])
}
