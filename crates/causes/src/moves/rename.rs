//! Functions with another name: one vanished, one appeared, both are called from the same function,
//! differ in the same rows, and do the same: they call the same functions, or, where they call
//! none, cost the same and have similar names.
//!
//! This shows that code moved from one to the other. That it is one function with two names is
//! certain only if neither kernel has both names, one function calls it on either side, and no
//! callee moved between it and that caller.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathmeter_model::{CodeMove, MoveKind};

use super::{Candidate, Known};
use crate::{parts::Parts, vector::Balance};

/// How alike callees must be.
const CALLEES: f64 = 0.6;
/// How much of both costs must be in balance, if the callees are alike.
const COST: f64 = 0.6;
/// The same of functions that call none.
const LEAF_COST: f64 = 0.7;
/// The same of functions that call none and whose names differ.
const NAMELESS_COST: f64 = 0.95;
/// How alike names must be.
const NAMES: f64 = 0.5;
/// Of a function with another name and unlike words: how much its caller may call of what it calls.
const OF_CALLER: f64 = 0.1;
/// How many functions that vanished or appeared may lie between a function and the caller that
/// both have.
const DEPTH: usize = 3;

pub(super) fn candidates(known: Known<'_>, parts: &Parts) -> Vec<Candidate> {
    let mut by_caller: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for (number, function) in known.field.functions.iter().enumerate() {
        let side = match function.there {
            [true, false] => 0,
            [false, true] => 1,
            _ => continue,
        };
        if parts.with(number).functions.len() == 1 {
            for caller in callers(known, number, side) {
                by_caller.entry(caller).or_default()[side].push(number);
            }
        }
    }
    let pairs: BTreeSet<(usize, usize)> = by_caller
        .values()
        .flat_map(|[from, to]| from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))))
        .collect();
    pairs.into_iter().filter_map(|(from, to)| candidate(known, parts, from, to)).collect()
}

/// The callers of a function on its side, also those of callers that only this side executes.
fn callers(known: Known<'_>, number: usize, side: usize) -> BTreeSet<usize> {
    let functions = &known.field.functions;
    let (mut all, mut last) = (BTreeSet::new(), BTreeSet::from([number]));
    for _ in 0..DEPTH {
        let next: BTreeSet<usize> =
            last.iter().flat_map(|one| functions[*one].callers[side].keys().copied()).collect();
        last = next.iter().copied().filter(|one| !functions[*one].there[1 - side]).collect();
        all.extend(next);
    }
    all
}

fn candidate(known: Known<'_>, parts: &Parts, from: usize, to: usize) -> Option<Candidate> {
    let [base, new] = [from, to].map(|number| &known.field.functions[number]);
    let opposite = |(one, other): (&i64, &i64)| one.signum() == -other.signum();
    if !base.change.iter().zip(&new.change).all(opposite) {
        return None;
    }
    let cost = Balance::of(&known.field.weights, &base.change, &new.change);
    let callees = alike(parts, &base.callees[0], &new.callees[1]);
    let names = same_words(base.name, new.name);
    let likely = match callees {
        Some(callees) => callees >= CALLEES && cost.both >= COST,
        None if names >= NAMES => cost.both >= LEAF_COST,
        None => cost.both >= NAMELESS_COST && cost.rows > 1,
    };
    let absent = known.absent(from).zip(known.absent(to)).map(|(from, to)| from && to);
    (likely && (absent != Some(false) || callees.is_some())).then(|| Candidate {
        score: cost.both * callees.unwrap_or(names).max(0.1),
        one: to,
        other: from,
        evidence: CodeMove {
            kind: MoveKind::Renamed,
            from: known.name(from),
            to: known.name(to),
            balance: cost.smaller,
            callees,
            rows: cost.rows,
            absent,
        },
    })
}

/// Calls moved what is not shown to be renamed, once all parts are known.
pub(super) fn doubt(known: Known<'_>, parts: &mut Parts) {
    let functions = known.field.functions.iter().enumerate();
    let numbers: HashMap<&str, usize> = functions.map(|(at, it)| (it.name, at)).collect();
    parts.name_moves(|parts, it| {
        let sides = [&it.from, &it.to].map(|name| numbers[&**name]);
        let is_doubtful = it.kind == MoveKind::Renamed
            && !(it.absent == Some(true) && is_one_function(known, parts, sides));
        if is_doubtful { MoveKind::Moved } else { it.kind }
    });
}

/// Whether one function calls both, and they are cut off from it at one place: their names are
/// alike, or it calls on neither side what the other function calls.
fn is_one_function(known: Known<'_>, parts: &Parts, sides: [usize; 2]) -> bool {
    let functions = &known.field.functions;
    let callers = [0, 1].map(|side| {
        let callers = functions[sides[side]].callers[side].keys();
        callers.map(|caller| parts.number(*caller)).collect::<BTreeSet<usize>>()
    });
    let [base, new] = sides.map(|number| functions[number].name);
    let is_cut_alike = |side: usize| of_caller(known, parts, sides, side) <= OF_CALLER;
    let is_alike = same_words(base, new) >= NAMES || (0..2).all(is_cut_alike);
    !callers[0].is_disjoint(&callers[1]) && is_alike
}

/// Of the instructions below the function of one side the share that is below functions which the
/// other side's does not call and its callers do.
#[allow(clippy::cast_precision_loss, reason = "a share; sums are far below 2^53")]
fn of_caller(known: Known<'_>, parts: &Parts, sides: [usize; 2], side: usize) -> f64 {
    let functions = &known.field.functions;
    let other = 1 - side;
    let called =
        |number: usize| functions[number].callees[other].keys().map(|it| parts.number(*it));
    let own: BTreeSet<usize> = called(sides[other]).collect();
    let callers = functions[sides[other]].callers[other].keys();
    let of_callers: BTreeSet<usize> = callers.flat_map(|caller| called(*caller)).collect();
    let callees = &functions[sides[side]].callees[side];
    let is_of_caller = |callee: usize| of_callers.contains(&callee) && !own.contains(&callee);
    let moved = callees.iter().filter(|(callee, _)| is_of_caller(parts.number(**callee)));
    let moved: u64 = moved.map(|(_, sum)| sum).sum();
    moved as f64 / callees.values().sum::<u64>().max(1) as f64
}

/// The instructions below both, as a share of those below either; none if neither calls anything.
#[allow(clippy::cast_precision_loss, reason = "a share; sums are far below 2^53")]
fn alike(parts: &Parts, base: &BTreeMap<usize, u64>, new: &BTreeMap<usize, u64>) -> Option<f64> {
    let mut sums: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
    for (side, callees) in [base, new].into_iter().enumerate() {
        for (callee, sum) in callees {
            sums.entry(parts.number(*callee)).or_default()[side] += sum;
        }
    }
    let both: u64 = sums.values().map(|[base, new]| base.min(new)).sum();
    let either: u64 = sums.values().map(|[base, new]| base.max(new)).sum();
    (either > 0).then(|| both as f64 / either as f64)
}

/// The words of a name that are in both, as a share of all.
#[allow(clippy::cast_precision_loss, reason = "a few words")]
fn same_words(one: &str, other: &str) -> f64 {
    let words = |name: &'_ str| -> BTreeSet<String> {
        name.split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    one.intersection(&other).count() as f64 / one.union(&other).count().max(1) as f64
}
