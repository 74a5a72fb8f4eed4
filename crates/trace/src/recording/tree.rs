//! The call tree of one window, and what each of its nodes did itself.

use std::{collections::BTreeMap, ops::AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arch::census::SlowInstruction,
    event::Event,
    kernel::names::{folded, unsuffixed},
    recording::footprint::Footprint,
};

/// How control came to a node from its parent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A task that ran in the window; its children are what it did. Tasks are named `[task 1]`,
    /// `[task 2]`, … in the order in which they first ran.
    Task,
    Call,
    /// A jump from one function to another, which returns in the first one's stead.
    TailCall,
    /// syscall, sysenter, int n.
    Syscall,
    Interrupt,
    /// An exception, such as a page fault.
    Exception,
    /// A function that the compiler put into its caller.
    Inlined,
    /// How control came here is not known; what is below is counted as unattributed.
    Unattributed,
}

/// What a stretch of code executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Retired instructions: one that faulted counts once it is executed anew, and a `rep` string
    /// once, when it is done.
    pub instructions: u64,
    /// Those of the instructions that are the program's, not the kernel's.
    pub user_instructions: u64,
    /// Steps of the guest's clock: an instruction is one, and so is each iteration of a `rep`
    /// string.
    pub clock: u64,
    pub loads: u64,
    pub stores: u64,
    pub bytes_loaded: u64,
    pub bytes_stored: u64,
    /// Those of the accesses that lie in two lines of 64 bytes.
    pub split_accesses: u64,
    /// Jumps, branches, calls and returns that were taken.
    pub taken_branches: u64,
    /// Of these, jumps and calls to an address from a register or from memory.
    pub indirect_branches: u64,
    pub returns: u64,
    /// Of these, returns that a processor's return stack does not expect.
    #[serde(default)]
    pub mispredicted_returns: u64,
    /// Those of the clock's steps that are iterations of `rep` strings.
    pub rep_iterations: u64,
    /// Bytes moved by `rep` strings: written by movs, stos and ins, read by the others.
    pub rep_bytes: u64,
}

impl Counts {
    /// The largest of its numbers.
    pub(crate) fn largest(&self) -> u64 {
        let Self {
            instructions,
            user_instructions,
            clock,
            loads,
            stores,
            bytes_loaded,
            bytes_stored,
            split_accesses,
            taken_branches,
            indirect_branches,
            returns,
            mispredicted_returns,
            rep_iterations,
            rep_bytes,
        } = *self;
        let executed = instructions.max(user_instructions).max(clock).max(split_accesses);
        let accessed = loads.max(stores).max(bytes_loaded).max(bytes_stored);
        let branched = taken_branches.max(indirect_branches).max(returns).max(mispredicted_returns);
        executed.max(accessed).max(branched).max(rep_iterations).max(rep_bytes)
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.user_instructions += other.user_instructions;
        self.clock += other.clock;
        self.loads += other.loads;
        self.stores += other.stores;
        self.bytes_loaded += other.bytes_loaded;
        self.bytes_stored += other.bytes_stored;
        self.split_accesses += other.split_accesses;
        self.taken_branches += other.taken_branches;
        self.indirect_branches += other.indirect_branches;
        self.returns += other.returns;
        self.mispredicted_returns += other.mispredicted_returns;
        self.rep_iterations += other.rep_iterations;
        self.rep_bytes += other.rep_bytes;
    }
}

/// How many slow instructions of each kind; kinds not met are absent.
pub type Census = BTreeMap<SlowInstruction, u64>;

/// How many of each event; those that there is none of are absent.
pub type EventCounts = BTreeMap<Event, u64>;

/// All that `counts`, `footprint` and `census` hold, by the names of events.
pub(crate) fn events(counts: &Counts, footprint: &Footprint, census: &Census) -> EventCounts {
    let plain = [
        (Event::User, counts.user_instructions),
        (Event::Kernel, counts.instructions - counts.user_instructions),
        (Event::StringBytes, counts.rep_bytes),
        (Event::StringSteps, counts.rep_iterations),
        (Event::Loads, counts.loads),
        (Event::Stores, counts.stores),
        (Event::LoadBytes, counts.bytes_loaded),
        (Event::StoreBytes, counts.bytes_stored),
        (Event::SplitAccesses, counts.split_accesses),
        (Event::TakenBranches, counts.taken_branches),
        (Event::IndirectBranches, counts.indirect_branches),
        (Event::Returns, counts.returns),
        (Event::MispredictedReturns, counts.mispredicted_returns),
        (Event::DataLines, footprint.data_lines),
        (Event::DataPages, footprint.data_pages),
        (Event::CodeLines, footprint.code_lines),
        (Event::CodePages, footprint.code_pages),
        (Event::Clock, counts.clock),
    ];
    let slow = census.iter().map(|(slow, count)| (Event::Slow(*slow), *count));
    plain.into_iter().chain(slow).filter(|(_, count)| *count > 0).collect()
}

/// Adds `more` to `sum`.
pub(crate) fn add_census(sum: &mut Census, more: &Census) {
    for (slow, count) in more {
        *sum.entry(*slow).or_default() += count;
    }
}

/// One place in the call tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Index of the parent; null for tasks and for `[unattributed]`. Always less than the node's.
    pub parent: Option<u32>,
    /// Index into the tree's functions.
    pub function: u32,
    pub kind: NodeKind,
    /// What it executed itself, its children not included.
    pub counts: Counts,
    /// The slow instructions among them.
    pub census: Census,
}

/// A place in the source.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct SourceLine {
    /// The file, as the resolver names it: for a kernel from the root of its source, for a program
    /// from the folder in which it was compiled.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

/// What one line of the source executed in one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineCounts {
    /// The line. Not always in the function's own file: macros and templates stand in others.
    pub source: SourceLine,
    /// Instructions, as in [`Counts`].
    pub instructions: u64,
    pub loads: u64,
    pub stores: u64,
}

/// One function of a window, all its nodes together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Its name; without a symbol its entry address in hexadecimal.
    pub name: String,
    /// The module that it belongs to; null for the kernel proper.
    pub module: Option<String>,
    /// Where it begins in memory, in hexadecimal as its name would be; of several functions with
    /// one name the lowest. Null for what has no entry: tasks, user code, inlined functions.
    pub address: Option<String>,
    /// The place of that in its line: the address modulo 64.
    pub entry_in_line: Option<u8>,
    /// Where it begins in the source: the line of its entry; of an inlined function, the first of
    /// its lines that the recording met. Null if not known.
    pub source: Option<SourceLine>,
    /// Its lines that executed, in the order of the source. Empty if no lines are known; what they
    /// don't add up to of `counts` is in none.
    pub lines: Vec<LineCounts>,
    pub counts: Counts,
    pub census: Census,
    /// The memory that it touched itself, in this window.
    pub footprint: Footprint,
    /// All of this by the names of events, as `measure` and `compare` have them. Lines and pages
    /// that two functions touch are in both.
    pub events: EventCounts,
}

impl Function {
    /// The file of a program's function; none of the kernel's, whose modules are in the upper half
    /// of the address space.
    pub(crate) fn file(&self) -> Option<&str> {
        let address = self.address.as_deref().and_then(|it| it.strip_prefix("0x"));
        let is_of_program = match address.map(|it| u64::from_str_radix(it, 16)) {
            Some(address) => address.is_ok_and(|address| address >> 63 == 0),
            // Of a function that is known by its cold part only, or that has no symbol.
            None => self.counts.user_instructions == self.counts.instructions,
        };
        self.module.as_deref().filter(|_| is_of_program)
    }

    /// Its name without what compilers append.
    pub fn plain_name(&self) -> &str {
        if self.file().is_some() { unsuffixed(&self.name) } else { folded(&self.name) }
    }
}

/// One window, decoded. The nodes' instructions add up to `total`, always, and their steps of the
/// clock to `clock`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowTree {
    /// The window's number in the recording.
    pub window: u64,
    /// Retired instructions from the first stamp (exclusive) to the last (inclusive).
    pub total: u64,
    /// Steps of the guest's clock, likewise: the difference of its two time stamps.
    pub clock: u64,
    /// Those of the total that stand below `[unattributed]`.
    pub unattributed: u64,
    /// Interrupts that came in the window.
    pub interrupts: u64,
    /// Returns in the window that went to where no call came from, though calls on their stack
    /// were seen. 0 unless something is wrong with the tree's shape: code that pushes an address
    /// and returns to it is not known in any kernel.
    pub unmatched_returns: u64,
    /// All functions, in the order in which they were entered.
    pub functions: Vec<Function>,
    /// The tree in preorder: children follow their parent, in the order of their first entry.
    pub nodes: Vec<Node>,
    /// The memory that a window touches: each number is the median of all windows that have this
    /// total, of two middle ones the lower.
    pub footprint: Footprint,
    pub census: Census,
    /// All that was counted in this window, by the names of events, as in one of the samples of
    /// `measure`. Its lines and pages are its own, and so may differ from the median in
    /// `footprint`.
    pub events: EventCounts,
}

impl WindowTree {
    /// The instructions of each node with those below it, by node.
    pub fn inclusive(&self) -> Vec<u64> {
        let mut sums: Vec<u64> = self.nodes.iter().map(|node| node.counts.instructions).collect();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                sums[parent as usize] += sums[index];
            }
        }
        sums
    }

    /// How many of an event stand for all windows that have this total: of lines and pages the
    /// median, of the others those of this window.
    pub fn typical(&self, event: Event) -> u64 {
        match event {
            Event::DataLines => self.footprint.data_lines,
            Event::DataPages => self.footprint.data_pages,
            Event::CodeLines => self.footprint.code_lines,
            Event::CodePages => self.footprint.code_pages,
            other => self.events.get(&other).copied().unwrap_or_default(),
        }
    }

    /// The name of a node's function.
    pub fn name(&self, node: &Node) -> &str {
        &self.functions[node.function as usize].name
    }
}
