//! How control goes from one instruction to the next, and what that does to the call tree.
//!
//! The kind of the first instruction explains where the second stands: next in line, a jump's
//! target, after a call that stored its return address. What that doesn't explain is an interrupt
//! or an exception, told apart by the entry's name or, without, by whether the first instruction
//! completed. It is then kept with the entry: where it leads to shows when the entry returns.
//! The rules for stacks are in `call_stack.rs`.

use crate::{
    arch::entries::Gate,
    arch::{
        call_stack::{Counted, End, Entry, Return},
        code::Flow,
    },
    recording::{
        arena::{Arena, NO_NODE},
        listing::{Listing, NAMELESS, Placed, is_kernel},
        tree::NodeKind,
        window::{Latest, Window},
    },
};

/// Most tasks that wait while another runs; the one that waits longest is forgotten first.
const MAX_PARKED: usize = 64;
/// Longest chain of tail calls that is searched for a function to return to.
const MAX_TAIL_CALLS: usize = 64;
/// A call to no further than this after itself is a trick (RSB stuffing), not a function's entry.
const TRICK_BYTES: u64 = 16;

impl Window {
    /// Control went from `before` to `now`, which is not simply the next in line.
    pub(crate) fn transfer(
        &mut self,
        listing: &mut Listing<'_>,
        latest: Latest,
        before: &Placed,
        number: u32,
        now: &Placed,
    ) {
        // What goes anywhere might have been about to go to where an interrupt came from.
        let free = now.gate.is_none();
        match before.code.flow {
            Flow::Next if before.code.rep && now.address == before.address => {}
            Flow::Branch if now.address == before.end => {}
            _ if leads_to(before, latest, now) => {
                self.follow(listing, latest, before, self.counted, number);
            }
            Flow::Enter if free && now.is_kernel() => {
                self.enter(listing, latest, number, NodeKind::Syscall);
            }
            Flow::InterruptReturn if free => self.interrupt_return(listing, before, number),
            Flow::SystemReturn if free && !now.is_kernel() => self.leave_kernel(listing, number),
            _ => self.unexplained(listing, latest, before, number),
        }
    }

    /// Control went where the instruction `before`, which was `counted`, sends it.
    fn follow(
        &mut self,
        listing: &mut Listing<'_>,
        latest: Latest,
        before: &Placed,
        counted: Option<Counted>,
        number: u32,
    ) {
        let address = listing.instructions[number as usize].address;
        let predicted = self.is_predicted(before, address);
        if let Some(counted) = counted {
            self.arena.branch(counted.node, before.code.flow);
            self.arena.predict(counted.node, predicted);
        }
        match before.code.flow {
            Flow::Call | Flow::CallIndirect => self.call(listing, latest, before, number),
            Flow::Return => self.ret(listing, latest, before, number),
            // Jumps, and what a handler resumed elsewhere.
            _ => self.jump(listing, number),
        }
    }

    /// Whether the processor's return stack expects `before` to lead to `address`, if that is a
    /// return. A call of the next instruction only asks where it is: return stacks leave it out.
    fn is_predicted(&mut self, before: &Placed, address: u64) -> bool {
        match before.code.flow {
            Flow::Call if address == before.end => {}
            Flow::Call | Flow::CallIndirect => self.return_stack.push(before.end),
            Flow::Return => return !self.return_stack.pop(address),
            _ => {}
        }
        true
    }

    /// Neither the instruction before nor anything else in the code leads to `number`.
    fn unexplained(
        &mut self,
        listing: &mut Listing<'_>,
        latest: Latest,
        before: &Placed,
        number: u32,
    ) {
        let now = listing.instructions[number as usize];
        let incomplete = before.code.accesses && latest.load.is_none() && latest.store.is_none();
        let kind = match now.gate {
            Some(Gate::Exception) => NodeKind::Exception,
            None if !now.is_kernel() || now.function != NAMELESS && !now.is_start => {
                NodeKind::Unattributed
            }
            None if incomplete => NodeKind::Exception,
            _ => NodeKind::Interrupt,
        };
        if kind == NodeKind::Unattributed {
            self.lose(listing, number);
        } else {
            self.enter(listing, latest, number, kind);
        }
    }

    /// How control came to `number` is beyond explanation: what follows has no place.
    fn lose(&mut self, listing: &mut Listing<'_>, number: u32) {
        let function = listing.entered(number);
        let node = self.arena.child(Arena::UNATTRIBUTED, function, NodeKind::Call);
        self.current.rise(node);
    }

    fn enter(&mut self, listing: &mut Listing<'_>, latest: Latest, number: u32, kind: NodeKind) {
        self.interrupts += u64::from(kind == NodeKind::Interrupt);
        let before = listing.instructions[latest.number as usize];
        // An exception right after a return to user code comes from there.
        let leaves = matches!(before.code.flow, Flow::SystemReturn | Flow::InterruptReturn)
            && self.current.entry_from_kernel().is_none();
        let (entry, from) = if leaves {
            let entry = self.step_out(latest.number);
            (entry, self.current.node)
        } else {
            (self.entry(latest, &before, kind), self.at)
        };
        let function = listing.entered(number);
        let node = self.arena.child(from, function, kind);
        self.current.push(End::Leave(entry), node);
    }

    fn entry(&self, latest: Latest, before: &Placed, kind: NodeKind) -> Entry {
        Entry {
            kind,
            from_user: !before.is_kernel(),
            counted: self.counted,
            interrupted: latest.number,
            load: latest.load,
            store: latest.store,
        }
    }

    /// Leaves the kernel for user code of which nothing was executed before the next entry: that
    /// one goes on with what the last one had interrupted.
    fn step_out(&mut self, number: u32) -> Entry {
        if let Some(index) = self.current.entry_from_user()
            && let End::Leave(entry) = self.current.leave(index).end
        {
            return entry;
        }
        self.rise(Listing::USER, NodeKind::Syscall);
        let (load, store, counted) = (None, None, None);
        let (kind, from_user) = (NodeKind::Syscall, true);
        Entry { kind, from_user, counted, interrupted: number, load, store }
    }

    fn call(&mut self, listing: &mut Listing<'_>, latest: Latest, before: &Placed, number: u32) {
        let slot = latest.store.unwrap_or_default();
        self.current.reuse(slot);
        let now = listing.instructions[number as usize];
        let end = End::Return { slot, return_to: before.end };
        let node = if is_trick(before, &now) {
            self.current.node
        } else {
            let function = listing.entered(number);
            // Inlined code is in its caller's frame, but its calls are its own.
            let from = if before.inlined == 0 { self.current.node } else { self.at };
            self.arena.child(from, function, NodeKind::Call)
        };
        self.current.push(end, node);
    }

    /// A jump leaves its function only for another function's code.
    fn jump(&mut self, listing: &mut Listing<'_>, number: u32) {
        let now = listing.instructions[number as usize];
        let here = self.arena.draft(self.current.node).function;
        let stays = match now.function {
            NAMELESS => !now.is_kernel() || !listing.is_known_entry(now.address),
            function => function == here || self.falls_within(listing, function),
        };
        if !stays {
            let function = listing.entered(number);
            self.tail_call(listing, function);
        }
    }

    /// Whether the instruction before lay in `function` already, by symbol: control fell from one
    /// symbol's code into the next's, as it does between the labels of an entry's assembly.
    fn falls_within(&self, listing: &Listing<'_>, function: u32) -> bool {
        let latest = self.latest.map(|latest| &listing.instructions[latest.number as usize]);
        latest.is_some_and(|latest| latest.function == function)
    }

    /// Goes on in `function` in the current one's stead.
    fn tail_call(&mut self, listing: &Listing<'_>, function: u32) {
        let draft = self.arena.draft(self.current.node);
        let is_thunk = listing.functions[draft.function as usize].is_thunk;
        self.current.node = if is_thunk && draft.parent != NO_NODE {
            // A thunk makes its caller's indirect call: the callee stands beside it.
            self.arena.child(draft.parent, function, NodeKind::Call)
        } else if let Some(node) = self.earlier(function) {
            node
        } else {
            self.arena.child(self.current.node, function, NodeKind::TailCall)
        };
    }

    /// The node for `function` among those that tail-called up to the current one.
    fn earlier(&self, function: u32) -> Option<u32> {
        let mut node = self.current.node;
        for _ in 0..MAX_TAIL_CALLS {
            let draft = self.arena.draft(node);
            if draft.function == function {
                return Some(node);
            }
            if draft.kind != NodeKind::TailCall {
                return None;
            }
            node = draft.parent;
        }
        None
    }

    fn ret(&mut self, listing: &mut Listing<'_>, latest: Latest, before: &Placed, number: u32) {
        let slot = latest.load.unwrap_or_default();
        let now = listing.instructions[number as usize];
        let kernel = before.is_kernel() && is_kernel(slot);
        match self.current.judge(slot, now.address, kernel) {
            Return::Frame(index) => {
                let frame = self.current.leave(index);
                let End::Return { return_to, .. } = frame.end else { return };
                if return_to != now.address {
                    self.unmatched += u64::from(frame.is_call());
                    self.retpoline(listing, number);
                }
            }
            Return::Elsewhere => self.switch(listing, number, slot),
            Return::Unseen => self.rise(listing.entered(number), NodeKind::Call),
            Return::Jump => {
                self.unmatched += 1;
                self.jump(listing, number);
            }
        }
    }

    /// A call's `ret` went elsewhere: an indirect jump that the branch predictor must not see.
    fn retpoline(&mut self, listing: &mut Listing<'_>, number: u32) {
        let function = listing.entered(number);
        if function != self.arena.draft(self.current.node).function {
            self.tail_call(listing, function);
        }
    }

    /// Another task goes on, at instruction `number`.
    fn switch(&mut self, listing: &mut Listing<'_>, number: u32, slot: u64) {
        let address = listing.instructions[number as usize].address;
        let known = self.parked.iter().position(|chain| chain.awaits(slot, address));
        let next = match known {
            Some(index) => {
                let mut chain = self.parked.remove(index);
                chain.leave_top();
                chain
            }
            None => self.task(listing, number, Some(slot)),
        };
        if self.parked.len() == MAX_PARKED {
            self.parked.remove(0);
        }
        self.parked.push(std::mem::replace(&mut self.current, next));
    }

    /// Control returned by `kind` to code that was left before the window opened: the task's
    /// outermost function turns out to have had a caller.
    fn rise(&mut self, function: u32, kind: NodeKind) {
        let bottom = self.current.bottom;
        if function == Listing::USER && self.arena.draft(bottom).function == Listing::USER {
            return self.current.rise(bottom);
        }
        let node = self.arena.insert_above(bottom, function, kind);
        self.current.rise(node);
    }

    fn interrupt_return(&mut self, listing: &mut Listing<'_>, before: &Placed, number: u32) {
        let now = listing.instructions[number as usize];
        if !now.is_kernel() {
            self.leave_kernel(listing, number);
        } else if let Some(index) = self.current.entry_from_kernel() {
            self.resume(listing, index, number);
        } else if now.address != before.end {
            // Else it is an `iret` to the next instruction, there to serialize.
            self.rise(listing.entered(number), NodeKind::Interrupt);
        }
    }

    fn leave_kernel(&mut self, listing: &mut Listing<'_>, number: u32) {
        match self.current.entry_from_user() {
            Some(index) => self.resume(listing, index, number),
            None => self.rise(listing.entered(number), NodeKind::Syscall),
        }
    }

    /// What the entry at frame `index` interrupted goes on, at instruction `number`.
    fn resume(&mut self, listing: &mut Listing<'_>, index: usize, number: u32) {
        let End::Leave(entry) = self.current.leave(index).end else { return };
        let before = listing.instructions[entry.interrupted as usize];
        let now = listing.instructions[number as usize];
        let latest = Latest::new(entry.interrupted, entry.load, entry.store);
        if entry.kind == NodeKind::Syscall {
            if now.address != before.end {
                self.jump(listing, number);
            }
        } else if is_unfinished(&before, latest, now.address) {
            self.take_back(&before, &entry, now.address);
        } else if now.address != before.end || before.code.flow != Flow::Next {
            self.complete(listing, latest, &before, entry.counted, number);
        } else if before.code.rep {
            self.retire(&before, entry.counted);
        }
    }

    /// The instruction before an entry faulted: it doesn't count until it is executed anew.
    fn take_back(&mut self, before: &Placed, entry: &Entry, resumed: u64) {
        if entry.kind == NodeKind::Interrupt && resumed == before.address {
            // Only an exception returns to the same instruction.
            self.interrupts -= 1;
        }
        let Some(Counted { node, ledger_entry, moment }) = entry.counted else { return };
        let tentative = moment == self.arena.now();
        self.arena.take_back(node, moment, before);
        let sum = if tentative { &mut self.tentative } else { &mut self.total };
        sum.clock -= 1;
        // Of a repeated one, an iteration was not done.
        if !before.code.rep {
            sum.instructions -= 1;
            self.ledger.take_back(ledger_entry, tentative);
        }
    }

    /// The instruction before an entry was done, and what it leads to was delayed by the entry.
    fn complete(
        &mut self,
        listing: &mut Listing<'_>,
        latest: Latest,
        before: &Placed,
        counted: Option<Counted>,
        number: u32,
    ) {
        let now = listing.instructions[number as usize];
        match before.code.flow {
            Flow::Call | Flow::CallIndirect if latest.store.is_none() => {
                self.jump(listing, number);
            }
            Flow::Return if latest.load.is_none() => self.jump(listing, number),
            Flow::InterruptReturn => self.interrupt_return(listing, before, number),
            Flow::SystemReturn if !now.is_kernel() => self.leave_kernel(listing, number),
            Flow::Branch if now.address == before.end => {}
            _ => self.follow(listing, latest, before, counted, number),
        }
    }
}

/// Whether a jump, call or return `before` leads to `now`, seeing what it accessed.
fn leads_to(before: &Placed, latest: Latest, now: &Placed) -> bool {
    let direct = now.address == before.code.target;
    let free = now.gate.is_none();
    match before.code.flow {
        Flow::Jump | Flow::Branch => direct,
        Flow::JumpIndirect => free && (!before.code.accesses || latest.load.is_some()),
        Flow::Call => direct && latest.store.is_some(),
        Flow::CallIndirect => free && latest.store.is_some(),
        Flow::Return => free && latest.load.is_some(),
        Flow::Next | Flow::Enter | Flow::InterruptReturn | Flow::SystemReturn => false,
    }
}

/// Whether a call is made for its return address only: RSB stuffing, retpolines.
fn is_trick(before: &Placed, now: &Placed) -> bool {
    if now.function == NAMELESS {
        return !now.is_kernel() || now.address.wrapping_sub(before.end) <= TRICK_BYTES;
    }
    now.function == before.function && !now.is_start
}

/// Whether the instruction before an entry did not complete, seeing where control resumed.
fn is_unfinished(before: &Placed, latest: Latest, resumed: u64) -> bool {
    let code = &before.code;
    let accessed = latest.load.is_some() || latest.store.is_some();
    let moved = if code.rep_stores { latest.store } else { latest.load };
    if resumed == before.address {
        let to_itself = matches!(code.flow, Flow::Jump | Flow::Branch) && code.target == resumed;
        return !(to_itself || code.rep && moved.is_some());
    }
    if code.rep && resumed != before.end {
        return moved.is_none();
    }
    let elsewhere = match code.flow {
        Flow::Next => resumed != before.end && code.accesses,
        Flow::Call | Flow::CallIndirect | Flow::Return => true,
        Flow::JumpIndirect => code.accesses,
        _ => false,
    };
    elsewhere && !accessed
}
