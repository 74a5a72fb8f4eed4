//! The protocol port: a byte port to the host, beside the console.
//!
//! Two ways to reach it from user space: by instructions, with a privilege; or, on kernels that
//! give none, by a file. The privilege is dropped at once after each use: a task that holds it
//! makes every switch to it more expensive, and a probe forked from here must not inherit that.

use pathmeter_probes::Suite;
use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::{Kind, MAX_FRAME, message, program};

use crate::{
    arch::{
        CONTROL, DATA, FILE, PAUSE, drop_privilege, receive, send, take_privilege, unreachable,
    },
    pause,
    trouble::Trouble,
};

/// How bytes get out of the guest.
#[derive(Clone, Copy)]
enum Way {
    /// The port is not opened yet.
    None,
    /// The privilege is taken, then port instructions are executed.
    Instructions,
    /// This descriptor of [`FILE`].
    File(usize),
}

/// The port, and the buffer in which frames for it are made.
pub(crate) struct Port {
    way: Way,
    frame: [u8; MAX_FRAME],
}

impl Port {
    /// A port not opened yet: what is sent is lost.
    #[allow(clippy::large_stack_arrays, reason = "made once; a stack has 8 MiB")]
    pub(crate) fn new() -> Self {
        Self { way: Way::None, frame: [0; MAX_FRAME] }
    }

    /// Finds a way to the port.
    pub(crate) fn open(&mut self) -> Result<(), Trouble> {
        if take_privilege() {
            self.way = Way::Instructions;
            drop_privilege();
            return Ok(());
        }
        match sys::open(CStr::new(FILE), flag::O_RDWR, 0) {
            Ok(fd) => self.way = Way::File(fd),
            Err(error) => {
                return Err(unreachable(error));
            }
        }
        Ok(())
    }

    /// Sends a frame that carries one text.
    pub(crate) fn send_plain(&mut self, kind: Kind, text: &[u8]) {
        if let Some(frame) = message::plain(&mut self.frame, kind, text) {
            put(self.way, frame);
        }
    }

    /// Sends what a file about the CPU holds.
    pub(crate) fn send_fact(&mut self, name: &[u8], text: &[u8]) {
        if let Some(frame) = message::fact(&mut self.frame, name, text) {
            put(self.way, frame);
        }
    }

    /// Reports where something is, or may be put.
    pub(crate) fn send_memory(&mut self, kind: Kind, memory: message::Memory) {
        if let Some(frame) = message::memory(&mut self.frame, kind, memory) {
            put(self.way, frame);
        }
    }

    /// Reports which setting of the condition can't be had.
    pub(crate) fn send_unmet(&mut self, unmet: &message::Unmet<'_>) {
        if let Some(frame) = message::unmet(&mut self.frame, unmet) {
            put(self.way, frame);
        }
    }

    /// Sends what a file shows of the condition's settings.
    pub(crate) fn send_shown(&mut self, shown: &message::Shown<'_>) {
        if let Some(frame) = message::write_shown(&mut self.frame, shown) {
            put(self.way, frame);
        }
    }

    pub(crate) fn send_begin(&mut self, place: message::Place) {
        if let Some(frame) = message::begin(&mut self.frame, place) {
            put(self.way, frame);
        }
    }

    /// Announces a run of the user's program.
    pub(crate) fn send_program_begin(&mut self, run: u64) {
        if let Some(frame) = program::begin(&mut self.frame, run) {
            put(self.way, frame);
        }
    }

    /// Sends how a run of the user's program ended.
    pub(crate) fn send_program_end(&mut self, end: program::ProgramEnd) {
        if let Some(frame) = program::end(&mut self.frame, end) {
            put(self.way, frame);
        }
    }

    /// Sends a piece of what the user's program wrote.
    pub(crate) fn send_program_output(&mut self, output: &program::ProgramOutput<'_>) {
        if let Some(frame) = program::output(&mut self.frame, output) {
            put(self.way, frame);
        }
    }

    /// Sends a piece of a perf map.
    pub(crate) fn send_perf_map(&mut self, map: &program::PerfMap<'_>) {
        if let Some(frame) = program::perf_map(&mut self.frame, map) {
            put(self.way, frame);
        }
    }

    /// Sends what came of a path; false if it did not fit a frame.
    pub(crate) fn send_outcome<'c, C>(&mut self, outcome: message::Outcome<'_, C>) -> bool
    where
        C: ExactSizeIterator<Item = (&'c [u8], &'c [u8])>,
    {
        let frame = message::outcome(&mut self.frame, outcome);
        frame.is_some_and(|frame| {
            put(self.way, frame);
            true
        })
    }

    /// Sends that a path failed, and why.
    pub(crate) fn send_failed(&mut self, place: message::Place, reason: &[u8]) {
        let status = message::OutcomeStatus::Failed;
        let checks = core::iter::empty();
        // A reason of the agent's own fits.
        let (samples, lower_bounds) = (&[][..], &[][..]);
        let outcome = message::Outcome { place, status, reason, checks, samples, lower_bounds };
        let _ = self.send_outcome(outcome);
    }

    /// Whether the host asks for this: it says so when it lets the guest go on from READY, so that
    /// one boot serves all that may be asked for.
    pub(crate) fn asks(&self, what: u8) -> bool {
        let mut byte = [0];
        match self.way {
            Way::None => {}
            Way::File(fd) => {
                let _ = sys::read_at(fd, &mut byte, DATA);
            }
            Way::Instructions => with_privilege(|| byte[0] = receive()),
        }
        byte[0] == what
    }

    /// Has the host's QEMU pause the guest; goes on when it is resumed.
    pub(crate) fn pause(&self, suite: Suite) {
        match (self.way, suite) {
            (Way::None, _) => {}
            (Way::File(fd), _) => {
                let _ = sys::write_at(fd, &[PAUSE], CONTROL);
            }
            (Way::Instructions, Suite::Exact) => {
                with_privilege(pause::at_an_exact_state);
            }
            (Way::Instructions, Suite::Elapsed) => {
                with_privilege(pause::somewhere);
            }
        }
    }
}

/// Prints on the console what went wrong, for the case that the port can't be reached.
pub(crate) fn complain(text: &[u8]) {
    if let Ok(console) = sys::open(CStr::new(b"/dev/console\0"), flag::O_WRONLY, 0) {
        for part in [&b"pathmeter agent: "[..], text, &b"\n"[..]] {
            let _ = sys::write(console, part);
        }
    }
}

fn put(way: Way, bytes: &[u8]) {
    match way {
        Way::None => {}
        // Each byte alone: the file's offset is the port's number, and moves on with every byte.
        Way::File(fd) => bytes.iter().for_each(|byte| {
            let _ = sys::write_at(fd, &[*byte], DATA);
        }),
        Way::Instructions => with_privilege(|| {
            // SAFETY: the privilege is held.
            unsafe { send(bytes) };
        }),
    }
}

fn with_privilege(access: impl FnOnce()) {
    if take_privilege() {
        access();
        drop_privilege();
    }
}
