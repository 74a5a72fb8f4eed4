//! The windows of the ioctls that 64-bit code makes, with one CPU and with two.

use crate::{
    clock,
    failure::{Outcome, prove},
    ioctl::target::{self, Request, Target},
    report::ProbeReport,
};

/// `prepare`, then one ioctl a window by `call`, its answer proved in each, beginning after
/// `learnt`.
///
/// Compiled once for each `call`, so that with two CPUs and with one the windows are the same code.
#[inline(never)]
pub(super) fn execute(
    report: &mut ProbeReport,
    target: &Target,
    request: Request,
    learnt: u32,
    prepare: &mut dyn FnMut(),
    call: impl Fn(&Target, usize) -> usize,
) -> Outcome {
    let mut expected = learnt;
    report.execute(|| {
        prepare();
        target.poison(request);
        let fd = target::held(target.fd);
        let (cost, raw) = clock::window(|| call(target, fd));
        target::held(fd);
        let answer = target.answer(request);
        expected += target.step;
        prove!(
            raw == 0 && answer == expected,
            "the ioctl returned {raw:#x}, answer {answer} instead of {expected}"
        );
        Ok(cost)
    })
}
