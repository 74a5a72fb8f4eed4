//! Starts the counting program, pass by pass.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use serde::Serialize;

use crate::failure::Failure;
use crate::lines::{self, MAX_BYTES, Pass};

/// The counter that the stamps read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Counter {
    /// The processor's counter of retired instructions.
    Processor,
    /// The time-stamp counter: a test of the program.
    Clock,
}

#[derive(Debug)]
pub(crate) struct Passes {
    /// The counter counts in user mode; a pass for each run.
    pub(crate) user: Vec<Pass>,
    /// It counts in the kernel.
    pub(crate) kernel: Vec<Pass>,
    /// It counts in user mode and the kernel.
    pub(crate) both: Vec<Pass>,
}

impl Passes {
    /// Executes them on `cpu`, so many of each, in turn.
    pub(crate) fn execute(counter: Counter, cpu: usize, runs: u32) -> Result<Self, Failure> {
        let program = match counter {
            Counter::Processor => pathmeter_host::COUNTING,
            Counter::Clock => pathmeter_host::CLOCK,
        };
        let mut passes = Self { user: vec![], kernel: vec![], both: vec![] };
        for _ in 0..runs {
            passes.user.push(pass(program, "user", cpu)?);
            passes.kernel.push(pass(program, "kernel", cpu)?);
            passes.both.push(pass(program, "both", cpu)?);
        }
        Ok(passes)
    }
}

fn pass(program: &[u8], modes: &str, cpu: usize) -> Result<Pass, Failure> {
    let failed = |error: std::io::Error| Failure::Start { error };
    // Not closed on execution: the child opens it by its number.
    let mut file =
        File::from(memfd_create("count", MemfdFlags::empty()).map_err(|e| failed(e.into()))?);
    file.write_all(program).map_err(failed)?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut command = Command::new(path);
    command.args([modes, &cpu.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut text = Vec::new();
    if let Some(output) = child.stdout.take() {
        output.take(MAX_BYTES as u64).read_to_end(&mut text).map_err(failed)?;
    }
    child.wait().map_err(failed)?;
    lines::parse(&String::from_utf8_lossy(&text)).map_err(|error| Failure::Pass { error, cpu })
}
