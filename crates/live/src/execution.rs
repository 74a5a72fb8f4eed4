//! One execution of a path's probe, in a child, and what came of it.

use core::fmt;

use pathmeter_probes::{Probe, ProbeStatus, sys::flag, task::Ended, text::Text};

use crate::{line::Reason, shared::SharedReport, trouble::Trouble};

/// Kills who executes an instruction that the processor does not have.
const SIGILL: u32 = 4;

/// What came of a path.
pub(crate) enum Execution<'a> {
    /// The cost of each window.
    Samples(&'a [u64]),
    /// This kernel or processor can't execute it, and why.
    Unsupported(&'a [u8]),
    /// Its proof failed, and how.
    Broken(&'a [u8]),
    /// It came to no end of its own.
    Silent(Trouble),
}

impl<'a> Execution<'a> {
    /// Runs the probe of the path with this index in a child, which shall record so many samples
    /// and is killed after `limit` seconds.
    pub(crate) fn of(
        shared: &'a mut SharedReport,
        path: (usize, Probe),
        samples: u32,
        limit: usize,
    ) -> Self {
        let (ended, report) = match shared.run(path, samples, limit) {
            Ok(ran) => ran,
            Err(error) => {
                return Self::Silent(Text::format(format_args!("no process (error {error})")));
            }
        };
        match report.status() {
            ProbeStatus::Ok => Self::Samples(report.samples()),
            ProbeStatus::Unsupported => Self::Unsupported(report.reason()),
            ProbeStatus::Broken => Self::Broken(report.reason()),
            ProbeStatus::Silent if ended == Ended::Signal(SIGILL) => {
                Self::Unsupported(b"this processor does not have the instruction (SIGILL)")
            }
            ProbeStatus::Silent => Self::Silent(silent(ended, limit)),
        }
    }
}

impl fmt::Display for Execution<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples(_) => f.write_str("ok"),
            Self::Unsupported(reason) => write!(f, "unsupported {}", Reason(reason)),
            Self::Broken(reason) => write!(f, "failed {}", Reason(reason)),
            Self::Silent(reason) => write!(f, "failed {}", Reason(reason.as_bytes())),
        }
    }
}

/// How a probe ended that left no report.
fn silent(ended: Ended, limit: usize) -> Trouble {
    const SIGALRM: u32 = flag::SIGALRM as u32;
    match ended {
        Ended::Signal(SIGALRM) => Text::format(format_args!("no end in {limit} s")),
        Ended::Signal(signal) => Text::format(format_args!("killed by signal {signal}")),
        Ended::Exit(code) => Text::format(format_args!("no report (exit code {code})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_is_killed_has_a_reason() {
        let text = |ended| String::from_utf8(silent(ended, 4).as_bytes().to_vec()).unwrap();
        assert_eq!(text(Ended::Signal(14)), "no end in 4 s");
        assert_eq!(text(Ended::Signal(11)), "killed by signal 11");
        assert_eq!(text(Ended::Exit(101)), "no report (exit code 101)");
    }
}
