//! The kinds of work that the rows of a program's run count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of work that a program's run consists of, in the order of a document's rows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    User,
    Syscall,
    /// System calls by a 32-bit entry.
    Syscall32,
    PageFault,
    Exception,
    /// Interrupts by devices and the timer.
    Interrupt,
    Softirq,
    /// The way of a new process or thread from the fork to its first instruction in user space.
    NewTask,
    KernelThread,
    /// pathmeter's own agent, while it waits for the program.
    Agent,
    /// What belongs to none of the others.
    Other,
    /// Page faults that QEMU takes and a processor does not: the first of two of an instruction
    /// that reads an operand and writes it back.
    InterpreterFault,
    /// A region of the program's: of functions only, since it is no row of a run.
    Region,
    /// All work that the program itself causes, together.
    OwnWork,
    Sum,
}

impl RowKind {
    /// The table of all kinds: what all work of a kind is called, what stands before the name of
    /// some of it, and whether the program itself causes it; the rest depends on when the timer
    /// ticks.
    const fn about(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::User => ("user code", "user code", true),
            Self::Syscall => ("system calls", "system calls", true),
            Self::Syscall32 => ("system calls (32-bit)", "system calls (32-bit)", true),
            Self::PageFault => ("page faults", "page fault", true),
            Self::Exception => ("exceptions", "exception", true),
            Self::Interrupt => ("interrupts", "interrupt", false),
            Self::Softirq => ("softirqs", "softirq", false),
            Self::NewTask => ("new tasks", "new task", true),
            Self::KernelThread => ("kernel threads", "kernel thread", false),
            Self::Agent => ("pathmeter's own", "pathmeter's own", false),
            Self::Other => ("other", "other", false),
            Self::InterpreterFault => ("QEMU's page faults", "QEMU's page fault", false),
            Self::Region => ("regions", "regions", false),
            Self::OwnWork => ("own work", "own work", false),
            Self::Sum => ("sum", "sum", false),
        }
    }

    /// The kernel's functions whose executions are this work, from their entry to their return;
    /// none if it is found in another way. The first that a kernel has counts.
    pub(crate) const fn functions(self) -> &'static [&'static str] {
        match self {
            // Linux `kernel/softirq.c`: what it was in older kernels only jumps to it in newer.
            Self::Softirq => &["handle_softirqs", "__do_softirq"],
            _ => &[],
        }
    }

    /// Whether this work is the execution of functions, in whatever task.
    pub fn is_of_functions(self) -> bool {
        !self.functions().is_empty()
    }

    /// What all work of this kind is called.
    pub const fn plural(self) -> &'static str {
        self.about().0
    }

    /// What stands before the name of some work of this kind.
    pub const fn singular(self) -> &'static str {
        self.about().1
    }

    /// Whether the program itself causes this work.
    pub const fn is_own_work(self) -> bool {
        self.about().2
    }

    /// Whether it is several rows together.
    pub fn is_total(self) -> bool {
        matches!(self, Self::OwnWork | Self::Sum)
    }

    /// Whether this work is part of what `total` has together.
    pub fn is_part_of(self, total: Self) -> bool {
        match total {
            Self::OwnWork => self.is_own_work(),
            Self::Sum => self != Self::Region && !self.is_total(),
            _ => false,
        }
    }
}

/// In the order of their numbers in `plugin/program/task.h`, which has no names for the kinds that
/// are executions of functions.
pub(crate) const KINDS: &[RowKind] = &[
    RowKind::User,
    RowKind::Syscall,
    RowKind::Syscall32,
    RowKind::PageFault,
    RowKind::Exception,
    RowKind::Interrupt,
    RowKind::Softirq,
    RowKind::NewTask,
    RowKind::KernelThread,
    RowKind::Agent,
    RowKind::Other,
    RowKind::Region,
    RowKind::InterpreterFault,
];

// Every kind has a number, but for the two that are several together.
const _: () = assert!(KINDS.len() == RowKind::OwnWork as usize);
