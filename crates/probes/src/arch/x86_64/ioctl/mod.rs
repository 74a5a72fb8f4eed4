//! `ioctl.*`: one and the same ioctl by three entries: 64-bit, int 0x80, and the 32-bit fast entry
//! (the question of the 2004 compat-ioctl thread); and each while a second CPU makes it too.
//!
//! What is asked is [`target`]'s: the loopback interface's index of a socket, and on the lab kernel
//! the state of its test device. Proof: in every window the right number replaces a poison.

mod table;
pub(crate) mod target;
mod two_cpus;
mod windows;

use crate::{
    compat32,
    failure::Outcome,
    int80::{on_low_stack, supported},
    path::Kind::{TwoCpus, Windows},
    probe::{Probes, row},
    report::ProbeReport,
};
use target::Target;
use windows::execute;

pub(crate) const PROBES: Probes = &[
    row(
        "ioctl.native",
        Windows(51),
        "SIOCGIFINDEX from 64-bit code; on the lab kernel PARAMS",
        native,
    ),
    row("ioctl.compat-int80", Windows(51), "the same by int 0x80, pointers below 4 GiB", int80),
    row(
        "ioctl.compat-entry",
        Windows(51),
        "the same from 32-bit code, by sysenter or syscall",
        entry,
    ),
    row(
        "ioctl.native+2cpu",
        TwoCpus(51),
        "ioctl.native while CPU 1 makes longer ioctls",
        two_cpus::native,
    ),
    row(
        "ioctl.compat-int80+2cpu",
        TwoCpus(51),
        "ioctl.compat-int80 while CPU 1 makes longer ones",
        two_cpus::int80,
    ),
    row(
        "ioctl.compat-entry+2cpu",
        TwoCpus(51),
        "ioctl.compat-entry while CPU 1 makes longer ones",
        two_cpus::entry,
    ),
    row(
        "lock.wait+2cpu",
        TwoCpus(51),
        "the big kernel lock, from wanted to held, while CPU 1 uses it",
        two_cpus::lock_wait,
    ),
];

fn native(report: &mut ProbeReport) -> Outcome {
    let target = Target::open()?;
    execute(report, &target, target.native, target.learn()?, &mut || (), Target::native_by)
}

fn int80(report: &mut ProbeReport) -> Outcome {
    supported()?;
    let target = Target::open()?;
    let learnt = target.learn()?;
    on_low_stack(|| execute(report, &target, target.compat, learnt, &mut || (), Target::int80_by))
}

fn entry(report: &mut ProbeReport) -> Outcome {
    let target = Target::open()?;
    compat32::execute_windows(report, &target, target.learn()?, 0)
}
