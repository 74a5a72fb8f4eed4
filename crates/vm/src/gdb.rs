//! QEMU's gdb stub: as much of its protocol as it takes to stop a guest at places, to read and set
//! its registers there, and to write to its memory.
//!
//! Contract: the stub is QEMU's own, but every answer is bounded and checked, and every wait for
//! one ends by the user's interrupt, by the guest's limit or by QEMU's end.
//!
//! Sources: the GDB manual's chapter on the remote serial protocol; QEMU `gdbstub/`, which knows
//! registers by number only once it was asked for their description.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::deadline::Deadline;
use crate::interrupt::{Interrupt, Interrupted};
use crate::stream::read_available;

/// Bytes of an answer that is still waited for; the longest asked for has half of it.
const LONGEST: usize = 16 * 1024;
/// Bytes of memory that one command writes: of its own 4096 the stub takes two for each (QEMU
/// `gdbstub/internals.h`, `MAX_PACKET_LENGTH`).
const PIECE: usize = 2000;
/// How often the user's interrupt is looked at.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// How long an answer is waited for.
pub(crate) struct Patience<'a> {
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) deadline: &'a mut Deadline,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The user interrupted the wait.
    Interrupted,
    /// The guest's limit has passed.
    Late,
    /// QEMU has closed the channel.
    Gone,
    /// Reading or writing the channel failed.
    Failed(io::Error),
    /// QEMU answered something else than it should.
    Answer { command: String, answer: String },
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Gone,
            _ => Self::Failed(error),
        }
    }
}

/// The arguments that have QEMU serve the stub on the descriptor with this number.
pub(crate) fn arguments(number: i32) -> [String; 4] {
    let channel = format!("socket,id=gdb,fd={number}");
    ["-chardev".to_owned(), channel, "-gdb".to_owned(), "chardev:gdb".to_owned()]
}

/// The channel to the stub. It does not block.
pub(crate) struct Stub {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Stub {
    /// A channel, and QEMU's end of it.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (stream, far) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        Ok((Self { stream, received: Vec::new() }, far.into()))
    }

    /// The answer to `command`.
    pub(crate) fn ask(
        &mut self,
        command: &str,
        patience: &mut Patience<'_>,
    ) -> Result<String, Trouble> {
        self.send(command)?;
        self.answer(patience)
    }

    /// Sends a command that is answered when the guest stops, or not at all.
    pub(crate) fn send(&mut self, command: &str) -> Result<(), Trouble> {
        let sum = checksum(command.as_bytes());
        Ok(self.stream.write_all(format!("${command}#{sum:02x}").as_bytes())?)
    }

    /// Sends a command that must be answered with `OK`.
    pub(crate) fn order(
        &mut self,
        command: &str,
        patience: &mut Patience<'_>,
    ) -> Result<(), Trouble> {
        match self.ask(command, patience)? {
            answer if answer == "OK" => Ok(()),
            answer => Err(unexpected(command, &answer)),
        }
    }

    /// Reads the value of the register with this number in the stub's description.
    pub(crate) fn read(
        &mut self,
        register: u32,
        patience: &mut Patience<'_>,
    ) -> Result<u64, Trouble> {
        let command = format!("p{register:x}");
        let answer = self.ask(&command, patience)?;
        value(&answer).ok_or_else(|| unexpected(&command, &answer))
    }

    /// Sets a register to this value.
    pub(crate) fn write(
        &mut self,
        register: u32,
        value: u64,
        patience: &mut Patience<'_>,
    ) -> Result<(), Trouble> {
        let command = format!("P{register:x}={:016x}", value.swap_bytes());
        self.order(&command, patience)
    }

    /// Writes to the paused guest's memory, at an address as its first CPU has it now.
    pub(crate) fn put(
        &mut self,
        address: u64,
        bytes: &[u8],
        patience: &mut Patience<'_>,
    ) -> Result<(), Trouble> {
        for (place, piece) in (0..).step_by(PIECE).zip(bytes.chunks(PIECE)) {
            // The guest has named the address.
            let place = address.wrapping_add(place);
            let digits = data_encoding::HEXLOWER.encode(piece);
            self.order(&format!("M{place:x},{:x}:{digits}", piece.len()), patience)?;
        }
        Ok(())
    }

    /// Waits for the next answer.
    pub(crate) fn answer(&mut self, patience: &mut Patience<'_>) -> Result<String, Trouble> {
        loop {
            if let Some(answer) = self.hear()? {
                return Ok(answer);
            }
            patience.check()?;
            let mut polled = [PollFd::new(&self.stream, PollFlags::IN)];
            match poll(&mut polled, Some(&TICK)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Trouble::Failed(error.into())),
            }
        }
    }

    /// The next answer, if it is there already.
    pub(crate) fn hear(&mut self) -> Result<Option<String>, Trouble> {
        let mut buffer = [0; 4096];
        match read_available(&mut self.stream, &mut buffer)? {
            Some(0) => return Err(Trouble::Gone),
            Some(count) => self.received.extend_from_slice(&buffer[..count]),
            None => {}
        }
        let Some((packet, length)) = first_packet(&self.received) else {
            if self.received.len() > LONGEST {
                let answer = format!("{} bytes without an end", self.received.len());
                return Err(unexpected("nothing", &answer));
            }
            return Ok(None);
        };
        self.received.drain(..length);
        self.stream.write_all(b"+")?;
        Ok(Some(packet))
    }
}

impl AsFd for Stub {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Patience<'_> {
    fn check(&mut self) -> Result<(), Trouble> {
        self.interrupt.check().map_err(|Interrupted| Trouble::Interrupted)?;
        self.deadline.left().map(|_: Duration| ()).ok_or(Trouble::Late)
    }
}

fn unexpected(command: &str, answer: &str) -> Trouble {
    let answer = answer.chars().take(80).collect();
    // Without the bytes that are written.
    let command = command.split(':').next().unwrap_or_default();
    Trouble::Answer { command: format!("the debugger's {command:?}"), answer }
}

/// The first whole packet, and the bytes up to its end. What is before it, and a packet whose
/// checksum is wrong, is passed over: the channel loses nothing, so that is no packet.
fn first_packet(received: &[u8]) -> Option<(String, usize)> {
    let mut passed = 0;
    loop {
        let begin = passed + 1 + received[passed..].iter().position(|byte| *byte == b'$')?;
        let length = received[begin..].iter().position(|byte| *byte == b'#')?;
        let end = begin + length + 3;
        let sum = received.get(begin + length + 1..end)?;
        let payload = &received[begin..begin + length];
        if sum == format!("{:02x}", checksum(payload)).as_bytes() {
            return Some((String::from_utf8_lossy(payload).into_owned(), end));
        }
        passed = begin;
    }
}

fn checksum(payload: &[u8]) -> u8 {
    payload.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// A register's value: its bytes in hexadecimal, the lowest first.
fn value(answer: &str) -> Option<u64> {
    let digits = answer.len() == 16 && answer.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(answer, 16).ok().map(u64::swap_bytes))?
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Puts these bytes there, with a stub that answers so: the commands that it was sent.
    fn put(address: u64, bytes: &[u8], answer: &'static str) -> (Result<(), Trouble>, Vec<String>) {
        let (mut stub, far) = Stub::pair().unwrap();
        let mut far = UnixStream::from(far);
        let serving = std::thread::spawn(move || {
            let (mut sent, mut received, mut buffer) = (Vec::new(), Vec::new(), [0; 8192]);
            while let Ok(count @ 1..) = far.read(&mut buffer) {
                received.extend_from_slice(&buffer[..count]);
                while let Some((command, length)) = first_packet(&received) {
                    received.drain(..length);
                    sent.push(command);
                    let sum = checksum(answer.as_bytes());
                    far.write_all(format!("+${answer}#{sum:02x}").as_bytes()).unwrap();
                }
            }
            sent
        });
        let mut deadline = Deadline::after(Duration::from_secs(60));
        let interrupt = Interrupt::default();
        let mut patience = Patience { interrupt: &interrupt, deadline: &mut deadline };
        let done = stub.put(address, bytes, &mut patience);
        drop(stub);
        (done, serving.join().unwrap())
    }

    #[test]
    fn memory_is_written_in_pieces_one_after_the_other() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(2 * PIECE + 3).collect();
        let (done, sent) = put(0x7fff_0000, &bytes, "OK");
        done.unwrap();
        let mut written = Vec::new();
        for command in &sent {
            let (place, digits) = command.strip_prefix('M').unwrap().split_once(':').unwrap();
            let piece = data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap();
            let address = 0x7fff_0000 + written.len();
            assert_eq!(place, format!("{address:x},{:x}", piece.len()));
            assert!(command.len() < 4096);
            written.extend(piece);
        }
        assert_eq!((sent.len(), written), (3, bytes));
    }

    #[test]
    fn memory_that_can_not_be_written_is_an_error_at_once() {
        let (done, sent) = put(u64::MAX, &[1; 2 * PIECE], "E14");
        let Err(Trouble::Answer { command, answer }) = done else { panic!("it was written") };
        let refused = "the debugger's \"Mffffffffffffffff,7d0\"";
        assert_eq!((&command[..], &answer[..]), (refused, "E14"));
        assert_eq!(sent.len(), 1);
    }

    #[test]
    fn packets_are_found_whole_and_in_order() {
        let received = b"+$OK#9a$T05thread:01;#07";
        let (first, length) = first_packet(received).unwrap();
        assert_eq!((&first[..], length), ("OK", 7));
        assert_eq!(first_packet(&received[length..]).unwrap().0, "T05thread:01;");
        for cut in 1..7 {
            assert_eq!(first_packet(&received[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn a_packet_with_a_wrong_sum_is_passed_over() {
        assert_eq!(first_packet(b"$OK#9b$OK#9a").unwrap(), ("OK".to_owned(), 12));
        assert_eq!(first_packet(b"$OK#9b"), None);
        assert_eq!(first_packet(b""), None);
    }

    #[test]
    fn a_registers_lowest_byte_is_first() {
        assert_eq!(value("0a01000000000000"), Some(0x10a));
        for other in ["", "0a01", "E01", "xxxxxxxxxxxxxxxx", "+a01000000000000"] {
            assert_eq!(value(other), None, "{other}");
        }
    }
}
