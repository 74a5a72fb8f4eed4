//! Functions with another name: one vanished, one appeared, both are called from the same function,
//! differ in the same rows, and do the same: they call the same functions, or, where they call
//! none, cost the same and have similar names.
//!
//! This shows that code moved from one to the other. It is called a rename only if neither kernel
//! has both names, one function calls it on either side, and the names are similar: two compilers
//! that cut the same source at other places make one function vanish and another one appear too.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathmeter_model::{CodeMove, MoveKind};

use super::{Candidate, Known};
use crate::{
    field::Function,
    parts::Parts,
    vector::{Balance, size},
};

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
/// Of how many functions that cost more, and less, each is compared with.
const NEAR: usize = 16;
/// How many functions that vanished or appeared may lie between a function and the caller that
/// both have.
const DEPTH: usize = 3;

pub(super) fn candidates(known: Known<'_>, parts: &Parts) -> Vec<Candidate> {
    let mut by_caller: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for (number, function) in known.field.functions.iter().enumerate() {
        let Some(side) = function.only_side() else { continue };
        if parts.with(number).functions.len() == 1 {
            for caller in callers(known, number, side) {
                by_caller.entry(caller).or_default()[side].push(number);
            }
        }
    }
    let pairs: BTreeSet<(usize, usize)> =
        by_caller.into_values().flat_map(|[from, to]| near(known, &from, to)).collect();
    pairs.into_iter().filter_map(|(from, to)| candidate(known, parts, from, to)).collect()
}

/// Which of `to` each of `from` may be now: all, or of very many those of the nearest costs, and of
/// one cost those of the nearest names.
fn near(known: Known<'_>, from: &[usize], mut to: Vec<usize>) -> Vec<(usize, usize)> {
    let order = |one: &usize, other: &usize| {
        let [one, other] = [one, other].map(|number| &known.field.functions[*number]);
        let cost = |it: &Function<'_>| size(&known.field.weights, &it.change);
        cost(one).total_cmp(&cost(other)).then_with(|| one.name.cmp(other.name))
    };
    if to.len() > 2 * NEAR {
        to.sort_by(order);
    }
    let pairs = from.iter().flat_map(|from| {
        let place = to.partition_point(|to| order(to, from).is_lt());
        let near = place.saturating_sub(NEAR)..to.len().min(place + NEAR);
        let some = if to.len() > 2 * NEAR { &to[near] } else { &to };
        some.iter().map(|to| (*from, *to))
    });
    pairs.collect()
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
    if cost.both < COST.min(LEAF_COST) {
        return None;
    }
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
            in_debug_info: false,
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

/// Whether one function calls both and their names are similar. Names that differ in underscores
/// alone are often those of two functions, of which each kernel put another one into its caller.
fn is_one_function(known: Known<'_>, parts: &Parts, sides: [usize; 2]) -> bool {
    let functions = &known.field.functions;
    let callers = [0, 1].map(|side| {
        let callers = functions[sides[side]].callers[side].keys();
        callers.map(|caller| parts.number(*caller)).collect::<BTreeSet<usize>>()
    });
    let [base, new] = sides.map(|number| functions[number].name.trim_start_matches('_'));
    base != new && same_words(base, new) >= NAMES && !callers[0].is_disjoint(&callers[1])
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
    let words =
        |name| -> BTreeSet<&str> { str::split(name, '_').filter(|it| !it.is_empty()).collect() };
    let (one, other) = (words(one), words(other));
    let both = one.intersection(&other).count();
    both as f64 / (one.len() + other.len() - both).max(1) as f64
}
