//! `syscall.*`: into the kernel and back, with as little as possible in between.
//!
//! Proof: getppid must return the number that the probe's parent knows itself by.

use crate::{
    arch::nr32,
    clock,
    failure::{Outcome, prove},
    int80::{int80, supported},
    probe::Probes,
    report::ProbeReport,
    rseq::{self, Length::Original},
    sys::{self, nr},
};

pub(crate) const PROBES: Probes = &[
    ("syscall.getppid", getppid),
    ("syscall.getppid+rseq", |report| rseq::registered(report, Original, getppid)),
    ("syscall.getppid-int80", getppid_int80),
];

fn getppid(report: &mut ProbeReport) -> Outcome {
    let parent = report.parent();
    report.execute(|| {
        // SAFETY: takes no pointer.
        let (cost, raw) = clock::window(|| unsafe { sys::call(nr::GETPPID, [0; 6]) });
        prove!(raw == parent, "getppid returned {raw}, not the parent's number {parent}");
        Ok(cost)
    })
}

fn getppid_int80(report: &mut ProbeReport) -> Outcome {
    supported()?;
    let parent = report.parent();
    report.execute(|| {
        // SAFETY: takes no pointer.
        let (cost, raw) = clock::window(|| unsafe { int80(nr32::GETPPID, [0; 3]) });
        prove!(raw == parent, "getppid returned {raw}, not the parent's number {parent}");
        Ok(cost)
    })
}
