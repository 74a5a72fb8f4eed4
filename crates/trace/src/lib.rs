//! Recorded instructions of a path to call tree, footprint, census and difference: pure.
//!
//! - [`decode`] reads a trace (`docs/reference/trace-format.md`) and gives the [`WindowTree`] of
//!   the window that stands for all. The tree's nodes add up to the window's total, always.
//! - [`Symbols`] gives names to addresses; [`Resolve`] is what else may.
//! - [`difference`] shows function by function how two windows differ.
//! - [`flow_difference`] shows where two interpreters' executions of one window diverge.
//! - [`count`] reads the counter's stream: the [`Events`] of every window.
//! - [`Explain`] is the document, with its schema.
//!
//! All that is read is hostile: a guest's kernel had its hands in it. Memory is bounded whatever
//! the trace's length, and no bytes make anything here panic.
#![forbid(unsafe_code)]

mod accounts;
mod arena;
mod block;
#[cfg(test)]
mod c_header;
mod call_stack;
mod census;
mod classes;
mod code;
mod counting;
mod crossings;
mod difference;
mod divergence;
mod document;
mod event;
mod executed;
mod flow;
mod footprint;
mod kallsyms;
mod kernel_code;
mod kernel_places;
mod line_counts;
mod measured_with;
mod naming;
mod places;
mod point_window;
mod points;
mod program;
pub mod reader;
mod reconciled;
mod recording;
mod source;
mod symbols;
mod traced;
mod tree;
mod window;

pub use accounts::{
    Account, AccountCell, AccountRegion, AccountRow, AccountWindow, Accounts, FIRST_WINDOW,
    KernelWindow, Lost, MAX_WINDOWS, Misuse, RegionWindow, RowKind, UNNAMED, USER_CODE, VECTOR,
    accounts, counted_events,
};
pub use census::SlowInstruction;
pub use classes::class_table;
pub use counting::{
    CountedPath, CountedWindow, Counting, CountingError, LoosePoints, WindowEvents, count,
};
pub use crossings::{Crossed, Crossing, SteppedRow, Uncrossed, stepped_rows};
pub use difference::{
    Change, Difference, EventDifferences, FootprintDifference, FunctionDifference, NodeDifference,
    Side, difference,
};
pub use divergence::{
    Cause, Divergence, ExecutedOften, FlowDifference, Interpreter, flow_difference,
};
pub use document::{
    Explain, ExplainFault, ExplainSchema, RecordedWindows, SubjectWindow, explain_schema,
};
pub use event::{Event, Events, Role};
pub use executed::{Executed, Faults, MOST_EXECUTIONS, NotExecuted, RecordedWindow, executed};
pub use footprint::Footprint;
pub use kallsyms::{MAX_KALLSYMS_BYTES, SymbolsError};
pub use kernel_places::{KernelPlaces, Landmark, PlacesError, ProgramFunction};
pub use measured_with::{MeasuredWith, SettingProof, SettingState};
pub use naming::folded;
pub use point_window::{Origins, Place, Point, PointWindow};
pub use points::{PointFinder, PointTable, PointsError};
pub use reader::{Stop, TraceError};
pub use reconciled::{Claims, Reconciled, reconciled};
pub use recording::{Recording, WindowCounts, decode, decode_wanting};
pub use symbols::{Location, NoSymbols, Resolve, Symbols};
pub use traced::{TracedLine, traced};
pub use tree::{
    Census, Counts, EventCounts, Function, LineCounts, Node, NodeKind, SourceLine, WindowTree,
};
