//! `process.*`: a child that executes a program, which exits at once.
//!
//! The program is this one, without a library; what it does before its end is little beside what
//! the kernel does. Proof: the child's exit code is what only the fresh program exits with.

use core::ptr::null;

use crate::{
    failure::{Outcome, tried, unsupported},
    own,
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    task::{self, Ended},
    window,
};

pub(crate) const PROBES: Probes = &[
    row(
        "process.fork-exec",
        Windows(5),
        "fork, exec of a small static program, its exit, wait",
        fork_exec,
    ),
    row(
        "process.spawn-exec",
        Windows(5),
        "the same with a child that shares memory until exec, as posix_spawn",
        spawn_exec,
    ),
];

/// What the program is to do, as its argument.
pub const ARGUMENT: &[u8] = b"exit";
/// The fresh program's exit code.
pub const CODE: u32 = 37;
/// A child's that could not execute it.
const FAILED: usize = 38;
const DONE: Ended = Ended::Exit(CODE);

fn execute(file: usize) -> usize {
    let (arguments, environment) =
        ([c"live".as_ptr().cast(), c"exit".as_ptr().cast(), null()], [null()]);
    // SAFETY: C strings.
    unsafe { own::execute(file, &arguments, &environment) };
    FAILED
}

/// A child by fork(2).
fn fork_exec(report: &mut ProbeReport) -> Outcome {
    prepare(report, |file| task::fork(|| execute(file)).and_then(task::wait))
}

/// A child that shares the memory until it executes the program, as `posix_spawn` has it.
fn spawn_exec(report: &mut ProbeReport) -> Outcome {
    prepare(report, |file| task::in_child(|| execute(file)).map(|(_, ended)| ended))
}

fn prepare(report: &mut ProbeReport, once: impl Fn(usize) -> Result<Ended, i32>) -> Outcome {
    task::fifo()?;
    let file = tried("open of the program's file", own::file())?;
    match once(file) {
        Ok(DONE) => window::each(report, || once(file) == Ok(DONE)),
        Ok(ended) => unsupported!("the child does not execute the program (execveat; {ended:?})"),
        Err(error) => unsupported!("no child (error {error})"),
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
