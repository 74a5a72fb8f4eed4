//! Folded stacks: a line for each call chain that executed anything itself, outermost function
//! first, `a;b;c 120`; with two counts (base, new) for a difference.
//!
//! Contract: lines are sorted by chain; each chain has one line; the counts add up to the windows'
//! totals. A name holds no `;` and no control character, and no space before or after it.
//!
//! Source: Brendan Gregg's `FlameGraph`, `stackcollapse-perf.pl` and `difffolded.pl`.

use std::collections::BTreeMap;
use std::rc::Rc;

use pathmeter_trace::{Explain, Function, WindowTree};

use super::name_of;

/// Deeper chains end here, and what is below counts in the last function. Real ones have about 60.
const MAX_DEPTH: usize = 256;

/// A call chain, outermost function first.
pub(super) type Stack = Vec<Rc<str>>;

/// The chains of one subject's window with what each executed itself; of two subjects, with what
/// each executed in either, functions matched without what the compiler appended to their names.
pub fn folded_stacks(explain: &Explain) -> String {
    let base = &explain.base.window;
    let Some(new) = &explain.new else { return lines_of(base) };
    let pairs = paired(base, &new.window);
    let line_of_pair =
        |(stack, [base, new]): (&Stack, &[u64; 2])| line(&stack.join(";"), &[*base, *new]);
    pairs.iter().map(line_of_pair).collect()
}

/// The chains of one window.
pub(super) fn lines_of(tree: &WindowTree) -> String {
    let line_of_stack = |(stack, count): (&Stack, &u64)| line(&stack.join(";"), &[*count]);
    stacks(tree, name_of).iter().map(line_of_stack).collect()
}

/// A chain and its counts.
pub(super) fn line(chain: &str, counts: &[u64]) -> String {
    let counts = counts.iter().map(|count| format!(" {count}"));
    std::iter::once(chain.to_owned()).chain(counts).chain(["\n".to_owned()]).collect()
}

/// Instructions in base and new by chain.
pub(super) fn paired(base: &WindowTree, new: &WindowTree) -> BTreeMap<Stack, [u64; 2]> {
    let matched = |function: &Function| {
        let name = function.plain_name().to_owned();
        name_of(&Function { name, ..function.clone() })
    };
    let mut pairs: BTreeMap<Stack, [u64; 2]> = BTreeMap::new();
    for (side, tree) in [base, new].into_iter().enumerate() {
        for (stack, count) in stacks(tree, matched) {
            pairs.entry(stack).or_default()[side] += count;
        }
    }
    pairs
}

/// Instructions by chain, functions named by `name`; chains without any are left out.
fn stacks(tree: &WindowTree, name: impl Fn(&Function) -> String) -> BTreeMap<Stack, u64> {
    let names: Vec<Rc<str>> =
        tree.functions.iter().map(|function| frame_name(&name(function)).into()).collect();
    let mut sums = BTreeMap::new();
    let mut chain: Vec<(u32, Rc<str>)> = Vec::new();
    for (index, node) in (0..).zip(&tree.nodes) {
        // Preorder: the parent is the latest node of the chain that has not been left yet.
        while node.parent != chain.last().map(|(index, _)| *index) && chain.pop().is_some() {}
        chain.push((index, Rc::clone(&names[node.function as usize])));
        if node.counts.instructions > 0 {
            let stack = chain.iter().take(MAX_DEPTH).map(|(_, name)| Rc::clone(name)).collect();
            *sums.entry(stack).or_default() += node.counts.instructions;
        }
    }
    sums
}

fn frame_name(name: &str) -> String {
    let name = name.replace(';', ":");
    let name = name.trim();
    // A number after a space would be read as a count.
    let ends_as_count =
        name.rsplit_once(' ').is_some_and(|(_, last)| last.bytes().all(|c| c.is_ascii_digit()));
    match name {
        "" => "?".to_owned(),
        name if ends_as_count => name.replace(' ', "_"),
        name => name.to_owned(),
    }
}
