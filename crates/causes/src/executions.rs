//! Rows of programs that one kernel executes more often than the other. What more executions cost
//! is one thing, and what each costs another, so base's tree is taken as if base had executed the
//! row as often as new, each time at the mean cost.

use std::collections::BTreeMap;

use pathmeter_trace::{Counts, EventCounts, Explain, Function, Node, SubjectWindow, WindowTree};

/// The explanation with base executing the row as often as new; none if both do so anyway, or if it
/// is not known how often they do.
pub(crate) fn as_often(explain: &Explain) -> Option<Explain> {
    let [base, new] = explain.executions().filter(|[base, new]| base != new)?;
    let window = times(&explain.base.window, new, base);
    Some(Explain::new(SubjectWindow { window, ..explain.base.clone() }, explain.new.clone()))
}

/// The tree with each number multiplied by `by` and divided by `of`. Invariant: the total is that
/// of the whole, rounded once, and each function differs by less than one instruction from what
/// it should have, in however many places it is: what is rounded off one node goes to the next one
/// of its function.
fn times(window: &WindowTree, by: u64, of: u64) -> WindowTree {
    let mut order: Vec<usize> = (0..window.nodes.len()).collect();
    let function = |node: &usize| &window.functions[window.nodes[*node].function as usize];
    order.sort_by_key(|node| (&function(node).module, function(node).plain_name(), *node));
    let mut nodes = window.nodes.clone();
    let mut sum = 0_u128;
    for node in order {
        let until = |sum: u128| sum * u128::from(by) / u128::from(of);
        let before = until(sum);
        sum += u128::from(window.nodes[node].counts.instructions);
        let instructions = u64::try_from(until(sum) - before).unwrap_or(u64::MAX);
        let Counts { user_instructions: user, instructions: all, .. } = function(&node).counts;
        let user_instructions = if user == all { instructions } else { 0 };
        nodes[node].counts = Counts { instructions, user_instructions, ..Counts::default() };
    }
    WindowTree {
        total: nodes.iter().map(|node| node.counts.instructions).sum(),
        functions: functions(window, &nodes),
        nodes,
        ..window.clone()
    }
}

/// The functions with what these nodes have.
fn functions(window: &WindowTree, nodes: &[Node]) -> Vec<Function> {
    let mut sums: BTreeMap<u32, Counts> = BTreeMap::new();
    for node in nodes {
        *sums.entry(node.function).or_default() += node.counts;
    }
    let function = |(number, function): (u32, &Function)| {
        let counts = sums.get(&number).copied().unwrap_or_default();
        Function { counts, events: EventCounts::new(), ..function.clone() }
    };
    (0..).zip(&window.functions).map(function).collect()
}
