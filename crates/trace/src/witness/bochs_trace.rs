//! Reads what Bochs' debugger prints while it traces (`trace on`), and believes none of it.
//!
//! For each instruction that begins to execute, and for each iteration of a string instruction, it
//! prints a line, with the clock before it, where it stands, and its bytes at the end:
//!
//! ```text
//! (0).[414861256] [0x000001c00080] 0010:ffffffff81c00080 (unk. ctxt): swapgs ; 0f01f8
//! ```
//!
//! The physical address is the first byte's, and the bytes are those that stand there: the rest of
//! an instruction that reaches into the next page is another page's. A line that is not of this
//! form says nothing. An instruction that can't be fetched has none, but takes a step.

use std::io::Read;

use crate::{
    recording::reader::Instruction,
    witness::executions::{Draft, Executed, NotExecuted},
};

/// Longest line that is read; no line of an instruction has as much.
const MOST_LINE: usize = 1 << 10;
/// Bytes that are read at once.
const AT_ONCE: usize = 64 << 10;
/// The marker of a window's end (`docs/reference/trace-format.md`).
const END: [u8; 8] = [0x0f, 0x1f, 0x84, 0, 0, 2, b'M', b'P'];

/// One line: an instruction that begins to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedLine {
    /// Steps of the clock until then.
    pub clock: u64,
    pub instruction: Instruction,
}

impl TracedLine {
    /// The line without its end; None if it does not read like this.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = str::from_utf8(line).ok()?;
        let (clock, rest) = line.strip_prefix("(0).[")?.split_once("] [")?;
        let (place, rest) = rest.split_once("] ")?.1.split_once(' ')?;
        let address = u64::from_str_radix(place.split_once(':')?.1, 16).ok()?;
        let code = rest.rsplit_once("; ")?.1;
        let mut bytes = [0; 15];
        let length = code.len() / 2;
        let digits = code.as_bytes().chunks(2);
        for (byte, digits) in bytes.get_mut(..length)?.iter_mut().zip(digits) {
            let [high, low] = digits else { return None };
            let digit = |digit: &u8| char::from(*digit).to_digit(16);
            *byte = u8::try_from(digit(high)? << 4 | digit(low)?).ok()?;
        }
        let whole = code.len().is_multiple_of(2);
        let instruction = Instruction::new(address, bytes.get(..length).filter(|_| whole)?)?;
        Some(Self { clock: clock.parse().ok()?, instruction })
    }
}

/// What a window executed, of the lines that were printed from its first stamp on. It reads no
/// further than the window's end.
///
/// # Errors
/// The window is not there, or not whole.
pub fn traced(input: impl Read) -> Result<Executed, NotExecuted> {
    let mut open = Open::default();
    let mut found = Err(NotExecuted::Short);
    lines(input, |line| {
        if line.instruction.bytes() == END {
            found = std::mem::take(&mut open).finish();
            return false;
        }
        let executed = open.execute(&line);
        if let Err(error) = executed {
            found = Err(error);
        }
        executed.is_ok()
    })?;
    found
}

/// Hands each line of the right form to `see`, as long as that wants more.
///
/// # Errors
/// The source of the bytes failed.
fn lines(mut input: impl Read, mut see: impl FnMut(TracedLine) -> bool) -> Result<(), NotExecuted> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut buffer = vec![0; AT_ONCE];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(NotExecuted::Damaged),
        };
        bytes.extend_from_slice(&buffer[..read]);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let whole_lines = bytes[..whole].split(|byte| *byte == b'\n');
        if !whole_lines.filter_map(TracedLine::parse).all(&mut see) {
            return Ok(());
        }
        bytes.drain(..whole);
        if bytes.len() > MOST_LINE {
            bytes.clear();
        }
    }
}

/// A window that is open: where the clock was at its stamps.
#[derive(Default)]
struct Open {
    draft: Draft,
    /// The clock before the first stamp and before the last.
    stamps: Option<(u64, u64)>,
}

impl Open {
    fn execute(&mut self, line: &TracedLine) -> Result<(), NotExecuted> {
        const STAMP: [u8; 2] = [0x0f, 0x31];
        if line.instruction.bytes() == STAMP {
            let first = self.stamps.map_or(line.clock, |(first, _)| first);
            self.stamps = Some((first, line.clock));
        }
        self.draft.execute(&line.instruction)
    }

    fn finish(self) -> Result<Executed, NotExecuted> {
        let executed = self.draft.finish()?;
        let clock = self.stamps.and_then(|(first, last)| last.checked_sub(first));
        Ok(Executed { clock, ..executed })
    }
}
