//! A report in memory that a probe's process shares with the one that waits for it.
//!
//! The two never hold a reference to it at once that the other could write under: this process has
//! one only before the probe's is made and after it has ended, the probe's process only while it
//! lives. Nor does it matter what a probe that was killed has left there: any bytes are a report.

use core::ptr::NonNull;

use pathmeter_probes::{
    Probe, ProbeReport, clock,
    sys::{self, flag},
    task::{self, Ended},
    text::Text,
};

use crate::{restraint::Restraint, trouble::Trouble};

/// The shared memory that holds the report.
pub(crate) struct SharedReport {
    place: NonNull<ProbeReport>,
    /// What each probe's process is restrained by.
    restraint: Option<Restraint>,
    /// By which the run differs from others.
    bits: u64,
}

impl SharedReport {
    /// Maps it, for probes whose processes `restraint` restrains, and which differ by `bits` from
    /// run to run.
    pub(crate) fn new(restraint: Option<Restraint>, bits: u64) -> Result<Self, Trouble> {
        let address =
            sys::map(size_of::<ProbeReport>(), flag::MAP_SHARED).map_err(|error| -> Trouble {
                Text::format(format_args!("no shared memory (error {error})"))
            })?;
        let place = NonNull::new(address as *mut ProbeReport);
        let place = place.ok_or_else(|| Text::format(format_args!("shared memory at 0")))?;
        // Touched before a probe counts its page faults, whichever paths came before.
        // SAFETY: page-aligned memory of that size, mapped just now; any bytes are a ProbeReport.
        unsafe { place.write_bytes(0, 1) };
        Ok(Self { place, restraint, bits })
    }

    /// Runs the probe of the path with this index, which shall record so many samples, in a child
    /// that leads a process group of its own and is killed `limit` seconds later at the latest;
    /// the group is killed afterwards. How the child ended, and what it left in the report; or the
    /// error number of fork or wait.
    pub(crate) fn run(
        &mut self,
        (index, probe): (usize, Probe),
        samples: u32,
        limit: usize,
    ) -> Result<(Ended, &ProbeReport), i32> {
        let own = sys::getpid().unwrap_or(0);
        // SAFETY: page-aligned memory of that size, mapped for good, any bytes of which are a
        // ProbeReport; no probe's process has it now, and the reference ends with the statement.
        unsafe { self.place.as_mut() }.reset(samples, own as u32, self.bits);
        let (place, restraint) = (self.place, self.restraint);
        let mappings = sys::mapped();
        let (child, ended) = task::in_child(|| fill(place, (index, probe), restraint, limit))?;
        end_group(child);
        // SAFETY: what the probe mapped was its own, and it has ended.
        unsafe { sys::unmap_since(mappings) };
        // SAFETY: as above, and the process that wrote to it has ended. The compiler can't have
        // kept older values: the pointer came from a system call, and so may any later one write
        // there.
        Ok((ended, unsafe { self.place.as_ref() }))
    }
}

/// Asks only whether there is a process to send to.
const NO_SIGNAL: usize = 0;

/// Kills what is left of the group of a probe's process, and waits until pid 1 has taken it from
/// the list of processes, so that it is no part of the next path: partners that have not seen yet
/// that their probe ended, or that outlived one that was killed. They have no report, and memory of
/// their own.
fn end_group(leader: usize) {
    /// More than the kernel needs to end them; a process that can't be killed is left alone.
    const MOST_TURNS: u32 = 200_000;
    let group = -leader.cast_signed();
    let mut left = sys::kill(group, flag::SIGKILL).is_ok();
    for _ in 0..MOST_TURNS {
        if !left {
            return;
        }
        let _ = sys::sched_yield();
        left = sys::kill(group, NO_SIGNAL).is_ok();
    }
}

/// Exit code of a probe's process that could not be restrained, though pid 1 tried that before.
const UNRESTRAINED: usize = 103;

/// The life of a probe's process; its exit code.
fn fill(
    mut place: NonNull<ProbeReport>,
    (index, probe): (usize, Probe),
    restraint: Option<Restraint>,
    limit: usize,
) -> usize {
    // SAFETY: the waiting process, whose memory this one shares, has no reference to the report
    // until this one has ended.
    let report = unsafe { place.as_mut() };
    let _ = sys::setpgid(0, 0);
    let _ = sys::alarm(limit);
    if restraint.is_some_and(|restraint| restraint.install().is_err()) {
        return UNRESTRAINED;
    }
    clock::mark_path(index);
    let outcome = probe(report);
    clock::mark_path_end();
    report.conclude(&outcome);
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::{Outcome, ProbeStatus};
    use std::sync::Mutex;

    const LIMIT: usize = 10;
    /// Held by each test: what is mapped is known for one thread of the process only.
    static ALONE: Mutex<()> = Mutex::new(());

    fn samples_its_windows(report: &mut ProbeReport) -> Outcome {
        let mut cost = 0;
        report.execute(|| {
            cost += 1;
            Ok(cost)
        })
    }

    fn is_killed(report: &mut ProbeReport) -> Outcome {
        report.push(99);
        let own = sys::getpid().unwrap_or(0);
        let _ = sys::kill(own.cast_signed(), flag::SIGKILL);
        samples_its_windows(report)
    }

    #[test]
    fn what_a_probe_leaves_is_seen_when_it_has_ended() {
        let _alone = ALONE.lock().unwrap();
        let mut shared = SharedReport::new(None, 0).unwrap();
        let (ended, report) = shared.run((0, samples_its_windows), 2, LIMIT).unwrap();
        assert_eq!((ended, report.status()), (Ended::Exit(0), ProbeStatus::Ok));
        assert_eq!(report.samples(), [4, 5]);
        assert_eq!(report.parent(), std::process::id() as usize);
    }

    fn maps(report: &mut ProbeReport) -> Outcome {
        report.execute(|| Ok(sys::map(4096, flag::MAP_PRIVATE).unwrap_or(0) as u64))
    }

    #[test]
    fn what_a_probe_maps_is_gone_when_it_has_ended() {
        let _alone = ALONE.lock().unwrap();
        let mut shared = SharedReport::new(None, 0).unwrap();
        let mappings = sys::mapped();
        for _ in 0..100 {
            let (_, report) = shared.run((0, maps), 1, LIMIT).unwrap();
            assert_ne!(report.samples(), [0]);
            assert_eq!(sys::mapped(), mappings);
        }
    }

    #[test]
    fn a_killed_probe_is_silent_and_leaves_nothing_to_the_next() {
        let _alone = ALONE.lock().unwrap();
        let mut shared = SharedReport::new(None, 0).unwrap();
        let (ended, report) = shared.run((0, is_killed), 1, LIMIT).unwrap();
        assert_eq!((ended, report.status()), (Ended::Signal(9), ProbeStatus::Silent));
        let (_, report) = shared.run((0, samples_its_windows), 1, LIMIT).unwrap();
        assert_eq!((report.status(), report.samples()), (ProbeStatus::Ok, &[4][..]));
    }

    /// Leaves a process that waits for ever; its sample is the process's number.
    fn leaves_a_process(report: &mut ProbeReport) -> Outcome {
        let left = task::fork(|| {
            loop {
                let _ = sys::sched_yield();
            }
        });
        report.execute(|| Ok(left.unwrap_or(0) as u64))
    }

    /// Exit code 0 if nothing of the processes that a probe has left is there after it.
    fn leave_and_look() -> usize {
        let Ok(mut shared) = SharedReport::new(None, 0) else { return 1 };
        let Ok((_, report)) = shared.run((0, leaves_a_process), 1, LIMIT) else { return 2 };
        let Some(left) = report.samples().first().filter(|left| **left > 0) else { return 3 };
        let left = (*left as usize).cast_signed();
        if sys::kill(left, NO_SIGNAL).is_ok() { 4 } else { 0 }
    }

    /// As pid 1 and a perturbed run do it, in processes of their own.
    #[test]
    fn what_a_probe_leaves_is_reaped_before_the_next() {
        const PR_SET_CHILD_SUBREAPER: usize = 36;
        const NOT_EXITED: usize = 100;
        let _alone = ALONE.lock().unwrap();
        let init = task::fork(|| {
            let _ = sys::prctl(PR_SET_CHILD_SUBREAPER, 1);
            match task::in_child_reaping(leave_and_look) {
                Ok(Ended::Exit(code)) => code as usize,
                _ => NOT_EXITED,
            }
        });
        assert_eq!(task::wait(init.unwrap()), Ok(Ended::Exit(0)));
    }
}
