//! One window at a time, from executed instructions to a call tree.
//!
//! Here is what a window holds and how it counts; how control moves through the tree is in
//! `arch/x86_64/flow.rs`, what counts at all in `arena.rs`.
//!
//! An instruction counts where it is executed, unless it faulted; a repeated string instruction
//! once control goes on to the address after it. Its iterations are steps of the clock only.
//!
//! Invariant: each counted instruction is counted at exactly one node, and so is each step of the
//! clock, so the nodes add up to the window's totals.

use crate::{
    arch::{
        call_stack::{Chain, Counted},
        code::Flow,
    },
    recording::{
        arena::{Arena, NO_NODE},
        footprint::{CODE, Lines, READ, WRITTEN},
        line_counts::{Ledger, NO_ENTRY},
        listing::{Listing, Placed},
        reader::Access,
        return_stack::ReturnStack,
        tree::NodeKind,
    },
};

/// Most tasks of one window; what others do is unattributed.
const MAX_TASKS: u32 = 256;

/// An execution that is the latest, or was when something came between.
#[derive(Clone, Copy)]
pub(crate) struct Latest {
    pub(crate) number: u32,
    pub(crate) load: Option<u64>,
    pub(crate) store: Option<u64>,
    /// It is a string instruction, and has accessed all that it does: more accesses are those of
    /// an interrupt that comes after it.
    moved: bool,
}

impl Latest {
    pub(crate) fn new(number: u32, load: Option<u64>, store: Option<u64>) -> Self {
        Self { number, load, store, moved: false }
    }

    /// The bytes that this access moves as the last one of a repeated string instruction's
    /// iteration; 0 if it is another access.
    #[inline]
    fn moves(&mut self, is_last: bool, access: Access) -> u64 {
        let moves = is_last && !self.moved;
        self.moved |= is_last;
        if moves { u64::from(access.bytes) } else { 0 }
    }
}

/// How many instructions and steps were executed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extent {
    /// The number of instructions retired.
    pub(crate) instructions: u64,
    /// Steps of the guest's clock.
    pub(crate) clock: u64,
}

/// The state of the open window.
pub(crate) struct Window {
    pub(crate) arena: Arena,
    pub(crate) lines: Lines,
    pub(crate) ledger: Ledger,
    pub(crate) current: Chain,
    pub(crate) parked: Vec<Chain>,
    tasks: u32,
    pub(crate) latest: Option<Latest>,
    /// Where the latest instruction was counted, if it was.
    pub(crate) counted: Option<Counted>,
    /// The node that executed last: the current one, or one inlined there.
    pub(crate) at: u32,
    /// The last inlined node looked up: from where, which chain, and what it was.
    inlined: (u32, u32, u32),
    pub(crate) interrupts: u64,
    /// Returns that match no call: see [`crate::WindowTree::unmatched_returns`].
    pub(crate) unmatched: u64,
    /// As of the first stamp.
    pub(crate) return_stack: ReturnStack,
    /// How many stamps there were so far.
    pub(crate) stamps: u64,
    /// Whether all of it counts, and not what is between its first stamp and its last.
    pub(crate) whole: bool,
    /// Whether it is one between two points of the kernel: interrupts belong to it.
    pub(crate) waits: bool,
    pub(crate) tentative: Extent,
    /// What has settled and counts.
    pub(crate) total: Extent,
    /// Differs from window to window, and is never 0.
    epoch: u32,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self {
            arena: Arena::default(),
            lines: Lines::default(),
            ledger: Ledger::default(),
            current: Chain::new(Arena::UNATTRIBUTED, None),
            parked: Vec::new(),
            tasks: 0,
            latest: None,
            counted: None,
            at: Arena::UNATTRIBUTED,
            inlined: (NO_NODE, 0, 0),
            interrupts: 0,
            unmatched: 0,
            return_stack: ReturnStack::default(),
            stamps: 0,
            whole: false,
            waits: false,
            tentative: Extent::default(),
            total: Extent::default(),
            epoch: 0,
        }
    }

    pub(crate) fn open(&mut self) {
        self.arena.clear(Listing::UNATTRIBUTED);
        self.lines.clear();
        self.ledger.clear();
        self.parked.clear();
        self.current = Chain::new(Arena::UNATTRIBUTED, None);
        (self.tasks, self.latest, self.inlined) = (0, None, (NO_NODE, 0, 0));
        (self.interrupts, self.unmatched, self.stamps) = (0, 0, 0);
        self.return_stack.clear();
        (self.tentative, self.total) = (Extent::default(), Extent::default());
        (self.whole, self.waits) = (false, false);
        self.epoch += 1;
    }

    /// A new window opens between two points of the kernel, of which the whole counts, or what is
    /// between its stamps.
    pub(crate) fn open_wait(&mut self, whole: bool) {
        self.open();
        (self.whole, self.waits) = (whole, true);
        self.stamps = u64::from(whole);
    }

    /// The window ends: of one that has no stamps everything counts.
    pub(crate) fn end(&mut self, listing: &Listing<'_>) {
        if !self.whole {
            return;
        }
        if let Some(latest) = self.latest {
            let last = listing.instructions[latest.number as usize];
            if last.code.rep {
                self.retire(&last, self.counted);
            }
        }
        self.stamp();
    }

    /// Instruction `number` begins to execute.
    #[inline]
    pub(crate) fn execute(&mut self, listing: &mut Listing<'_>, number: u32) {
        let now = listing.instructions[number as usize];
        match self.latest {
            Some(latest) => {
                let before = &listing.instructions[latest.number as usize];
                if before.code.flow != Flow::Next || before.end != now.address {
                    let before = *before;
                    self.transfer(listing, latest, &before, number, &now);
                } else if before.code.rep {
                    let before = *before;
                    self.retire(&before, self.counted);
                }
            }
            None => self.begin(listing, number),
        }
        self.latest = Some(Latest::new(number, None, None));
        self.at = if now.inlined == 0 { self.current.node } else { self.inlined(listing, &now) };
        self.counted = (self.stamps > 0).then(|| self.count(listing, number, &now));
        if now.code.loads_stack_pointer {
            self.current.note_switch();
        }
        // The kernel of an interrupt reads the clock too.
        if now.code.stamp && (self.waits || !now.is_kernel()) {
            self.stamp();
        }
    }

    #[inline]
    fn count(&mut self, listing: &mut Listing<'_>, number: u32, now: &Placed) -> Counted {
        self.arena.execute(self.at, now);
        self.tentative.clock += 1;
        let retired = u64::from(!now.code.rep);
        self.tentative.instructions += retired;
        let function = self.arena.draft(self.at).function;
        let mut ledger_entry = now.ledger_entry;
        if now.noted != (self.epoch, function) {
            ledger_entry = self.ledger.entry(function, now.place);
            let placed = &mut listing.instructions[number as usize];
            (placed.noted, placed.ledger_entry) = ((self.epoch, function), ledger_entry);
            self.lines.touch(function, now.address, now.length(), CODE);
        }
        self.ledger.count(ledger_entry, |line| line.instructions += retired);
        Counted { node: self.at, ledger_entry, moment: self.arena.now() }
    }

    /// The repeated instruction that was `counted` is done.
    pub(crate) fn retire(&mut self, what: &Placed, counted: Option<Counted>) {
        let Some(Counted { node, ledger_entry, .. }) = counted else { return };
        self.arena.retire(node, what);
        self.ledger.count(ledger_entry, |line| line.instructions += 1);
        self.tentative.instructions += 1;
    }

    /// The ledger's entry of the latest instruction's line.
    fn ledger_entry(&self) -> u32 {
        self.counted.map_or(NO_ENTRY, |counted| counted.ledger_entry)
    }

    /// All counted since the stamp before stands; the first stamp itself doesn't count.
    fn stamp(&mut self) {
        if self.stamps == 0 {
            self.return_stack.clear();
        }
        self.stamps += 1;
        let more = std::mem::take(&mut self.tentative);
        self.total.instructions += more.instructions;
        self.total.clock += more.clock;
        self.arena.settle();
        self.ledger.settle();
        self.lines.settle();
    }

    /// The latest instruction read memory.
    #[inline]
    pub(crate) fn load(&mut self, listing: &Listing<'_>, access: Access) {
        let Some(latest) = &mut self.latest else { return };
        let again = latest.load.replace(access.address).is_some();
        if self.stamps == 0 {
            return;
        }
        let code = &listing.instructions[latest.number as usize].code;
        let is_last = code.rep && !code.rep_stores && (again || !code.rep_loads_twice);
        self.arena.load(self.at, access, latest.moves(is_last, access));
        self.ledger.count(self.ledger_entry(), |line| line.loads += 1);
        let function = self.arena.draft(self.at).function;
        self.lines.touch(function, access.address, access.bytes, READ);
    }

    /// The latest instruction wrote memory.
    #[inline]
    pub(crate) fn store(&mut self, listing: &Listing<'_>, access: Access) {
        let Some(latest) = &mut self.latest else { return };
        latest.store = Some(access.address);
        if self.stamps == 0 {
            return;
        }
        let is_last = listing.instructions[latest.number as usize].code.rep_stores;
        self.arena.store(self.at, access, latest.moves(is_last, access));
        self.ledger.count(self.ledger_entry(), |line| line.stores += 1);
        let function = self.arena.draft(self.at).function;
        self.lines.touch(function, access.address, access.bytes, WRITTEN);
    }

    fn begin(&mut self, listing: &mut Listing<'_>, number: u32) {
        self.current = self.task(listing, number, None);
    }

    /// A task that this window sees for the first time, as it goes on at instruction `number`.
    pub(crate) fn task(
        &mut self,
        listing: &mut Listing<'_>,
        number: u32,
        slot: Option<u64>,
    ) -> Chain {
        let anchor = if self.tasks == MAX_TASKS {
            Arena::UNATTRIBUTED
        } else {
            self.tasks += 1;
            let name = listing.intern_function(&format!("[task {}]", self.tasks), None);
            self.arena.child(NO_NODE, name, NodeKind::Task)
        };
        let function = listing.entered(number);
        Chain::new(self.arena.child(anchor, function, NodeKind::Call), slot)
    }

    fn inlined(&mut self, listing: &Listing<'_>, now: &Placed) -> u32 {
        let (from, chain, node) = self.inlined;
        if (from, chain) == (self.current.node, now.inlined) {
            return node;
        }
        let into = |node, function: &u32| self.arena.child(node, *function, NodeKind::Inlined);
        let chain = &listing.inlined[now.inlined as usize];
        let node = chain.iter().fold(self.current.node, into);
        self.inlined = (self.current.node, now.inlined, node);
        node
    }
}
