//! Functions with another name: one vanished, one appeared, both are called from the same function,
//! differ in the same rows, and do the same: they call the same functions, or, where they call
//! none, cost the same and have similar names.

use std::collections::{BTreeMap, BTreeSet};

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
    pairs.into_iter().filter_map(|(from, to)| candidate(known, from, to)).collect()
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

fn candidate(known: Known<'_>, from: usize, to: usize) -> Option<Candidate> {
    let [base, new] = [from, to].map(|number| &known.field.functions[number]);
    let opposite = |(one, other): (&i64, &i64)| one.signum() == -other.signum();
    if !base.change.iter().zip(&new.change).all(opposite) {
        return None;
    }
    let cost = Balance::of(&known.field.weights, &base.change, &new.change);
    let callees = alike(&base.callees[0], &new.callees[1]);
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

/// The instructions below both, as a share of those below either; none if neither calls anything.
#[allow(clippy::cast_precision_loss, reason = "a share; sums are far below 2^53")]
fn alike(base: &BTreeMap<usize, u64>, new: &BTreeMap<usize, u64>) -> Option<f64> {
    let of = |side: &BTreeMap<usize, u64>, one: &usize| side.get(one).copied().unwrap_or(0);
    let all: BTreeSet<&usize> = base.keys().chain(new.keys()).collect();
    let (mut both, mut either) = (0, 0);
    for one in all {
        both += of(base, one).min(of(new, one));
        either += of(base, one).max(of(new, one));
    }
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
