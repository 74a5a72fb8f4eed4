//! The paths of a live host: those of guests that it can execute, then its own.

use pathmeter_probes::{HOST, Kind, Suite, left_out};

#[derive(Debug, Clone, Copy)]
pub struct HostPath {
    pub name: &'static str,
    /// What is measured, in one line.
    pub about: &'static str,
    /// By which the program knows it.
    pub(crate) index: usize,
    /// How often each call executes the path.
    pub(crate) repeats: u32,
    /// Why no live host is asked to execute it.
    pub(crate) left_out: Option<&'static str>,
}

const ITS_OWN: &str = "it is insn.popf-ac here, in batches";

/// All of them, in the order in which they are shown.
pub fn host_paths() -> Vec<HostPath> {
    let of_guests = Suite::Exact.paths().iter().enumerate();
    // A check has no cost, so no time.
    let of_guests = of_guests.filter(|(_, path)| path.kind != Kind::Check);
    let of_guests = of_guests.map(|(index, path)| HostPath {
        name: path.name,
        about: path.about,
        index,
        repeats: 1,
        left_out: (path.name == "flags.popf-ac").then_some(ITS_OWN).or_else(|| left_out(path)),
    });
    let first = Suite::Exact.paths().len();
    let own = HOST.iter().enumerate().map(|(index, path)| HostPath {
        name: path.name,
        about: path.about,
        index: first + index,
        repeats: path.repeats,
        left_out: None,
    });
    of_guests.chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_a_reason_and_all_else_is_executed() {
        let left: Vec<_> =
            host_paths().into_iter().filter(|path| path.left_out.is_some()).collect();
        let has = |name: &str| left.iter().any(|path| path.name == name);
        assert!(has("softirq.net-rx") && has("switch.iopl-yield") && has("ioctl.native+2cpu"));
        assert!(!has("switch.pipe") && !has("insn.popf-nt") && !has("clock.empty"));
    }
}
