//! The call trees of two kernels laid over each other, as far as they differ.

use pathmeter_trace::{Difference, NodeDifference};

use super::limits::{Least, Limits};
use super::remark;
use super::shape::Shape;
use super::tree::{Line, Shown, indented, lines, list_heaviest, more_below, step};
use crate::number::{grouped, signed};
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};

/// A row for each place in the tree that executes more or less, or calls something that does:
/// instructions with callees in base and new, their difference, and the place's own. What differs
/// most comes first. The limit is on how much differs at a place and below, more and less added up,
/// so that a function that moved from one caller to another is seen at both.
pub(super) fn overlay_table(
    difference: &Difference,
    total: u64,
    limits: Limits,
    style: Style,
) -> String {
    let weight = |node: &NodeDifference| (node.parent, node.base.abs_diff(node.new));
    let nodes: Vec<_> = difference.tree.iter().map(weight).collect();
    let shape = Shape::of(&nodes);
    let limits = Limits { least: at_least_one(limits.least), ..limits };
    let mut table = Table::new(&[
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("self", Align::Right),
        ("where", Align::Left),
    ]);
    let lines = match limits.most {
        None => lines(&shape, total, limits),
        Some(most) => list_heaviest(&shape, total, limits, most),
    };
    let step = step(&lines, style);
    for line in lines {
        table.row(row(&difference.tree, &shape, line, step));
    }
    table.render(style)
}

/// What doesn't differ is summed even without a limit.
fn at_least_one(least: Least) -> Least {
    match least {
        Least::Instructions(0) | Least::Share(0) => Least::Instructions(1),
        least => least,
    }
}

fn row(tree: &[NodeDifference], shape: &Shape, line: Line<'_>, step: usize) -> [Cell; 5] {
    let (base, new, own, text, paint) = match line.what {
        Shown::Node(node) => {
            let node = &tree[node];
            let own = [node.base, node.new];
            let name = format!("{}{}", node.name, remark(node.kind));
            (node.base_inclusive, node.new_inclusive, own, name, PLAIN)
        }
        Shown::More(cut) => {
            let base = cut.iter().map(|&node| tree[node].base_inclusive).sum();
            let new = cut.iter().map(|&node| tree[node].new_inclusive).sum();
            (base, new, [base, new], more_below(shape, cut), QUIET)
        }
    };
    let difference = |[base, new]: [u64; 2]| signed(new.wrapping_sub(base).cast_signed());
    [
        Cell::painted(&grouped(base), paint),
        Cell::painted(&grouped(new), paint),
        Cell::painted(&difference([base, new]), paint),
        Cell::painted(&difference(own), paint),
        Cell::painted(&indented(line.depth * step, &text), paint),
    ]
}
