//! Reads the recorder's bytes, record by record, and believes none of them.
//!
//! The format is `docs/reference/trace-format.md`. Contract: whatever the bytes are,
//! [`Reader::next_item`] returns items whose numbers are in range (an instruction number was
//! defined, an access follows an execution, windows don't nest) or one error, after which there is
//! nothing more to read. Memory is one buffer of fixed size; what the records define is the
//! caller's to keep.

use std::io::{self, Read};

pub use crate::arch::MAX_LENGTH;
use crate::bytes::{Fault, Source};

/// First bytes of every trace.
pub const MAGIC: [u8; 4] = *b"PMTR";
/// The version of the format that this reader knows.
pub const VERSION: u8 = 1;
/// Most distinct instructions in a trace. A whole kernel's text has about as many.
pub const MAX_INSTRUCTIONS: u32 = 4 << 20;
/// Most windows in a trace.
pub const MAX_WINDOWS: u64 = 1 << 20;

const HEADER: usize = 8;
/// No record is longer, whatever its fields claim.
const MAX_RECORD: usize = 1 + 8 + 8 + 1 + MAX_LENGTH;
/// Widest access that a record can name: 64 bytes, one cache line.
const MAX_LOG2_SIZE: u8 = 6;

/// Why a trace can't be read on. The items before the error are good.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The first bytes are not [`MAGIC`].
    #[error(
        "this is no trace: it begins with {found:02x?}; traces are made by `pathmeter explain`"
    )]
    NotATrace {
        /// What stands in the magic's place.
        found: Vec<u8>,
    },
    /// Written by a recorder of another version.
    #[error(
        "the trace has format version {0}, this pathmeter reads version {VERSION}; record anew"
    )]
    Version(u8),
    /// The bytes end without a STOP record.
    #[error(
        "the trace was cut short after {good_windows} whole windows; was the disk full, or the \
         recording killed? record anew"
    )]
    Cut {
        /// Windows that were closed before the cut.
        good_windows: u64,
    },
    /// A record holds what no recorder writes.
    #[error("the trace is damaged at byte {offset}: {what}; record anew")]
    Corrupt {
        /// Where the record begins, in bytes from the start of the trace.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The source of the bytes failed.
    #[error("the trace can't be read: {0}")]
    Io(#[from] io::Error),
}

/// Why a recording came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All windows asked for were recorded.
    Complete,
    /// The recording reached its limit in bytes.
    ByteLimit,
    /// A window exceeded the allowed number of instructions: it may never end.
    WindowLimit,
}

/// An instruction as it stood in memory when it was first executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The virtual address of its first byte.
    pub address: u64,
    /// Physical address; all ones if unknown, as it is to the recorder.
    pub physical: u64,
    length: u8,
    bytes: [u8; MAX_LENGTH],
}

impl Instruction {
    /// The instruction with these bytes at `address`; None if there are none, or too many.
    pub(crate) fn new(address: u64, code: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_LENGTH];
        bytes.get_mut(..code.len())?.copy_from_slice(code);
        let length = u8::try_from(code.len()).ok().filter(|length| *length > 0)?;
        Some(Self { address, physical: u64::MAX, length, bytes })
    }

    /// The bytes of its machine code.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The address of the byte after it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}

/// One record of a trace, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Defines the next instruction number: 0, 1, 2, …
    Instruction(Instruction),
    /// A window with this number opens.
    Begin(u64),
    /// What was open is no window after all.
    Dropped,
    /// A window between two points of the kernel opens: all of it counts. Its number.
    BeginWhole(u64),
    /// The same of one that counts from its first stamp to its last.
    BeginStamped(u64),
    /// The open window, which has this number, closes.
    End(u64),
    /// The instructions `first`, `first + 1`, … began to execute, `count` of them.
    Run {
        /// The number of the first instruction.
        first: u32,
        /// How many, at least one.
        count: u32,
    },
    /// The last executed instruction read memory.
    Load(Access),
    /// The last executed instruction wrote memory.
    Store(Access),
    /// The recording ended; nothing follows.
    Stop(Stop),
}

/// Memory that one instruction read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Virtual address of the first byte.
    pub address: u64,
    /// Number of bytes: 1, 2, 4, … 64.
    pub bytes: u32,
}

impl Access {
    /// Whether it lies in two lines of 64 bytes.
    pub(crate) fn is_split(self) -> bool {
        (self.address & 63) + u64::from(self.bytes) > 64
    }
}

/// A stream of checked records. See the file's head.
pub struct Reader<R> {
    source: Source<R>,
    started: bool,
    done: bool,
    defined: u32,
    open: Option<u64>,
    windows: u64,
    good_windows: u64,
    /// One past the last executed number.
    next: i64,
    executed: bool,
    access: u64,
}

impl<R: Read> Reader<R> {
    /// A reader of `input`, which is read in large pieces: it needs no buffer of its own.
    pub fn new(input: R) -> Self {
        Self {
            source: Source::new(input),
            started: false,
            done: false,
            defined: 0,
            open: None,
            windows: 0,
            good_windows: 0,
            next: 0,
            executed: false,
            access: 0,
        }
    }

    /// Whole windows read so far.
    pub fn good_windows(&self) -> u64 {
        self.good_windows
    }

    /// The next record; `None` after [`Item::Stop`] and after an error.
    pub fn next_item(&mut self) -> Result<Option<Item>, TraceError> {
        if self.done {
            return Ok(None);
        }
        let item = self.item();
        if !matches!(item, Ok(ref item) if !matches!(item, Item::Stop(_))) {
            self.done = true;
        }
        item.map(Some)
    }

    fn item(&mut self) -> Result<Item, TraceError> {
        if !self.started {
            self.header()?;
        }
        self.source.fill(MAX_RECORD)?;
        let offset = self.source.offset();
        self.record().map_err(|fault| match fault {
            Fault::End => TraceError::Cut { good_windows: self.good_windows },
            Fault::What(what) => TraceError::Corrupt { offset, what },
            Fault::Io(error) => TraceError::Io(error),
        })
    }

    fn header(&mut self) -> Result<(), TraceError> {
        self.source.fill(HEADER)?;
        let found = self.source.peek();
        let Some(header) = found.first_chunk::<HEADER>() else {
            let begins = !found.is_empty() && MAGIC.starts_with(&found[..found.len().min(4)]);
            return Err(if begins {
                TraceError::Cut { good_windows: 0 }
            } else {
                TraceError::NotATrace { found: found.to_vec() }
            });
        };
        let [a, b, c, d, version, reserved @ ..] = *header;
        if [a, b, c, d] != MAGIC {
            return Err(TraceError::NotATrace { found: header.to_vec() });
        }
        if version != VERSION {
            return Err(TraceError::Version(version));
        }
        if reserved != [0; 3] {
            return Err(TraceError::Corrupt { offset: 5, what: "reserved bytes that are not 0" });
        }
        self.source.skip(HEADER);
        self.started = true;
        Ok(())
    }

    #[inline]
    fn record(&mut self) -> Result<Item, Fault> {
        match self.source.byte()? {
            4 => self.run(),
            5 => self.access().map(Item::Load),
            6 => self.access().map(Item::Store),
            1 => self.instruction(),
            2 => self.begin().map(Item::Begin),
            8 => self.begin().map(Item::BeginWhole),
            3 => self.end(),
            7 => self.stop(),
            9 => self.dropped(),
            10 => self.begin().map(Item::BeginStamped),
            _ => Err(Fault::What("an unknown record")),
        }
    }

    fn instruction(&mut self) -> Result<Item, Fault> {
        if self.defined == MAX_INSTRUCTIONS {
            return Err(Fault::What("more distinct instructions than any kernel has"));
        }
        let address = u64::from_le_bytes(self.source.array()?);
        let physical = u64::from_le_bytes(self.source.array()?);
        let length = self.source.byte()?;
        if !(1..=MAX_LENGTH).contains(&usize::from(length)) {
            return Err(Fault::What("an instruction's length is not in 1..15"));
        }
        let mut bytes = [0; MAX_LENGTH];
        bytes[..usize::from(length)].copy_from_slice(self.source.take(usize::from(length))?);
        self.defined += 1;
        Ok(Item::Instruction(Instruction { address, physical, length, bytes }))
    }

    fn begin(&mut self) -> Result<u64, Fault> {
        let window = self.source.unsigned()?;
        if self.open.is_some() {
            return Err(Fault::What("a window begins within a window"));
        }
        if self.windows == MAX_WINDOWS {
            return Err(Fault::What("more windows than any recording has"));
        }
        self.windows += 1;
        (self.open, self.next, self.executed, self.access) = (Some(window), 0, false, 0);
        Ok(window)
    }

    fn dropped(&mut self) -> Result<Item, Fault> {
        match self.open.take() {
            Some(_) => Ok(Item::Dropped),
            None => Err(Fault::What("a window is dropped that is not open")),
        }
    }

    fn end(&mut self) -> Result<Item, Fault> {
        let window = self.source.unsigned()?;
        if self.open != Some(window) {
            return Err(Fault::What("a window ends that is not open"));
        }
        self.open = None;
        self.good_windows += 1;
        Ok(Item::End(window))
    }

    #[inline]
    fn run(&mut self) -> Result<Item, Fault> {
        let delta = self.source.signed()?;
        let count = self.source.unsigned()?;
        if self.open.is_none() {
            return Err(Fault::What("instructions executed outside a window"));
        }
        let first = self.next.checked_add(delta).and_then(|first| u32::try_from(first).ok());
        let (Some(first), Ok(count @ 1..)) = (first, u32::try_from(count)) else {
            return Err(Fault::What("a run that is not of instructions"));
        };
        match first.checked_add(count) {
            Some(end) if end <= self.defined => self.next = i64::from(end),
            _ => return Err(Fault::What("a run of instructions that were not defined")),
        }
        self.executed = true;
        Ok(Item::Run { first, count })
    }

    #[inline]
    fn access(&mut self) -> Result<Access, Fault> {
        let log2_size = self.source.byte()?;
        let delta = self.source.signed()?;
        if self.open.is_none() || !self.executed {
            return Err(Fault::What("an access without an instruction"));
        }
        if log2_size > MAX_LOG2_SIZE {
            return Err(Fault::What("an access of more than 64 bytes"));
        }
        self.access = self.access.wrapping_add_signed(delta);
        Ok(Access { address: self.access, bytes: 1 << log2_size })
    }

    fn stop(&mut self) -> Result<Item, Fault> {
        let why = match self.source.byte()? {
            0 => Stop::Complete,
            1 => Stop::ByteLimit,
            2 => Stop::WindowLimit,
            _ => return Err(Fault::What("an unknown reason to stop")),
        };
        self.source.fill(1).map_err(Fault::Io)?;
        match self.source.peek() {
            [] => Ok(Item::Stop(why)),
            _ => Err(Fault::What("bytes after the end of the recording")),
        }
    }
}
