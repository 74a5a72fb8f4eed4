//! A block of code, and what executing some of it amounts to.

use crate::{
    SlowInstruction,
    arch::code::{Code, Flow},
    counting::seen::Seen,
    event::{Event, Events},
    recording::{listing::is_kernel, reader::Instruction},
};

/// Binary logarithms of the bytes of a line and of a page.
const LINE: u32 = 6;
const PAGE: u32 = 12;

/// Instructions that are executed in a row.
pub(crate) struct Block {
    start: u64,
    /// Each with the address of its last byte.
    codes: Vec<(Code, u64)>,
    /// The slow ones, which are few: their places, ascending.
    slow: Vec<(usize, SlowInstruction)>,
    /// The places of its lines, of its pages and of its first address among all.
    places: (Vec<usize>, Vec<usize>, usize),
}

/// The code that windows have executed: numbers of lines and of pages, and where functions begin.
#[derive(Default)]
pub(crate) struct CodeSeen {
    pub(crate) lines: Seen,
    pub(crate) pages: Seen,
    entries: Seen,
}

impl CodeSeen {
    /// Begins a window in all of these.
    pub(crate) fn begin(&mut self) {
        self.lines.begin();
        self.pages.begin();
        self.entries.begin();
    }

    /// The window has executed this piece.
    pub(crate) fn see(&mut self, piece: &Piece<'_>) {
        let (lines, pages) = piece.code();
        let (all_lines, all_pages, _) = &piece.block.places;
        all_lines.iter().take(lines).for_each(|place| _ = self.lines.see(*place));
        all_pages.iter().take(pages).for_each(|place| _ = self.pages.see(*place));
    }

    /// A function begins with this block; whether the window has not seen it before.
    pub(crate) fn enter(&mut self, block: &Block) -> bool {
        self.entries.see(block.places.2)
    }
}

impl Block {
    /// A block of at least one instruction.
    pub(crate) fn new(instructions: &[Instruction], seen: &mut CodeSeen) -> Self {
        let codes = instructions.iter().map(|one| (Code::of(one), one.end().wrapping_sub(1)));
        let codes: Vec<(Code, u64)> = codes.collect();
        let slow = codes.iter().enumerate();
        let slow = slow.filter_map(|(place, (code, _))| Some((place, code.slow?))).collect();
        let start = instructions.first().map_or(0, |first| first.address);
        let (lines, pages) = lines_and_pages(start, codes.last().map_or(start, |(_, last)| *last));
        let lines = lines.map(|line| seen.lines.place(line)).collect();
        let pages = pages.map(|page| seen.pages.place(page)).collect();
        Self { start, codes, slow, places: (lines, pages, seen.entries.place(start)) }
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn is_kernel(&self) -> bool {
        is_kernel(self.start)
    }
}

/// The first instructions of a block, executed `count` times.
pub(crate) struct Piece<'b> {
    block: &'b Block,
    /// All of them but the last.
    others: &'b [(Code, u64)],
    last: &'b (Code, u64),
    count: u64,
    /// How often control went on to the address after it.
    on: u64,
    /// How often the last one was not executed after all.
    undone: u64,
}

impl<'b> Piece<'b> {
    /// None if the block has no so many instructions, or the numbers contradict each other.
    pub(crate) fn new(
        block: &'b Block,
        executed: usize,
        count: u64,
        on: u64,
        undone: u64,
    ) -> Option<Self> {
        let (last, others) = block.codes.get(..executed)?.split_last()?;
        let possible = on.checked_add(undone).is_some_and(|ended| ended <= count);
        possible.then_some(Self { block, others, last, count, on, undone })
    }

    /// Steps of the guest's clock.
    pub(crate) fn clock(&self) -> u64 {
        let others = self.count.saturating_mul(self.others.len() as u64);
        others.saturating_add(self.executed_last())
    }

    /// How often the last instruction was executed; a repeated one, once an iteration.
    fn executed_last(&self) -> u64 {
        self.count - self.undone
    }

    /// How often the last instruction was retired.
    fn retired_last(&self) -> u64 {
        if self.last.0.rep { self.on } else { self.executed_last() }
    }

    /// Adds what the instructions are to `events`.
    pub(crate) fn add_to(&self, events: &mut Events) {
        let mode = if self.block.is_kernel() { Event::Kernel } else { Event::User };
        events.add(mode, self.count.saturating_mul(self.others.len() as u64));
        events.add(mode, self.retired_last());
        let others = self.block.slow.iter().take_while(|(place, _)| *place < self.others.len());
        for (_, slow) in others {
            events.add(Event::Slow(*slow), self.count);
        }
        if let Some(slow) = self.last.0.slow {
            events.add(Event::Slow(slow), self.retired_last());
        }
        if self.last.0.rep {
            events.add(Event::StringSteps, self.executed_last());
        }
        self.add_branch(events);
    }

    fn add_branch(&self, events: &mut Events) {
        let done = self.executed_last();
        let taken = match self.last.0.flow {
            Flow::Branch => done.saturating_sub(self.on),
            Flow::Jump | Flow::Call => done,
            Flow::JumpIndirect | Flow::CallIndirect => {
                events.add(Event::IndirectBranches, done);
                done
            }
            Flow::Return => {
                events.add(Event::Returns, done);
                done
            }
            Flow::Next | Flow::Enter | Flow::InterruptReturn | Flow::SystemReturn => 0,
        };
        events.add(Event::TakenBranches, taken);
    }

    /// From how many lines and pages it was executed: the first ones of its block.
    fn code(&self) -> (usize, usize) {
        let (lines, pages) = lines_and_pages(self.block.start, self.last.1);
        (lines.count(), pages.count())
    }
}

/// The numbers of the lines and of the pages from one address to another.
fn lines_and_pages(
    first: u64,
    last: u64,
) -> (impl Iterator<Item = u64> + use<>, impl Iterator<Item = u64> + use<>) {
    (first >> LINE..=last >> LINE, first >> PAGE..=last >> PAGE)
}
