//! The slow instructions of a window, by the functions they stand in.

use std::cmp::Reverse;

use pathmeter_trace::{Function, SlowInstruction, WindowTree};

use super::name_of;
use crate::number::grouped;
use crate::style::Style;
use crate::table::{Align, Table};

/// A row for each kind of slow instruction and function it was met in, the most frequent kind
/// first; the kind and its number in the window stand in the first of its rows.
pub(super) fn census_table(tree: &WindowTree, style: Style) -> String {
    let mut table = Table::new(&[
        ("slow instruction", Align::Left),
        ("met", Align::Right),
        ("of these", Align::Right),
        ("in", Align::Left),
    ]);
    let mut kinds: Vec<(SlowInstruction, u64)> =
        tree.census.iter().map(|(&slow, &met)| (slow, met)).collect();
    kinds.sort_by_key(|&(_, met)| Reverse(met));
    for (slow, met) in kinds {
        let mut word = slow.word();
        let mut met = grouped(met);
        for (function, count) in places(tree, slow) {
            let count = grouped(count);
            table.row([word.into(), (&met).into(), count.into(), name_of(function).into()]);
            word = "";
            met.clear();
        }
    }
    table.render(style)
}

/// The functions that a kind was met in, and how often, most frequent first.
fn places(tree: &WindowTree, slow: SlowInstruction) -> Vec<(&Function, u64)> {
    let count = |function: &Function| function.census.get(&slow).copied();
    let functions = tree.functions.iter();
    let mut places: Vec<_> =
        functions.filter_map(|function| Some((function, count(function)?))).collect();
    places.sort_by_key(|&(_, count)| Reverse(count));
    places
}
