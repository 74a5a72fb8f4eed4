//! MSR 0x10a, `IA32_ARCH_CAPABILITIES`, in which Intel's CPUs since 2019 say what they are not
//! vulnerable to. QEMU's interpreter has it read 0, and a kernel would then choose the mitigations
//! of an older machine. So while the kernel boots, its reads of this MSR are answered from outside.
//!
//! The guest is stopped, through QEMU's gdb stub, where its code loads the MSR's number as an
//! argument, and is run instruction by instruction from there to the `rdmsr`. That is skipped, with
//! the value in its registers. There are a few such places in a kernel, and a few reads. The
//! stub keeps its breakpoints outside the guest's memory, by virtual address. So they need not be
//! mapped yet: the firmware, or the decompressor of a bzImage, first puts the kernel there. They
//! are removed when it is paused, so a restored guest has none.
//!
//! It costs the clock one instruction less for each read, always the same.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};

use pathmeter_image::executable_segments;

use super::register::Register;
use crate::gdb::{Patience, Stub, Trouble};

/// The number of the MSR `IA32_ARCH_CAPABILITIES`.
const MSR: u32 = 0x10a;
/// `mov $0x10a, %edi` and `mov $0x10a, %ecx`: the first argument of a function, or of `rdmsr`.
const LOADS: [[u8; 5]; 2] = [[0xbf, 0x0a, 0x01, 0, 0], [0xb9, 0x0a, 0x01, 0, 0]];
/// `rdmsr`, as the stub shows memory.
const RDMSR: &str = "0f32";
/// Most places at which to stop: kernels have two or three, some of them data.
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

/// Where a vmlinux may load the MSR's number to read it, if the places are not too many.
pub(crate) fn places(vmlinux: &[u8]) -> Option<Vec<u64>> {
    let mut found = BTreeSet::new();
    for (address, bytes) in executable_segments(vmlinux) {
        let windows = bytes.windows(LOADS[0].len()).zip(0..);
        let loads = windows.filter(|(window, _)| LOADS.iter().any(|load| load == window));
        found.extend(loads.map(|(_, offset)| address.wrapping_add(offset)).take(MOST_PLACES + 1));
    }
    (found.len() <= MOST_PLACES).then(|| found.into_iter().collect())
}

impl Supply {
    /// For reads near these places.
    pub(crate) fn new(stub: Stub, value: u64, places: Vec<u64>) -> Self {
        Self { stub, value, places, stopped: true, stops: 0, answered: 0 }
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
            let at = self.stub.read(Register::Rip as u32, patience)?;
            if self.reads_the_msr(at, patience)? {
                self.stub.write(Register::Rax as u32, self.value & 0xffff_ffff, patience)?;
                self.stub.write(Register::Rdx as u32, self.value >> 32, patience)?;
                self.stub.write(Register::Rip as u32, at + RDMSR.len() as u64 / 2, patience)?;
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
        let number = self.stub.read(Register::Rcx as u32, patience)?;
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread::JoinHandle;
    use std::time::Duration;

    use super::*;
    use crate::deadline::Deadline;
    use crate::interrupt::Interrupt;

    const PLACE: u64 = 0xffff_ffff_8104_71d6;

    /// An ELF file for x86-64 with one segment at [`PLACE`].
    fn vmlinux(flags: u32, code: &[u8]) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0");
        file[20] = 1;
        for (at, value) in [(32, 64_u16), (52, 64), (54, 56), (56, 1)] {
            file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        file[64..68].copy_from_slice(&1_u32.to_le_bytes());
        file[68..72].copy_from_slice(&flags.to_le_bytes());
        let length = code.len() as u64;
        for (at, value) in [(72, 120), (80, PLACE), (96, length), (104, length)] {
            file[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        }
        [&file, code].concat()
    }

    #[test]
    fn the_places_are_where_code_loads_the_number_as_an_argument() {
        let code = [&[0x90][..], &LOADS[0], &[0xba, 0x0a, 1, 0, 0], &LOADS[1]].concat();
        assert_eq!(places(&vmlinux(5, &code)), Some(vec![PLACE + 1, PLACE + 11]));
        assert_eq!(places(&vmlinux(6, &code)), Some(vec![]), "data");
        assert_eq!(places(&vmlinux(5, &LOADS[0].repeat(MOST_PLACES + 1))), None);
        assert_eq!(places(b"MZ"), Some(vec![]));
    }

    /// A stub whose guest stops once at [`PLACE`], has the number in RCX and `rdmsr` after so many
    /// steps, and is paused in the end: what it was sent.
    fn stub(mut far: UnixStream, distance: u64) -> JoinHandle<Vec<String>> {
        std::thread::spawn(move || {
            let (mut sent, mut received, mut steps, mut runs) = (Vec::new(), Vec::new(), 0, 0);
            let mut buffer = [0; 512];
            while let Ok(count @ 1..) = far.read(&mut buffer) {
                received.extend_from_slice(&buffer[..count]);
                while let Some(end) = received.iter().position(|byte| *byte == b'#') {
                    let packet: Vec<u8> = received.drain(..(end + 3).min(received.len())).collect();
                    let text = String::from_utf8(packet).unwrap();
                    let text = text.trim_start_matches('+').split('#').next().unwrap().to_owned();
                    let command = text.trim_start_matches('$').to_owned();
                    let answer = match &command[..1] {
                        "q" => "l<target/>".to_owned(),
                        "p" if command == "p2" => format!("{:016x}", u64::from(MSR).swap_bytes()),
                        "p" => format!("{:016x}", (PLACE + steps).swap_bytes()),
                        "m" if steps == distance => RDMSR.to_owned(),
                        "m" => "9090".to_owned(),
                        "s" => {
                            steps += 1;
                            "T05thread:01;".to_owned()
                        }
                        "c" => {
                            runs += 1;
                            if runs == 1 { "T05thread:01;" } else { "T06thread:01;" }.to_owned()
                        }
                        _ => "OK".to_owned(),
                    };
                    let sum = answer.bytes().fold(0_u8, u8::wrapping_add);
                    write!(far, "+${answer}#{sum:02x}").unwrap();
                    sent.push(command);
                }
            }
            sent
        })
    }

    /// How many reads were answered, and what the stub was sent.
    fn supplied(distance: u64) -> (u32, Vec<String>) {
        let (channel, far) = Stub::pair().unwrap();
        let mut supply = Supply::new(channel, 0x1_0202_016b, vec![PLACE]);
        let stub = stub(UnixStream::from(far), distance);
        let mut deadline = Deadline::after(Duration::from_secs(60));
        let interrupt = Interrupt::default();
        let mut patience = Patience { interrupt: &interrupt, deadline: &mut deadline };
        supply.begin(&mut patience).unwrap();
        while !supply.stopped {
            supply.hear(&mut patience).unwrap();
        }
        let answered = supply.end(&mut patience).unwrap();
        (answered, stub.join().unwrap())
    }

    #[test]
    fn a_read_is_answered_and_skipped_and_the_breakpoints_are_removed() {
        let (answered, sent) = supplied(3);
        assert_eq!(answered, 1);
        let place = format!("{PLACE:x}");
        assert_eq!(sent[1..3], [format!("Z0,{place},1"), "c".to_owned()]);
        let after = (PLACE + 5).swap_bytes();
        let written: Vec<_> = sent.iter().filter(|command| command.starts_with('P')).collect();
        let rip = format!("P10={after:016x}");
        assert_eq!(written, ["P0=6b01020200000000", "P3=0100000000000000", &rip]);
        assert_eq!(sent.last().unwrap(), &format!("z0,{place},1"));
    }

    #[test]
    fn a_number_that_is_loaded_for_something_else_is_given_up() {
        let (answered, sent) = supplied(u64::MAX);
        assert_eq!(answered, 0);
        let steps = sent.iter().filter(|command| *command == "s").count();
        assert_eq!(steps, MOST_STEPS as usize);
    }

    #[test]
    fn a_stub_that_ends_or_says_something_else_is_an_error() {
        let mut deadline = Deadline::after(Duration::from_secs(60));
        let interrupt = Interrupt::default();
        let mut patience = Patience { interrupt: &interrupt, deadline: &mut deadline };
        let (channel, far) = Stub::pair().unwrap();
        let mut supply = Supply::new(channel, 1, vec![PLACE]);
        drop(far);
        assert!(matches!(supply.begin(&mut patience), Err(Trouble::Gone)));
        let (channel, far) = Stub::pair().unwrap();
        let mut supply = Supply::new(channel, 1, vec![PLACE]);
        let mut far = UnixStream::from(far);
        far.write_all(b"$l#6c$E22#a9").unwrap();
        let Err(Trouble::Answer { command, answer }) = supply.begin(&mut patience) else {
            panic!("taken");
        };
        assert!(command.contains("Z0,") && answer == "E22", "{command}: {answer}");
    }
}
