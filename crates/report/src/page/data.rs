//! What the page's script draws from: call trees, and the results of many subjects. Names stand
//! once, and are referred to by their places.

use pathmeter_model::clean;
use std::collections::{HashMap, HashSet};

use pathmeter_trace::{Difference, WindowTree};
use serde::Serialize;

/// What is narrower in a flame graph is one box with its neighbours: this part of the whole.
const NARROWEST: u64 = 1000;
/// The name of such a box.
const NARROW: &str = "…";

/// Names of elements of the page's own.
const OWN: [&str; 4] = ["", "data", "difference", "difference-title"];

/// All of a page's data.
#[derive(Debug, Default, Serialize)]
pub(super) struct Data {
    names: Vec<String>,
    #[serde(skip)]
    places: HashMap<String, usize>,
    /// The names of elements that are given.
    #[serde(skip)]
    anchors: HashSet<String>,
    flames: Vec<Flame>,
    pub(super) histories: Vec<History>,
}

/// What the script needs of many results.
#[derive(Debug, Serialize)]
pub(super) struct History {
    pub(super) kernels: Vec<String>,
    /// By kernel: the place of the last one before it that was measured alike, or its own.
    pub(super) before: Vec<usize>,
    pub(super) paths: Vec<String>,
    /// By path, then by kernel: the row's value.
    pub(super) values: Vec<Vec<Option<u64>>>,
    /// By path, then by kernel: pairs of the place of an event's name and its number.
    pub(super) events: Vec<Vec<Vec<u64>>>,
    /// By path, then by kernel: pairs of the place of a function's name and the instructions that
    /// it executes itself; null where no window was recorded.
    pub(super) functions: Vec<Vec<Option<Vec<u64>>>>,
    /// By base, then by new.
    pub(super) pairs: Vec<Vec<Pair>>,
}

/// Two kernels, path by path.
#[derive(Debug, Serialize)]
pub(super) struct Pair {
    /// A letter for each path: its verdict.
    pub(super) verdicts: String,
    /// Base and new of each path that is neither same nor without numbers, in order.
    pub(super) numbers: Vec<u64>,
    /// The place of each path's cell: its class, a space, and its text.
    pub(super) cells: Vec<usize>,
}

/// A call tree, or two laid over each other.
#[derive(Debug, Serialize)]
struct Flame {
    /// Whether each node has numbers of two windows.
    two: bool,
    /// In preorder, five numbers for each node: depth, name, what it executed itself in base and in
    /// new, and the difference that its colour shows.
    nodes: Vec<i64>,
}

/// A node of either kind of tree.
#[derive(Clone, Copy)]
struct Box<'a> {
    parent: Option<u32>,
    name: &'a str,
    own: [u64; 2],
    shade: i64,
}

impl Data {
    /// The place of a name.
    pub(super) fn name(&mut self, name: &str) -> usize {
        let name = clean(name);
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        let place = self.names.len();
        self.names.push(name.clone());
        self.places.insert(name, place);
        place
    }

    /// A name for the element of a row, by which a link leads to it; of several rows of one name
    /// the first has it, the others with a number.
    pub(super) fn anchor(&mut self, name: &str) -> String {
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || "._-+:=".contains(c) { c } else { '_' };
        let name: String = name.chars().map(plain).collect();
        let is_free = |name: &String| !OWN.contains(&&**name) && !self.anchors.contains(name);
        let numbered = (2..).map(|number| format!("{name}:{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.anchors.insert(free.clone());
        free
    }

    /// The place of a window's flame graph.
    pub(super) fn window(&mut self, window: &WindowTree) -> usize {
        let boxes: Vec<Box<'_>> = window
            .nodes
            .iter()
            .map(|node| Box {
                parent: node.parent,
                name: window.name(node),
                own: [node.counts.instructions, 0],
                shade: 0,
            })
            .collect();
        self.flame(&boxes, false)
    }

    /// The place of a difference's. The colour shows what a function executes more or less itself,
    /// but no more than it does over all its places: what only moved is not coloured.
    pub(super) fn difference(&mut self, difference: &Difference) -> usize {
        let functions = difference.functions.iter();
        let changes: HashMap<&str, i64> =
            functions.map(|function| (function.name.as_str(), function.difference)).collect();
        let nodes = difference.tree.iter().map(|node| {
            let change = changes.get(node.name.as_str()).copied().unwrap_or_default();
            let own = node.new.wrapping_sub(node.base).cast_signed();
            let shade = own.clamp(change.min(0), change.max(0));
            Box { parent: node.parent, name: &node.name, own: [node.base, node.new], shade }
        });
        let boxes: Vec<Box<'_>> = nodes.collect();
        self.flame(&boxes, true)
    }

    fn flame(&mut self, boxes: &[Box<'_>], two: bool) -> usize {
        let nodes = self.boxes(boxes);
        self.flames.push(Flame { two, nodes });
        self.flames.len() - 1
    }

    /// The boxes that are wide enough, and one for all others of each parent.
    fn boxes(&mut self, boxes: &[Box<'_>]) -> Vec<i64> {
        let Tree { depths, sums, rest, least } = Tree::of(boxes);
        let mut flat = Vec::new();
        let mut hidden_below: Option<usize> = None;
        let mut rested = vec![false; boxes.len() + 1];
        for (index, node) in boxes.iter().enumerate() {
            let depth = depths[index];
            if hidden_below.is_some_and(|above| depth > above) {
                continue;
            }
            hidden_below = None;
            let (name, own, shade) = if width(sums[index]) >= least {
                (node.name, node.own, node.shade)
            } else {
                hidden_below = Some(depth);
                let parent = place(node.parent, boxes.len());
                if std::mem::replace(&mut rested[parent], true) {
                    continue;
                }
                (NARROW, rest[parent], 0)
            };
            let numbers = [depth as u64, self.name(name) as u64, own[0], own[1]];
            flat.extend(numbers.map(u64::cast_signed));
            flat.push(shade);
        }
        flat
    }
}

/// What must be known of a tree to leave out its narrow boxes.
struct Tree {
    depths: Vec<usize>,
    /// Of each node with all below, in base and in new.
    sums: Vec<[u64; 2]>,
    /// The sums of each node's narrow children; last those of no parent.
    rest: Vec<[u64; 2]>,
    /// The width of the narrowest box that is drawn.
    least: u64,
}

impl Tree {
    fn of(boxes: &[Box<'_>]) -> Self {
        let mut depths = vec![0; boxes.len()];
        for (index, node) in boxes.iter().enumerate() {
            depths[index] = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
        }
        let mut sums: Vec<[u64; 2]> = boxes.iter().map(|node| node.own).collect();
        let mut total = [0; 2];
        for (index, node) in boxes.iter().enumerate().rev() {
            let sum = sums[index];
            let above = node.parent.map_or(&mut total, |parent| &mut sums[parent as usize]);
            add(above, sum);
        }
        let least = (width(total) / NARROWEST).max(1);
        let mut rest = vec![[0; 2]; boxes.len() + 1];
        for (node, sum) in boxes.iter().zip(&sums) {
            if width(*sum) < least {
                add(&mut rest[place(node.parent, boxes.len())], *sum);
            }
        }
        Self { depths, sums, rest, least }
    }
}

/// Where a parent's things stand; no parent's stand last.
fn place(parent: Option<u32>, none: usize) -> usize {
    parent.map_or(none, |parent| parent as usize)
}

fn width([base, new]: [u64; 2]) -> u64 {
    base.max(new)
}

fn add(sum: &mut [u64; 2], more: [u64; 2]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_boxes_are_one_and_nothing_is_lost() {
        let node = |parent, name, own| Box { parent, name, own: [own, 0], shade: 0 };
        let boxes = [
            node(None, "root", 10_000),
            node(Some(0), "a", 3),
            node(Some(1), "below a", 2),
            node(Some(0), "wide", 500),
            node(Some(0), "b", 4),
        ];
        let mut data = Data::default();
        let flat = data.boxes(&boxes);
        let rows: Vec<(i64, &str, i64)> = flat
            .chunks(5)
            .map(|row| (row[0], data.names[usize::try_from(row[1]).unwrap()].as_str(), row[2]))
            .collect();
        assert_eq!(rows, [(0, "root", 10_000), (1, "…", 9), (1, "wide", 500)]);
    }

    #[test]
    fn a_row_has_a_name_that_is_no_other_elements() {
        let mut data = Data::default();
        let names = ["file.stat", "file.stat", "data", "timer (\"1\")"].map(|it| data.anchor(it));
        assert_eq!(names, ["file.stat", "file.stat:2", "data:2", "timer___1__"]);
    }

    #[test]
    fn a_name_stands_once() {
        let mut data = Data::default();
        assert_eq!((data.name("a"), data.name("b"), data.name("a")), (0, 1, 0));
    }
}
