//! `time.*`: asking for the monotonic clock's time, by the vDSO and by the system call.
//!
//! Proof: each answer is no earlier than the one before, the last no earlier than what the system
//! call said before the window, and no later than what it says afterwards.

use crate::{
    arch::CLOCK_GETTIME,
    clock,
    failure::{Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, Timespec, nr},
    vdso,
};

pub(crate) const PROBES: Probes = &[
    row(
        "time.clock-gettime",
        Windows(13),
        "clock_gettime of the monotonic clock by the vDSO",
        by_vdso,
    ),
    row("time.clock-gettime+syscall", Windows(13), "the same by the system call", by_syscall),
];

const MONOTONIC: i32 = 1;

fn by_vdso(report: &mut ProbeReport) -> Outcome {
    type Gettime = extern "C" fn(i32, *mut Timespec) -> i32;
    let Some(address) = vdso::find(CLOCK_GETTIME) else {
        return unsupported!("this kernel's vDSO has no clock_gettime");
    };
    // SAFETY: the vDSO's function of this name has this signature and the C calling convention.
    let gettime = unsafe { core::mem::transmute::<usize, Gettime>(address) };
    execute(report, |time| gettime(MONOTONIC, time) == 0)
}

fn by_syscall(report: &mut ProbeReport) -> Outcome {
    execute(report, |time| {
        // SAFETY: the kernel writes one Timespec.
        unsafe {
            sys::call(nr::CLOCK_GETTIME, [MONOTONIC as usize, time as usize, 0, 0, 0, 0]) == 0
        }
    })
}

fn execute(report: &mut ProbeReport, ask: impl Fn(*mut Timespec) -> bool) -> Outcome {
    report.execute(|| {
        let before = sys::monotonic();
        let (mut right, mut last) = (0, 0);
        let (cost, ()) = clock::window(|| {
            let mut time = Timespec::default();
            let done = ask(&raw mut time);
            let now = nanoseconds(time);
            right += u64::from(done && now >= last);
            last = now;
        });
        let after = sys::monotonic();
        let between = before.is_ok_and(|it| it <= last) && after.is_ok_and(|it| last <= it);
        prove!(right == clock::calls() && between, "{last} ns is not after {before:?}");
        Ok(cost)
    })
}

#[inline(always)]
fn nanoseconds(time: Timespec) -> u64 {
    time.seconds.cast_unsigned() * 1_000_000_000 + time.nanoseconds.cast_unsigned()
}
