//! The guest in QEMU, and the three channels to it, heard in one loop.
//!
//! One thread polls everything: the protocol port, the console, the control channel and QEMU's
//! stderr. So nothing QEMU writes ever waits for us long, and every wait ends by a deadline, by the
//! user's interrupt or by QEMU's end, whichever comes first.

mod start;

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ExitStatus};
use std::time::{Duration, Instant};

use pathmeter_wire::{MAX_FRAME, RawFrame, message::Memory, next_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use serde_json::{Value, json};

use start::with_clock;

use crate::{
    Interrupt, Qemu, Settings, VmError,
    arch::{Doubt, Firmware, Supply},
    console::Tail,
    deadline::Deadline,
    error::{GuestCause, Step},
    gdb::{Patience, Stub, Trouble},
    guest::{Bounds, Extra, Guest},
    machine::{Clock, Origin, fd},
    qemu::alarm::Alarm,
    qemu::process::Process,
    qemu::qmp::{self, Lines, QmpMessage},
    stream::{self, read_available},
};

/// Longest wait before the interrupt flag is looked at again.
const TICK: Duration = Duration::from_millis(50);
/// How often a guest is asked whether it is restored.
const RESTORE_TICK: Duration = Duration::from_millis(2);
/// Reads, of 16 KiB at most from each channel, after which nothing is left that QEMU wrote before
/// its end.
const LAST_READS: usize = 64;
/// After a panic's first words, or the guest's pause, the rest may still follow for so long.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A guest in QEMU. Dropping it kills QEMU.
pub(crate) struct QemuGuest {
    process: Process,
    port: UnixStream,
    console: UnixStream,
    control: UnixStream,
    stderr: Option<ChildStderr>,
    alarm: Option<Alarm>,
    stub: Option<Stub>,
    supply: Option<Supply>,
    frames: Vec<u8>,
    lines: Lines,
    events: LatestEvents,
    printed: Tail,
    complaints: Tail,
    interrupt: Interrupt,
    limit: Duration,
    deadline: Deadline,
    panicked_at: Option<Instant>,
    /// Since when it is paused while a frame is awaited.
    paused_at: Option<Instant>,
    /// QEMU's version, major and minor.
    version: (u32, u32),
    /// What it is doing, for errors.
    step: Step,
}

/// What QEMU said last of each thing that is ever waited for. Nothing else is kept: a guest can
/// make QEMU send events without end.
#[derive(Default)]
struct LatestEvents {
    answer: Option<Result<Value, String>>,
    paused: bool,
    migration: Option<String>,
    shutdown: Option<String>,
}

impl LatestEvents {
    fn update(&mut self, said: QmpMessage) {
        let word = |value: &Value| value.as_str().map(str::to_owned);
        match said {
            QmpMessage::Return(value) => self.answer = Some(Ok(value)),
            QmpMessage::Error(words) => self.answer = Some(Err(words)),
            QmpMessage::Event { name, data } => match &name[..] {
                "GUEST_PANICKED" => self.paused = true,
                "MIGRATION" => self.migration = word(&data["status"]),
                "SHUTDOWN" => self.shutdown = word(&data["reason"]),
                _ => {}
            },
        }
    }
}

impl Guest for QemuGuest {
    type Host = Qemu;

    fn start(
        qemu: &Qemu,
        bounds: Bounds<'_>,
        settings: &Settings,
        (origin, firmware): (Origin, Firmware),
        extra: Extra,
    ) -> Result<Self, VmError> {
        let extra = match settings.clock {
            Clock::Exact => with_clock(qemu, bounds.interrupt, extra)?,
            Clock::Host => extra,
        };
        let mut guest = Self::launch(qemu, bounds, settings, (origin, firmware), extra)?;
        if origin == Origin::Snapshot {
            guest.await_restored()?;
        }
        Ok(guest)
    }

    fn resume(&mut self) -> Result<(), VmError> {
        if let Some(supply) = self.supply.take() {
            return self.keep(supply, Supply::begin);
        }
        self.call("cont", &Value::Null, None).map(|_| ())
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
            match next_frame(&self.frames) {
                Err(error) => return Err(self.not_the_protocol(error.to_string())),
                Ok(Some(frame)) => {
                    let (result, length) = (take(&frame), frame.length);
                    self.frames.drain(..length);
                    self.paused_at = None;
                    return Ok(result);
                }
                Ok(None) => self.pump_running()?,
            }
        }
    }

    fn await_pause(&mut self) -> Result<(), VmError> {
        self.wait_for(|events| std::mem::take(&mut events.paused).then_some(()))?;
        let Some(supply) = self.supply.take() else { return Ok(()) };
        match supply.end(&mut patience(&self.interrupt, &mut self.deadline)) {
            Ok(0) => Err(VmError::ArchCapabilities),
            Ok(_) => Ok(()),
            Err(trouble) => Err(self.why_no_debugger(trouble)),
        }
    }

    fn save(&mut self, file: File) -> Result<(), VmError> {
        let unlimited = json!({ "max-bandwidth": 1_u64 << 40 });
        self.call("migrate-set-parameters", &unlimited, None)?;
        let events = json!({ "capabilities": [{ "capability": "events", "state": true }] });
        self.call("migrate-set-capabilities", &events, None)?;
        let failed = |source| VmError::Save { source };
        let (writer, copier) = stream::drain(file).map_err(failed)?;
        self.call("getfd", &json!({ "fdname": "snapshot" }), Some(writer.as_fd()))?;
        drop(writer);
        self.call("migrate", &json!({ "uri": "fd:snapshot" }), None)?;
        let done = loop {
            match &self.wait_for(|events| events.migration.take())?[..] {
                "completed" => break true,
                "failed" | "cancelled" => break false,
                _ => {}
            }
        };
        // QEMU closes its end of the pipe next, and the thread comes to an end.
        while !copier.is_finished() {
            self.check_patience()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        let copied = copier.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        copied.map_err(failed)?;
        if done {
            Ok(())
        } else {
            Err(failed(std::io::Error::other("QEMU could not save the guest")))
        }
    }

    fn copy_memory(&mut self, memory: Memory) -> Result<(), VmError> {
        let filename = format!("/proc/self/fd/{}", fd::MEMORY);
        let arguments =
            json!({ "val": memory.address, "size": memory.length, "filename": filename });
        self.call("memsave", &arguments, None).map(|_| ())
    }

    /// The stub's channel is closed then: the guest is not to be stopped by it any more.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), VmError> {
        let Some(mut stub) = self.stub.take() else {
            return Err(host("writing to a guest", std::io::ErrorKind::NotConnected.into()));
        };
        let written = stub.put(address, bytes, &mut patience(&self.interrupt, &mut self.deadline));
        written.map_err(|trouble| self.why_no_debugger(trouble))
    }

    fn printed(&self) -> Tail {
        self.printed.clone()
    }

    fn failure(&self, cause: GuestCause) -> VmError {
        VmError::Guest { step: self.step.clone(), cause, console: self.printed.clone() }
    }
}

impl QemuGuest {
    /// Has `supply` do something, and keeps it.
    fn keep(
        &mut self,
        mut supply: Supply,
        act: impl FnOnce(&mut Supply, &mut Patience<'_>) -> Result<(), Trouble>,
    ) -> Result<(), VmError> {
        let done = act(&mut supply, &mut patience(&self.interrupt, &mut self.deadline));
        self.supply = Some(supply);
        done.map_err(|trouble| self.why_no_debugger(trouble))
    }

    fn why_no_debugger(&mut self, trouble: Trouble) -> VmError {
        match trouble {
            Trouble::Interrupted => VmError::Interrupted,
            Trouble::Late => self.failure(GuestCause::Timeout { limit: self.limit }),
            Trouble::Gone => self.why_gone(),
            Trouble::Failed(error) => host("talking to QEMU's debugger stub", error),
            Trouble::Answer { command, answer } => {
                VmError::Refused { step: self.step.clone(), command, answer }
            }
        }
    }

    /// Sends a QMP command and waits for its answer.
    pub(crate) fn call(
        &mut self,
        command: &str,
        arguments: &Value,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<Value, VmError> {
        let arguments = if arguments.is_null() { &serde_json::json!({}) } else { arguments };
        self.events.answer = None;
        if let Err(error) = qmp::send(&self.control, command, arguments, descriptor) {
            return Err(match error.kind() {
                std::io::ErrorKind::BrokenPipe => self.why_gone(),
                _ => host("talking to QEMU", error),
            });
        }
        let answer = self.wait_for(|events| events.answer.take())?;
        answer.map_err(|answer| VmError::Refused {
            step: self.step.clone(),
            command: command.to_owned(),
            answer,
        })
    }

    /// Waits until the guest, which is paused, is restored.
    fn await_restored(&mut self) -> Result<(), VmError> {
        loop {
            let answer = self.call("query-status", &Value::Null, None)?;
            if answer.get("status").is_none_or(|status| status != "inmigrate") {
                return Ok(());
            }
            let left = self.check_patience()?;
            std::thread::sleep(left.min(RESTORE_TICK));
        }
    }

    fn wait_for<R>(&mut self, look: impl Fn(&mut LatestEvents) -> Option<R>) -> Result<R, VmError> {
        loop {
            if let Some(found) = look(&mut self.events) {
                return Ok(found);
            }
            self.pump()?;
        }
    }

    /// An error: what came over the port is not what it should be.
    fn not_the_protocol(&self, what: String) -> VmError {
        self.failure(GuestCause::Protocol { what })
    }

    /// The time that is left; an error if none is, or the user wants no more.
    fn check_patience(&mut self) -> Result<Duration, VmError> {
        self.interrupt.check()?;
        let left = self.deadline.left();
        left.ok_or_else(|| self.failure(GuestCause::Timeout { limit: self.limit }))
    }

    /// Hears all channels once, waiting for at most a tick.
    fn pump(&mut self) -> Result<(), VmError> {
        let left = self.check_patience()?;
        wait(&self.sources(), TICK.min(left))?;
        if !self.hear()? {
            return Err(self.why_gone());
        }
        if self.frames.len() > 2 * MAX_FRAME {
            return Err(self.not_the_protocol("more than was asked for".to_owned()));
        }
        if self.lines.overlong() {
            return Err(host("listening to QEMU", std::io::ErrorKind::InvalidData.into()));
        }
        self.hear_alarm()?;
        if let Some(supply) = self.supply.take() {
            self.keep(supply, Supply::hear)?;
        }
        self.notice_panic()
    }

    /// The same of a guest that is to write a frame. One that is paused meanwhile writes none any
    /// more, after what is still on its way.
    fn pump_running(&mut self) -> Result<(), VmError> {
        self.pump()?;
        if !self.events.paused {
            self.paused_at = None;
            return Ok(());
        }
        if self.paused_at.get_or_insert_with(Instant::now).elapsed() < LAST_WORDS {
            return Ok(());
        }
        let how = "the guest paused itself, as only the agent may".to_owned();
        Err(self.failure(GuestCause::Ended { by_guest: true, how }))
    }

    fn sources(&self) -> Vec<BorrowedFd<'_>> {
        let streams = [&self.port, &self.console, &self.control];
        let others = [
            self.stderr.as_ref().map(AsFd::as_fd),
            self.alarm.as_ref().map(AsFd::as_fd),
            self.supply.as_ref().map(AsFd::as_fd),
        ];
        streams.into_iter().map(AsFd::as_fd).chain(others.into_iter().flatten()).collect()
    }

    /// Reads what every channel has; false once QEMU has closed the control channel.
    fn hear(&mut self) -> Result<bool, VmError> {
        let failed = |error| host("listening to QEMU", error);
        let mut buffer = [0; 16 * 1024];
        if let Some(count) = read_available(&mut self.port, &mut buffer).map_err(failed)? {
            self.frames.extend_from_slice(&buffer[..count]);
        }
        if let Some(count) = read_available(&mut self.console, &mut buffer).map_err(failed)? {
            self.printed.extend(&buffer[..count]);
        }
        if let Some(stderr) = &mut self.stderr
            && let Some(count) = read_available(stderr, &mut buffer).map_err(failed)?
        {
            self.complaints.extend(&buffer[..count]);
            if count == 0 {
                self.stderr = None;
            }
        }
        let heard = read_available(&mut self.control, &mut buffer).map_err(failed)?;
        self.lines.extend(&buffer[..heard.unwrap_or(0)]);
        self.sort_control_lines();
        Ok(heard != Some(0))
    }

    /// An error once the recorder has given up on a path.
    fn hear_alarm(&mut self) -> Result<(), VmError> {
        let Some(alarm) = &mut self.alarm else { return Ok(()) };
        let heard = alarm.heard().map_err(|error| host("listening to the recorder", error))?;
        let Some((step, cause)) = heard else { return Ok(()) };
        Err(VmError::Guest { step, cause, console: self.printed.clone() })
    }

    fn sort_control_lines(&mut self) {
        while let Some(said) = self.lines.next_message() {
            self.events.update(said);
        }
    }

    /// A kernel that printed its panic is given a moment for the rest, then is not waited for.
    fn notice_panic(&mut self) -> Result<(), VmError> {
        let Some(message) = self.printed.panic() else { return Ok(()) };
        let since = *self.panicked_at.get_or_insert_with(Instant::now);
        if since.elapsed() < LAST_WORDS {
            return Ok(());
        }
        Err(self.failure(self.panicked(message)))
    }

    /// Why QEMU has closed the control channel.
    fn why_gone(&mut self) -> VmError {
        match self.last_words() {
            Err(error) => error,
            Ok(status) => {
                let cause = self.end(status);
                self.failure(cause)
            }
        }
    }

    /// Hears all that is left to hear, and waits for QEMU's end: closing its descriptors comes
    /// first, long before it on a busy machine. If it has said why it shuts down, that is all there
    /// is to know.
    fn last_words(&mut self) -> Result<Option<ExitStatus>, VmError> {
        loop {
            // Looked at before reading: all that it wrote before it ended is there by then.
            let status = self.process.ended();
            for _ in 0..LAST_READS {
                self.hear()?;
            }
            if status.is_some() || self.events.shutdown.is_some() {
                return Ok(status);
            }
            self.interrupt.check()?;
            if self.deadline.left().is_none() {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn panicked(&self, message: String) -> GuestCause {
        GuestCause::Panicked { message, doubt: Doubt::of(self.version, &self.printed) }
    }

    /// What became of QEMU, which ended with `status` as far as that is known.
    fn end(&self, status: Option<ExitStatus>) -> GuestCause {
        if let Some(message) = self.printed.panic() {
            return self.panicked(message);
        }
        let by_qemu = |how| GuestCause::Ended { by_guest: false, how };
        let by_guest = |how: &str| GuestCause::Ended { by_guest: true, how: how.to_owned() };
        match (self.events.shutdown.as_deref(), status) {
            (Some("guest-reset"), _) => by_guest("the guest rebooted"),
            (Some("guest-shutdown"), _) => by_guest("the guest shut down"),
            (Some(reason), _) => by_qemu(format!("QEMU shut down ({reason})")),
            (None, Some(status)) if status.signal() == Some(Signal::KILL.as_raw()) => {
                GuestCause::Killed { how: status.to_string() }
            }
            (None, Some(status)) => {
                by_qemu(format!("QEMU ended by itself ({status}){}", self.complaints))
            }
            (None, None) => by_qemu("QEMU closed its control channel".to_owned()),
        }
    }
}

fn patience<'a>(interrupt: &'a Interrupt, deadline: &'a mut Deadline) -> Patience<'a> {
    Patience { interrupt, deadline }
}

fn host(what: &'static str, source: std::io::Error) -> VmError {
    VmError::Host { what, source }
}

fn wait(sources: &[BorrowedFd<'_>], time: Duration) -> Result<(), VmError> {
    let mut polled: Vec<_> =
        sources.iter().map(|source| PollFd::new(source, PollFlags::IN)).collect();
    match poll(&mut polled, Some(&timespec(time))) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(host("waiting for QEMU", error.into())),
    }
}

/// The same time; the longest that there is if it is longer.
fn timespec(time: Duration) -> Timespec {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: i64::from(time.subsec_nanos()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_keeps_its_whole_seconds() {
        let time = timespec(Duration::from_millis(2_750));
        assert_eq!((time.tv_sec, time.tv_nsec), (2, 750_000_000));
        assert_eq!(timespec(TICK).tv_nsec, 50_000_000);
        assert_eq!(timespec(Duration::MAX).tv_sec, i64::MAX);
    }
}
