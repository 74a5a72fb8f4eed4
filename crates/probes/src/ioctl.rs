//! `ioctl.*`: one and the same ioctl by three entries: 64-bit, int 0x80, and the 32-bit fast entry
//! (the question of the 2004 compat-ioctl thread); and each while a second CPU makes it too.
//!
//! What is asked is [`target`]'s: the loopback interface's index of a socket, and on the lab kernel the
//! parameters of its test device. Proof: in every window the right number replaces a poison.

mod target;
mod two_cpus;

pub(crate) use target::{IOCTL_32, Ifreq, Request, Target};
pub(crate) use two_cpus::devices;

use crate::{Outcome, Path, Report, clock, compat32, prove, syscall};

pub(crate) static PATHS: &[Path] = &[
    Path {
        name: "ioctl.native",
        about: "SIOCGIFINDEX from 64-bit code; on the lab kernel its device's PARAMS",
        windows: 51,
        idles: false,
        probe: native,
    },
    Path {
        name: "ioctl.compat-int80",
        about: "the same by int 0x80 from 64-bit code, pointers below 4 GiB",
        windows: 51,
        idles: false,
        probe: int80,
    },
    Path {
        name: "ioctl.compat-entry",
        about: "the same from 32-bit code, by sysenter or syscall as the CPU has it",
        windows: 51,
        idles: false,
        probe: entry,
    },
    Path {
        name: "ioctl.native+2cpu",
        about: "ioctl.native while CPU 1 makes longer ioctls to another device",
        windows: 51,
        idles: true,
        probe: two_cpus::native,
    },
    Path {
        name: "ioctl.compat-int80+2cpu",
        about: "ioctl.compat-int80 while CPU 1 makes longer ones to another device",
        windows: 51,
        idles: true,
        probe: two_cpus::int80,
    },
    Path {
        name: "ioctl.compat-entry+2cpu",
        about: "ioctl.compat-entry while CPU 1 makes longer ones to another device, by int 0x80",
        windows: 51,
        idles: true,
        probe: two_cpus::entry,
    },
];

fn native(report: &mut Report) -> Outcome {
    let target = Target::open()?;
    walk(report, &target, target.native, target.learn()?, &mut || (), Target::native_by)
}

fn int80(report: &mut Report) -> Outcome {
    syscall::supported()?;
    let target = Target::open()?;
    walk(report, &target, target.compat, target.learn()?, &mut || (), Target::int80_by)
}

fn entry(report: &mut Report) -> Outcome {
    let target = Target::open()?;
    compat32::walk(report, &target, target.learn()?, 0)
}

/// `prepare`, then one ioctl a window by `call`, its answer proved in each, beginning behind `learnt`.
///
/// Compiled once for each `call`, so that with two CPUs and with one the windows are the same code.
#[inline(never)]
fn walk(
    report: &mut Report,
    target: &Target,
    request: Request,
    learnt: u32,
    prepare: &mut dyn FnMut(),
    call: impl Fn(&Target, usize) -> usize,
) -> Outcome {
    let mut expected = learnt;
    report.walk(|| {
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
