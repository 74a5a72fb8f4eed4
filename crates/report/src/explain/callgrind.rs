//! The call tree in the format of Valgrind's callgrind, for `KCachegrind` and `callgrind_annotate`.
//!
//! Contract: self costs add up to the window's. Costs are instructions (`Ir`), reads (`Dr`) and
//! writes (`Dw`) of memory, by line of the source; what is in no known line stands at line 0. A
//! call's number is that of places in the tree, not of how often each was passed, and its line is
//! the one that the caller begins in.
//!
//! Source: Valgrind manual, "Callgrind Format Specification".

use pathmeter_model::clean;
use std::collections::BTreeMap;

use pathmeter_trace::{Counts, Function, LineCounts, SubjectWindow, WindowTree};

use super::name_of;

/// What belongs to no module.
const KERNEL: &str = "vmlinux";
/// Stands for files and objects that are not known.
const UNKNOWN: &str = "???";

/// One window as a profile.
pub fn callgrind(subject: &SubjectWindow) -> String {
    let tree = &subject.window;
    let calls = calls(tree);
    // Of a program's row accesses are not counted: a column of zeros would say there are none.
    let columns = if subject.program.is_some() { Columns::Instructions } else { Columns::All };
    let head = format!(
        "# callgrind format\nversion: 1\ncreator: pathmeter {}\ncmd: {}\n\
         positions: line\nevents: {}\nsummary: {}\n",
        env!("CARGO_PKG_VERSION"),
        clean(&format!("{} on {}", subject.path, subject.name)),
        columns.events(),
        columns.of(total(tree)),
    );
    let functions =
        (0..).zip(&tree.functions).map(|(index, _)| function(tree, index, &calls, columns));
    let foot = format!("\ntotals: {}\n", columns.of(total(tree)));
    std::iter::once(head).chain(functions).chain([foot]).collect()
}

/// Which of the costs the profile has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Columns {
    All,
    Instructions,
}

impl Columns {
    fn events(self) -> &'static str {
        match self {
            Self::All => "Ir Dr Dw",
            Self::Instructions => "Ir",
        }
    }

    fn of(self, cost: Cost) -> String {
        match self {
            Self::All => format!("{} {} {}", cost.instructions, cost.loads, cost.stores),
            Self::Instructions => cost.instructions.to_string(),
        }
    }
}

/// By caller and callee: from how many places, and what it costs with all below.
type Calls = BTreeMap<(u32, u32), (u64, Cost)>;

/// The numbers that the columns can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

impl From<&LineCounts> for Cost {
    fn from(line: &LineCounts) -> Self {
        Self { instructions: line.instructions, loads: line.loads, stores: line.stores }
    }
}

impl Cost {
    /// What is left without `part` of it.
    fn subtract(&mut self, part: Self) {
        self.instructions = self.instructions.saturating_sub(part.instructions);
        self.loads = self.loads.saturating_sub(part.loads);
        self.stores = self.stores.saturating_sub(part.stores);
    }

    fn add(&mut self, more: Self) {
        self.instructions += more.instructions;
        self.loads += more.loads;
        self.stores += more.stores;
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
fn function(tree: &WindowTree, index: u32, calls: &Calls, columns: Columns) -> String {
    let about = &tree.functions[index as usize];
    let (file, line) = place(about);
    let calls = calls.range((index, 0)..=(index, u32::MAX));
    let calls = calls.map(|((_, callee), (number, cost))| {
        let callee = &tree.functions[*callee as usize];
        let (object, name, (file, at)) = (object(callee), name_of(callee), place(callee));
        let cost = columns.of(*cost);
        format!("cob={object}\ncfi={file}\ncfn={name}\ncalls={number} {at}\n{line} {cost}\n")
    });
    let head = format!("\nob={}\nfl={file}\nfn={}\n", object(about), name_of(about));
    [head, own_lines(about, &file, columns)].into_iter().chain(calls).collect()
}

/// A function's own cost line by line: what is in no line, the lines in its `file`, those in
/// others.
fn own_lines(function: &Function, file: &str, columns: Columns) -> String {
    let mut lines: Vec<_> =
        function.lines.iter().map(|line| (clean(&line.source.file), line)).collect();
    lines.sort_by_key(|(of, _)| of != file);
    let mut rest = Cost::from(&function.counts);
    for (_, line) in &lines {
        rest.subtract((*line).into());
    }
    let unknown = lines.is_empty() || rest != Cost::default();
    let unknown = unknown.then(|| format!("0 {}\n", columns.of(rest)));
    let by_file = lines.chunk_by(|a, b| a.0 == b.0).map(|lines| {
        let cost = |(_, line): &(_, &LineCounts)| {
            format!("{} {}\n", line.source.line, columns.of(Cost::from(*line)))
        };
        let costs: String = lines.iter().map(cost).collect();
        if lines[0].0 == file { costs } else { format!("fi={}\n{costs}fe={file}\n", lines[0].0) }
    });
    unknown.into_iter().chain(by_file).collect()
}

/// The file and line that a function begins in.
fn place(function: &Function) -> (String, u32) {
    let source = function.source.as_ref();
    source.map_or((UNKNOWN.to_owned(), 0), |source| (clean(&source.file), source.line))
}

fn object(function: &Function) -> String {
    match &function.module {
        Some(module) => clean(module),
        // What stands for no function: a task, user code.
        None if function.name.starts_with('[') => UNKNOWN.to_owned(),
        None => KERNEL.to_owned(),
    }
}
