//! `process.*` of live hosts: a child that executes a program, which exits at once.
//!
//! The program is this one, without a library; what it does before its end is little beside what
//! the kernel does. Proof: the child's exit code is what only the fresh program exits with.

use core::ptr::null;

use pathmeter_probes::{
    Outcome, Probe, ProbeReport,
    task::{self, Ended},
    window,
};

use crate::{failure::unsupported, given};

pub(crate) const PROBES: &[(&str, Probe)] =
    &[("process.fork-exec", fork_exec), ("process.spawn-exec", spawn_exec)];

/// What the program is to do, as its argument.
pub(crate) const ARGUMENT: &[u8] = b"exit";
/// The fresh program's exit code.
pub(crate) const CODE: usize = 37;
/// A child's that could not execute it.
const FAILED: usize = 38;
const DONE: Ended = Ended::Exit(CODE as u32);

fn execute() -> usize {
    let (arguments, environment) =
        ([c"live".as_ptr().cast(), c"exit".as_ptr().cast(), null()], [null()]);
    // SAFETY: C strings.
    unsafe { given::execute(&arguments, &environment) };
    FAILED
}

/// A child by fork(2).
fn fork_exec(report: &mut ProbeReport) -> Outcome {
    prepare(report, || task::fork(execute).and_then(task::wait))
}

/// A child that shares the memory until it executes the program, as `posix_spawn` has it.
fn spawn_exec(report: &mut ProbeReport) -> Outcome {
    prepare(report, || task::in_child(execute).map(|(_, ended)| ended))
}

fn prepare(report: &mut ProbeReport, mut once: impl FnMut() -> Result<Ended, i32>) -> Outcome {
    task::fifo()?;
    match once() {
        Ok(DONE) => window::each(report, || once() == Ok(DONE)),
        other => unsupported!("the program can't be executed ({other:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_is_what_the_child_passes() {
        assert_eq!([ARGUMENT, b"\0"].concat(), b"exit\0");
    }
}
