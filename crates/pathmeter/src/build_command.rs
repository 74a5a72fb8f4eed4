//! The user's build command: bounded in time and output.
//!
//! Contract: when it returns, the command's process group has ended. Of its output the log has the
//! beginning and the end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::failure::Failure;
use pathmeter_measure::interrupt;
use pathmeter_plan::FileStep;

/// Bytes kept of the beginning of the output, and of its end.
const HEAD: usize = 4 << 20;
const TAIL: usize = 1 << 20;
/// How often it is looked whether the command has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long the rest of the output is waited for, once the command has ended: what it left running
/// may keep the pipe.
const REST: Duration = Duration::from_secs(2);

/// How the command of a build ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Built {
    Done,
    /// It took longer than it may.
    Late,
    /// It failed; how it ended, in words.
    Failed(String),
}

impl Built {
    /// How the build ended, in words.
    pub(crate) fn describe_end(&self, limit: Duration) -> String {
        match self {
            Self::Done => "the build ended".to_owned(),
            Self::Late => format!("the build took longer than {} seconds", limit.as_secs()),
            Self::Failed(how) => format!("the build ended with {how}"),
        }
    }
}

/// Executes `command` in `folder`, with these variables more; its output goes into `log`.
///
/// # Errors
/// It can't be started, the log can't be written, or the user interrupted it.
pub(crate) fn build(
    command: &[OsString],
    (folder, variables): (&Path, &[(&str, OsString)]),
    log: &Path,
    limit: Duration,
) -> Result<Built, Failure> {
    let starting = |error| Failure::System { doing: "starting the build command", error };
    let [program, arguments @ ..] = command else {
        return Err(starting(std::io::ErrorKind::InvalidInput.into()));
    };
    let (output, input) = std::io::pipe().map_err(starting)?;
    let both = input.try_clone().map_err(starting)?;
    let mut started = Command::new(program);
    started
        .args(arguments)
        .current_dir(folder)
        .envs(variables.iter().map(|(name, value)| (name, value)));
    started.stdin(Stdio::null()).process_group(0);
    let mut leader = started.stdout(input).stderr(both).spawn().map_err(starting)?;
    // It holds the pipe's other end, which the output would never end with.
    drop(started);
    let (send, kept) = channel();
    std::thread::spawn(move || send.send(Kept::read(output)));
    let ended = waited(&mut leader, limit);
    end_group(&leader);
    let status = leader.wait().map_err(starting)?;
    write(log, &kept)?;
    Ok(match ended? {
        Ended::InTime if status.success() => Built::Done,
        Ended::InTime => Built::Failed(how(status)),
        Ended::Late => Built::Late,
    })
}

enum Ended {
    InTime,
    Late,
}

fn waited(leader: &mut Child, limit: Duration) -> Result<Ended, Failure> {
    let started = Instant::now();
    loop {
        interrupt::check()?;
        match leader.try_wait() {
            Ok(None) if started.elapsed() < limit => std::thread::sleep(LOOK),
            Ok(None) => return Ok(Ended::Late),
            Ok(Some(_)) => return Ok(Ended::InTime),
            Err(error) => {
                return Err(Failure::System { doing: "waiting for the build command", error });
            }
        }
    }
}

/// Ends what is left of the command.
fn end_group(leader: &Child) {
    if let Some(group) = i32::try_from(leader.id()).ok().and_then(Pid::from_raw) {
        // Fails only if nobody is left in it.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn how(status: ExitStatus) -> String {
    status.code().map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"))
}

/// The beginning and the end of an output.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Kept {
    fn read(mut output: impl Read) -> Self {
        let (mut kept, mut bytes) = (Self::default(), vec![0; 1 << 16]);
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            kept.take(&bytes[..count]);
        }
        kept
    }

    fn take(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }
}

fn write(log: &Path, kept: &Receiver<Kept>) -> Result<(), Failure> {
    let kept = kept.recv_timeout(REST).unwrap_or_default();
    let put = || {
        let mut file = File::create(log)?;
        file.write_all(&kept.head)?;
        if kept.left_out > 0 {
            writeln!(file, "\n[{} bytes left out]", kept.left_out)?;
        }
        let (one, other) = kept.tail.as_slices();
        file.write_all(one)?;
        file.write_all(other)
    };
    put().map_err(|error| Failure::File { doing: FileStep::Writing, path: log.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, seconds: u64) -> (Built, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let command = ["sh", "-c", script].map(OsString::from);
        let log = folder.path().join("log");
        let built =
            build(&command, (folder.path(), &[]), &log, Duration::from_secs(seconds)).unwrap();
        (built, std::fs::read(log).unwrap())
    }

    #[test]
    fn how_it_ended_and_what_it_wrote_is_kept() {
        assert_eq!(run("echo one; echo two >&2", 60), (Built::Done, b"one\ntwo\n".to_vec()));
        let (built, _) = run("exit 7", 60);
        assert_eq!(built, Built::Failed("exit code 7".into()));
        assert_eq!(run("kill -9 $$", 60).0, Built::Failed("a signal".into()));
    }

    #[test]
    fn a_hanging_build_ends_with_all_that_it_started() {
        let begun = Instant::now();
        let (built, _) = run("sleep 1000 & sleep 1000", 1);
        assert_eq!(built, Built::Late);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_flood_of_output_is_cut_in_the_middle() {
        let (built, log) = run("echo first; yes | head -c 20000000; echo last", 60);
        assert_eq!(built, Built::Done);
        assert!(log.len() < HEAD + TAIL + 100 && log.starts_with(b"first\n"));
        assert!(log.ends_with(b"y\nlast\n"));
        assert!(String::from_utf8(log).unwrap().contains("bytes left out]"));
    }
}
