//! A whole recording: its windows decoded one at a time, the one kept that stands for all.

pub(crate) mod arena;
pub(crate) mod difference;
pub(crate) mod document;
pub(crate) mod footprint;
pub(crate) mod line_counts;
pub(crate) mod listing;
pub(crate) mod program_tree;
pub mod reader;
mod return_stack;
pub(crate) mod source_places;
pub(crate) mod tree;
pub(crate) mod window;

use std::{
    collections::{BTreeMap, HashMap},
    io::Read,
};

use crate::{
    kernel::symbols::Resolve,
    recording::{
        arena::{Arena, Draft, NO_NODE, Tally},
        footprint::Footprint,
        line_counts::LineTally,
        listing::Listing,
        reader::{Item, Reader, Stop, TraceError},
        tree::{
            Census, Counts, EventCounts, Function, LineCounts, Node, NodeKind, WindowTree,
            add_census, events,
        },
        window::Window,
    },
};

/// Most trees held at a time, of windows of different totals.
const MAX_TREES: usize = 32;

/// Which windows a recording had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCounts {
    /// Windows that were opened and closed.
    pub recorded: u64,
    /// Those in which an interrupt came.
    pub interrupted: u64,
    /// Those with fewer than two stamps, which so have no total.
    pub unstamped: u64,
}

/// A trace's contents. See [`decode`].
#[derive(Debug)]
pub struct Recording {
    pub windows: WindowCounts,
    /// How often each number of instructions occurred in windows without an interrupt.
    pub totals: BTreeMap<u64, u64>,
    /// The window that stands for all: the chosen one, or else the first with the most frequent
    /// total, of several totals the lowest; then its footprint is the median of all that have this
    /// total. None if every window was interrupted, or the chosen one is not there.
    pub representative: Option<WindowTree>,
    /// The same of the windows in which an interrupt came.
    pub interrupted: Option<WindowTree>,
    /// Why the recording ended; `None` if `fault` tells it.
    pub stop: Option<Stop>,
    /// What ended the reading early. The windows before it are good.
    pub fault: Option<TraceError>,
}

/// Decodes a trace with names from `resolver`.
///
/// Never fails as a whole: what was good before a fault is there beside it. Memory is bounded by
/// the reader's limits and the bounds on one window's tree, whatever the trace's length.
pub fn decode(input: impl Read, resolver: &dyn Resolve) -> Recording {
    decode_showing(input, resolver, None)
}

/// Decodes a trace as [`decode`] does, but the window of this number, from 0, stands for all,
/// whether an interrupt came in it or not; none does if it was not recorded whole.
pub fn decode_window(input: impl Read, resolver: &dyn Resolve, number: u64) -> Recording {
    decode_showing(input, resolver, Some(number))
}

fn decode_showing(input: impl Read, resolver: &dyn Resolve, only: Option<u64>) -> Recording {
    let mut decoder = Decoder {
        listing: Listing::new(resolver),
        window: Window::new(),
        windows: WindowCounts::default(),
        only,
        shown: None,
        clean: Tallied::default(),
        interrupted: Tallied::default(),
    };
    let mut reader = Reader::new(input);
    let ending = decoder.read(&mut reader);
    let (stop, fault) = match ending {
        Ok(stop) => (stop, None),
        Err(fault) => (None, Some(fault)),
    };
    let representative = match only {
        Some(_) => decoder.shown,
        None => decoder.clean.representative(),
    };
    Recording {
        windows: decoder.windows,
        representative,
        totals: decoder.clean.totals,
        interrupted: decoder.interrupted.representative(),
        stop,
        fault,
    }
}

struct Decoder<'r> {
    listing: Listing<'r>,
    window: Window,
    windows: WindowCounts,
    /// The number of the window that is shown, if it was chosen, and its tree.
    only: Option<u64>,
    shown: Option<WindowTree>,
    clean: Tallied,
    interrupted: Tallied,
}

impl Decoder<'_> {
    fn read(&mut self, reader: &mut Reader<impl Read>) -> Result<Option<Stop>, TraceError> {
        while let Some(item) = reader.next_item()? {
            match item {
                Item::Run { first, count } => {
                    for number in first..first + count {
                        self.window.execute(&mut self.listing, number);
                    }
                }
                Item::Load(access) => self.window.load(&self.listing, access),
                Item::Store(access) => self.window.store(&self.listing, access),
                Item::Instruction(instruction) => self.listing.define(&instruction),
                Item::Begin(_) => self.window.open(),
                Item::BeginWhole(_) => self.window.open_wait(true),
                Item::BeginStamped(_) => self.window.open_wait(false),
                Item::End(window) => self.close(window),
                // The next begin forgets all of it.
                Item::Dropped => {}
                Item::Stop(stop) => return Ok(Some(stop)),
            }
        }
        Ok(None)
    }

    fn close(&mut self, number: u64) {
        self.windows.recorded += 1;
        self.window.end(&self.listing);
        if self.window.stamps < 2 {
            self.windows.unstamped += 1;
            return;
        }
        let is_interrupted = self.window.interrupts > 0;
        self.windows.interrupted += u64::from(is_interrupted);
        // Between two points of the kernel, interrupts belong to what is asked for.
        let tallied = if is_interrupted && !self.window.waits {
            &mut self.interrupted
        } else {
            &mut self.clean
        };
        let total = self.window.total.instructions;
        let touched = self.window.lines.together();
        if let Some(only) = self.only {
            *tallied.totals.entry(total).or_default() += 1;
            if only == number {
                let tree = finished(&self.window, &self.listing, number, &touched);
                self.shown = Some(WindowTree { footprint: touched, ..tree });
            }
        } else if tallied.note(total, touched) {
            let tree = finished(&self.window, &self.listing, number, &touched);
            tallied.trees.insert(total, tree);
        }
    }
}

/// How often each total occurred, and a tree for the most frequent ones.
#[derive(Default)]
struct Tallied {
    totals: BTreeMap<u64, u64>,
    trees: BTreeMap<u64, WindowTree>,
    /// Of each window its total and what it touched: 40 bytes, for at most `MAX_WINDOWS`.
    footprints: Vec<(u64, Footprint)>,
}

impl Tallied {
    /// Notes a window of `total` that touched as much; whether its tree is wanted.
    ///
    /// Of more than [`MAX_TREES`] totals the least frequent lose their trees. The one that ends up
    /// most frequent has its tree: after its last occurrence nothing outranks it again.
    fn note(&mut self, total: u64, touched: Footprint) -> bool {
        self.footprints.push((total, touched));
        *self.totals.entry(total).or_default() += 1;
        if self.trees.contains_key(&total) {
            return false;
        }
        if self.trees.len() < MAX_TREES {
            return true;
        }
        let rank = |total: &u64| (self.totals.get(total).copied(), std::cmp::Reverse(*total));
        let least = self.trees.keys().min_by_key(|held| rank(held)).copied();
        let Some(least) = least.filter(|least| rank(least) < rank(&total)) else { return false };
        self.trees.remove(&least);
        true
    }

    fn representative(&mut self) -> Option<WindowTree> {
        let rank = |(total, count): &(&u64, &u64)| (**count, std::cmp::Reverse(**total));
        let (&total, _) = self.totals.iter().max_by_key(rank)?;
        let alike = self.footprints.iter().filter(|(of, _)| *of == total);
        let touched: Vec<Footprint> = alike.map(|(_, touched)| *touched).collect();
        let mut tree = self.trees.remove(&total)?;
        tree.footprint = Footprint::median(&touched);
        Some(tree)
    }
}

/// The window's tree, with what has settled in it; it `touched` so much memory.
fn finished(
    window: &Window,
    listing: &Listing<'_>,
    number: u64,
    touched: &Footprint,
) -> WindowTree {
    let drafts = &window.arena.nodes;
    let mut tree = WindowTree {
        window: number,
        total: window.total.instructions,
        clock: window.total.clock,
        unattributed: 0,
        interrupts: window.interrupts,
        unmatched_returns: window.unmatched,
        functions: Vec::new(),
        nodes: Vec::new(),
        // That of all windows alike is known at the end.
        footprint: Footprint::default(),
        census: Census::new(),
        events: EventCounts::new(),
    };
    let footprints = window.lines.by_function(listing.functions.len());
    let mut lines = lines_by_function(window, listing);
    let mut numbers = HashMap::new();
    for (draft, parent) in preorder(drafts) {
        let of = draft.function;
        let function = *numbers.entry(of).or_insert_with(|| {
            let lines = lines.remove(&of).unwrap_or_default();
            tree.functions.push(unused_function(listing, of, lines, footprints[of as usize]));
            tree.functions.len() - 1
        });
        add_node(&mut tree, draft, parent, function);
    }
    for function in &mut tree.functions {
        function.events = events(&function.counts, &function.footprint, &function.census);
    }
    tree.unattributed = unattributed(&tree);
    let mut counts = Counts::default();
    tree.nodes.iter().for_each(|node| counts += node.counts);
    tree.events = events(&counts, touched, &tree.census);
    tree
}

/// What the lines of each function executed, in the order of the source.
fn lines_by_function(window: &Window, listing: &Listing<'_>) -> HashMap<u32, Vec<LineCounts>> {
    let mut by_function: HashMap<u32, Vec<LineCounts>> = HashMap::new();
    for entry in window.ledger.settled() {
        let Some(source) = listing.places.get(entry.place) else { continue };
        let LineTally { instructions, loads, stores } = entry.settled;
        let line = LineCounts { source, instructions, loads, stores };
        by_function.entry(entry.function).or_default().push(line);
    }
    for lines in by_function.values_mut() {
        lines.sort_by(|a, b| a.source.cmp(&b.source));
    }
    by_function
}

/// A function with nothing counted yet but its lines.
fn unused_function(
    listing: &Listing<'_>,
    number: u32,
    lines: Vec<LineCounts>,
    footprint: Footprint,
) -> Function {
    let named = &listing.functions[number as usize];
    Function {
        name: named.name.clone(),
        module: named.module.clone(),
        address: named.entry.map(|entry| format!("{entry:#x}")),
        entry_in_line: named.entry_in_line(),
        source: named.begin(),
        lines,
        counts: Counts::default(),
        census: Census::new(),
        footprint,
        events: EventCounts::new(),
    }
}

fn add_node(tree: &mut WindowTree, draft: &Draft, parent: Option<u32>, function: usize) {
    let (counts, census) = (draft.settled.counts, draft.settled.census());
    add_census(&mut tree.census, &census);
    let sum = &mut tree.functions[function];
    sum.counts += counts;
    add_census(&mut sum.census, &census);
    // Fits: an arena has fewer nodes than that.
    let function = u32::try_from(function).unwrap_or_default();
    tree.nodes.push(Node { parent, function, kind: draft.kind, counts, census });
}

/// The drafts that did anything, or under which something was done, each with its parent's place
/// in the order.
fn preorder(drafts: &[Draft]) -> Vec<(&Draft, Option<u32>)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    let mut roots = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        match draft.parent {
            NO_NODE => roots.push(index),
            parent => children[parent as usize].push(index),
        }
    }
    let mut order: Vec<(usize, Option<usize>)> = Vec::new();
    // Tasks in their order, then what has no place.
    roots.rotate_left(1);
    let mut waiting: Vec<(usize, Option<usize>)> =
        roots.into_iter().rev().map(|root| (root, None)).collect();
    while let Some((draft, parent)) = waiting.pop() {
        let place = order.len();
        order.push((draft, parent));
        waiting.extend(children[draft].iter().rev().map(|child| (*child, Some(place))));
    }
    without_idle(drafts, &order)
}

fn without_idle<'a>(
    drafts: &'a [Draft],
    order: &[(usize, Option<usize>)],
) -> Vec<(&'a Draft, Option<u32>)> {
    let mut used: Vec<bool> =
        order.iter().map(|(draft, _)| drafts[*draft].settled != Tally::default()).collect();
    for (place, (_, parent)) in order.iter().enumerate().rev() {
        if let Some(parent) = parent {
            used[*parent] |= used[place];
        }
    }
    let mut places = vec![0; order.len()];
    let mut kept: Vec<(&Draft, Option<u32>)> = Vec::new();
    for (place, (draft, parent)) in order.iter().enumerate().filter(|(place, _)| used[*place]) {
        places[place] = u32::try_from(kept.len()).unwrap_or_default();
        kept.push((&drafts[*draft], parent.map(|parent| places[parent])));
    }
    kept
}

fn unattributed(tree: &WindowTree) -> u64 {
    // By kind: a hostile symbol table may give the anchor's name to a function.
    let is_anchor = |node: &Node| node.kind == NodeKind::Unattributed;
    let inclusive = tree.inclusive();
    let anchors = tree.nodes.iter().zip(inclusive).filter(|(node, _)| is_anchor(node));
    anchors.map(|(_, sum)| sum).sum()
}

const _: () = assert!(Arena::UNATTRIBUTED == 0, "the first root is what has no place");
