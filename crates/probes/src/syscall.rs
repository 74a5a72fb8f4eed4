//! `syscall.*`: into the kernel and back, with as little as possible in between.
//!
//! Proof: getppid must return the number that the probe's parent knows itself by.

use crate::{
    arch::nr32,
    clock,
    failure::{Outcome, prove},
    int80::{int80, supported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    rseq::{self, Length::Original},
    sys::{self, nr},
};

pub(crate) const PROBES: Probes = &[
    row("syscall.getppid", Windows(51), "getppid(2) by the syscall instruction", getppid),
    row(
        "syscall.getppid+rseq",
        Windows(51),
        "the same, registered for rseq as by glibc",
        |report| rseq::registered(report, Original, getppid),
    ),
    row(
        "syscall.getppid-int80",
        Windows(51),
        "getppid(2) by int 0x80 from 64-bit code",
        getppid_int80,
    ),
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
