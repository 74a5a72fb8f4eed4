//! Recorded instructions of a path to call tree, footprint, census and difference: pure.
//!
//! - [`decode`] reads a trace (`docs/reference/trace-format.md`) and gives the [`WindowTree`] of
//!   the window that stands for all. The tree's nodes add up to the window's total, always.
//! - [`Symbols`] gives names to addresses; [`Resolve`] is what else may.
//! - [`difference`] shows function by function how two windows differ.
//! - [`flow_difference`] shows where two interpreters' executions of one window diverge.
//! - [`count`] reads the counter's stream: the [`Events`] of every window.
//! - [`Explain`] is the document, with its schema; [`causes`] are what documents say of where
//!   differences come from.
//!
//! All that is read is hostile: a guest's kernel had its hands in it. Memory is bounded whatever
//! the trace's length, and no bytes make anything here panic.
#![forbid(unsafe_code)]

mod accounts;
mod arch;
mod bytes;
#[cfg(test)]
mod c_header;
pub mod causes;
mod conditions;
mod counting;
mod event;
mod kernel;
mod recording;
mod witness;

pub use accounts::{
    Account, AccountCell, AccountNode, AccountNodeKind, AccountProcess, AccountProcesses,
    AccountRegion, AccountRow, AccountSleep, AccountSleeps, AccountThread, AccountThreads,
    AccountTree, AccountWindow, Accounts, AlsoCounted, CODE_PAGE_BYTES, CodePage, CodePlace,
    DEEPEST_CALL, EventCell, FIRST_WINDOW, KernelWindow, Lost, MAX_NODES, MAX_WINDOWS, Misuse,
    Owner, RegionWindow, RowKind, Sleepless, ThreadOwner, TreeCell, TreeForm, UNNAMED, USER_CODE,
    Unparted, Unthreaded, VECTOR, Waker, accounts, code_hash, counted_events,
};
pub use arch::SlowInstruction;
pub use arch::class_table;
pub use conditions::{MeasuredWith, SettingProof, SettingState};
pub use counting::{
    CountedPath, CountedWindow, Counting, CountingError, LoosePoints, WindowEvents, count,
};
pub use event::{Event, Events, Role};
pub use kernel::functions::{function_names, start_lines};
pub use kernel::kallsyms::{MAX_KALLSYMS_BYTES, SymbolsError};
pub use kernel::names::folded;
pub use kernel::places::{KernelPlaces, Landmark, PlacesError, ProgramFunction};
pub use kernel::point_window::{Origins, Place, Point, PointWindow};
pub use kernel::points::{PointFinder, PointTable, PointsError};
pub use kernel::symbols::{Location, NoSymbols, Resolve, Symbols};
pub use recording::difference::{
    Change, Difference, EventDifferences, FootprintDifference, FunctionDifference, NodeDifference,
    Side, difference, is_of_program,
};
pub use recording::document::{
    Explain, ExplainFault, ExplainSchema, ProgramTree, RecordedWindows, SubjectWindow, UnusedDebug,
};
pub use recording::footprint::Footprint;
pub use recording::program_tree::{BlockFunction, BlockNames, program_tree};
pub use recording::reader::{self, Stop, TraceError};
pub use recording::tree::{
    Census, Counts, EventCounts, Function, LineCounts, Node, NodeKind, SourceLine, WindowTree,
};
pub use recording::{Recording, WindowCounts, decode, decode_window};
pub use witness::bochs_trace::{TracedLine, traced};
pub use witness::divergence::{
    Cause, Divergence, ExecutedOften, FlowDifference, Interpreter, flow_difference,
};
pub use witness::executions::{
    Executed, Faults, MOST_EXECUTIONS, NotExecuted, RecordedWindow, executed,
};
pub use witness::reconciliation::{Claims, Reconciled, reconciled};
