//! Asking a QEMU about itself: it is run with arguments that make it print something and end.
//!
//! What was named as QEMU may be any program, so its time and its answer are bounded.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::process::{Process, read_available};

/// QEMU prints its version in some 20 ms; a busy machine is given much longer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of an answer that are kept; QEMU's lists of CPUs and machines are shorter.
const LONGEST: usize = 256 << 10;
/// How often a program that has closed its outputs is looked at again.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// What the program said before it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The beginning of its standard output.
    pub(crate) output: String,
    /// The beginning of its standard error.
    pub(crate) errors: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// It can't be run.
    #[error("can't be run: {0}")]
    Run(#[from] std::io::Error),
    /// It did not end in time.
    #[error("did not answer within {} s", PATIENCE.as_secs())]
    Silent,
}

/// Runs `program` with `arguments`, each descriptor under the number beside it, and waits for its
/// end. It gets no input.
pub(crate) fn ask(
    program: &Path,
    arguments: &[&str],
    descriptors: Vec<(i32, OwnedFd)>,
) -> Result<Answer, AskError> {
    let mapping = |(child_fd, parent_fd)| FdMapping { parent_fd, child_fd };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mapped = command.fd_mappings(descriptors.into_iter().map(mapping).collect());
    mapped.map_err(std::io::Error::other)?;
    let mut process = Process::start(&mut command)?;
    let (output, errors) = process.take_outputs();
    let mut outputs =
        [Output::of(output.map(OwnedFd::from))?, Output::of(errors.map(OwnedFd::from))?];
    let deadline = Instant::now() + PATIENCE;
    loop {
        // Looked at before reading: all that it wrote before it ended is there by then.
        let status = process.ended();
        while outputs.iter_mut().any(Output::read_more) {
            if Instant::now() >= deadline {
                return Err(AskError::Silent);
            }
        }
        if let Some(status) = status {
            let [output, errors] = outputs.map(Output::into_text);
            return Ok(Answer { output, errors, status });
        }
        if Instant::now() >= deadline {
            return Err(AskError::Silent);
        }
        let mut watched: Vec<_> = outputs.iter().filter_map(Output::watched).collect();
        match poll(&mut watched, Some(&TICK)) {
            // A signal is the session's business, which looks at its flag.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
    }
}

/// One of the program's outputs, as far as it was read.
struct Output {
    /// Until its end.
    stream: Option<File>,
    bytes: Vec<u8>,
}

impl Output {
    fn of(stream: Option<OwnedFd>) -> std::io::Result<Self> {
        if let Some(stream) = &stream {
            rustix::io::ioctl_fionbio(stream, true)?;
        }
        Ok(Self { stream: stream.map(File::from), bytes: Vec::new() })
    }

    /// Reads a little of what is there, without waiting; whether there was anything.
    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let Some(stream) = &mut self.stream else { return false };
        match read_available(stream, &mut buffer) {
            Ok(Some(count)) if count > 0 => {
                let kept = count.min(LONGEST.saturating_sub(self.bytes.len()));
                self.bytes.extend_from_slice(&buffer[..kept]);
                true
            }
            Ok(None) => false,
            Ok(Some(_)) | Err(_) => {
                self.stream = None;
                false
            }
        }
    }

    fn watched(&self) -> Option<PollFd<'_>> {
        self.stream.as_ref().map(|stream| PollFd::new(stream, PollFlags::IN))
    }

    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Answer, AskError> {
        ask(Path::new("/bin/sh"), &["-c", script], vec![])
    }

    #[test]
    fn both_outputs_and_the_end_are_told_apart() {
        let answer = shell("echo out; echo err >&2; exit 3").unwrap();
        assert_eq!((&answer.output[..], &answer.errors[..]), ("out\n", "err\n"));
        assert_eq!(answer.status.code(), Some(3));
    }

    #[test]
    fn an_answer_is_cut_at_its_bound() {
        let answer = shell("head -c 1000000 /dev/zero").unwrap();
        assert_eq!(answer.output.len(), LONGEST);
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let started = Instant::now();
        assert_eq!(shell("sleep 1000 & echo done").unwrap().output, "done\n");
        assert!(started.elapsed() < PATIENCE);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let error = ask(Path::new("/nonexistent"), &[], vec![]).unwrap_err();
        assert!(matches!(error, AskError::Run(_)));
    }
}
