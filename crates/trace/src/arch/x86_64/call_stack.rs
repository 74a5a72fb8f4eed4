//! One flow of control: the frames of one task, found by their stack slots.
//!
//! A trace has no registers. But a call stores its return address, and the `ret` that ends it loads
//! from the same slot: frames are known by their slots. What survives that way: tail calls (the
//! slot stays), retpolines (the return address is overwritten, the slot stays), calls never
//! returned from (a later call on the same stack has a slot at or above theirs).

use crate::recording::{arena::Moment, tree::NodeKind};

/// Where an instruction was counted, and when.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) node: u32,
    /// The entry of its line, see `recording/line_counts.rs`.
    pub(crate) ledger_entry: u32,
    pub(crate) moment: Moment,
}

/// log2 of the size and alignment of a kernel stack (linux `THREAD_SIZE` on x86-64).
const STACK_SHIFT: u32 = 14;
/// Most frames of one flow: beyond what a kernel stack holds.
const MAX_FRAMES: usize = 2048;

/// What an entry into the kernel will return to.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) kind: NodeKind,
    pub(crate) from_user: bool,
    /// The instruction before it, if it was counted.
    pub(crate) counted: Option<Counted>,
    pub(crate) interrupted: u32,
    /// What that instruction had accessed when the entry came.
    pub(crate) load: Option<u64>,
    pub(crate) store: Option<u64>,
}

/// How a frame of a task ends.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// By a `ret` from `slot` to `return_to`.
    Return { slot: u64, return_to: u64 },
    /// By an `iret` or `sysret`.
    Leave(Entry),
}

/// One frame of a task.
#[derive(Clone, Copy)]
pub(crate) struct CallFrame {
    pub(crate) end: End,
    /// The node that control returns to.
    pub(crate) parent: u32,
    /// The node that was entered. A call made for its return address only stays in its parent.
    entered: u32,
    /// Whether the stack pointer was loaded from memory since: a task switch.
    pub(crate) switched: bool,
}

impl CallFrame {
    fn slot(&self) -> Option<u64> {
        match self.end {
            End::Return { slot, .. } => Some(slot),
            End::Leave(_) => None,
        }
    }

    /// Whether its call entered a function, not only its own caller's next lines.
    pub(crate) fn is_call(&self) -> bool {
        self.entered != self.parent
    }

    fn returns_to(&self, address: u64) -> bool {
        matches!(self.end, End::Return { return_to, .. } if return_to == address)
    }
}

/// The stack that a slot lies on.
fn stack_of(slot: u64) -> u64 {
    slot >> STACK_SHIFT
}

/// The frames of one task. See the file's head.
pub(crate) struct Chain {
    /// The outermost node of the task in this window.
    pub(crate) bottom: u32,
    /// The node that the task is in.
    pub(crate) node: u32,
    frames: Vec<CallFrame>,
    /// The stack of the last return while there were no frames.
    stack: Option<u64>,
}

/// What a `ret` is, judged by its slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Return {
    /// The end of this frame.
    Frame(usize),
    /// The end of a call that was made before the window opened.
    Unseen,
    /// A jump to an address that was pushed.
    Jump,
    /// On the stack of another task.
    Elsewhere,
}

impl Chain {
    /// A task that is at `node`; it came there by a `ret` from `slot`, if by any.
    pub(crate) fn new(node: u32, slot: Option<u64>) -> Self {
        Self { bottom: node, node, frames: Vec::new(), stack: slot.map(stack_of) }
    }

    /// Goes into `node`, until `end`.
    pub(crate) fn push(&mut self, end: End, node: u32) {
        if self.frames.len() == MAX_FRAMES {
            // No kernel gets here. Later returns find no frame and report it.
            self.frames.clear();
        }
        self.frames.push(CallFrame { end, parent: self.node, entered: node, switched: false });
        self.node = node;
    }

    /// Forgets calls that were never returned from: `slot` is being used anew.
    pub(crate) fn reuse(&mut self, slot: u64) {
        let kept = self.above(|used| used <= slot, slot);
        if let Some(frame) = self.frames[kept..].iter().find(|frame| frame.is_call()) {
            self.node = frame.parent;
        }
        self.frames.truncate(kept);
    }

    /// Number of frames below the topmost ones on `slot`'s stack for which `gone` holds.
    fn above(&self, gone: impl Fn(u64) -> bool, slot: u64) -> usize {
        let is_gone = |frame: &&CallFrame| {
            frame.slot().is_some_and(|used| stack_of(used) == stack_of(slot) && gone(used))
        };
        self.frames.len() - self.frames.iter().rev().take_while(is_gone).count()
    }

    /// What a `ret` from `slot` to `address` is; frames that it shows to be gone are dropped.
    pub(crate) fn judge(&mut self, slot: u64, address: u64, kernel: bool) -> Return {
        let of_slot = |frame: &CallFrame| frame.slot() == Some(slot);
        if let Some(index) = self.frames.iter().rposition(of_slot) {
            return Return::Frame(index);
        }
        let kept = self.above(|used| used < slot, slot);
        self.frames.truncate(kept);
        let Some(top) = self.frames.last() else {
            let stays = !kernel || self.stack.is_none_or(|stack| stack == stack_of(slot));
            self.stack = Some(stack_of(slot));
            return if stays { Return::Unseen } else { Return::Elsewhere };
        };
        // Entry code moves its return address to another stack of the same task.
        if top.returns_to(address) && !top.switched {
            return Return::Frame(kept - 1);
        }
        match top.slot() {
            Some(used) if kernel && stack_of(used) != stack_of(slot) => Return::Elsewhere,
            _ => Return::Jump,
        }
    }

    /// Whether the task waits for a `ret` from `slot` to `address`.
    pub(crate) fn awaits(&self, slot: u64, address: u64) -> bool {
        self.frames.last().is_some_and(|top| top.slot() == Some(slot) && top.returns_to(address))
    }

    /// Leaves the frame at `index` and those above it; the frame as it was.
    pub(crate) fn leave(&mut self, index: usize) -> CallFrame {
        let frame = self.frames[index];
        self.frames.truncate(index);
        self.node = frame.parent;
        frame
    }

    pub(crate) fn leave_top(&mut self) {
        if let Some(top) = self.frames.len().checked_sub(1) {
            self.leave(top);
        }
    }

    /// The first entry from user code: leaving the kernel for user code ends it.
    pub(crate) fn entry_from_user(&self) -> Option<usize> {
        let from_user =
            |frame: &CallFrame| matches!(frame.end, End::Leave(entry) if entry.from_user);
        self.frames.iter().position(from_user)
    }

    /// The last entry, if it came from kernel code.
    pub(crate) fn entry_from_kernel(&self) -> Option<usize> {
        let is_entry = |frame: &CallFrame| matches!(frame.end, End::Leave(_));
        let last = self.frames.iter().rposition(is_entry)?;
        matches!(self.frames[last].end, End::Leave(entry) if !entry.from_user).then_some(last)
    }

    /// Notes that the stack pointer was loaded from memory.
    pub(crate) fn note_switch(&mut self) {
        if let Some(top) = self.frames.last_mut() {
            top.switched = true;
        }
    }

    /// Forgets all frames: `node` is the outermost now.
    pub(crate) fn rise(&mut self, node: u32) {
        self.frames.clear();
        (self.bottom, self.node) = (node, node);
    }
}
