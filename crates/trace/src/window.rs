//! One window at a time, from executed instructions to a call tree.
//!
//! Here is what a window holds and how it counts; how control moves through the tree is in
//! `flow.rs`, what counts at all in `arena.rs`.
//!
//! Invariant: each counted instruction is counted at exactly one node, so the nodes add up to the
//! window's total.

use crate::{
    arena::{Arena, NO_NODE},
    chain::{Chain, Counted},
    code::Flow,
    footprint::{CODE, Lines, READ, WRITTEN},
    ledger::{Ledger, NO_ACCOUNT},
    program::{Placed, Program},
    reader::Access,
    tree::NodeKind,
};

/// Most tasks of one window; what others do is unattributed.
const MAX_TASKS: u32 = 256;

/// An execution that is the latest, or was when something came between.
#[derive(Clone, Copy)]
pub(crate) struct Latest {
    pub(crate) number: u32,
    pub(crate) load: Option<u64>,
    pub(crate) store: Option<u64>,
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
    /// Stamps so far.
    pub(crate) stamps: u64,
    pub(crate) tentative: u64,
    /// Instructions that count.
    pub(crate) total: u64,
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
            stamps: 0,
            tentative: 0,
            total: 0,
            epoch: 0,
        }
    }

    /// A new window opens.
    pub(crate) fn open(&mut self) {
        self.arena.clear(Program::UNATTRIBUTED);
        self.lines.clear();
        self.ledger.clear();
        self.parked.clear();
        self.current = Chain::new(Arena::UNATTRIBUTED, None);
        (self.tasks, self.latest, self.inlined) = (0, None, (NO_NODE, 0, 0));
        (self.interrupts, self.stamps, self.tentative, self.total) = (0, 0, 0, 0);
        self.epoch += 1;
    }

    /// Instruction `number` begins to execute.
    #[inline]
    pub(crate) fn execute(&mut self, program: &mut Program<'_>, number: u32) {
        let now = program.instructions[number as usize];
        match self.latest {
            Some(latest) => {
                let before = &program.instructions[latest.number as usize];
                if before.code.flow != Flow::Next || before.end != now.address {
                    let before = *before;
                    self.transfer(program, latest, &before, number, &now);
                }
            }
            None => self.begin(program, number),
        }
        self.latest = Some(Latest { number, load: None, store: None });
        self.at = if now.inlined == 0 { self.current.node } else { self.inlined(program, &now) };
        self.counted = (self.stamps > 0).then(|| self.count(program, number, &now));
        if now.code.loads_stack_pointer {
            self.current.note_switch();
        }
        if now.code.stamp {
            self.stamp();
        }
    }

    #[inline]
    fn count(&mut self, program: &mut Program<'_>, number: u32, now: &Placed) -> Counted {
        self.arena.execute(self.at, now.code.slow, now.code.rep);
        self.tentative += 1;
        let function = self.arena.draft(self.at).function;
        let mut account = now.account;
        if now.noted != (self.epoch, function) {
            account = self.ledger.account(function, now.place);
            let placed = &mut program.instructions[number as usize];
            (placed.noted, placed.account) = ((self.epoch, function), account);
            self.lines.touch(function, now.address, now.length(), CODE);
        }
        self.ledger.count(account, |line| line.instructions += 1);
        Counted { node: self.at, account, moment: self.arena.now() }
    }

    /// The account of the latest instruction's line.
    fn account(&self) -> u32 {
        self.counted.map_or(NO_ACCOUNT, |counted| counted.account)
    }

    /// All counted since the stamp before stands; the first stamp itself doesn't count.
    fn stamp(&mut self) {
        self.stamps += 1;
        self.total += self.tentative;
        self.tentative = 0;
        self.arena.settle();
        self.ledger.settle();
        self.lines.settle();
    }

    /// The latest instruction read memory.
    #[inline]
    pub(crate) fn load(&mut self, program: &Program<'_>, access: Access) {
        let Some(latest) = &mut self.latest else { return };
        latest.load = Some(access.address);
        if self.stamps == 0 {
            return;
        }
        let code = &program.instructions[latest.number as usize].code;
        let bytes = u64::from(access.bytes);
        let moved = if code.rep && !code.rep_stores { bytes } else { 0 };
        self.arena.load(self.at, bytes, moved);
        self.ledger.count(self.account(), |line| line.loads += 1);
        let function = self.arena.draft(self.at).function;
        self.lines.touch(function, access.address, access.bytes, READ);
    }

    /// The latest instruction wrote memory.
    #[inline]
    pub(crate) fn store(&mut self, program: &Program<'_>, access: Access) {
        let Some(latest) = &mut self.latest else { return };
        latest.store = Some(access.address);
        if self.stamps == 0 {
            return;
        }
        let bytes = u64::from(access.bytes);
        let rep_stores = program.instructions[latest.number as usize].code.rep_stores;
        self.arena.store(self.at, bytes, if rep_stores { bytes } else { 0 });
        self.ledger.count(self.account(), |line| line.stores += 1);
        let function = self.arena.draft(self.at).function;
        self.lines.touch(function, access.address, access.bytes, WRITTEN);
    }

    fn begin(&mut self, program: &mut Program<'_>, number: u32) {
        self.current = self.task(program, number, None);
    }

    /// A task that this window sees for the first time, as it goes on at instruction `number`.
    pub(crate) fn task(
        &mut self,
        program: &mut Program<'_>,
        number: u32,
        slot: Option<u64>,
    ) -> Chain {
        let anchor = if self.tasks == MAX_TASKS {
            Arena::UNATTRIBUTED
        } else {
            self.tasks += 1;
            let name = program.named(&format!("[task {}]", self.tasks), None);
            self.arena.child(NO_NODE, name, NodeKind::Task)
        };
        let function = program.entered(number);
        Chain::new(self.arena.child(anchor, function, NodeKind::Call), slot)
    }

    fn inlined(&mut self, program: &Program<'_>, now: &Placed) -> u32 {
        let (from, chain, node) = self.inlined;
        if (from, chain) == (self.current.node, now.inlined) {
            return node;
        }
        let into = |node, function: &u32| self.arena.child(node, *function, NodeKind::Inlined);
        let chain = &program.inlined[now.inlined as usize];
        let node = chain.iter().fold(self.current.node, into);
        self.inlined = (self.current.node, now.inlined, node);
        node
    }
}
