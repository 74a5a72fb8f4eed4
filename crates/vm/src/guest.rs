//! A guest as the sequence of a measurement sees it: what it is told, what it sends, how it fails.
//!
//! The sequence itself (`run/`) is written against this trait, so that its tests can let a guest of
//! a script die wherever they want.

pub(crate) mod channels;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::Duration;

use pathmeter_wire::{RawFrame, message::Memory};

use crate::{
    Interrupt, Settings, VmError,
    arch::{Firmware, Supply},
    console::Tail,
    error::{GuestCause, Step},
    gdb::{self, Stub},
    machine::{Origin, fd},
    qemu::alarm::Alarm,
};

/// What a guest is given beside what every one has.
#[derive(Default)]
pub struct Extra {
    /// Descriptors, by the number they shall have.
    pub(crate) files: Vec<(i32, OwnedFd)>,
    /// Further arguments for QEMU's command line.
    pub(crate) arguments: Vec<String>,
    /// By which the recorder, if that is loaded, says that it gave up.
    pub(crate) alarm: Option<Alarm>,
    /// By which the guest's memory is written to.
    pub(crate) stub: Option<Stub>,
    /// What answers a booting kernel's reads of a register that QEMU lacks.
    pub(crate) supply: Option<Supply>,
}

impl Extra {
    /// The kernel and the initramfs of a guest that boots. What else it has is dropped.
    pub fn boot_files(mut self) -> [Option<File>; 2] {
        [fd::KERNEL, fd::INITRAMFS].map(|wanted| {
            let place = self.files.iter().position(|(number, _)| *number == wanted)?;
            Some(File::from(self.files.swap_remove(place).1))
        })
    }

    /// Has QEMU serve its debugger's stub.
    pub(crate) fn serve_stub(&mut self) -> Result<Stub, VmError> {
        let made = Stub::pair();
        let (stub, far) =
            made.map_err(|source| VmError::Host { what: "making a channel to QEMU", source })?;
        self.files.push((fd::GDB, far));
        self.arguments.extend(gdb::arguments(fd::GDB));
        Ok(stub)
    }
}

/// How long a guest may be at one thing, and what ends it before.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    pub limit: Duration,
    pub interrupt: &'a Interrupt,
}

/// A guest, paused or running. Dropping it ends it.
pub trait Guest: Sized {
    /// What such a guest runs in.
    type Host;

    /// A new guest, paused: before its kernel's first instruction, or restored, as `origin` says;
    /// `extra` holds the descriptors that `origin` needs. It may be at one thing for at most the
    /// limit; see [`Guest::begin`].
    fn start(
        host: &Self::Host,
        bounds: Bounds<'_>,
        settings: &Settings,
        origin: (Origin, Firmware),
        extra: Extra,
    ) -> Result<Self, VmError>;

    /// Lets the paused guest run.
    fn resume(&mut self) -> Result<(), VmError>;

    /// The guest is now at `step`, and may be at it for as long as the limit says.
    fn begin(&mut self, step: Step);

    /// The guest is now at `step`, within the time that is left of the limit.
    fn proceed(&mut self, step: Step);

    /// Waits for the next frame and hands it to `take`.
    fn next_frame<R>(&mut self, take: impl FnOnce(&RawFrame<'_>) -> R) -> Result<R, VmError>;

    /// Waits until the guest has had itself paused.
    fn await_pause(&mut self) -> Result<(), VmError>;

    /// Writes the paused guest's state to `file`, from the file's offset on. It stays paused.
    fn save(&mut self, file: File) -> Result<(), VmError>;

    /// Copies the paused guest's memory to the file that it was given for it.
    fn copy_memory(&mut self, memory: Memory) -> Result<(), VmError>;

    /// Writes to the restored guest's memory, at a virtual address of the agent's, by the stub that
    /// it was given.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), VmError>;

    /// The end of what it printed so far.
    fn printed(&self) -> Tail;

    /// An error: this went wrong at the guest's present step.
    fn failure(&self, cause: GuestCause) -> VmError;
}
