//! The guest in QEMU, and the three channels to it, heard in one loop.
//!
//! One thread polls everything: the protocol port, the console, the control channel and QEMU's
//! stderr. So nothing QEMU writes ever waits for us long, and every wait ends by a deadline, by the
//! user's interrupt or by QEMU's end, whichever comes first.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ChildStderr;
use std::time::{Duration, Instant};

use pathmeter_wire::{MAX_FRAME, RawFrame, message::Memory, next_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::{
    Interrupt, Qemu, Request, Settings, VmError,
    console::Tail,
    error::{GuestCause, Step},
    guest::{Extra, Guest},
    machine::{FIRMWARE, Firmware, Origin, fd},
    memory_file::memory_file,
    process::{Process, read_available},
    qmp::{self, Lines, QmpMessage},
    stream,
};

/// Longest wait before the interrupt flag is looked at again.
const TICK: Duration = Duration::from_millis(50);
/// After a panic's first words the rest may still follow for so long.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A guest in QEMU. Dropping it kills QEMU.
pub(crate) struct QemuGuest {
    process: Process,
    port: UnixStream,
    console: UnixStream,
    control: UnixStream,
    stderr: Option<ChildStderr>,
    frames: Vec<u8>,
    lines: Lines,
    events: LatestEvents,
    printed: Tail,
    complaints: Tail,
    interrupt: Interrupt,
    limit: Duration,
    deadline: Instant,
    panicked_at: Option<Instant>,
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
        request: &Request<'_>,
        settings: &Settings,
        (origin, firmware): (Origin, Firmware),
        extra: Extra,
    ) -> Result<Self, VmError> {
        let mut guest = Self::launch(qemu, request, settings, (origin, firmware), extra)?;
        if origin == Origin::Snapshot {
            while guest.call("query-status", &Value::Null, None)?["status"] == "inmigrate" {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        Ok(guest)
    }

    fn resume(&mut self) -> Result<(), VmError> {
        self.call("cont", &Value::Null, None).map(|_| ())
    }

    fn begin(&mut self, step: Step) {
        self.step = step;
        self.deadline = Instant::now() + self.limit;
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
                    return Ok(result);
                }
                Ok(None) => self.pump()?,
            }
        }
    }

    fn await_pause(&mut self) -> Result<(), VmError> {
        self.wait_for(|events| std::mem::take(&mut events.paused).then_some(()))
    }

    fn save(mut self, file: File) -> Result<(), VmError> {
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
        // QEMU's end of the pipe closes with it, and the thread comes to an end.
        drop(self);
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

    fn failure(&self, cause: GuestCause) -> VmError {
        VmError::Guest { step: self.step.clone(), cause, console: self.printed.clone() }
    }
}

impl QemuGuest {
    /// Runs QEMU, the guest paused, or still being restored.
    fn launch(
        qemu: &Qemu,
        request: &Request<'_>,
        settings: &Settings,
        (origin, firmware): (Origin, Firmware),
        extra: Extra,
    ) -> Result<Self, VmError> {
        let (port, port_far) = pair()?;
        let (console, console_far) = pair()?;
        let (control, control_far) = pair()?;
        let far = [(fd::PORT, port_far), (fd::CONSOLE, console_far), (fd::QMP, control_far)];
        let mut descriptors = extra.files;
        descriptors.extend(far.map(|(number, end)| (number, OwnedFd::from(end))));
        if firmware == Firmware::Own {
            let file = memory_file("pathmeter-firmware", FIRMWARE)?;
            descriptors.push((fd::FIRMWARE, OwnedFd::from(file)));
        }
        let mut arguments = settings.arguments(origin, firmware);
        arguments.extend(extra.arguments.into_iter().map(OsString::from));
        let mut process = Process::spawn(qemu, &arguments, settings.clock, descriptors)?;
        let stderr = process.take_stderr();
        if let Some(stderr) = &stderr {
            let unblocked = rustix::io::ioctl_fionbio(stderr, true);
            unblocked.map_err(|error| host("preparing QEMU's stderr", error.into()))?;
        }
        let mut guest = Self {
            process,
            port,
            console,
            control,
            stderr,
            frames: Vec::new(),
            lines: Lines::default(),
            events: LatestEvents::default(),
            printed: Tail::default(),
            complaints: Tail::default(),
            interrupt: request.interrupt.clone(),
            limit: request.limit,
            deadline: Instant::now() + request.limit,
            panicked_at: None,
            step: Step::Start,
        };
        if let Err(error) = guest.call("qmp_capabilities", &Value::Null, None) {
            return Err(qemu.lacking().map_or(error, VmError::Qemu));
        }
        guest.begin(if origin == Origin::Boot { Step::Boot } else { Step::Restore });
        Ok(guest)
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
            return Err(self.ended_or(host("talking to QEMU", error)));
        }
        let answer = self.wait_for(|events| events.answer.take())?;
        answer.map_err(|answer| VmError::Refused {
            step: self.step.clone(),
            command: command.to_owned(),
            answer,
        })
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

    /// Hears all channels once, waiting for at most a tick.
    fn pump(&mut self) -> Result<(), VmError> {
        self.interrupt.check()?;
        let now = Instant::now();
        if now >= self.deadline {
            return Err(self.failure(GuestCause::Timeout { limit: self.limit }));
        }
        wait(&self.sources(), TICK.min(self.deadline - now))?;
        let open = self.hear()?;
        self.sort_control_lines();
        if !open {
            let broken = std::io::ErrorKind::BrokenPipe.into();
            return Err(self.ended_or(host("listening to QEMU", broken)));
        }
        if self.frames.len() > 2 * MAX_FRAME {
            return Err(self.not_the_protocol("more than was asked for".to_owned()));
        }
        if self.lines.overlong() {
            return Err(host("listening to QEMU", std::io::ErrorKind::InvalidData.into()));
        }
        self.notice_panic()
    }

    fn sources(&self) -> Vec<BorrowedFd<'_>> {
        let streams = [&self.port, &self.console, &self.control];
        let stderr = self.stderr.iter().map(AsFd::as_fd);
        streams.into_iter().map(AsFd::as_fd).chain(stderr).collect()
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
        Ok(heard != Some(0))
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
        Err(self.failure(GuestCause::Panicked { message }))
    }

    /// Why QEMU is gone; `otherwise` if it isn't.
    fn ended_or(&mut self, otherwise: VmError) -> VmError {
        // Closing its descriptors comes before its end; and its last words may still be on the way.
        let deadline = Instant::now() + Duration::from_secs(2);
        let status = loop {
            match self.process.ended() {
                None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                status => break status,
            }
        };
        let Some(status) = status else { return otherwise };
        let _ = self.hear();
        self.sort_control_lines();
        if let Some(message) = self.printed.panic() {
            return self.failure(GuestCause::Panicked { message });
        }
        let complaints = self.complaints.to_string();
        let (by_guest, how) = match self.events.shutdown.as_deref() {
            Some("guest-reset") => (true, "the guest rebooted".to_owned()),
            Some("guest-shutdown") => (true, "the guest shut down".to_owned()),
            Some(reason) => (false, format!("QEMU shut down ({reason})")),
            None => (false, format!("QEMU ended by itself ({status}){complaints}")),
        };
        self.failure(GuestCause::Ended { by_guest, how })
    }
}

fn host(what: &'static str, source: std::io::Error) -> VmError {
    VmError::Host { what, source }
}

/// Two ends of a channel; ours doesn't block.
fn pair() -> Result<(UnixStream, UnixStream), VmError> {
    let make = || {
        let (near, far) = UnixStream::pair()?;
        near.set_nonblocking(true)?;
        Ok((near, far))
    };
    make().map_err(|error| host("making a channel to QEMU", error))
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
