//! What one window executed, execution by execution, in an interpreter: in QEMU by the recorder's
//! trace (`docs/reference/trace-format.md`), in Bochs by the lines of its debugger
//! (`bochs_trace.rs`).
//!
//! Both report an instruction before it executes, so one that faults is in both, and once more when
//! it is restarted; and each iteration of a string instruction. In QEMU there is a last execution
//! more, in which such an instruction only sees that it is done: it is left out here, and counted.
//! So the executions are the steps of Bochs' clock, but for instructions that can't be fetched,
//! which nobody reports.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;

use crate::{
    arch::{
        code::{Code, Flow},
        entries::Gate,
    },
    kernel::symbols::Resolve,
    recording::reader::{Instruction, Item, Reader},
};

/// Most executions of a window that are kept.
pub const MOST_EXECUTIONS: usize = 16 << 20;

/// What was executed between the two stamps of one window: after the first, up to and including the
/// last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// The different instructions that were executed.
    pub(crate) instructions: Vec<Instruction>,
    /// What was executed, as places in `instructions`.
    pub(crate) flow: Vec<u32>,
    /// Last checks, which are not in `flow`.
    pub checks: u64,
    /// Steps of the clock between the stamps, where the clock of each execution is known.
    pub clock: Option<u64>,
}

/// The exceptions of a window, as the flow of control shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Instructions that were begun, reported, and begun once more.
    pub restarted: u64,
    /// Instructions that could not be fetched, and so were not reported.
    pub unfetched: u64,
}

/// Why a window's executions are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotExecuted {
    /// The recording ended before the window did.
    #[error("the recording ended before the window did")]
    Short,
    #[error("the recording is damaged")]
    Damaged,
    /// More executions than are kept.
    #[error("the window has more than {MOST_EXECUTIONS} executions")]
    Long,
    #[error("the window has no two readings of the clock")]
    Unstamped,
}

impl Executed {
    /// How many executions there were, without last checks.
    pub fn executions(&self) -> u64 {
        self.flow.len() as u64
    }

    /// The exceptions in the window, if it is clear what became of each: by the names of the
    /// kernel's entries, and where control went when their handlers were done.
    pub fn faults(&self, names: &dyn Resolve) -> Option<Faults> {
        let placed: Vec<(Code, bool)> = self
            .instructions
            .iter()
            .map(|instruction| (Code::of(instruction), is_exception(names, instruction.address)))
            .collect();
        let mut faults = Faults::default();
        let mut pending: Vec<u32> = Vec::new();
        for pair in self.flow.windows(2) {
            let [before, now] = [pair[0], pair[1]];
            if placed[now as usize].1 {
                pending.push(before);
            } else if placed[before as usize].0.flow == Flow::InterruptReturn {
                self.settle(&mut pending, now, &mut faults);
            }
        }
        pending.is_empty().then_some(faults)
    }

    /// A handler returned to `now`: that was restarted, or is what could not be fetched.
    fn settle(&self, pending: &mut Vec<u32>, now: u32, faults: &mut Faults) {
        let address = |number: u32| self.instructions[number as usize].address;
        let restarted = pending.iter().rposition(|before| address(*before) == address(now));
        if let Some(place) = restarted {
            pending.remove(place);
            faults.restarted += 1;
        } else if pending.pop().is_some() {
            faults.unfetched += 1;
        }
    }
}

/// Whether an exception arrives at this address.
pub(crate) fn is_exception(names: &dyn Resolve, address: u64) -> bool {
    let location = names.resolve(address);
    let gate = location.and_then(|location| Gate::at(location.name, location.offset));
    gate == Some(Gate::Exception)
}

/// A window as it is taken together, execution by execution.
#[derive(Default)]
pub(crate) struct Draft {
    /// Whether string instructions have last checks.
    with_checks: bool,
    numbers: HashMap<Instruction, u32>,
    /// Those that repeat, by number: string instructions.
    repeating: HashSet<u32>,
    stamps: HashSet<u32>,
    executed: Executed,
    /// Whether the last of the flow accessed memory.
    accessed: bool,
    /// Executions up to the last stamp, and last checks until then.
    stamped: Option<(usize, u64)>,
    begun: bool,
}

impl Draft {
    /// One of an interpreter whose string instructions have last checks: it must be told of each
    /// access to memory.
    fn with_checks() -> Self {
        Self { with_checks: true, ..Self::default() }
    }

    /// An instruction begins to execute.
    pub(crate) fn execute(&mut self, instruction: &Instruction) -> Result<(), NotExecuted> {
        let number = self.number(instruction)?;
        let is_stamp = self.stamps.contains(&number);
        if !self.begun {
            self.begun = is_stamp;
            self.stamped = is_stamp.then_some((0, 0));
            return Ok(());
        }
        if self.with_checks {
            self.leave_out_check(instruction);
        }
        if self.executed.flow.len() == MOST_EXECUTIONS {
            return Err(NotExecuted::Long);
        }
        self.executed.flow.push(number);
        self.accessed = false;
        if is_stamp {
            self.stamped = Some((self.executed.flow.len(), self.executed.checks));
        }
        Ok(())
    }

    /// The last execution accessed memory.
    fn access(&mut self) {
        self.accessed = true;
    }

    /// What was executed, once the window has ended.
    pub(crate) fn finish(mut self) -> Result<Executed, NotExecuted> {
        let (length, checks) =
            self.stamped.filter(|(length, _)| *length > 0).ok_or(NotExecuted::Unstamped)?;
        self.executed.flow.truncate(length);
        self.executed.checks = checks;
        Ok(self.executed)
    }

    fn number(&mut self, instruction: &Instruction) -> Result<u32, NotExecuted> {
        if let Some(number) = self.numbers.get(instruction) {
            return Ok(*number);
        }
        let next = self.executed.instructions.len();
        let number = u32::try_from(next).ok().filter(|_| next < MOST_EXECUTIONS);
        let number = number.ok_or(NotExecuted::Long)?;
        let code = Code::of(instruction);
        if code.rep {
            self.repeating.insert(number);
        }
        if code.stamp {
            self.stamps.insert(number);
        }
        self.numbers.insert(*instruction, number);
        self.executed.instructions.push(*instruction);
        Ok(number)
    }

    /// Before `now`: if the last execution was of a string instruction, after one more of it, and
    /// accessed nothing, and control went on after it, it only saw that it is done.
    fn leave_out_check(&mut self, now: &Instruction) {
        let [.., before, last] = self.executed.flow[..] else { return };
        let ended = self.executed.instructions[last as usize].end() == now.address;
        if before == last && ended && !self.accessed && self.repeating.contains(&last) {
            self.executed.flow.pop();
            self.executed.checks += 1;
        }
    }
}

/// What a recorder's trace has of the windows of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedWindow {
    /// What the wanted window executed.
    pub executed: Executed,
    /// Where the first stamps of all windows stand, each place once.
    pub stamps: Vec<u64>,
}

/// What the window with this number executed, of a recorder's trace.
///
/// # Errors
/// It is not there, or not whole.
pub fn executed(input: impl Read, window: u64) -> Result<RecordedWindow, NotExecuted> {
    let mut windows = Windows { wanted: window, ..Windows::default() };
    let mut reader = Reader::new(input);
    while let Some(item) = reader.next_item().map_err(|_| NotExecuted::Damaged)? {
        windows.see(item)?;
    }
    let executed = windows.found.ok_or(NotExecuted::Short)?;
    Ok(RecordedWindow { executed, stamps: windows.stamps.into_iter().collect() })
}

/// The windows of a recorder's trace.
#[derive(Default)]
struct Windows {
    wanted: u64,
    instructions: Vec<Instruction>,
    is_stamp: Vec<bool>,
    stamps: BTreeSet<u64>,
    /// The first stamp of the window that is open is still to come.
    unstamped: bool,
    /// The wanted one, while it is open.
    draft: Option<Draft>,
    found: Option<Executed>,
}

impl Windows {
    fn see(&mut self, item: Item) -> Result<(), NotExecuted> {
        match item {
            Item::Instruction(instruction) => {
                self.instructions.push(instruction);
                self.is_stamp.push(Code::of(&instruction).stamp);
            }
            Item::Begin(number) | Item::BeginWhole(number) | Item::BeginStamped(number) => {
                self.unstamped = true;
                self.draft = (number == self.wanted).then(Draft::with_checks);
            }
            Item::End(_) | Item::Dropped => {
                if let Some(draft) = self.draft.take() {
                    self.found = Some(draft.finish()?);
                }
            }
            // In range: the reader sees to it.
            Item::Run { first, count } => {
                (first..first + count).try_for_each(|number| self.execute(number as usize))?;
            }
            Item::Load(_) | Item::Store(_) => {
                if let Some(draft) = &mut self.draft {
                    draft.access();
                }
            }
            Item::Stop(_) => {}
        }
        Ok(())
    }

    fn execute(&mut self, number: usize) -> Result<(), NotExecuted> {
        if self.unstamped && self.is_stamp[number] {
            self.unstamped = false;
            self.stamps.insert(self.instructions[number].address);
        }
        match &mut self.draft {
            Some(draft) => draft.execute(&self.instructions[number]),
            None => Ok(()),
        }
    }
}
