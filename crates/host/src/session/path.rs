//! A path with what a session has found of it.

use pathmeter_model::{PathTimes, Status};
use pathmeter_probes::batch::SIDES;

use crate::path::HostPath;
use crate::server::Request;

/// A path with what was found of it.
pub(super) struct Path {
    pub(super) of: HostPath,
    pub(super) times: PathTimes,
    /// Processes that came to no end of their own.
    pub(super) failures: Vec<String>,
    /// Of each condition, whether its tracepoint was hit as often as there were windows, in every
    /// process; None where it has none, or no process of it came to its end.
    pub(super) proved: [Option<bool>; 2],
    /// Of each condition, whether its BPF programs were executed at least once per call, and
    /// whether they are machine code; None where it has none, or the kernel did not count them.
    pub(super) ran: [Option<(bool, bool)>; 2],
    /// Microseconds of the shortest of its processes.
    pub(super) shortest: u64,
}

impl Path {
    pub(super) fn new(of: HostPath) -> Self {
        let times = PathTimes {
            path: of.name.to_owned(),
            status: Status::Ok,
            reason: None,
            calls: 1,
            repeats: of.repeats,
            replicates: Vec::new(),
            single: None,
        };
        let shortest = u64::MAX;
        let mut path =
            Self { of, times, failures: Vec::new(), proved: [None; 2], ran: [None; 2], shortest };
        if let Some(reason) = of.left_out {
            path.end(Status::Unsupported, reason);
        }
        path
    }

    pub(super) fn end(&mut self, status: Status, reason: &str) {
        (self.times.status, self.times.reason) = (status, Some(reason.to_owned()));
    }

    pub(super) fn is_open(&self) -> bool {
        self.times.status == Status::Ok
    }

    /// A request for one process.
    pub(super) fn request(&self, sides: usize, batches: usize) -> Request {
        Request {
            path: self.of.index,
            calls: self.times.calls,
            batches,
            sides,
            seed: 0,
            delays: [0; SIDES],
            counted: false,
            environment: 0,
        }
    }
}
