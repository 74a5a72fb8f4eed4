//! The call tree: dearest first, indented by depth.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use pathmeter_trace::{NodeKind, WindowTree};

use super::limits::Limits;
use super::shape::Shape;
use super::{name_of, remark};
use crate::number::{grouped, share};
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};

/// Spaces by which each level is indented.
const STEP: usize = 2;
/// The same in a tree so deep that its names would be cut.
const NARROW_STEP: usize = 1;
/// What the levels may take of a terminal's width, as one part of this many.
const PART_FOR_LEVELS: usize = 3;

/// A line of a table that shows a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// How many functions are above.
    pub(super) depth: usize,
    pub(super) what: Shown<'a>,
}

/// What a line stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    /// One node, without those below it.
    Node(usize),
    /// What a limit cut: these siblings, with all that is below them.
    More(&'a [usize]),
}

/// A row for each node within the limits: its instructions with and without those it called, and
/// its share of the window.
pub(super) fn call_tree_table(tree: &WindowTree, limits: Limits, style: Style) -> String {
    let nodes: Vec<_> =
        tree.nodes.iter().map(|node| (node.parent, node.counts.instructions)).collect();
    let shape = Shape::of(&nodes);
    let mut table = Table::new(&[
        ("instructions", Align::Right),
        ("percent", Align::Right),
        ("self", Align::Right),
        ("function", Align::Left),
    ]);
    let lines = lines(&shape, tree.total, limits);
    let step = step(&lines, style);
    for line in lines {
        table.row(row(tree, &shape, line, step));
    }
    table.render(style)
}

/// The lines in the order they are shown in. Without recursion, since a trace may call as deeply
/// as it likes.
pub(super) fn lines(shape: &Shape, total: u64, limits: Limits) -> Vec<Line<'_>> {
    let deep_enough = |depth| limits.depth.is_none_or(|most| depth < most);
    let is_heavy = |node: usize| limits.least.is_reached(shape.inclusive[node], total);
    list_lines(shape, &deep_enough, &is_heavy)
}

/// The lines of as many of the heaviest nodes within the limits as fit so many lines.
pub(super) fn list_heaviest(
    shape: &Shape,
    total: u64,
    limits: Limits,
    most: usize,
) -> Vec<Line<'_>> {
    let mut order: Vec<usize> = (0..shape.inclusive.len()).collect();
    // A parent is as heavy as its children at least, and has a lower number.
    order.sort_by_key(|node| (Reverse(shape.inclusive[*node]), *node));
    let with = |nodes: usize| {
        let shown: BTreeSet<usize> = order.iter().take(nodes).copied().collect();
        let is_heavy = |node: usize| {
            shown.contains(&node) && limits.least.is_reached(shape.inclusive[node], total)
        };
        list_lines(shape, &|_| true, &is_heavy)
    };
    let fitting = (1..=most).rev().map(with).find(|lines| lines.len() <= most);
    fitting.unwrap_or_else(|| with(1))
}

fn list_lines<'a>(
    shape: &'a Shape,
    deep_enough: &dyn Fn(usize) -> bool,
    is_heavy: &dyn Fn(usize) -> bool,
) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let mut pending = Vec::new();
    push_siblings(&mut pending, shape, (&shape.roots[..], 0), deep_enough(0), is_heavy);
    while let Some(line) = pending.pop() {
        lines.push(line);
        if let Shown::Node(node) = line.what {
            let below = (&shape.children[node][..], line.depth + 1);
            push_siblings(&mut pending, shape, below, deep_enough(below.1), is_heavy);
        }
    }
    lines
}

/// Pushes siblings so that they come off the stack in order, and after them what was cut.
fn push_siblings<'a>(
    pending: &mut Vec<Line<'a>>,
    shape: &Shape,
    (siblings, depth): (&'a [usize], usize),
    deep_enough: bool,
    is_heavy: &dyn Fn(usize) -> bool,
) {
    let is_shown = |node: &&usize| deep_enough && is_heavy(**node);
    // Heaviest first, so all that are shown come before all that are not.
    let (shown, cut) = siblings.split_at(siblings.iter().take_while(is_shown).count());
    let nodes = |nodes: &[usize]| {
        nodes.iter().rev().map(|&node| Line { depth, what: Shown::Node(node) }).collect::<Vec<_>>()
    };
    match cut {
        [] => {}
        // A single function needs no more room than the line that would stand for it.
        [only] if deep_enough && shape.sizes[*only] == 1 => pending.extend(nodes(cut)),
        _ => pending.push(Line { depth, what: Shown::More(cut) }),
    }
    pending.extend(nodes(shown));
}

fn row(tree: &WindowTree, shape: &Shape, line: Line<'_>, step: usize) -> [Cell; 4] {
    let (inclusive, own, text, paint) = match line.what {
        Shown::Node(node) => {
            let about = &tree.nodes[node];
            let name = name_of(&tree.functions[about.function as usize]) + remark(about.kind);
            let paint = if about.kind == NodeKind::Task { QUIET } else { PLAIN };
            (shape.inclusive[node], about.counts.instructions, name, paint)
        }
        Shown::More(cut) => {
            let instructions = cut.iter().map(|&node| shape.inclusive[node]).sum();
            (instructions, instructions, more_below(shape, cut), QUIET)
        }
    };
    [
        Cell::painted(&grouped(inclusive), paint),
        Cell::painted(&share(inclusive, tree.total), paint),
        Cell::painted(&grouped(own), paint),
        Cell::painted(&indented(line.depth * step, &text), paint),
    ]
}

/// How many spaces each level is set in, so that names have room.
pub(super) fn step(lines: &[Line<'_>], style: Style) -> usize {
    let deepest = lines.iter().map(|line| line.depth).max().unwrap_or_default();
    let room = style.width.map_or(usize::MAX, |width| width / PART_FOR_LEVELS);
    if deepest * STEP <= room { STEP } else { NARROW_STEP }
}

/// `text` after as many spaces.
pub(super) fn indented(spaces: usize, text: &str) -> String {
    format!("{}{text}", " ".repeat(spaces))
}

/// [`more`] of all the functions cut, not only the outermost.
pub(super) fn more_below(shape: &Shape, cut: &[usize]) -> String {
    more(cut.iter().map(|&node| shape.sizes[node]).sum())
}

/// `… 12 more`, for what is summed and not shown.
pub(super) fn more(count: usize) -> String {
    format!("… {count} more")
}

#[cfg(test)]
mod tests {
    use super::super::limits::Least;
    use super::*;

    /// A tree of 200 nodes, each below one of the few before it.
    fn nodes() -> Vec<(Option<u32>, u64)> {
        let node = |node: u32| {
            let parent = node.checked_sub(1).map(|last| last.saturating_sub(last % 7 / 2));
            (parent, u64::from(node) * 37 % 101)
        };
        (0..200).map(node).collect()
    }

    #[test]
    fn whatever_the_limits_the_lines_add_up_to_the_total_and_to_all_nodes() {
        let nodes = nodes();
        let shape = Shape::of(&nodes);
        let total = nodes.iter().map(|(_, weight)| weight).sum();
        let stands_for = |line: Line<'_>| match line.what {
            Shown::Node(node) => (nodes[node].1, 1),
            Shown::More(cut) => {
                let weight: u64 = cut.iter().map(|&node| shape.inclusive[node]).sum();
                (weight, cut.iter().map(|&node| shape.sizes[node]).sum())
            }
        };
        for depth in [None, Some(0), Some(1), Some(3), Some(1000)] {
            for least in [0, 1, 50, 500, total, total + 1] {
                let limits = Limits {
                    depth,
                    least: Least::Instructions(least),
                    most: None,
                    placement: false,
                };
                let shown = lines(&shape, total, limits).into_iter().map(stands_for);
                let sum = shown.fold((0, 0), |sum, line| (sum.0 + line.0, sum.1 + line.1));
                assert_eq!(sum, (total, nodes.len()), "{limits:?}");
            }
        }
    }
}
