//! The call tree while a window is decoded: nodes that grow, move, and settle.
//!
//! What executes is tentative until the next stamp: what follows a window's last stamp doesn't
//! count, and only the window's end shows which stamp that was. So each node has two tallies, and a
//! stamp moves one into the other for the nodes touched since the stamp before.

use std::{collections::HashMap, hash::BuildHasherDefault};

use crate::{
    arch::{census::SlowInstruction, code::Flow},
    recording::{
        footprint::LineHasher,
        listing::Placed,
        reader::Access,
        tree::{Census, Counts, NodeKind},
    },
};

/// Most places in one window's call tree; what is beyond them is unattributed.
const MAX_NODES: usize = 1 << 16;
/// The parent of what has none.
pub(crate) const NO_NODE: u32 = u32::MAX;
const SLOW_KINDS: usize = SlowInstruction::ALL.len();

/// What a node did in one of its two states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    slow: [u64; SLOW_KINDS],
}

/// Written out, since arrays of more than 32 have none of their own.
impl Default for Tally {
    fn default() -> Self {
        Self { counts: Counts::default(), slow: [0; SLOW_KINDS] }
    }
}

impl Tally {
    pub(crate) fn census(&self) -> Census {
        let counted = SlowInstruction::ALL.iter().zip(self.slow);
        counted.filter(|(_, count)| *count > 0).map(|(slow, count)| (*slow, count)).collect()
    }

    #[inline]
    fn execute(&mut self, what: &Placed) {
        self.counts.clock += 1;
        if what.code.rep {
            self.counts.rep_iterations += 1;
        } else {
            self.retire(what);
        }
    }

    #[inline]
    fn retire(&mut self, what: &Placed) {
        self.counts.instructions += 1;
        self.counts.user_instructions += u64::from(!what.is_kernel());
        if let Some(slow) = what.code.slow {
            self.slow[slow as usize] += 1;
        }
    }

    fn take_back(&mut self, what: &Placed) {
        self.counts.clock -= 1;
        if what.code.rep {
            self.counts.rep_iterations -= 1;
            return;
        }
        self.counts.instructions -= 1;
        self.counts.user_instructions -= u64::from(!what.is_kernel());
        if let Some(slow) = what.code.slow {
            self.slow[slow as usize] -= 1;
        }
    }

    fn absorb(&mut self, other: &mut Self) {
        self.counts += other.counts;
        for (sum, more) in self.slow.iter_mut().zip(other.slow) {
            *sum += more;
        }
        *other = Self::default();
    }
}

/// A node that is not finished.
pub(crate) struct Draft {
    pub(crate) parent: u32,
    pub(crate) function: u32,
    pub(crate) kind: NodeKind,
    pub(crate) settled: Tally,
    tentative: Tally,
    touched: bool,
}

/// When something was counted: it is still tentative if no stamp came since.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(u64);

/// All nodes of the window.
#[derive(Default)]
pub(crate) struct Arena {
    pub(crate) nodes: Vec<Draft>,
    children: HashMap<(u32, u32, NodeKind), u32, BuildHasherDefault<LineHasher>>,
    touched: Vec<u32>,
    stamps: u64,
}

impl Arena {
    /// The node where everything goes that has no place.
    pub(crate) const UNATTRIBUTED: u32 = 0;

    /// Empties the arena, for a window whose nodes without a place are `unattributed`.
    pub(crate) fn clear(&mut self, unattributed: u32) {
        self.nodes.clear();
        self.children.clear();
        self.touched.clear();
        self.stamps = 0;
        self.child(NO_NODE, unattributed, NodeKind::Unattributed);
    }

    /// The child of `parent` that is `function` entered by `kind`.
    pub(crate) fn child(&mut self, parent: u32, function: u32, kind: NodeKind) -> u32 {
        if let Some(node) = self.children.get(&(parent, function, kind)) {
            return *node;
        }
        let Some(node) = self.next_number() else { return Self::UNATTRIBUTED };
        let (settled, tentative) = (Tally::default(), Tally::default());
        self.nodes.push(Draft { parent, function, kind, settled, tentative, touched: false });
        self.children.insert((parent, function, kind), node);
        node
    }

    fn next_number(&self) -> Option<u32> {
        if self.nodes.len() < MAX_NODES { u32::try_from(self.nodes.len()).ok() } else { None }
    }

    /// Puts a new node for `function` between `node` and its parent; returns the new one.
    /// `node` keeps its children, and was entered by `kind`, as is now known.
    pub(crate) fn insert_above(&mut self, node: u32, function: u32, kind: NodeKind) -> u32 {
        if node == Self::UNATTRIBUTED || self.next_number().is_none() {
            return Self::UNATTRIBUTED;
        }
        let Draft { parent, function: of, kind: was, .. } = self.nodes[node as usize];
        self.children.remove(&(parent, of, was));
        let above = self.child(parent, function, NodeKind::Call);
        (self.nodes[node as usize].parent, self.nodes[node as usize].kind) = (above, kind);
        self.children.insert((above, of, kind), node);
        above
    }

    pub(crate) fn draft(&self, node: u32) -> &Draft {
        &self.nodes[node as usize]
    }

    /// The tentative tally of `node`, to be added to.
    #[inline]
    fn tentative(&mut self, node: u32) -> &mut Tally {
        let draft = &mut self.nodes[node as usize];
        if !draft.touched {
            draft.touched = true;
            self.touched.push(node);
        }
        &mut draft.tentative
    }

    /// `node` executed an instruction, or an iteration of a repeated one.
    #[inline]
    pub(crate) fn execute(&mut self, node: u32, what: &Placed) {
        self.tentative(node).execute(what);
    }

    /// The repeated instruction that `node` executed is done.
    #[inline]
    pub(crate) fn retire(&mut self, node: u32, what: &Placed) {
        self.tentative(node).retire(what);
    }

    /// The instruction that `node` executed at `moment` did not complete.
    pub(crate) fn take_back(&mut self, node: u32, moment: Moment, what: &Placed) {
        let tentative = moment == self.now();
        let draft = &mut self.nodes[node as usize];
        let tally = if tentative { &mut draft.tentative } else { &mut draft.settled };
        tally.take_back(what);
    }

    pub(crate) fn now(&self) -> Moment {
        Moment(self.stamps)
    }

    /// Control went where `flow`, the end of an instruction of `node`, leads to.
    #[inline]
    pub(crate) fn branch(&mut self, node: u32, flow: Flow) {
        let counts = &mut self.tentative(node).counts;
        match flow {
            Flow::Jump | Flow::Branch | Flow::Call => {}
            Flow::JumpIndirect | Flow::CallIndirect => counts.indirect_branches += 1,
            Flow::Return => counts.returns += 1,
            Flow::Next | Flow::Enter | Flow::InterruptReturn | Flow::SystemReturn => return,
        }
        counts.taken_branches += 1;
    }

    /// Where a return of `node` led was `predicted`, or not.
    pub(crate) fn predict(&mut self, node: u32, predicted: bool) {
        self.tentative(node).counts.mispredicted_returns += u64::from(!predicted);
    }

    /// `node` read memory, `rep` bytes of it by a repeated string instruction.
    #[inline]
    pub(crate) fn load(&mut self, node: u32, access: Access, rep: u64) {
        let counts = &mut self.tentative(node).counts;
        counts.loads += 1;
        counts.bytes_loaded += u64::from(access.bytes);
        counts.split_accesses += u64::from(access.is_split());
        counts.rep_bytes += rep;
    }

    /// `node` wrote memory, `rep` bytes of it by a repeated string instruction.
    #[inline]
    pub(crate) fn store(&mut self, node: u32, access: Access, rep: u64) {
        let counts = &mut self.tentative(node).counts;
        counts.stores += 1;
        counts.bytes_stored += u64::from(access.bytes);
        counts.split_accesses += u64::from(access.is_split());
        counts.rep_bytes += rep;
    }

    /// A stamp: all so far counts.
    pub(crate) fn settle(&mut self) {
        self.stamps += 1;
        for node in self.touched.drain(..) {
            let draft = &mut self.nodes[node as usize];
            draft.touched = false;
            draft.settled.absorb(&mut draft.tentative);
        }
    }
}
