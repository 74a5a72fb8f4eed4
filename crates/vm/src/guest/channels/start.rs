//! How a guest in QEMU is started: its command line, its channels, and whether it is the machine
//! that was asked for.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::{LatestEvents, QemuGuest, host};
use crate::{
    Interrupt, Qemu, Settings, VmError,
    arch::{FIRMWARE, Firmware},
    console::Tail,
    deadline::Deadline,
    error::{GuestCause, Step},
    guest::{Bounds, Extra, Guest},
    machine::{Origin, fd},
    qemu::memory_file::memory_file,
    qemu::plugin::Plugin,
    qemu::process::Process,
    qemu::qmp::Lines,
};

/// Adds a plugin that keeps the exact clock right: every plugin does, and a guest that no other one
/// observes has one for that. A QEMU that takes no plugin goes without.
pub(super) fn with_clock(
    qemu: &Qemu,
    interrupt: &Interrupt,
    mut extra: Extra,
) -> Result<Extra, VmError> {
    if extra.files.iter().any(|(number, _)| *number == fd::PLUGIN) {
        return Ok(extra);
    }
    match Plugin::Clock.for_qemu(qemu, interrupt) {
        Ok(plugin) => {
            extra.files.push((fd::PLUGIN, OwnedFd::from(plugin)));
            let file = format!("/proc/self/fd/{}", fd::PLUGIN);
            extra.arguments.extend(["-plugin".to_owned(), file]);
            Ok(extra)
        }
        Err(VmError::Recorder { .. }) => Ok(extra),
        Err(error) => Err(error),
    }
}

impl QemuGuest {
    /// Runs QEMU, the guest paused, or still being restored.
    pub(super) fn launch(
        qemu: &Qemu,
        bounds: Bounds<'_>,
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
        let mut arguments = settings.arguments(qemu.number, origin, firmware);
        arguments.extend(extra.arguments.into_iter().map(OsString::from));
        let mut process = Process::spawn(&qemu.path, &arguments, settings.clock, descriptors)?;
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
            alarm: extra.alarm,
            stub: extra.stub,
            supply: extra.supply,
            frames: Vec::new(),
            lines: Lines::default(),
            events: LatestEvents::default(),
            printed: Tail::default(),
            complaints: Tail::default(),
            interrupt: bounds.interrupt.clone(),
            limit: bounds.limit,
            deadline: Deadline::after(bounds.limit),
            panicked_at: None,
            paused_at: None,
            version: qemu.number,
            step: Step::Start,
        };
        if let Err(error) = guest.call("qmp_capabilities", &Value::Null, None) {
            return Err(guest.why_not_started(qemu, error));
        }
        guest.check_machine(settings)?;
        guest.begin(if origin == Origin::Boot { Step::Boot } else { Step::Restore });
        Ok(guest)
    }

    /// Compares the memory and the CPU's features with those that were asked for: a script in
    /// QEMU's place may ask for others.
    fn check_machine(&mut self, settings: &Settings) -> Result<(), VmError> {
        let mut other = Vec::new();
        let memory = self.ask("query-memory-size-summary", &Value::Null)?;
        let bytes = memory["base-memory"].as_u64();
        let asked = u64::from(settings.memory_mib) << 20;
        if let Some(bytes) = bytes.filter(|bytes| *bytes != asked) {
            other.push(format!("{} MiB of memory for {}", bytes >> 20, settings.memory_mib));
        }
        let cpus = self.ask("query-cpus-fast", &Value::Null)?;
        let first = json!({ "path": cpus[0]["qom-path"], "property": "feature-words" });
        let words = self.ask("qom-get", &first)?;
        other.extend(settings.cpu.compare_features(self.version, &words));
        if other.is_empty() { Ok(()) } else { Err(VmError::OtherMachine(other)) }
    }

    /// What QEMU says; nothing if it does not know how to.
    fn ask(&mut self, command: &str, arguments: &Value) -> Result<Value, VmError> {
        match self.call(command, arguments, None) {
            Err(VmError::Refused { .. }) => Ok(Value::Null),
            told => told,
        }
    }

    /// The reason if it is something that this QEMU lacks; else `error` itself.
    fn why_not_started(&self, qemu: &Qemu, error: VmError) -> VmError {
        let VmError::Guest { cause: GuestCause::Ended { .. }, .. } = error else { return error };
        let lacking = qemu.lacking(&self.interrupt);
        // Asking is interrupted too.
        self.interrupt
            .check()
            .err()
            .map(VmError::from)
            .or(lacking.map(VmError::Qemu))
            .unwrap_or(error)
    }
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
