//! Bytes from a stream, through one buffer of fixed size, and the integers that they encode.

use std::io::{self, Read};

const BUFFER: usize = 64 * 1024;

/// Why a record could not be taken from the buffer.
pub(crate) enum Fault {
    End,
    What(&'static str),
    Io(io::Error),
}

/// The bytes at hand. `fill` before each record; the rest can't block.
pub(crate) struct Source<R> {
    input: R,
    buffer: Box<[u8]>,
    position: usize,
    filled: usize,
    /// Bytes dropped from the front of the buffer so far.
    dropped: u64,
    exhausted: bool,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(input: R) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { input, buffer, position: 0, filled: 0, dropped: 0, exhausted: false }
    }

    /// Sees to it that `wanted` bytes are at hand, unless the input ends before.
    #[inline]
    pub(crate) fn fill(&mut self, wanted: usize) -> io::Result<()> {
        if self.filled - self.position >= wanted || self.exhausted {
            return Ok(());
        }
        self.refill(wanted)
    }

    #[cold]
    fn refill(&mut self, wanted: usize) -> io::Result<()> {
        self.buffer.copy_within(self.position..self.filled, 0);
        self.dropped += self.position as u64;
        self.filled -= self.position;
        self.position = 0;
        while self.filled < wanted && !self.exhausted {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.exhausted = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<R> Source<R> {
    pub(crate) fn offset(&self) -> u64 {
        self.dropped + self.position as u64
    }

    #[inline]
    pub(crate) fn peek(&self) -> &[u8] {
        &self.buffer[self.position..self.filled]
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.peek().first().ok_or(Fault::End)?;
        self.position += 1;
        Ok(byte)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&[u8], Fault> {
        let begin = self.position;
        if self.filled - begin < count {
            return Err(Fault::End);
        }
        self.position += count;
        Ok(&self.buffer[begin..begin + count])
    }

    /// Drops `count` bytes that are at hand.
    pub(crate) fn skip(&mut self, count: usize) {
        self.position += count;
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let array = *self.peek().first_chunk::<N>().ok_or(Fault::End)?;
        self.position += N;
        Ok(array)
    }

    /// LEB128. Most integers of a trace have one byte.
    #[inline]
    pub(crate) fn unsigned(&mut self) -> Result<u64, Fault> {
        let byte = self.byte()?;
        if byte < 0x80 { Ok(u64::from(byte)) } else { self.long_unsigned(u64::from(byte & 0x7f)) }
    }

    fn long_unsigned(&mut self, low: u64) -> Result<u64, Fault> {
        let mut value = low;
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::What("an integer of more than 64 bits"))
    }

    /// Zigzag LEB128: 0, -1, 1, -2, … are 0, 1, 2, 3, …
    #[inline]
    pub(crate) fn signed(&mut self) -> Result<i64, Fault> {
        let value = self.unsigned()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }
}
