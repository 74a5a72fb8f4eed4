//! The kinds of work that the rows of a program's run count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of work that a program's run consists of, in the order of a document's rows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// The program's own code.
    User,
    /// System calls.
    Syscall,
    /// System calls by a 32-bit entry.
    Syscall32,
    /// Page faults.
    PageFault,
    /// Other exceptions.
    Exception,
    /// Interrupts by devices and the timer.
    Interrupt,
    /// Softirqs.
    Softirq,
    /// The way of a new process or thread from the fork to its first instruction in user space.
    NewTask,
    /// Kernel threads.
    KernelThread,
    /// pathmeter's own agent, while it waits for the program.
    Agent,
    /// What belongs to none of the others.
    Other,
    /// A region of the program's: of functions only, since it is no row of a run.
    Region,
    /// All work that the program itself causes, together.
    OwnWork,
    /// All work together.
    Sum,
}

impl RowKind {
    /// Whether the program itself causes this work.
    /// The rest depends on when the timer ticks.
    pub fn is_own_work(self) -> bool {
        match self {
            Self::User
            | Self::Syscall
            | Self::Syscall32
            | Self::PageFault
            | Self::Exception
            | Self::NewTask => true,
            Self::Interrupt
            | Self::Softirq
            | Self::KernelThread
            | Self::Agent
            | Self::Other
            | Self::Region
            | Self::OwnWork
            | Self::Sum => false,
        }
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

/// By the numbers that `plugin/program/task.h` has for them.
pub(super) const KINDS: [RowKind; 12] = [
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
];
