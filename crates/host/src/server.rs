//! The program that executes paths, as a server: a request is a process, which takes the times of a
//! path, and its answer the ticks of each batch.
//!
//! It is our own program, but the probes in it may write anywhere: all that it writes is bounded
//! and checked. `live/src/time.rs` has the form of requests and answers.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use pathmeter_probes::{MAX_SAMPLES, batch::SIDES};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use thiserror::Error;

use crate::bpf::Programs;
use crate::cgroup::Group;
use crate::condition::Condition;
use crate::memory::memory_file;
use crate::timing_program;

/// Most bytes of a line of an answer: all samples of a process in one.
const MAX_LINE: u64 = 32 * MAX_SAMPLES as u64;
/// Most characters of a reason.
const MAX_REASON: usize = 400;
/// The program ends a process after 8 s; later than that it does not answer.
const PATIENCE: Duration = Duration::from_secs(12);

/// What a process is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// The path's index in the catalogue.
    pub(crate) path: usize,
    /// Calls in each batch; an even number becomes the next odd one.
    pub(crate) calls: u64,
    /// How many batches each side has.
    pub(crate) batches: usize,
    /// How many sides take turns.
    pub(crate) sides: usize,
    /// What the order of the sides is drawn from.
    pub(crate) seed: u64,
    /// Dependent rotations after each call of a side.
    pub(crate) delays: [u32; SIDES],
    /// Whether the kernel shall count how often BPF programs are executed.
    pub(crate) counted: bool,
    /// Bytes of the process's environment.
    pub(crate) environment: usize,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Came {
    /// The ticks of each batch, of each side, in the order taken, and what was counted meanwhile.
    Times(Vec<Vec<u64>>, Counted),
    /// This kernel or processor can't execute the path, and why.
    Unsupported(String),
    /// Its proof failed, or its process did not come to its end, and how.
    Failed(String),
}

/// What was counted while a process took its times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// How often the condition's tracepoint was hit, if it has one.
    pub(crate) hits: Option<u64>,
    /// How often each of the condition's BPF programs was executed at least, by any process of the
    /// machine, and whether all are machine code, if that was asked for.
    pub(crate) runs: Option<(u64, bool)>,
}

/// What the program found of its surroundings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ground {
    /// It is in the root cgroup.
    pub(crate) root_cgroup: bool,
    /// It has namespaces and a root file system of its own.
    pub(crate) apart: bool,
    /// Its tasks may be real-time tasks.
    pub(crate) real_time: bool,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The program can't be started.
    #[error("the program that executes the paths can't be started: {0}")]
    Start(#[from] io::Error),
    #[error("the program that executes the paths can't be prepared: {step}: error {error}")]
    Refused {
        step: String,
        /// Linux's error number, or 0.
        error: i32,
    },
    #[error("the program that executes the paths does not answer")]
    Silent,
    #[error("the program that executes the paths ended: it was killed, or had no memory")]
    Ended,
    #[error("the program that executes the paths was moved out of its control group")]
    Moved,
    /// It wrote another line than those that it should.
    #[error("the program that executes the paths wrote an unexpected line")]
    Line,
}

/// The running program. It is killed when this is dropped, and by the kernel when the thread ends
/// that started it.
pub(crate) struct Server {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What the server has inherited, by its number.
    restraint: Option<File>,
    ports: u32,
    tracepoint: u64,
    ground: Ground,
}

impl Server {
    /// Starts it on `cpu`, for paths under this condition, in its group if it has one.
    ///
    /// # Errors
    /// If it can't be started or prepared.
    pub(crate) fn start(
        cpu: u32,
        condition: &Condition,
        group: Option<&Group>,
    ) -> Result<Self, ServerError> {
        let file = memory_file(&timing_program()?)?;
        let restraint = condition.restraint.as_deref().map(memory_file).transpose()?;
        let list: String = condition.programs.iter().map(Programs::line).collect();
        let programs = (!list.is_empty()).then(|| memory_file(list.as_bytes())).transpose()?;
        let processes = group.map(inherited).transpose()?;
        let number = file.as_raw_fd();
        let [group_file, list] =
            [&processes, &programs].map(|file| file.as_ref().map_or(0, AsRawFd::as_raw_fd));
        let mut child = Command::new(format!("/proc/self/fd/{number}"))
            .args(["serve", &format!("{cpu},{number},{group_file},{list}")])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let (requests, answers) = requests.zip(answers).ok_or(ServerError::Ended)?;
        let ground = Ground::default();
        let answers = BufReader::new(answers);
        let &Condition { ports, tracepoint, .. } = condition;
        let mut server = Self { child, requests, answers, restraint, ports, tracepoint, ground };
        server.ground = server.prepared()?;
        server.is_in(group)?;
        Ok(server)
    }

    /// Whether it is in this group, and so all that it started.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn is_in(&self, group: Option<&Group>) -> Result<(), ServerError> {
        let is_in = group.is_none_or(|group| group.has(self.child.id()));
        if is_in { Ok(()) } else { Err(ServerError::Moved) }
    }

    /// What it found of its surroundings.
    pub(crate) fn ground(&self) -> Ground {
        self.ground
    }

    fn prepared(&mut self) -> Result<Ground, ServerError> {
        let line = self.line(Instant::now() + PATIENCE)?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match (word, numbers::<u8>(rest).as_deref()) {
            ("ready", Some(&[root_cgroup, apart, real_time])) => Ok(Ground {
                root_cgroup: root_cgroup == 1,
                apart: apart == 1,
                real_time: real_time == 1,
            }),
            ("refused", _) => Err(parse_refusal(rest)),
            _ => Err(ServerError::Line),
        }
    }

    /// Has a process execute a path.
    ///
    /// # Errors
    /// If the program does not answer; that a path can't be executed is an answer.
    pub(crate) fn execute(&mut self, request: &Request) -> Result<Came, ServerError> {
        self.requests.write_all(self.form(request).as_bytes()).map_err(|_| ServerError::Ended)?;
        let deadline = Instant::now() + PATIENCE;
        let (mut sides, mut other, mut counted) = (Vec::new(), None, Counted::default());
        loop {
            let line = self.line(deadline)?;
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "side" => {
                    let ticks = numbers(rest).filter(|n: &Vec<u64>| n.len() <= MAX_SAMPLES);
                    sides.push(ticks.ok_or(ServerError::Line)?.split_off(1));
                }
                "hits" => counted.hits = Some(rest.parse().map_err(|_| ServerError::Line)?),
                "runs" => counted.runs = Some(runs(rest).ok_or(ServerError::Line)?),
                "unsupported" => other = Some(Came::Unsupported(reason(rest))),
                "failed" => other = Some(Came::Failed(reason(rest))),
                "refused" => return Err(parse_refusal(rest)),
                "end" => {}
                "done" => break,
                _ => return Err(ServerError::Line),
            }
            if sides.len() > SIDES {
                return Err(ServerError::Line);
            }
        }
        let whole =
            sides.len() == request.sides && sides.iter().all(|side| side.len() == request.batches);
        match (other, whole) {
            (Some(other), _) => Ok(other),
            (None, true) => Ok(Came::Times(sides, counted)),
            (None, false) => Ok(Came::Failed("its process left no times".to_owned())),
        }
    }

    /// The line by which the program is asked.
    fn form(&self, request: &Request) -> String {
        let Request { path, calls, batches, sides, seed, delays, counted, environment } = request;
        let counted = u8::from(*counted);
        let windows = batches * sides;
        let [first, second, third] = delays;
        let restraint = self.restraint.as_ref().map_or(0, AsRawFd::as_raw_fd);
        let Self { ports, tracepoint, .. } = self;
        format!(
            "{path},{calls},{windows},{sides},{seed},{first},{second},{third},{restraint},{ports},\
             {tracepoint},{counted},{environment}\n"
        )
    }

    /// The next line, without its end.
    fn line(&mut self, deadline: Instant) -> Result<String, ServerError> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            if self.answers.buffer().is_empty() {
                self.await_bytes(deadline)?;
            }
            let bytes = self.answers.fill_buf()?;
            if bytes.is_empty() {
                return Err(ServerError::Ended);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            line.extend_from_slice(&bytes[..end]);
            self.answers.consume(end);
            if line.len() as u64 > MAX_LINE {
                return Err(ServerError::Line);
            }
        }
        line.pop();
        String::from_utf8(line).map_err(|_| ServerError::Line)
    }

    fn await_bytes(&self, deadline: Instant) -> Result<(), ServerError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let left =
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut fds = [PollFd::from_borrowed_fd(self.answers.get_ref().as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&left)) {
            Ok(0) => Err(ServerError::Silent),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already, or ends now; either way it is waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn numbers<N: FromStr>(text: &str) -> Option<Vec<N>> {
    text.split(' ').map(|word| word.parse().ok()).collect()
}

fn runs(rest: &str) -> Option<(u64, bool)> {
    let (runs, translated) = rest.split_once(' ')?;
    Some((runs.parse().ok()?, translated == "1"))
}

/// The list of the group's processes, open for a program that is started next.
fn inherited(group: &Group) -> Result<File, io::Error> {
    let file = group.processes()?;
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

/// Parses the step that the kernel refused and its error; a line that has none is an error too.
fn parse_refusal(rest: &str) -> ServerError {
    let parsed = rest.split_once(' ').and_then(|(step, error)| Some((step, error.parse().ok()?)));
    match parsed {
        Some((step, error)) => ServerError::Refused { step: reason(step), error },
        None => ServerError::Line,
    }
}

fn reason(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect()
}
