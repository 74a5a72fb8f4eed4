//! MSR 0x10a, `IA32_ARCH_CAPABILITIES`, in which Intel's CPUs since 2019 say what they are not
//! vulnerable to. QEMU's interpreter has it read 0, and a kernel would then choose the mitigations
//! of an older machine. So while the kernel boots, its reads of this MSR are answered from outside.
//!
//! The guest is stopped, through QEMU's gdb stub, where its code loads the MSR's number as an
//! argument, and is run instruction by instruction from there to the `rdmsr`. That is skipped, with
//! the value in its registers. There are a few such places in a kernel, and one to five reads. The
//! stub keeps its breakpoints outside the guest's memory. They are removed at READY, so a restored
//! guest has none.
//!
//! It costs the clock one instruction less for each read, always the same.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use pathmeter_image::executable_segments;

use crate::gdb::{Patience, Register, Stub, Trouble};
use crate::machine::fd;

/// The MSR's number.
const MSR: u32 = 0x10a;
/// `mov $0x10a, %edi` and `mov $0x10a, %ecx`: the first argument of a function, or of `rdmsr`.
const LOADS: [[u8; 5]; 2] = [[0xbf, 0x0a, 0x01, 0, 0], [0xb9, 0x0a, 0x01, 0, 0]];
/// `rdmsr`, as the stub shows memory.
const RDMSR: &str = "0f32";
/// Most places at which to stop: kernels have one to eight, most of them data.
const MOST_PLACES: usize = 64;
/// Instructions from the load to the `rdmsr`, at most: a call or two and their prologues. A number
/// that is loaded for something else is given up after as many.
const MOST_STEPS: u32 = 32;
/// Stops after which something must be wrong: kernels make at most a hundred.
const MOST_STOPS: u32 = 10_000;
/// How the stub says that the guest stopped at a breakpoint or after a step (`SIGTRAP`).
const TRAP: &str = "T05";

/// Answers a booting kernel's reads of the MSR.
pub(crate) struct Supply {
    stub: Stub,
    value: u64,
    places: Vec<u64>,
    stopped: bool,
    stops: u32,
    answered: u32,
}

/// The arguments that have QEMU serve the stub on [`fd::GDB`].
pub(crate) fn arguments() -> [String; 4] {
    let channel = format!("socket,id=gdb,fd={}", fd::GDB);
    ["-chardev".to_owned(), channel, "-gdb".to_owned(), "chardev:gdb".to_owned()]
}

/// Where a vmlinux may load the MSR's number to read it; too many places are none.
pub(crate) fn places(vmlinux: &[u8]) -> Vec<u64> {
    let mut found = BTreeSet::new();
    for (address, bytes) in executable_segments(vmlinux) {
        let windows = bytes.windows(LOADS[0].len()).zip(0..);
        let loads = windows.filter(|(window, _)| LOADS.iter().any(|load| load == window));
        found.extend(loads.map(|(_, offset)| address.wrapping_add(offset)).take(MOST_PLACES + 1));
    }
    if found.len() > MOST_PLACES { Vec::new() } else { found.into_iter().collect() }
}

impl Supply {
    /// For reads near these places, and QEMU's end of the channel.
    pub(crate) fn new(value: u64, places: Vec<u64>) -> std::io::Result<(Self, OwnedFd)> {
        let (near, far) = UnixStream::pair()?;
        near.set_nonblocking(true)?;
        let stub = Stub::new(near);
        Ok((Self { stub, value, places, stopped: true, stops: 0, answered: 0 }, far.into()))
    }

    /// Lets the guest, which has not begun yet, run.
    pub(crate) fn begin(&mut self, patience: &mut Patience<'_>) -> Result<(), Trouble> {
        self.stub.ask("qXfer:features:read:target.xml:0,800", patience)?;
        for place in &self.places {
            self.stub.order(&format!("Z0,{place:x},1"), patience)?;
        }
        self.proceed()
    }

    /// Does what there is to do if the guest has stopped.
    pub(crate) fn hear(&mut self, patience: &mut Patience<'_>) -> Result<(), Trouble> {
        match self.stub.hear()? {
            Some(answer) if answer.starts_with(TRAP) => self.supply(patience),
            Some(_) => {
                self.stopped = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The guest is paused, and is not to be stopped any more: how many reads were answered.
    pub(crate) fn end(mut self, patience: &mut Patience<'_>) -> Result<u32, Trouble> {
        if !self.stopped {
            self.stub.answer(patience)?;
        }
        for place in &self.places {
            self.stub.order(&format!("z0,{place:x},1"), patience)?;
        }
        Ok(self.answered)
    }

    /// From a place at which the guest has stopped, to the `rdmsr` and past it.
    fn supply(&mut self, patience: &mut Patience<'_>) -> Result<(), Trouble> {
        self.stops += 1;
        if self.stops > MOST_STOPS {
            let (command, answer) =
                ("the debugger's \"c\"".to_owned(), "too many stops".to_owned());
            return Err(Trouble::Answer { command, answer });
        }
        for _ in 0..MOST_STEPS {
            let at = self.stub.read(Register::Rip, patience)?;
            if self.reads_the_msr(at, patience)? {
                self.stub.write(Register::Rax, self.value & 0xffff_ffff, patience)?;
                self.stub.write(Register::Rdx, self.value >> 32, patience)?;
                self.stub.write(Register::Rip, at + RDMSR.len() as u64 / 2, patience)?;
                self.answered += 1;
                break;
            }
            if !self.stub.ask("s", patience)?.starts_with(TRAP) {
                self.stopped = true;
                return Ok(());
            }
        }
        self.proceed()
    }

    fn reads_the_msr(&mut self, at: u64, patience: &mut Patience<'_>) -> Result<bool, Trouble> {
        if self.stub.ask(&format!("m{at:x},2"), patience)? != RDMSR {
            return Ok(false);
        }
        let number = self.stub.read(Register::Rcx, patience)?;
        Ok(number & 0xffff_ffff == u64::from(MSR))
    }

    fn proceed(&mut self) -> Result<(), Trouble> {
        self.stopped = false;
        self.stub.send("c")
    }
}

impl AsFd for Supply {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stub.as_fd()
    }
}
