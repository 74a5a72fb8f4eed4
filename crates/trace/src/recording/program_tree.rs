//! The call tree of a row, or of a region, of a program's run: from the calls that the plugin saw
//! and the blocks of code in them.
//!
//! The plugin knows calls and no functions. A block that lies in another function than the one that
//! was called was reached by a jump: there it is a tail call. Contract: each cell is counted once,
//! whatever the calls say, so that the nodes add up to the cells.

use std::collections::HashMap;

use crate::{
    accounts::{AccountNode, AccountNodeKind, AccountTree, RowKind, TreeCell, TreeForm},
    kernel::names::{containing, is_thunk},
    recording::{
        footprint::Footprint,
        listing::is_kernel,
        tree::{
            Census, Counts, EventCounts, Function, Node, NodeKind, SourceLine, WindowTree, events,
        },
    },
};

/// What stands for all calls that the plugin had no room for.
const REST: &str = "[calls without room]";
/// What [`BlockNames`] call an entry of a procedure linkage table.
const LINKAGE: &str = "[plt]";

/// Where a block of code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFunction {
    /// The name of the function, as its symbol table has it.
    pub name: String,
    /// The module or file that it is in; `None` for the kernel proper.
    pub module: Option<String>,
    /// Bytes from the function's start.
    pub offset: u64,
    /// The block's address, as the module or file has it.
    pub address: u64,
}

/// Gives names to blocks: addresses of the kernel's code, or what [`crate::CodePlace`] is made of.
pub trait BlockNames {
    /// The function that the block lies in; `None` without a symbol.
    fn function(&self, block: u64) -> Option<BlockFunction>;

    /// What a function without a symbol that begins with the block is called, and its module or
    /// file.
    fn nameless(&self, block: u64) -> (String, Option<String>);

    /// What a process of the run is called; 0 is what is in none.
    fn process(&self, number: u64) -> String;

    /// The line of the source that the function which a block lies in begins in.
    fn line(&self, _block: u64, _function: &BlockFunction) -> Option<SourceLine> {
        None
    }
}

/// The tree of all cells that `wanted` holds for, of the run with this number.
pub fn program_tree(
    tree: &AccountTree,
    run: u64,
    wanted: impl Fn(&TreeCell) -> bool,
    names: &dyn BlockNames,
) -> WindowTree {
    let mut cells: Vec<&TreeCell> = tree.cells.iter().filter(|cell| wanted(cell)).collect();
    // The plugin's order depends on where its table had room.
    cells.sort_by_key(|cell| (cell.node, cell.block, cell.kind, cell.id));
    let mut builder = Builder::new(names, tree.form);
    builder.enter(&tree.nodes, &cells);
    for cell in cells {
        builder.count(cell);
    }
    builder.finish(run)
}

/// A node of the tree that is made.
struct Draft {
    parent: Option<u32>,
    function: u32,
    kind: NodeKind,
    counts: Counts,
}

/// Where a node of the plugin's is in the tree that is made.
#[derive(Clone, Copy, Default)]
struct Home {
    /// The node in that tree; `None` above all nodes.
    at: Option<u32>,
    /// The function that was called; `None` of a process, which is in no function.
    function: Option<u32>,
    /// The node that it was called in.
    caller: Option<u32>,
    /// Whether it is a thunk: what it jumps to stands beside it, in its caller.
    only_jumps: bool,
}

struct Builder<'a> {
    names: &'a dyn BlockNames,
    form: TreeForm,
    functions: Vec<Function>,
    numbers: HashMap<(String, Option<String>), u32>,
    /// Of blocks: the function, and whether it begins there.
    blocks: HashMap<u64, Option<(u32, bool)>>,
    drafts: Vec<Draft>,
    children: HashMap<(Option<u32>, u32, NodeKind), u32>,
    homes: Vec<Option<Home>>,
    unattributed: u64,
    rest: Option<u32>,
}

impl<'a> Builder<'a> {
    fn new(names: &'a dyn BlockNames, form: TreeForm) -> Self {
        Self {
            names,
            form,
            functions: Vec::new(),
            numbers: HashMap::new(),
            blocks: HashMap::new(),
            drafts: Vec::new(),
            children: HashMap::new(),
            homes: Vec::new(),
            unattributed: 0,
            rest: None,
        }
    }

    /// Finds the homes of all nodes that lead to a cell.
    fn enter(&mut self, nodes: &[AccountNode], cells: &[&TreeCell]) {
        let mut needed = vec![false; nodes.len()];
        for cell in cells {
            needed[cell.node as usize] = true;
        }
        for (at, node) in nodes.iter().enumerate().rev() {
            if let (true, Some(parent)) = (needed[at], node.parent) {
                needed[parent as usize] = true;
            }
        }
        for (node, needed) in nodes.iter().zip(needed) {
            let home = needed.then(|| self.home(node));
            self.homes.push(home);
        }
    }

    fn home(&mut self, node: &AccountNode) -> Home {
        match node.kind {
            AccountNodeKind::Root(_) if self.form == TreeForm::Row => Home::default(),
            AccountNodeKind::Root(process) => {
                let function = self.intern_function(self.names.process(process), None);
                let at = Some(self.child(None, function, NodeKind::Task));
                Home { at, ..Home::default() }
            }
            AccountNodeKind::Rest => {
                let function = self.intern_function(REST.to_owned(), None);
                let at = self.child(None, function, NodeKind::Unattributed);
                self.rest = Some(at);
                Home { at: Some(at), ..Home::default() }
            }
            AccountNodeKind::Call => self.called(node, NodeKind::Call),
            AccountNodeKind::Entry(row) => self.called(node, entry_kind(row)),
        }
    }

    fn called(&mut self, node: &AccountNode, kind: NodeKind) -> Home {
        let above = node.parent.and_then(|parent| self.homes[parent as usize]);
        let above = above.unwrap_or_default();
        // A row begins where the kernel is entered, whoever entered it.
        let begins = above.at.is_none() && matches!(node.kind, AccountNodeKind::Entry(_));
        let caller = if begins { None } else { self.place(above, node.site) };
        let entered = self.function_at(node.target);
        let from = self.function_at(node.site).map(|(function, _)| function);
        if let (NodeKind::Call, Some((function, false))) = (kind, entered)
            && from == Some(function)
        {
            // For its return address only: the caller goes on.
            return Home { at: caller, function: Some(function), caller, only_jumps: false };
        }
        let function = entered.map(|(function, _)| function);
        let function = function.unwrap_or_else(|| self.nameless(node.target));
        let at = Some(self.child(caller, function, kind));
        let only_jumps = self.only_jumps(function);
        Home { at, function: Some(function), caller, only_jumps }
    }

    /// Whether a function does nothing but jump to the one that its caller meant.
    fn only_jumps(&self, function: u32) -> bool {
        let name = &self.functions[function as usize].name;
        is_thunk(name) || name == LINKAGE
    }

    /// Where in the calls of a node a block is.
    fn place(&mut self, home: Home, block: u64) -> Option<u32> {
        let Some((function, _)) = self.function_at(block) else {
            return home.at.or_else(|| {
                let function = self.nameless(block);
                Some(self.child(None, function, NodeKind::Call))
            });
        };
        if home.function == Some(function) {
            return home.at;
        }
        let (from, kind) = match (home.function, home.only_jumps) {
            (None, _) => (home.at, NodeKind::Call),
            (_, true) => (home.caller, NodeKind::Call),
            (_, false) => (home.at, NodeKind::TailCall),
        };
        Some(self.child(from, function, kind))
    }

    fn child(&mut self, parent: Option<u32>, function: u32, kind: NodeKind) -> u32 {
        let drafts = &mut self.drafts;
        *self.children.entry((parent, function, kind)).or_insert_with(|| {
            drafts.push(Draft { parent, function, kind, counts: Counts::default() });
            u32::try_from(drafts.len() - 1).unwrap_or(0)
        })
    }

    fn function_at(&mut self, block: u64) -> Option<(u32, bool)> {
        if let Some(known) = self.blocks.get(&block) {
            return *known;
        }
        let found = self.names.function(block).map(|found| {
            let name = containing(&found.name);
            let is_whole = name == found.name;
            let function = self.intern_function(name.to_owned(), found.module.clone());
            if is_whole {
                self.note_entry(function, block, &found);
            }
            (function, is_whole && found.offset == 0)
        });
        self.blocks.insert(block, found);
        found
    }

    /// The lowest entry of all functions of one name counts, as in recordings.
    fn note_entry(&mut self, function: u32, block: u64, found: &BlockFunction) {
        let about = &mut self.functions[function as usize];
        let entry = found.address.wrapping_sub(found.offset);
        let address = format!("{entry:#x}");
        let known = about.address.as_ref().map(|known| (known.len(), known.clone()));
        if known.is_none_or(|known| (address.len(), address.clone()) < known) {
            about.address = Some(address);
            about.entry_in_line = Some(entry.to_le_bytes()[0] & 63);
            about.source = self.names.line(block, found);
        }
    }

    fn nameless(&mut self, block: u64) -> u32 {
        let (name, module) = self.names.nameless(block);
        self.intern_function(name, module)
    }

    fn intern_function(&mut self, name: String, module: Option<String>) -> u32 {
        let functions = &mut self.functions;
        *self.numbers.entry((name, module)).or_insert_with_key(|(name, module)| {
            functions.push(Function {
                name: name.clone(),
                module: module.clone(),
                address: None,
                entry_in_line: None,
                source: None,
                lines: Vec::new(),
                counts: Counts::default(),
                census: Census::new(),
                footprint: Footprint::default(),
                events: EventCounts::new(),
            });
            u32::try_from(functions.len() - 1).unwrap_or(0)
        })
    }

    fn count(&mut self, cell: &TreeCell) {
        let Some(home) = self.homes[cell.node as usize] else { return };
        let place = self.place(home, cell.block);
        // Above all nodes nothing is executed: a block there has a function, or an address.
        let Some(draft) = place.and_then(|place| self.drafts.get_mut(place as usize)) else {
            return;
        };
        add(&mut draft.counts, cell);
        if self.rest.is_some() && self.rest == home.at {
            self.unattributed = self.unattributed.saturating_add(cell.instructions);
        }
    }

    fn finish(mut self, run: u64) -> WindowTree {
        let mut total = Counts::default();
        for draft in &self.drafts {
            merge(&mut self.functions[draft.function as usize].counts, &draft.counts);
            merge(&mut total, &draft.counts);
        }
        let (footprint, census) = (Footprint::default(), Census::new());
        for function in &mut self.functions {
            function.events = events(&function.counts, &footprint, &census);
        }
        WindowTree {
            window: run,
            total: total.instructions,
            clock: total.clock,
            unattributed: self.unattributed,
            interrupts: 0,
            unmatched_returns: 0,
            nodes: preorder(&self.drafts),
            functions: self.functions,
            footprint,
            events: events(&total, &footprint, &census),
            census,
        }
    }
}

/// What the kernel was entered for, as a node.
fn entry_kind(row: RowKind) -> NodeKind {
    match row {
        RowKind::Syscall | RowKind::Syscall32 => NodeKind::Syscall,
        RowKind::PageFault | RowKind::Exception => NodeKind::Exception,
        RowKind::Interrupt => NodeKind::Interrupt,
        _ => NodeKind::Call,
    }
}

fn add(counts: &mut Counts, cell: &TreeCell) {
    let user = if is_kernel(cell.block) { 0 } else { cell.instructions };
    let of_cell = Counts {
        instructions: cell.instructions,
        user_instructions: user,
        clock: cell.steps,
        ..Counts::default()
    };
    merge(counts, &of_cell);
}

/// The numbers come from a guest: their sum need not be one.
fn merge(counts: &mut Counts, more: &Counts) {
    counts.instructions = counts.instructions.saturating_add(more.instructions);
    counts.user_instructions = counts.user_instructions.saturating_add(more.user_instructions);
    counts.clock = counts.clock.saturating_add(more.clock);
}

/// The nodes, each followed by its children in the order in which they were made.
fn preorder(drafts: &[Draft]) -> Vec<Node> {
    let mut children: HashMap<Option<u32>, Vec<u32>> = HashMap::new();
    for (at, draft) in (0..).zip(drafts) {
        children.entry(draft.parent).or_default().push(at);
    }
    let mut nodes: Vec<Node> = Vec::with_capacity(drafts.len());
    let roots = children.remove(&None).unwrap_or_default();
    let mut pending: Vec<(u32, Option<u32>)> =
        roots.into_iter().rev().map(|at| (at, None)).collect();
    while let Some((at, parent)) = pending.pop() {
        let draft = &drafts[at as usize];
        let number = u32::try_from(nodes.len()).ok();
        let (function, kind) = (draft.function, draft.kind);
        nodes.push(Node { parent, function, kind, counts: draft.counts, census: Census::new() });
        let below = children.remove(&Some(at)).unwrap_or_default();
        pending.extend(below.into_iter().rev().map(|at| (at, number)));
    }
    nodes
}

#[cfg(test)]
mod tests;
