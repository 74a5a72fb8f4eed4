//! The guest in Bochs, which shares nothing with QEMU.
//!
//! The same kernel, words, agent and plan are executed; the agent does not know the difference. Its
//! messages go to port 0xe9, which Bochs prints on its standard output, after a few lines of its
//! own. There are no snapshots, and nothing but the clock is counted.
//!
//! Bochs' clock advances by one an instruction, too, and by one for each iteration of a string
//! instruction. It has no step in which such an instruction only sees that it is done
//! (`checks` in `docs/reference/count-format.md`), as QEMU's has.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::mem::take;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use pathmeter_vm::elsewhere::{
    Bounds, Deadline, Extra, Guest, GuestCause, Origin, Process, Step, Tail, memory_file,
    read_available,
};
use pathmeter_vm::{Firmware, INIT, Interrupt, PATHS, Settings, VmError};
use pathmeter_wire::{Kind, MAGIC, MAX_FRAME, RawFrame, message::Memory as Symbols, next_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bochs::Bochs;
use crate::bochs::debugger;
use crate::bochs::machine::{configuration, fd};
use crate::bochs::memory::{Memory, Unplaceable};
use crate::bochs::traces::{TracedWindow, Traces};
use crate::bochs::watch::{Landmarks, Next, Stop, Stopped, Watch};

/// `firmware/bochs.S`.
const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bochs.rom"));
/// So many times as long as a guest in QEMU it may take for anything.
const SLOWER: u32 = 20;
/// Longest wait before the interrupt flag is looked at again.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long a traced Bochs prints before that is read.
const TRACE_TICK: Duration = Duration::from_millis(2);
/// Bytes that its output has room for while nobody reads, as far as the host allows it.
const PIPE: usize = 1 << 20;
/// Most bytes that Bochs prints before the first message.
const MOST_TALK: usize = 64 << 10;
/// What Bochs is told to run on.
const GO: &str = "c";
/// Bytes of memory that are asked for at once.
const AT_ONCE: u64 = 512;
/// The first breakpoints are at the markers of a run; these are always heeded.
const MARKERS: usize = 2;

/// A Bochs, and what it is to stop at.
pub(crate) struct BochsHost {
    bochs: Bochs,
    /// Where it stops while a program runs.
    landmarks: Option<Landmarks>,
    /// The windows that the next guest traces, each with the pipe that its trace goes to.
    traces: Cell<Vec<(TracedWindow, File)>>,
}

impl BochsHost {
    pub(crate) fn of(bochs: &Bochs) -> Self {
        Self { bochs: bochs.clone(), landmarks: None, traces: Cell::default() }
    }

    /// The same, which stops at these places while a program runs.
    pub(crate) fn with_landmarks(self, landmarks: Landmarks) -> Self {
        Self { landmarks: Some(landmarks), ..self }
    }

    /// The same, whose next guest traces these windows.
    pub(crate) fn with_traces(self, traces: Vec<(TracedWindow, File)>) -> Self {
        Self { traces: Cell::new(traces), ..self }
    }
}

/// The machine's memory, of the kernel and the initramfs.
fn memory_of(settings: &Settings, files: [Option<File>; 2]) -> Result<Memory, VmError> {
    let [kernel, initramfs] = files.map(|file| file.map_or(Ok(vec![]), contents));
    Ok(Memory::new(&kernel?, &initramfs?, &settings.command_line(), settings.memory_mib)?)
}

/// What it prints, which does not block, and what it is told by.
fn channels(process: &mut Process) -> Result<(ChildStdout, ChildStderr, ChildStdin), VmError> {
    let ((Some(output), Some(errors)), Some(commands)) =
        (process.take_outputs(), process.take_input())
    else {
        return Err(host("starting Bochs", std::io::ErrorKind::BrokenPipe.into()));
    };
    for stream in [output.as_fd(), errors.as_fd()] {
        let unblocked = rustix::io::ioctl_fionbio(stream, true);
        unblocked.map_err(|error| host("preparing Bochs' output", error.into()))?;
    }
    Ok((output, errors, commands))
}

/// A guest in Bochs. Dropping it ends Bochs.
pub(crate) struct BochsGuest {
    process: Process,
    output: ChildStdout,
    errors: ChildStderr,
    commands: ChildStdin,
    /// What is seen of a program, if Bochs stops for it.
    watch: Option<Watch>,
    /// The windows that are traced, if any are.
    traces: Option<Traces>,
    /// Breakpoints that it was told of.
    breakpoints: usize,
    /// What was printed and is not taken yet.
    frames: Vec<u8>,
    /// Whether the agent's first message has come.
    begun: bool,
    complaints: Tail,
    interrupt: Interrupt,
    limit: Duration,
    deadline: Deadline,
    step: Step,
}

impl Guest for BochsGuest {
    type Host = BochsHost;

    /// Runs at once: there is nothing to be done before.
    fn start(
        host: &BochsHost,
        bounds: Bounds<'_>,
        settings: &Settings,
        (_, firmware): (Origin, Firmware),
        extra: Extra,
    ) -> Result<Self, VmError> {
        if firmware != Firmware::Own {
            return Err(Unplaceable::NoEntry.into());
        }
        let memory = memory_of(settings, extra.boot_files())?;
        let mut process = spawn(&host.bochs, settings, &memory)?;
        let (output, errors, commands) = channels(&mut process)?;
        let watch = host.landmarks.clone().map(|landmarks| Watch::new(landmarks, INIT));
        let traces = host.traces.take();
        let traces = (!traces.is_empty()).then(|| Traces::new(traces, PATHS));
        if traces.is_some() {
            // With less room it only takes longer.
            let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE);
        }
        let limit = bounds.limit * SLOWER;
        let mut guest = Self {
            process,
            output,
            errors,
            commands,
            watch,
            traces,
            breakpoints: 0,
            frames: Vec::new(),
            begun: false,
            complaints: Tail::default(),
            interrupt: bounds.interrupt.clone(),
            limit,
            deadline: Deadline::after(limit),
            step: Step::Boot,
        };
        let first = guest.watch.iter().flat_map(Watch::first_places);
        let first: Vec<u64> = first.chain(guest.traces.iter().flat_map(Traces::places)).collect();
        for address in first {
            let command = guest.next_breakpoint(address);
            guest.command(&command)?;
        }
        guest.command(GO)?;
        Ok(guest)
    }

    fn resume(&mut self) -> Result<(), VmError> {
        Ok(())
    }

    fn begin(&mut self, step: Step) {
        self.step = step;
        self.deadline = Deadline::after(self.limit);
    }

    fn proceed(&mut self, step: Step) {
        self.step = step;
    }

    fn next_frame<R>(&mut self, take: impl FnOnce(&RawFrame<'_>) -> R) -> Result<R, VmError> {
        loop {
            if self.has_begun()? && !self.is_stopping()? {
                match next_frame(&self.frames) {
                    Err(error) => return Err(self.protocol(error.to_string())),
                    Ok(Some(frame)) => {
                        let (result, length) = (take(&frame), frame.length);
                        self.frames.drain(..length);
                        return Ok(result);
                    }
                    Ok(None) => {}
                }
            }
            self.pump()?;
        }
    }

    /// The write that pauses a guest in QEMU is one to a port without a device here.
    fn await_pause(&mut self) -> Result<(), VmError> {
        Ok(())
    }

    fn save(&mut self, _: File) -> Result<(), VmError> {
        Err(self.protocol("a guest that can't be saved".to_owned()))
    }

    fn copy_memory(&mut self, _: Symbols) -> Result<(), VmError> {
        Err(self.protocol("a guest whose memory can't be read".to_owned()))
    }

    fn write_memory(&mut self, _: u64, _: &[u8]) -> Result<(), VmError> {
        Err(self.protocol("a guest whose memory can't be written to".to_owned()))
    }

    fn printed(&self) -> Tail {
        self.complaints.clone()
    }

    fn failure(&self, cause: GuestCause) -> VmError {
        VmError::Guest { step: self.step.clone(), cause, console: self.complaints.clone() }
    }
}

impl BochsGuest {
    /// Whether the agent's first message has come; what Bochs printed before it is dropped.
    fn has_begun(&mut self) -> Result<bool, VmError> {
        if self.begun {
            return Ok(true);
        }
        let first = [Kind::Fact, Kind::Ready, Kind::Abort, Kind::Unmet, Kind::Shown];
        let first = first.map(|kind| [MAGIC[0], MAGIC[1], kind as u8, 0]);
        let place = self.frames.windows(4).position(|bytes| first.iter().any(|it| bytes == it));
        if let Some(place) = place {
            self.frames.drain(..place);
            self.begun = true;
        } else if self.frames.len() > MOST_TALK {
            return Err(self.protocol("something else than messages".to_owned()));
        }
        Ok(self.begun)
    }

    /// Bochs was asked to stop, and has, or is about to print that it has; handled if it is whole.
    ///
    /// Only text stands where a message would begin: the guest writes none while a program runs.
    fn is_stopping(&mut self) -> Result<bool, VmError> {
        if self.watch.is_none() && self.traces.is_none() {
            return Ok(false);
        }
        // Bochs may repeat the command to go on.
        let go = self.traces.as_ref().map_or(GO, |traces| traces.go(GO));
        let echo = [go.as_bytes(), b"\n"].concat();
        if self.frames.starts_with(&echo) {
            self.frames.drain(..echo.len());
        }
        let stopping = self.frames.first().is_some_and(|first| *first != MAGIC[0]);
        if stopping && let Some(traces) = &mut self.traces {
            traces.pass(&mut self.frames);
        }
        if stopping && debugger::is_whole(&self.frames) {
            if let Some(mut watch) = self.watch.take() {
                let handled = self.stopped(&mut watch);
                self.watch = Some(watch);
                handled?;
            } else if let Some(mut traces) = self.traces.take() {
                let handled = self.stopped_at_path(&mut traces);
                self.traces = Some(traces);
                handled?;
            }
        }
        Ok(stopping)
    }

    /// The same where a path begins or ends, or a piece of a traced one.
    fn stopped_at_path(&mut self, traces: &mut Traces) -> Result<(), VmError> {
        let printed = take(&mut self.frames);
        traces.pass_lines(&printed);
        let halt = debugger::halt(&String::from_utf8_lossy(&printed));
        let halt = halt.ok_or_else(|| self.protocol("no place where it stopped".to_owned()))?;
        let path = match &self.step {
            Step::Path { index, .. } => Some(*index),
            _ => None,
        };
        for command in traces.stopped(halt.address, path) {
            let answer = self.ask(&command)?;
            if debugger::is_refusal(&answer) {
                return Err(self.unread(&command));
            }
        }
        self.command(traces.go(GO))
    }

    /// Does what is to be done at the stop that Bochs has printed, and lets it run on.
    fn stopped(&mut self, watch: &mut Watch) -> Result<(), VmError> {
        let mut answer = String::from_utf8_lossy(&take(&mut self.frames)).into_owned();
        loop {
            let halt = debugger::halt(&answer);
            let halt = halt.ok_or_else(|| self.protocol("no place where it stopped".to_owned()))?;
            match watch.stopped(halt, self)? {
                Next::Go => return self.command(GO),
                Next::Step => answer = self.ask("s")?,
            }
        }
    }

    /// The command for one more breakpoint.
    fn next_breakpoint(&mut self, address: u64) -> String {
        self.breakpoints += 1;
        debugger::stop_at(self.breakpoints - 1, address)
    }

    fn command(&mut self, command: &str) -> Result<(), VmError> {
        let written = self.commands.write_all(format!("{command}\n").as_bytes());
        written.map_err(|error| host("telling Bochs what to do", error))
    }

    /// The answer to a command, of a Bochs that has stopped.
    fn ask(&mut self, command: &str) -> Result<String, VmError> {
        self.command(command)?;
        while !debugger::is_whole(&self.frames) {
            self.pump()?;
        }
        Ok(String::from_utf8_lossy(&take(&mut self.frames)).into_owned())
    }

    /// The stops of the run that has ended, if it was watched.
    pub(crate) fn take_stops(&mut self) -> Vec<Stop> {
        self.watch.as_mut().map(Watch::take).unwrap_or_default()
    }

    fn protocol(&self, what: String) -> VmError {
        self.failure(GuestCause::Protocol { what })
    }

    /// Hears what Bochs prints, waiting for at most a tick.
    fn pump(&mut self) -> Result<(), VmError> {
        self.interrupt.check()?;
        if self.deadline.left().is_none() {
            return Err(self.failure(GuestCause::Timeout { limit: self.limit }));
        }
        // Looked at before reading: all that it printed before its end is there by then.
        let ended = self.process.ended();
        let is_tracing = self.traces.as_ref().is_some_and(Traces::are_on);
        if is_tracing {
            // It prints a line at a time: reading many at once leaves it more of the processor.
            std::thread::sleep(TRACE_TICK);
        }
        let mut sources =
            [PollFd::new(&self.output, PollFlags::IN), PollFd::new(&self.errors, PollFlags::IN)];
        match poll(&mut sources, Some(&TICK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(host("waiting for Bochs", error.into())),
        }
        let failed = |error| host("listening to Bochs", error);
        let mut buffer = vec![0; if is_tracing { PIPE } else { 16 << 10 }];
        let heard = read_available(&mut self.output, &mut buffer).map_err(failed)?;
        self.frames.extend_from_slice(&buffer[..heard.unwrap_or(0)]);
        let said = read_available(&mut self.errors, &mut buffer).map_err(failed)?;
        self.complaints.extend(&buffer[..said.unwrap_or(0)]);
        if !is_tracing && self.frames.len() > MOST_TALK + 2 * MAX_FRAME {
            return Err(self.protocol("more than was asked for".to_owned()));
        }
        match ended {
            Some(status) if heard.unwrap_or(0) == 0 => {
                let how = format!("Bochs ended by itself ({status})");
                Err(self.failure(GuestCause::Ended { by_guest: false, how }))
            }
            _ => Ok(()),
        }
    }
}

impl Stopped for BochsGuest {
    type Error = VmError;

    fn register(&mut self, name: &str) -> Result<u64, VmError> {
        let answer = self.ask("r")?;
        debugger::register(&answer, name).ok_or_else(|| self.unread(name))
    }

    fn top(&mut self) -> Result<u64, VmError> {
        let answer = self.ask("x /1gx rsp")?;
        let top = debugger::numbers(&answer).and_then(|numbers| numbers.first().copied());
        top.ok_or_else(|| self.unread("the stack"))
    }

    fn bytes(&mut self, range: Range<u64>) -> Result<Vec<u8>, VmError> {
        let mut bytes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let count = (range.end - at).min(AT_ONCE);
            let answer = self.ask(&format!("x /{count}bx {at:#x}"))?;
            let numbers = debugger::numbers(&answer).unwrap_or_default();
            let piece = numbers.iter().map(|number| u8::try_from(*number).ok());
            let piece: Option<Vec<u8>> = piece.collect();
            let piece = piece.filter(|piece| piece.len() as u64 == count);
            bytes.extend(piece.ok_or_else(|| self.unread("memory"))?);
            at += count;
        }
        Ok(bytes)
    }

    fn stop_at(&mut self, address: u64) -> Result<(), VmError> {
        let command = self.next_breakpoint(address);
        let answer = self.ask(&command)?;
        if debugger::is_refusal(&answer) { Err(self.unread(&command)) } else { Ok(()) }
    }

    fn heed(&mut self, on: bool) -> Result<(), VmError> {
        let command = if on { "bpe" } else { "bpd" };
        for number in MARKERS + 1..=self.breakpoints {
            self.ask(&format!("{command} {number}"))?;
        }
        Ok(())
    }

    fn unwatchable_error(&self, what: &str) -> VmError {
        self.protocol(what.to_owned())
    }
}

impl BochsGuest {
    fn unread(&self, what: &str) -> VmError {
        self.protocol(format!("no answer of its debugger about {what}"))
    }
}

/// Runs Bochs. That of distributions has a debugger, which waits for the command to continue.
fn spawn(bochs: &Bochs, settings: &Settings, memory: &Memory) -> Result<Process, VmError> {
    let text = configuration(settings, memory.high_at);
    let files = [
        (fd::CONFIGURATION, text.as_bytes()),
        (fd::FIRMWARE, FIRMWARE),
        (fd::LOW, &memory.low[..]),
        (fd::HIGH, &memory.high[..]),
    ];
    let mut mappings = Vec::new();
    for (child_fd, bytes) in files {
        let parent_fd = OwnedFd::from(memory_file("pathmeter-bochs", bytes)?);
        mappings.push(FdMapping { parent_fd, child_fd });
    }
    let starting = |error| host("starting Bochs", error);
    let mut command = Command::new(&bochs.path);
    command
        .args(["-q", "-f", &format!("/proc/self/fd/{}", fd::CONFIGURATION)])
        .env("SDL_VIDEODRIVER", "dummy")
        .env("SDL_AUDIODRIVER", "dummy")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.fd_mappings(mappings).map_err(|error| starting(std::io::Error::other(error)))?;
    Process::start(&mut command).map_err(starting)
}

fn contents(mut file: File) -> Result<Vec<u8>, VmError> {
    let failed = |error| host("reading a file in memory", error);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn host(what: &'static str, source: std::io::Error) -> VmError {
    VmError::Host { what, source }
}
