//! Two windows of one path, function by function and call path by call path.
//!
//! Functions are matched by name without compilers' suffixes; those of a program by their files as
//! well, since the kernel has a `memcpy` too. Invariant: the functions' differences
//! of instructions add up to the difference of the totals, and so do the tree's; nothing is left
//! out for being small.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arch::census::SlowInstruction,
    event::Event,
    recording::{
        footprint::Footprint,
        tree::{Census, Counts, EventCounts, Function, NodeKind, WindowTree, add_census, events},
    },
};

/// What became of a function.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Appeared,
    Vanished,
    Grew,
    Shrank,
    /// As many instructions in both.
    Same,
}

/// What one function, or a whole window, did itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What it executed and accessed.
    pub counts: Counts,
    /// The memory that it touched. Of several functions with one name, their sums.
    pub footprint: Footprint,
    pub census: Census,
    /// All of this by the names of events.
    pub events: EventCounts,
    /// The place of its entry in its line: the address modulo 64. Of several functions with one
    /// name that of the first; null for what has no entry.
    pub entry_in_line: Option<u8>,
}

/// How many more of each event there are in new: new − base; those that don't differ are absent.
pub type EventDifferences = BTreeMap<Event, i64>;

impl Side {
    fn add(&mut self, function: &Function) {
        self.counts += function.counts;
        self.footprint += function.footprint;
        add_census(&mut self.census, &function.census);
        self.events = events(&self.counts, &self.footprint, &self.census);
        self.entry_in_line = self.entry_in_line.or(function.entry_in_line);
    }

    /// Where it stands, as far as that has a cost: the place of its entry in its line, and the
    /// lines and pages of code that it takes. None for what has no entry.
    fn placement(&self) -> Option<(u8, u64, u64)> {
        Some((self.entry_in_line?, self.footprint.code_lines, self.footprint.code_pages))
    }
}

/// One function in both windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionDifference {
    /// Its name, without compilers' suffixes; of a program's function with the file that it is in,
    /// as `main [ls]`.
    pub name: String,
    pub change: Change,
    /// Instructions that it executes itself: new − base.
    pub difference: i64,
    /// The events that differ, also where the instructions are as many.
    pub events: EventDifferences,
    /// Whether it executes as many instructions in both and stands elsewhere: its entry at another
    /// place in its line, or what is executed of it in more or fewer lines or pages.
    pub moved: bool,
    /// It in base; null if it isn't there.
    pub base: Option<Side>,
    /// It in new; null if it isn't there.
    pub new: Option<Side>,
}

/// One call path in both windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeDifference {
    /// Index of the parent; null for tasks and for `[unattributed]`. Always less than the node's.
    pub parent: Option<u32>,
    /// The function's name, as the functions' names are.
    pub name: String,
    /// How control came to it.
    pub kind: NodeKind,
    /// Instructions that it executes itself in base.
    pub base: u64,
    pub new: u64,
    /// Instructions in base of it and all below it.
    pub base_inclusive: u64,
    pub new_inclusive: u64,
}

/// The difference of two windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Instructions: new − base. The sum of the functions' differences, exactly.
    pub total: i64,
    /// All functions of either; those that differ most first.
    pub functions: Vec<FunctionDifference>,
    /// Both trees laid over each other, in preorder.
    pub tree: Vec<NodeDifference>,
    /// The events that differ; of lines and pages the medians, as in `footprint`.
    pub events: EventDifferences,
    /// Lines and pages in new − those in base.
    pub footprint: FootprintDifference,
    /// Slow instructions in new − those in base; kinds that don't differ are absent.
    pub census: BTreeMap<SlowInstruction, i64>,
}

/// Distinct lines of 64 bytes and pages of 4 KiB, new − base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FootprintDifference {
    pub code_lines: i64,
    /// Lines of data read or written.
    pub data_lines: i64,
    pub read_lines: i64,
    pub written_lines: i64,
    pub code_pages: i64,
    /// Pages of data read or written.
    pub data_pages: i64,
}

/// What a function is known by on the other side.
fn matched(function: &Function) -> Cow<'_, str> {
    match function.file() {
        Some(file) => Cow::Owned(format!("{} [{file}]", function.plain_name())),
        None => Cow::Borrowed(function.plain_name()),
    }
}

/// Whether a name that functions are matched by is that of a program's function, or of its code
/// without a file. No name of the kernel's has a space.
pub fn is_of_program(matched: &str) -> bool {
    matched.contains(" [") || matched.starts_with("[code ")
}

/// `new` − `base`. Counts of a window are far below 2^63.
fn minus(new: u64, base: u64) -> i64 {
    new.wrapping_sub(base).cast_signed()
}

/// What differs between two windows.
pub fn difference(base: &WindowTree, new: &WindowTree) -> Difference {
    Difference {
        total: minus(new.total, base.total),
        functions: functions(base, new),
        tree: overlay(base, new),
        events: differing(|event| minus(new.typical(event), base.typical(event))),
        footprint: FootprintDifference {
            code_lines: minus(new.footprint.code_lines, base.footprint.code_lines),
            data_lines: minus(new.footprint.data_lines, base.footprint.data_lines),
            read_lines: minus(new.footprint.read_lines, base.footprint.read_lines),
            written_lines: minus(new.footprint.written_lines, base.footprint.written_lines),
            code_pages: minus(new.footprint.code_pages, base.footprint.code_pages),
            data_pages: minus(new.footprint.data_pages, base.footprint.data_pages),
        },
        census: census(&base.census, &new.census),
    }
}

fn census(base: &Census, new: &Census) -> BTreeMap<SlowInstruction, i64> {
    let count = |census: &Census, slow| census.get(&slow).copied().unwrap_or_default();
    let differences = SlowInstruction::ALL
        .iter()
        .map(|slow| (*slow, minus(count(new, *slow), count(base, *slow))));
    differences.filter(|(_, difference)| *difference != 0).collect()
}

fn differing(difference: impl Fn(Event) -> i64) -> EventDifferences {
    let all = Event::all().map(|event| (event, difference(event)));
    all.filter(|(_, difference)| *difference != 0).collect()
}

fn functions(base: &WindowTree, new: &WindowTree) -> Vec<FunctionDifference> {
    let mut sides: BTreeMap<Cow<'_, str>, (Option<Side>, Option<Side>)> = BTreeMap::new();
    for function in &base.functions {
        sides.entry(matched(function)).or_default().0.get_or_insert_default().add(function);
    }
    for function in &new.functions {
        sides.entry(matched(function)).or_default().1.get_or_insert_default().add(function);
    }
    let mut differences: Vec<FunctionDifference> =
        sides.into_iter().map(|(name, (base, new))| of_function(&name, base, new)).collect();
    differences.sort_by_key(|function| std::cmp::Reverse(function.difference.unsigned_abs()));
    differences
}

fn of_function(name: &str, base: Option<Side>, new: Option<Side>) -> FunctionDifference {
    let executed = |side: &Option<Side>| side.as_ref().map_or(0, |side| side.counts.instructions);
    let difference = minus(executed(&new), executed(&base));
    let change = match (&base, &new, difference) {
        (None, ..) => Change::Appeared,
        (_, None, _) => Change::Vanished,
        (_, _, 1..) => Change::Grew,
        (_, _, ..=-1) => Change::Shrank,
        _ => Change::Same,
    };
    let count = |side: &Option<Side>, event| {
        side.as_ref().and_then(|side| side.events.get(&event).copied()).unwrap_or_default()
    };
    let events = differing(|event| minus(count(&new, event), count(&base, event)));
    let placement = |side: &Option<Side>| side.as_ref().and_then(Side::placement);
    let moved = change == Change::Same
        && placement(&base).zip(placement(&new)).is_some_and(|(base, new)| base != new);
    FunctionDifference { name: name.to_owned(), change, difference, events, moved, base, new }
}

/// The two trees as one. Children keep base's order; those only in new follow, in new's order.
fn overlay(base: &WindowTree, new: &WindowTree) -> Vec<NodeDifference> {
    let mut overlay = Overlay::default();
    overlay.lay(base, |node| &mut node.base);
    overlay.lay(new, |node| &mut node.new);
    overlay.in_preorder()
}

#[derive(Default)]
struct Overlay {
    nodes: Vec<NodeDifference>,
    children: HashMap<(Option<u32>, String, NodeKind), u32>,
}

impl Overlay {
    fn lay(&mut self, tree: &WindowTree, side: fn(&mut NodeDifference) -> &mut u64) {
        let names: Vec<_> = tree.functions.iter().map(matched).collect();
        let mut places: Vec<u32> = Vec::new();
        for node in &tree.nodes {
            let parent = node.parent.map(|parent| places[parent as usize]);
            let place = self.child(parent, &names[node.function as usize], node.kind);
            *side(&mut self.nodes[place as usize]) += node.counts.instructions;
            places.push(place);
        }
    }

    fn child(&mut self, parent: Option<u32>, name: &str, kind: NodeKind) -> u32 {
        let key = (parent, name.to_owned(), kind);
        // Fits: two windows' trees have at most 2^17 nodes together.
        let next = u32::try_from(self.nodes.len()).unwrap_or_default();
        let nodes = &mut self.nodes;
        *self.children.entry(key).or_insert_with(|| {
            let (base, new, base_inclusive, new_inclusive) = (0, 0, 0, 0);
            let name = name.to_owned();
            let node =
                NodeDifference { parent, name, kind, base, new, base_inclusive, new_inclusive };
            nodes.push(node);
            next
        })
    }

    fn in_preorder(mut self) -> Vec<NodeDifference> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut waiting = Vec::new();
        for index in (0..self.nodes.len()).rev() {
            let node = &mut self.nodes[index];
            node.base_inclusive += node.base;
            node.new_inclusive += node.new;
            let (base, new) = (node.base_inclusive, node.new_inclusive);
            let Some(parent) = node.parent.map(|parent| parent as usize) else {
                waiting.push((index, None));
                continue;
            };
            self.nodes[parent].base_inclusive += base;
            self.nodes[parent].new_inclusive += new;
            children[parent].push(index);
        }
        let mut ordered = Vec::with_capacity(self.nodes.len());
        while let Some((index, parent)) = waiting.pop() {
            let place = u32::try_from(ordered.len()).ok();
            ordered.push(NodeDifference { parent, ..self.nodes[index].clone() });
            waiting.extend(children[index].iter().map(|child| (*child, place)));
        }
        ordered
    }
}
