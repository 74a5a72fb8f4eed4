//! Paths that are not executed on a machine that is in use, and why.
//!
//! The probes were written for a guest that is thrown away. Each was read for what it changes
//! outside its process; those that stay keep to the process, and to namespaces of mounts and of the
//! network that it has for itself.

use crate::{Kind, Path};

const POINTS: &str = "only QEMU's counter sees the points of the kernel that it lasts between";
const PORTS: &str = "it reads I/O ports that may belong to a device";
const LAB: &str = "only the lab kernel can execute it";
const COMPAT: &str = "its stamps are in a 32-bit program of its own";
const CHECK: &str = "it is a check, which has no cost";

/// Names of paths that are left out, each with the reason.
const NAMED: &[(&str, &str)] = &[
    ("switch.yield+ioport-0xffff", PORTS),
    ("switch.yield+ioport-both", PORTS),
    ("ioctl.compat-entry", COMPAT),
    ("softirq.timer+user", POINTS),
    ("softirq.timer+idle", POINTS),
    ("softirq.net-rx", POINTS),
    ("wake.switch", POINTS),
    ("irq.softirq", POINTS),
    ("timer.expire", POINTS),
    ("fault.return", POINTS),
];

/// Why no live host is asked to execute the path; None if one is.
pub fn left_out(path: &Path) -> Option<&'static str> {
    let named = NAMED.iter().find(|(name, _)| *name == path.name);
    named.map(|(_, reason)| *reason).or_else(|| match path.kind {
        Kind::Check => Some(CHECK),
        // Beyond the named ones these need the lab's devices.
        Kind::Wait(_) | Kind::TwoCpus(_) | Kind::Batches(_) => Some(LAB),
        // Linux lets no program at IOPL 3 keep interrupts out; a probe that tried would ask by a
        // number that a later Linux may use for a call of its own.
        Kind::Windows(_) if path.name.starts_with("switch.iopl") => Some(LAB),
        Kind::Windows(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;

    #[test]
    fn every_name_is_a_path() {
        assert!(NAMED.iter().all(|(name, _)| Suite::Exact.find(name).is_some()));
    }

    #[test]
    fn what_would_reach_beyond_the_process_is_left_out() {
        let left = Suite::Exact.paths().iter().filter(|path| left_out(path).is_some());
        let names: Vec<_> = left.map(|path| path.name).collect();
        for group in ["softirq.", "switch.iopl"] {
            let paths = Suite::Exact.paths().iter().filter(|path| path.name.starts_with(group));
            assert!(paths.into_iter().all(|path| names.contains(&path.name)), "{group}");
        }
        for usual in ["switch.pipe", "syscall.getppid", "process.fork-exit"] {
            assert!(!names.contains(&usual), "{usual}");
        }
    }
}
