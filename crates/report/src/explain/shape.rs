//! A tree by parent: each node's children, and how much is below.

use std::cmp::Reverse;

/// The shape of a call tree whose nodes have a weight: instructions, or how many differ.
pub(super) struct Shape {
    /// Nodes without parent, heaviest first.
    pub(super) roots: Vec<usize>,
    /// Children of each node, heaviest first, equals in the order of the nodes.
    pub(super) children: Vec<Vec<usize>>,
    /// Weight of each node with all below.
    pub(super) inclusive: Vec<u64>,
    /// Number of nodes of each node's subtree, itself included.
    pub(super) sizes: Vec<usize>,
}

impl Shape {
    /// The shape of the tree in which each node has this parent, always before it, and weight.
    pub(super) fn of(nodes: &[(Option<u32>, u64)]) -> Self {
        let mut shape = Self {
            roots: Vec::new(),
            children: vec![Vec::new(); nodes.len()],
            inclusive: nodes.iter().map(|(_, weight)| *weight).collect(),
            sizes: vec![1; nodes.len()],
        };
        // Parents come before their children, so backwards each sum is whole when it is added.
        for (index, (parent, _)) in nodes.iter().enumerate().rev() {
            let Some(parent) = parent.map(|parent| parent as usize) else {
                shape.roots.push(index);
                continue;
            };
            shape.children[parent].push(index);
            shape.inclusive[parent] += shape.inclusive[index];
            shape.sizes[parent] += shape.sizes[index];
        }
        let heaviest = |index: &usize| (Reverse(shape.inclusive[*index]), *index);
        shape.roots.sort_by_key(heaviest);
        for children in &mut shape.children {
            children.sort_by_key(heaviest);
        }
        shape
    }
}
