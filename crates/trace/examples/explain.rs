//! Prints what a trace contains: `explain TRACE KALLSYMS [NEW-TRACE [NEW-KALLSYMS]]`.
//!
//! The tree of one trace; of two, the functions that differ.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example")]

use std::{env, fs, time::Instant};

use pathmeter_trace::{Change, Recording, Symbols, WindowTree, decode, difference};

fn main() {
    let files: Vec<String> = env::args().skip(1).collect();
    let [trace, kallsyms, rest @ ..] = &files[..] else {
        return println!("explain TRACE KALLSYMS [NEW-TRACE [NEW-KALLSYMS]]");
    };
    let Some(base) = window(trace, kallsyms) else { return };
    match rest {
        [] => print_tree(&base),
        [new, symbols @ ..] => {
            let Some(new) = window(new, symbols.first().unwrap_or(kallsyms)) else { return };
            print_difference(&base, &new);
        }
    }
}

fn window(trace: &str, kallsyms: &str) -> Option<WindowTree> {
    let symbols = Symbols::parse(&fs::read(kallsyms).unwrap()).unwrap();
    let begin = Instant::now();
    let recording = decode(fs::File::open(trace).unwrap(), &symbols);
    let Recording { windows, totals, stop, fault, .. } = &recording;
    println!("{trace}: {:?}, {windows:?}, {totals:?}, {stop:?}, {fault:?}", begin.elapsed());
    recording.representative.or(recording.interrupted)
}

fn print_tree(tree: &WindowTree) {
    let WindowTree { window, total, unattributed, interrupts, footprint, census, .. } = tree;
    println!("window {window}, {total} instructions, {unattributed} unattributed");
    println!("{interrupts} interrupts, {footprint:?}, {census:?}");
    let inclusive = tree.inclusive();
    let mut depths: Vec<usize> = Vec::new();
    for (node, inclusive) in tree.nodes.iter().zip(inclusive) {
        let depth = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let (own, name, kind) = (node.counts.instructions, tree.name(node), node.kind);
        println!("{inclusive:7} {own:6} {:width$}{name} {kind:?}", "", width = depth);
    }
}

fn print_difference(base: &WindowTree, new: &WindowTree) {
    let difference = difference(base, new);
    println!("{:+}, {:?}, {:?}", difference.total, difference.footprint, difference.census);
    for row in difference.functions.iter().filter(|row| row.change != Change::Same) {
        println!("{:+7} {} {:?}", row.difference, row.name, row.change);
    }
}
