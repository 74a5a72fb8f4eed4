//! The document `pathmeter.explain/1`: one path of one subject, or two windows and their
//! difference: of one path in two subjects, or of two paths, or two rows of a program, in one.
//!
//! Field names are read by others: they change only together with the number in the schema's name.

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    causes::Causes,
    conditions::MeasuredWith,
    event::Event,
    recording::Recording,
    recording::{
        difference::{Difference, difference},
        footprint::Footprint,
        tree::{Census, Counts, EventCounts, WindowTree, add_census, events},
    },
};

schema_name!(pub ExplainSchema = "pathmeter.explain/1");

/// Where the instructions of a path are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explain {
    pub schema: ExplainSchema,
    /// The path explained; of two, new's.
    pub path: String,
    /// What is explained, or compared against.
    pub base: SubjectWindow,
    /// What is compared; null if there is but one window.
    pub new: Option<SubjectWindow>,
    /// new − base; null if there is but one window.
    pub difference: Option<Difference>,
    /// Where the difference of a program's row comes from: the causes add up to it. Absent of
    /// paths, of which a comparison has the causes, and where a kernel has no symbol table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causes: Option<Causes>,
}

/// What one subject executed on one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectWindow {
    pub path: String,
    pub name: String,
    /// Hash of the kernel image as given: SHA-256 in lower-case hexadecimal.
    pub image_sha256: String,
    /// What it was recorded with; null in documents of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_with: Option<MeasuredWith>,
    pub windows: RecordedWindows,
    /// Steps of the guest's clock that passed in the window while the CPU waited in `hlt`, and so
    /// were not executed. Known of waits that the kernel itself stamps; else 0.
    #[serde(default)]
    pub idle: u64,
    /// What `window` is of a program's run; null of a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramTree>,
    /// The window that stands for all: the first with the most frequent total. Of a program, all
    /// that the row or region executed in one run.
    pub window: WindowTree,
}

/// What a tree of a program is of. Its windows are runs, and only instructions and steps of the
/// clock are counted in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramTree {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The run that is shown, from 1. The first one is cold.
    pub run: u64,
    /// How often the row was entered, or the region executed, in that run.
    pub calls: u64,
    /// Calls in that run that are deeper than 512 calls of their task: their instructions count in
    /// the one at that depth.
    pub deeper: u64,
    /// How often in that run there was no room for a call: what it executed is below a node of its
    /// own, and in `unattributed`.
    pub beyond: u64,
    /// Files of which code without a symbol was executed: functions there are named by their
    /// addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_symbols: Vec<String>,
    /// Debug files and debug information of files that were executed which could not be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_debug: Vec<UnusedDebug>,
    /// Whether code was executed that is in no packed file and that no JIT named: the vDSO's, or a
    /// JIT's. It is named by its addresses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unnamed_code: bool,
}

/// Debug information that gives no names and no lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnusedDebug {
    /// The file that it is about, without folders.
    pub file: String,
    /// The debug file that is not used, or not wholly; null if it is what `file` itself has.
    pub debug_file: Option<String>,
    pub reason: String,
}

/// How many windows a recording has, and what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedWindows {
    /// Windows that were opened and closed.
    pub recorded: u64,
    /// Those set aside because an interrupt came in them.
    pub interrupted: u64,
    /// Those set aside because they lack a stamp.
    pub unstamped: u64,
    /// Those with as many instructions as the one shown.
    pub alike: u64,
}

impl SubjectWindow {
    /// The subject `name` with what `recording` holds about `path`; `None` if no window can stand
    /// for all.
    pub fn new(
        path: String,
        name: String,
        image_sha256: String,
        recording: &Recording,
    ) -> Option<Self> {
        let window = recording.representative.clone()?;
        let windows = RecordedWindows {
            recorded: recording.windows.recorded,
            interrupted: recording.windows.interrupted,
            unstamped: recording.windows.unstamped,
            // A window that was chosen may be one with an interrupt, which has no total.
            alike: recording.totals.get(&window.total).copied().unwrap_or(1),
        };
        let measured_with = None;
        let program = None;
        Some(Self { path, name, image_sha256, measured_with, windows, idle: 0, program, window })
    }
}

impl Explain {
    /// Explains one window, or how `new` differs from `base`.
    pub fn new(base: SubjectWindow, new: Option<SubjectWindow>) -> Self {
        let path = new.as_ref().unwrap_or(&base).path.clone();
        let difference = new.as_ref().map(|new| difference(&base.window, &new.window));
        Self { schema: ExplainSchema::V1, path, base, new, difference, causes: None }
    }

    /// How often base and new execute the row of a program, or the region, in the runs that are
    /// shown; none of paths and of what is not called.
    pub fn executions(&self) -> Option<[u64; 2]> {
        let calls = |side: &SubjectWindow| side.program.as_ref().map(|it| it.calls);
        let both = calls(&self.base).zip(self.new.as_ref().and_then(calls));
        both.map(|(base, new)| [base, new]).filter(|both| !both.contains(&0))
    }
}

/// Why an explanation that was read from a file can't be what a recording gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ExplainFault {
    /// There is more of something than a recording can hold.
    #[error("it has larger numbers than any recording")]
    TooLarge,
    /// A node has no function, or stands before its parent.
    #[error("its call tree is none")]
    Tree,
    /// The nodes' instructions don't add up.
    #[error("the instructions of its call tree do not add up to the total")]
    Total,
    /// A number of a function or of the window is not that of the nodes.
    #[error("the numbers of its functions do not follow from its call tree")]
    Functions,
    #[error("its difference does not follow from its two windows")]
    Difference,
    /// The causes are not those of the difference.
    #[error("its causes do not add up to its difference")]
    Causes,
}

/// Most nodes or functions of a window, far above what a recording may have.
const MOST_NODES: usize = 1 << 20;
/// Largest number in a window, far above what a recording may have: sums of all fit 64 bits.
const MOST_COUNTED: u64 = 1 << 40;

impl Explain {
    /// Checks a document that came from a file: afterwards its trees can be walked and its numbers
    /// be added up.
    ///
    /// # Errors
    /// What contradicts what.
    pub fn check(&self) -> Result<(), ExplainFault> {
        let windows = std::iter::once(&self.base).chain(&self.new);
        windows.map(|subject| &subject.window).try_for_each(check_window)?;
        let found = self.new.as_ref().map(|new| difference(&self.base.window, &new.window));
        if found != self.difference {
            return Err(ExplainFault::Difference);
        }
        let fits = |causes| self.is_whole(causes);
        if self.causes.as_ref().is_none_or(fits) { Ok(()) } else { Err(ExplainFault::Causes) }
    }

    /// Whether these causes are of this one difference.
    fn is_whole(&self, causes: &Causes) -> bool {
        let total = self.difference.as_ref().map(|it| it.total);
        let [row] = &causes.rows[..] else { return false };
        total == Some(row.recorded) && row.path == self.path && causes.contradiction().is_none()
    }
}

fn check_window(window: &WindowTree) -> Result<(), ExplainFault> {
    if window.nodes.len().max(window.functions.len()) > MOST_NODES {
        return Err(ExplainFault::TooLarge);
    }
    let counts = window.nodes.iter().map(|node| (&node.counts, &node.census));
    let of_functions = window.functions.iter().map(|it| (&it.counts, &it.census));
    for (counts, census) in counts.chain(of_functions) {
        if counts.largest().max(census.values().copied().max().unwrap_or(0)) > MOST_COUNTED {
            return Err(ExplainFault::TooLarge);
        }
        if counts.user_instructions > counts.instructions {
            return Err(ExplainFault::Total);
        }
    }
    let footprints = window.functions.iter().map(|function| function.footprint);
    let footprints = footprints.chain([window.footprint]);
    let numbers = window.events.values().chain(window.census.values()).copied();
    if footprints.map(Footprint::largest).chain(numbers).any(|number| number > MOST_COUNTED) {
        return Err(ExplainFault::TooLarge);
    }
    check_tree(window)?;
    let sum: u64 = window.nodes.iter().map(|node| node.counts.instructions).sum();
    if sum != window.total {
        return Err(ExplainFault::Total);
    }
    if follows(window) { Ok(()) } else { Err(ExplainFault::Functions) }
}

/// Whether the numbers of the functions and of the window are those of the nodes. Lines and pages,
/// which no node has, are the functions' own.
fn follows(window: &WindowTree) -> bool {
    let mut functions = vec![(Counts::default(), Census::new()); window.functions.len()];
    let (mut counts, mut census) = (Counts::default(), Census::new());
    for node in &window.nodes {
        let function = &mut functions[node.function as usize];
        for (counts, census) in [(&mut counts, &mut census), (&mut function.0, &mut function.1)] {
            *counts += node.counts;
            add_census(census, &node.census);
        }
    }
    let are_own = window.functions.iter().zip(functions).all(|(function, (counts, census))| {
        let in_lines: u64 = function.lines.iter().map(|line| line.instructions).sum();
        (function.counts, &function.census) == (counts, &census)
            && in_lines <= counts.instructions
            && are_of(&function.events, &counts, &function.footprint, &census)
    });
    are_own
        && window.clock == counts.clock
        && window.census == census
        && are_of(&without_footprint(&window.events), &counts, &Footprint::default(), &census)
}

/// Whether each number of `stated` is that of what was counted.
fn are_of(stated: &EventCounts, counts: &Counts, touched: &Footprint, census: &Census) -> bool {
    let counted = events(counts, touched, census);
    stated.iter().all(|(event, number)| counted.get(event) == Some(number))
}

/// The events but for the lines and pages that a window touches, which are its own.
fn without_footprint(events: &EventCounts) -> EventCounts {
    let is_touched = |event: &Event| {
        let touched = [Event::DataLines, Event::DataPages, Event::CodeLines, Event::CodePages];
        touched.contains(event)
    };
    events.iter().filter(|(event, _)| !is_touched(event)).map(|(it, n)| (*it, *n)).collect()
}

/// Each node has a function, and is in preorder: its parent is among the nodes that are open.
fn check_tree(window: &WindowTree) -> Result<(), ExplainFault> {
    let mut open: Vec<u32> = Vec::new();
    for (index, node) in (0..).zip(&window.nodes) {
        while open.last().copied() != node.parent {
            open.pop().ok_or(ExplainFault::Tree)?;
        }
        if node.function as usize >= window.functions.len() {
            return Err(ExplainFault::Tree);
        }
        open.push(index);
    }
    Ok(())
}
