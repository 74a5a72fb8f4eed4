//! Reads the counter's stream (`docs/reference/count-format.md`): what every window of every path
//! had of each event.
//!
//! The stream says which blocks of code were executed how often; what their instructions are, and
//! so which events they are, is decided here. Contract: whatever the bytes are, the windows before
//! a fault are good, and memory is bounded by the limits below.

pub(crate) mod block;
mod seen;

use std::collections::HashMap;
use std::io::{self, Read};

use crate::{
    bytes::{Fault, Source},
    counting::block::{Block, CodeSeen, Piece},
    event::{Event, Events},
    recording::reader::{Instruction, MAX_LENGTH},
};

const HEADER: [u8; 8] = *b"PMCT\x05\0\0\0";
/// Most distinct blocks. A kernel's text has fewer.
const MAX_BLOCKS: usize = 1 << 20;
/// Most instructions of a block: QEMU's own limit.
const MAX_BLOCK: u64 = 512;
/// Most distinct pieces of a window.
const MAX_PIECES: u64 = 1 << 20;
/// Most windows of a stream, and most paths.
const MAX_WINDOWS: usize = 1 << 20;
/// Most memory for windows that differ, in bytes: some two hundred times what a guest needs.
const MAX_MEMORY: usize = 256 << 20;
/// The longest encoded integer, in bytes.
const LONGEST: usize = 10;

/// Why a stream of counts can't be read on.
#[derive(Debug, thiserror::Error)]
pub enum CountingError {
    /// The first bytes are not those of a stream of counts.
    #[error("this is no stream of counts, or one of another version")]
    NotCounts,
    /// The bytes end within a record.
    #[error("the counts were cut short")]
    Cut,
    /// A record holds what the counter does not write.
    #[error("the counts are damaged at byte {offset}: {what}")]
    Corrupt {
        /// Where the record begins, in bytes from the start of the stream.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The source of the bytes failed.
    #[error("the counts can't be read: {0}")]
    Io(#[from] io::Error),
}

/// What was counted in one guest.
#[derive(Debug, Default)]
pub struct Counting {
    /// The executions of paths, in the guest's order.
    pub paths: Vec<CountedPath>,
    /// What windows counted, each result once.
    pub distinct: Vec<WindowEvents>,
    /// Why there is nothing after the last of them; None if the stream ended between two records.
    pub fault: Option<CountingError>,
}

/// One execution of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedPath {
    pub index: u64,
    /// Its windows, in the order of their ends.
    pub windows: Vec<CountedWindow>,
    /// What was seen beside them, of a path that is measured between two points.
    pub loose: LoosePoints,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedWindow {
    /// What was counted, as a place in [`Counting::distinct`]; None if the counter could not tell.
    pub events: Option<u32>,
    /// The begin markers before it began, of a path that is measured between two points.
    pub marker: u32,
    /// Whether its end was seen; else it has at least what was counted.
    pub ended: bool,
}

/// Points that are no window's begin or end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoosePoints {
    /// Begins while a window was open: they are in that window.
    pub overlapping: u64,
    /// Ends while no window was open.
    pub ends: u64,
    /// Windows after the last that the counter reports.
    pub omitted: u64,
    /// Begins that came for another reason than the one asked for.
    pub elsewhere: u64,
    /// Points reached from a place that the counter did not see, as after an interrupt.
    pub hidden: u64,
    /// Points of the window that are in the middle of an instruction: control never comes there.
    pub misplaced: u64,
}

/// What was counted in one window, from stamp to stamp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowEvents {
    /// How many there were of each event.
    pub events: Events,
    /// Interrupts and exceptions in it of which is not known whether the instruction that they came
    /// at was executed: instructions may be too many by so much.
    pub open: u64,
    /// Steps of the clock in which a repeated string instruction only saw that its last iteration
    /// was done. Another interpreter may have no such step.
    pub checks: u64,
    /// Exceptions: instructions that were begun and not executed, or could not be fetched. They are
    /// no steps of the clock; another interpreter's may count them.
    pub faults: u64,
    /// Whether the CPU waited for an interrupt and it is not known how long.
    pub idle_unknown: bool,
    /// The kernel's functions that were entered, in the order of the first time: for each the
    /// place of its entry in its line of 64 bytes.
    pub entries: Vec<u8>,
}

/// Reads a stream of counts to its end.
pub fn count(input: impl Read) -> Counting {
    let mut reader = Reader {
        source: Source::new(input),
        blocks: Vec::new(),
        seen: CodeSeen::default(),
        windows: 0,
        marker: 0,
        memory: 0,
        last: None,
        numbers: HashMap::new(),
        counting: Counting::default(),
    };
    let fault = reader.read().err();
    Counting { fault, ..reader.counting }
}

impl std::iter::Sum for LoosePoints {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum.add(part);
            sum
        })
    }
}

impl LoosePoints {
    /// Adds those of another execution.
    fn add(&mut self, more: Self) {
        let Self { overlapping, ends, omitted, elsewhere, hidden, misplaced } = more;
        for (sum, more) in [
            (&mut self.overlapping, overlapping),
            (&mut self.ends, ends),
            (&mut self.omitted, omitted),
            (&mut self.elsewhere, elsewhere),
            (&mut self.hidden, hidden),
            (&mut self.misplaced, misplaced),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

struct Reader<R> {
    source: Source<R>,
    blocks: Vec<Block>,
    seen: CodeSeen,
    windows: usize,
    /// Begin markers of the execution that is being read.
    marker: u32,
    /// Bytes that the windows that differ take.
    memory: usize,
    last: Option<u32>,
    numbers: HashMap<WindowEvents, u32>,
    counting: Counting,
}

impl<R: Read> Reader<R> {
    fn read(&mut self) -> Result<(), CountingError> {
        self.source.fill(HEADER.len())?;
        if self.source.array::<8>().ok() != Some(HEADER) {
            return Err(CountingError::NotCounts);
        }
        loop {
            self.source.fill(1)?;
            if self.source.peek().is_empty() {
                return Ok(());
            }
            let offset = self.source.offset();
            self.record().map_err(|fault| match fault {
                Fault::End => CountingError::Cut,
                Fault::What(what) => CountingError::Corrupt { offset, what },
                Fault::Io(error) => CountingError::Io(error),
            })?;
        }
    }

    fn record(&mut self) -> Result<(), Fault> {
        match self.source.byte()? {
            1 => self.block(),
            2 if self.counting.paths.len() == MAX_WINDOWS => Err(Fault::What("too many paths")),
            2 => {
                let index = self.number()?;
                self.counting.paths.push(CountedPath { index, ..CountedPath::default() });
                self.marker = 0;
                Ok(())
            }
            3 => {
                let window = self.window()?;
                self.last = Some(self.keep(window)?);
                self.push(self.last)
            }
            4 if self.last.is_none() => Err(Fault::What("a window like none before")),
            4 => self.push(self.last),
            5 => self.push(None),
            6 => {
                self.marker = self.marker.saturating_add(1);
                Ok(())
            }
            7 => self.has_no_end(),
            8 => self.loose(),
            _ => Err(Fault::What("an unknown record")),
        }
    }

    /// The place of a window among those that differ.
    fn keep(&mut self, window: WindowEvents) -> Result<u32, Fault> {
        if let Some(number) = self.numbers.get(&window) {
            return Ok(*number);
        }
        // Once here and once as a key.
        self.memory += 2 * (size_of::<WindowEvents>() + window.entries.len());
        if self.memory > MAX_MEMORY {
            return Err(Fault::What("more different windows than any kernel has"));
        }
        let number = u32::try_from(self.counting.distinct.len()).unwrap_or(u32::MAX);
        self.numbers.insert(window.clone(), number);
        self.counting.distinct.push(window);
        Ok(number)
    }

    /// The last window was still open when it was told.
    fn has_no_end(&mut self) -> Result<(), Fault> {
        let windows = self.counting.paths.last_mut().map(|path| &mut path.windows);
        let last = windows.and_then(|windows| windows.last_mut());
        last.ok_or(Fault::What("no window that could have no end"))?.ended = false;
        Ok(())
    }

    fn loose(&mut self) -> Result<(), Fault> {
        let loose = LoosePoints {
            overlapping: self.number()?,
            ends: self.number()?,
            omitted: self.number()?,
            elsewhere: self.number()?,
            hidden: self.number()?,
            misplaced: self.number()?,
        };
        let path = self.counting.paths.last_mut().ok_or(Fault::What("points of no path"))?;
        path.loose.add(loose);
        Ok(())
    }

    fn push(&mut self, window: Option<u32>) -> Result<(), Fault> {
        self.windows += 1;
        if self.windows > MAX_WINDOWS {
            return Err(Fault::What("too many windows"));
        }
        // Windows before the first path belong to no path.
        if let Some(path) = self.counting.paths.last_mut() {
            path.windows.push(CountedWindow { events: window, marker: self.marker, ended: true });
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, Fault> {
        self.source.fill(LONGEST).map_err(Fault::Io)?;
        self.source.unsigned()
    }

    fn integers<const N: usize>(&mut self) -> Result<[u64; N], Fault> {
        self.source.fill(N * LONGEST).map_err(Fault::Io)?;
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.source.unsigned()?;
        }
        Ok(numbers)
    }

    fn block(&mut self) -> Result<(), Fault> {
        if self.blocks.len() == MAX_BLOCKS {
            return Err(Fault::What("more blocks than any kernel has"));
        }
        self.source.fill(8).map_err(Fault::Io)?;
        let mut address = u64::from_le_bytes(self.source.array()?);
        let size = self.number()?;
        if !(1..=MAX_BLOCK).contains(&size) {
            return Err(Fault::What("a block of no length"));
        }
        let mut instructions = Vec::new();
        for _ in 0..size {
            self.source.fill(1 + MAX_LENGTH).map_err(Fault::Io)?;
            let length = usize::from(self.source.byte()?);
            let bytes = self.source.take(length)?;
            let instruction = Instruction::new(address, bytes)
                .ok_or(Fault::What("an instruction's length is not in 1..15"))?;
            address = instruction.end();
            instructions.push(instruction);
        }
        self.blocks.push(Block::new(&instructions, &mut self.seen));
        Ok(())
    }

    fn window(&mut self) -> Result<WindowEvents, Fault> {
        const ACCESSES: [Event; 8] = [
            Event::Loads,
            Event::Stores,
            Event::LoadBytes,
            Event::StoreBytes,
            Event::SplitAccesses,
            Event::StringBytes,
            Event::DataLines,
            Event::DataPages,
        ];
        let mut events = Events::default();
        for event in ACCESSES {
            let number = self.number()?;
            events.add(event, number);
        }
        let [open, checks, faults] = [self.number()?, self.number()?, self.number()?];
        let [halts, idle, unknown] = [self.number()?, self.number()?, self.number()?];
        events.add(Event::Halts, halts);
        events.add(Event::Idle, idle);
        let idle_unknown = unknown != 0;
        let mispredicted = self.number()?;
        events.add(Event::MispredictedReturns, mispredicted);
        let pieces = self.number()?;
        if pieces > MAX_PIECES {
            return Err(Fault::What("a window of too many pieces"));
        }
        let mut window = Gathering { events, ..Gathering::default() };
        self.seen.begin();
        for _ in 0..pieces {
            self.piece(&mut window)?;
        }
        window.events.add(Event::CodeLines, self.seen.lines.count());
        window.events.add(Event::CodePages, self.seen.pages.count());
        Ok(WindowEvents { idle_unknown, ..window.finish([open, checks, faults]) })
    }

    fn piece(&mut self, window: &mut Gathering) -> Result<(), Fault> {
        let [number, executed, count, on, undone, entered] = self.integers()?;
        let block = usize::try_from(number).ok().and_then(|number| self.blocks.get(number));
        let block = block.ok_or(Fault::What("a block that was not defined"))?;
        let executed = usize::try_from(executed).unwrap_or(usize::MAX);
        let piece = Piece::new(block, executed, count, on, undone);
        let piece = piece.ok_or(Fault::What("a piece that its block does not have"))?;
        window.clock = window.clock.saturating_add(piece.clock());
        piece.add_to(&mut window.events);
        self.seen.see(&piece);
        if entered != 0 && block.is_kernel() && self.seen.enter(block) {
            window.entered.push(block.start());
        }
        Ok(())
    }
}

/// A window while its pieces are read.
#[derive(Default)]
struct Gathering {
    events: Events,
    clock: u64,
    /// Addresses of functions, in the order of the first time.
    entered: Vec<u64>,
}

impl Gathering {
    fn finish(mut self, [open, checks, faults]: [u64; 3]) -> WindowEvents {
        self.events.add(Event::Clock, self.clock);
        let entries = self.entered.iter().map(|entry| entry.to_le_bytes()[0] & 63).collect();
        let events = self.events;
        WindowEvents { events, open, checks, faults, idle_unknown: false, entries }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SlowInstruction;

    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    const NOP: &[u8] = &[0x90];
    const REP_MOVSB: &[u8] = &[0xf3, 0xa4];
    const JNZ: &[u8] = &[0x75, 0xfe];
    const CALL_RAX: &[u8] = &[0xff, 0xd0];

    /// A stream, record by record.
    struct Stream(Vec<u8>);

    impl Stream {
        fn new() -> Self {
            Self(HEADER.to_vec())
        }

        fn numbers(mut self, numbers: &[u64]) -> Self {
            for mut number in numbers.iter().copied() {
                while number >= 0x80 {
                    self.0.push(number.to_le_bytes()[0] | 0x80);
                    number >>= 7;
                }
                self.0.push(number.to_le_bytes()[0]);
            }
            self
        }

        fn tag(mut self, tag: u8) -> Self {
            self.0.push(tag);
            self
        }

        fn block(mut self, start: u64, instructions: &[&[u8]]) -> Self {
            self.0.push(1);
            self.0.extend(start.to_le_bytes());
            self = self.numbers(&[instructions.len() as u64]);
            for instruction in instructions {
                self.0.push(u8::try_from(instruction.len()).unwrap());
                self.0.extend(*instruction);
            }
            self
        }

        /// A window of these pieces: block, executed, count, on, undone, entered.
        fn window(self, accesses: [u64; 8], pieces: &[[u64; 6]]) -> Self {
            self.window_with(accesses, [0, 2, 1, 0, 0, 0, 0], pieces)
        }

        /// `beside` is what comes between the accesses and the pieces.
        fn window_with(self, accesses: [u64; 8], beside: [u64; 7], pieces: &[[u64; 6]]) -> Self {
            let head = [&beside[..], &[pieces.len() as u64]].concat();
            self.tag(3).numbers(&accesses).numbers(&head).numbers(&pieces.concat())
        }

        fn count(&self) -> Counting {
            count(&self.0[..])
        }

        /// The only window of the only path.
        fn only(self) -> WindowEvents {
            let counting = self.count();
            assert!(counting.fault.is_none(), "{:?}", counting.fault);
            assert_eq!(
                (window_events_by_path(&counting), counting.distinct.len()),
                (vec![vec![Some(0)]], 1)
            );
            counting.distinct.into_iter().next().unwrap()
        }
    }

    /// For each path, the place of each window's events in `distinct`.
    fn window_events_by_path(counting: &Counting) -> Vec<Vec<Option<u32>>> {
        let paths = counting.paths.iter();
        paths.map(|path| path.windows.iter().map(|window| window.events).collect()).collect()
    }

    fn path() -> Stream {
        Stream::new().tag(2).numbers(&[0])
    }

    #[test]
    fn a_block_counts_as_often_as_it_was_executed() {
        let block = path().block(0x1000, &[NOP, NOP, JNZ]).window([0; 8], &[[0, 3, 5, 1, 0, 0]]);
        let events = block.only().events;
        assert_eq!((events.of(Event::User), events.of(Event::Kernel)), (15, 0));
        assert_eq!((events.of(Event::Clock), events.of(Event::TakenBranches)), (15, 4));
    }

    #[test]
    fn a_string_instruction_is_retired_once_and_each_iteration_is_a_step_of_the_clock() {
        let copy = path().block(KERNEL, &[NOP]).block(KERNEL + 1, &[REP_MOVSB]);
        let pieces = [[0, 1, 2, 2, 0, 0], [1, 1, 18, 2, 0, 0]];
        let window = copy.window([16, 16, 16, 16, 0, 16, 2, 1], &pieces).only();
        let events = &window.events;
        assert_eq!((window.open, window.checks, window.faults), (0, 2, 1));
        assert_eq!((events.retired(), events.of(Event::Clock)), (4, 20));
        assert_eq!((events.of(Event::StringSteps), events.of(Event::StringBytes)), (18, 16));
        assert_eq!(events.of(Event::Slow(SlowInstruction::Rep)), 2);
    }

    #[test]
    fn an_instruction_that_faults_is_retired_when_it_is_executed_again() {
        // The second instruction of the block faults, and the block is begun again there.
        let load: &[u8] = &[0x48, 0x8b, 0x00];
        let block = path().block(0x1000, &[NOP, load, NOP]).block(0x1001, &[load, NOP]);
        let pieces = [[0, 2, 1, 0, 1, 0], [1, 2, 1, 1, 0, 0]];
        let events = block.window([1, 0, 8, 0, 0, 0, 1, 1], &pieces).only().events;
        assert_eq!((events.retired(), events.of(Event::Clock)), (3, 3));
    }

    #[test]
    fn code_is_counted_in_lines_and_pages_and_functions_by_their_entries() {
        let calls = path().block(KERNEL + 0xfff, &[CALL_RAX]).block(KERNEL + 0x2030, &[NOP]);
        let pieces = [[0, 1, 1, 0, 0, 1], [1, 1, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1]];
        let window = calls.window([0; 8], &pieces).only();
        let code = [Event::CodeLines, Event::CodePages].map(|event| window.events.of(event));
        assert_eq!((code, &window.entries[..]), ([3, 3], &[0x3f, 0x30][..]));
        assert_eq!(window.events.of(Event::IndirectBranches), 1);
    }

    #[test]
    fn returns_to_elsewhere_are_an_event_of_the_window() {
        let block = path().block(KERNEL, &[&[0xc3]]);
        let window = block.window_with([0; 8], [0, 0, 0, 0, 0, 0, 3], &[[0, 1, 4, 0, 0, 0]]).only();
        let of = |event| window.events.of(event);
        assert_eq!((of(Event::Returns), of(Event::MispredictedReturns)), (4, 3));
    }

    #[test]
    fn windows_alike_are_kept_once_and_one_that_was_not_told_has_its_place() {
        let piece = [[0, 1, 1, 1, 0, 0]];
        let stream =
            path().block(0x1000, &[NOP]).window([0; 8], &piece).tag(4).tag(5).tag(2).numbers(&[7]);
        let counting = stream.window([0; 8], &piece).count();
        assert_eq!(window_events_by_path(&counting), [vec![Some(0), Some(0), None], vec![Some(0)]]);
        assert_eq!(counting.paths[1].index, 7);
        assert_eq!(counting.distinct.len(), 1);
    }

    #[test]
    fn a_window_between_points_has_its_marker_and_perhaps_no_end() {
        let piece = [[0, 1, 1, 1, 0, 0]];
        let first = path().block(0x1000, &[NOP]).tag(6).tag(6).window([0; 8], &piece).tag(4);
        let second = first.tag(6).tag(5).tag(7).tag(2).numbers(&[7]).tag(4).tag(7);
        let counting = second.tag(2).numbers(&[8]).tag(6).tag(4).count();
        assert!(counting.fault.is_none());
        let windows = |path: usize| {
            let windows = counting.paths[path].windows.iter();
            windows.map(|window| (window.marker, window.ended)).collect::<Vec<_>>()
        };
        assert_eq!(windows(0), [(2, true), (2, true), (3, false)]);
        assert_eq!(windows(1), [(0, false)], "markers are of one execution");
        assert_eq!(windows(2), [(1, true)]);
        assert_eq!(counting.paths[0].windows[2].events, None);
    }

    #[test]
    fn loose_points_are_those_of_their_path_and_add_up() {
        let once = path().tag(8).numbers(&[1, 2, 3, 4, 5, 6]);
        let counting = once.tag(8).numbers(&[u64::MAX, 0, 0, 0, 0, 1]).tag(2).numbers(&[1]).count();
        assert!(counting.fault.is_none());
        let loose = LoosePoints {
            overlapping: u64::MAX,
            ends: 2,
            omitted: 3,
            elsewhere: 4,
            hidden: 5,
            misplaced: 7,
        };
        assert_eq!(counting.paths[0].loose, loose);
        assert_eq!(counting.paths[1].loose, LoosePoints::default());
    }

    #[test]
    fn points_without_a_path_or_a_window_are_damage() {
        for (stream, what) in [
            (path().tag(7), "no window that could have no end"),
            (Stream::new().tag(7), "no window that could have no end"),
            (Stream::new().tag(8).numbers(&[0; 6]), "points of no path"),
            (path().tag(8).numbers(&[0; 5]), "cut short"),
            (path().tag(6).tag(4), "a window like none before"),
        ] {
            let fault = stream.count().fault.unwrap().to_string();
            assert!(fault.contains(what), "{fault}");
        }
        // Before the first path nothing belongs to any.
        assert!(Stream::new().tag(6).tag(5).count().fault.is_none());
    }

    #[test]
    fn damage_is_told_and_what_came_before_is_kept() {
        let good = || path().block(0x1000, &[NOP]).window([0; 8], &[[0, 1, 1, 1, 0, 0]]);
        for (stream, what) in [
            (good().window([0; 8], &[[1, 1, 1, 1, 0, 0]]), "not defined"),
            (good().window([0; 8], &[[0, 2, 1, 1, 0, 0]]), "does not have"),
            (good().window([0; 8], &[[0, 1, 1, 1, 1, 0]]), "does not have"),
            (good().block(0x1000, &[]), "no length"),
            (good().tag(9), "unknown record"),
            (good().tag(1), "cut short"),
        ] {
            let counting = stream.count();
            assert_eq!(window_events_by_path(&counting), [vec![Some(0)]]);
            let fault = counting.fault.unwrap().to_string();
            assert!(fault.contains(what), "{fault}");
        }
        assert!(matches!(count(&b"PMTR"[..]).fault, Some(CountingError::NotCounts)));
        assert!(matches!(path().tag(4).count().fault, Some(CountingError::Corrupt { .. })));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            count(&bytes[..]);
            count(&[&HEADER[..], &[2, 0], &bytes].concat()[..]);
        }

        #[test]
        fn huge_numbers_do_not_overflow(numbers in prop::array::uniform6(any::<u64>())) {
            let pieces = [[0, 1, numbers[0], numbers[1], numbers[2], 1]; 2];
            let accesses = [numbers[3]; 8];
            path().block(KERNEL, &[REP_MOVSB]).window(accesses, &pieces).count();
        }
    }
}
