//! The call tree in the format of Valgrind's callgrind, for `KCachegrind` and `callgrind_annotate`.
//!
//! Contract: self costs add up to the window's. Costs are instructions (`Ir`), reads (`Dr`) and
//! writes (`Dw`) of memory. A call's number is that of places in the tree, not of how often each
//! was passed. Line numbers are 0: unknown.
//!
//! Source: Valgrind manual, "Callgrind Format Specification".

use std::collections::BTreeMap;
use std::fmt;

use pathmeter_trace::{Counts, Function, SubjectWindow, WindowTree};

use super::name_of;
use crate::table::clean;

/// What belongs to no module.
const KERNEL: &str = "vmlinux";
/// Stands for files and objects that are not known.
const UNKNOWN: &str = "???";

/// The window of one subject as a profile of `path`.
pub fn callgrind(path: &str, subject: &SubjectWindow) -> String {
    let tree = &subject.window;
    let calls = calls(tree);
    let head = format!(
        "# callgrind format\nversion: 1\ncreator: pathmeter {}\ncmd: {}\n\
         positions: line\nevents: Ir Dr Dw\nsummary: {}\n\nfl={UNKNOWN}\n",
        env!("CARGO_PKG_VERSION"),
        clean(&format!("{path} on {}", subject.name)),
        total(tree),
    );
    let functions = (0..).zip(&tree.functions).map(|(index, _)| function(tree, index, &calls));
    let foot = format!("\ntotals: {}\n", total(tree));
    std::iter::once(head).chain(functions).chain([foot]).collect()
}

/// By caller and callee: from how many places, and what it costs with all below.
type Calls = BTreeMap<(u32, u32), (u64, Cost)>;

/// What the columns show.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    instructions: u64,
    loads: u64,
    stores: u64,
}

impl From<&Counts> for Cost {
    fn from(counts: &Counts) -> Self {
        Self { instructions: counts.instructions, loads: counts.loads, stores: counts.stores }
    }
}

impl Cost {
    fn add(&mut self, more: Self) {
        self.instructions += more.instructions;
        self.loads += more.loads;
        self.stores += more.stores;
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.instructions, self.loads, self.stores)
    }
}

fn total(tree: &WindowTree) -> Cost {
    let mut total = Cost::default();
    tree.nodes.iter().for_each(|node| total.add((&node.counts).into()));
    total
}

fn calls(tree: &WindowTree) -> Calls {
    let mut inclusive: Vec<Cost> = tree.nodes.iter().map(|node| (&node.counts).into()).collect();
    let mut calls = Calls::new();
    // Parents come before their children, so backwards each cost is whole when it is added.
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let Some(parent) = node.parent else { continue };
        let cost = inclusive[index];
        inclusive[parent as usize].add(cost);
        let caller = tree.nodes[parent as usize].function;
        let (number, sum) = calls.entry((caller, node.function)).or_default();
        *number += 1;
        sum.add(cost);
    }
    calls
}

/// A function's own cost, and its calls.
fn function(tree: &WindowTree, index: u32, calls: &Calls) -> String {
    let about = &tree.functions[index as usize];
    let cost = Cost::from(&about.counts);
    let own = format!("\nob={}\nfn={}\n0 {cost}\n", object(about), name_of(about));
    let calls = calls.range((index, 0)..=(index, u32::MAX));
    let lines = calls.map(|((_, callee), (number, cost))| {
        let callee = &tree.functions[*callee as usize];
        let (object, name) = (object(callee), name_of(callee));
        format!("cob={object}\ncfn={name}\ncalls={number} 0\n0 {cost}\n")
    });
    std::iter::once(own).chain(lines).collect()
}

fn object(function: &Function) -> String {
    match &function.module {
        Some(module) => clean(module),
        // What stands for no function: a task, user code.
        None if function.name.starts_with('[') => UNKNOWN.to_owned(),
        None => KERNEL.to_owned(),
    }
}
