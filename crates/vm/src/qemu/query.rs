//! Asking a QEMU about itself: it is run with arguments that make it print something and end.
//!
//! What was named as QEMU may be any program, so its time and its answer are bounded, and the user
//! can interrupt it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::deadline::Deadline;
use crate::error::qemu::PATIENCE;
use crate::qemu::process::{Process, null};
use crate::stream::read_available;
use crate::{AskError, Interrupt, QemuError, VmError};

/// Bytes of an answer that are kept; QEMU's lists of CPUs and machines are shorter.
const LONGEST: usize = 256 << 10;
/// How often a program that has closed its outputs is looked at again.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// What the program said before it ended.
#[derive(Debug)]
pub struct Answer {
    /// The beginning of its standard output.
    pub output: String,
    /// The beginning of its standard error.
    pub errors: String,
    pub status: ExitStatus,
}

/// Runs `program` with `arguments`, each descriptor under the number beside it, and waits for its
/// end. It gets no input.
///
/// # Errors
/// There is no answer, or the user interrupted it; then nothing is left running.
pub fn ask(
    program: &Path,
    arguments: &[&str],
    descriptors: Vec<(i32, OwnedFd)>,
    interrupt: &Interrupt,
) -> Result<Answer, VmError> {
    let failed = |error| QemuError::Ask { path: program.to_owned(), error }.into();
    let input = null()?;
    let asked = Question::put(program, arguments, descriptors, input);
    let mut question = asked.map_err(|error| failed(error.into()))?;
    let mut deadline = Deadline::after(PATIENCE);
    loop {
        interrupt.check()?;
        if deadline.left().is_none() {
            return Err(failed(AskError::Silent));
        }
        match question.look() {
            Ok(Some(answer)) if answer.status.signal() == Some(Signal::KILL.as_raw()) => {
                return Err(failed(AskError::Killed));
            }
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
}

/// A program that is being asked.
struct Question {
    process: Process,
    outputs: [Output; 2],
}

impl Question {
    fn put(
        program: &Path,
        arguments: &[&str],
        descriptors: Vec<(i32, OwnedFd)>,
        input: File,
    ) -> std::io::Result<Self> {
        let mapping = |(child_fd, parent_fd)| FdMapping { parent_fd, child_fd };
        let mut command = Command::new(program);
        command.args(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mapped = command.fd_mappings(descriptors.into_iter().map(mapping).collect());
        mapped.map_err(std::io::Error::other)?;
        let mut process = Process::start(&mut command)?;
        let (output, errors) = process.take_outputs();
        let outputs =
            [Output::of(output.map(OwnedFd::from))?, Output::of(errors.map(OwnedFd::from))?];
        Ok(Self { process, outputs })
    }

    /// Reads a little of what is there, or waits a tick for more; the answer once it is whole.
    fn look(&mut self) -> std::io::Result<Option<Answer>> {
        // Looked at before reading: all that it wrote before it ended is there by then.
        let status = self.process.ended();
        let read = self.outputs.iter_mut().fold(false, |any, output| output.read_more() | any);
        match status {
            _ if read => Ok(None),
            Some(status) => {
                let [output, errors] = self.outputs.each_mut().map(Output::take_text);
                Ok(Some(Answer { output, errors, status }))
            }
            None => self.wait().map(|()| None),
        }
    }

    fn wait(&self) -> std::io::Result<()> {
        let mut watched: Vec<_> = self.outputs.iter().filter_map(Output::watched).collect();
        match poll(&mut watched, Some(&TICK)) {
            // The flag that the signal has set is looked at next.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// One of the program's outputs, as far as it was read.
struct Output {
    /// None from its end on.
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

    fn take_text(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.bytes)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str) -> Result<Answer, VmError> {
        ask(Path::new("/bin/sh"), &["-c", script], vec![], &Interrupt::default())
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
    fn an_interrupt_ends_it_at_once() {
        let interrupt = Interrupt::default();
        let started = Instant::now();
        let ended = std::thread::scope(|scope| {
            let asked = scope
                .spawn(|| ask(Path::new("/bin/sh"), &["-c", "sleep 1000"], vec![], &interrupt));
            std::thread::sleep(Duration::from_millis(100));
            interrupt.flag().store(true, std::sync::atomic::Ordering::Relaxed);
            asked.join().unwrap()
        });
        assert!(matches!(ended, Err(VmError::Interrupted)), "{ended:?}");
        assert!(started.elapsed() < PATIENCE / 2);
    }

    #[test]
    fn one_that_was_killed_may_answer_another_time() {
        let killed = shell("kill -KILL $$").unwrap_err();
        assert!(killed.is_of_the_moment(), "{killed}");
        assert_eq!(killed.to_string(), "/bin/sh was killed when it was asked about itself");
        // Another signal is a fault of its own.
        assert_eq!(shell("kill -SEGV $$").unwrap().status.signal(), Some(11));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let none = ask(Path::new("/nonexistent"), &[], vec![], &Interrupt::default());
        let Err(VmError::Qemu(QemuError::Ask { error: AskError::Run(_), .. })) = none else {
            panic!("{none:?}");
        };
    }
}
