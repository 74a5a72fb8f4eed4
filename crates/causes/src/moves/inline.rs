//! Functions put into another one, or taken out of one: one side executes them and the other does
//! not, and the function that calls them grew by as much, or shrank. Where they call functions
//! themselves, their caller calls these on the other side. Debug information may show that their
//! code is elsewhere.

use std::collections::BTreeSet;

use pathmeter_model::{CodeMove, MoveKind};

use super::{Candidate, Known};
use crate::{
    parts::{Part, Parts},
    vector::{Balance, size},
};

/// How much of the smaller difference must be taken back.
const SMALLER: f64 = 0.7;
/// How much of both, if callees moved too.
const WITH_CALLEES: f64 = 0.3;
/// How much of both, if nothing is known but the cost, which is so in several rows.
const IN_ROWS: f64 = 0.6;
/// The same if there is only one row, or the other kernel has a function of this name.
const IN_ONE_ROW: f64 = 0.7;
/// How many of the callees must have moved to show it.
const CALLEES: f64 = 0.6;
/// If less than this share of the callees moved, that contradicts it.
const TOO_FEW_CALLEES: f64 = 0.3;
/// How much of the reads and writes of memory must be in balance.
const ACCESSES: f64 = 0.3;

pub(super) fn candidates(known: Known<'_>, parts: &Parts) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (number, function) in known.field.functions.iter().enumerate() {
        let Some(side) = function.only_side() else { continue };
        let is_alone = |part: &Part| {
            part.functions.iter().all(|one| known.field.functions[*one].there == function.there)
        };
        if is_alone(parts.with(number)) {
            let others = neighbours(known, parts, number, side).into_iter();
            all.extend(others.filter_map(|other| candidate(known, parts, (number, side), other)));
        }
    }
    all
}

/// The functions that the code of this one may have gone to, or come from: its callers; and those
/// that it calls, if they have another name and are called by its callers then.
fn neighbours(known: Known<'_>, parts: &Parts, number: usize, side: usize) -> BTreeSet<usize> {
    let function = &known.field.functions[number];
    let mut all: BTreeSet<usize> = function.callers[side].keys().copied().collect();
    for callee in function.callees[side].keys() {
        let renamed = parts.with(*callee);
        let is_called = |one: &&usize| {
            let callers = &known.field.functions[**one].callers[1 - side];
            function.callers[side].keys().any(|caller| callers.contains_key(caller))
        };
        let is_renamed = renamed.moves.iter().any(|it| it.kind == MoveKind::Renamed);
        all.extend(renamed.functions.iter().find(is_called).filter(|_| is_renamed));
    }
    all
}

fn candidate(
    known: Known<'_>,
    parts: &Parts,
    (number, side): (usize, usize),
    other: usize,
) -> Option<Candidate> {
    let (part, into) = (parts.with(number), parts.with(other));
    if parts.number(number) == parts.number(other)
        || known.holds(side, other, number) == Some(false)
    {
        return None;
    }
    let weights = &known.field.weights;
    let cost = Balance::of(weights, &part.change, &into.change);
    // No callees make up for less.
    if cost.smaller < SMALLER || cost.both < WITH_CALLEES {
        return None;
    }
    let accesses = Balance::of(weights, &part.accesses, &into.accesses);
    let has_accesses = size(weights, &part.accesses) > 0.1 * size(weights, &part.change);
    let callees = moved_callees(known, parts, (number, side), into);
    let absent = known.absent(number);
    let needed = match callees {
        Some(callees) if callees >= CALLEES => WITH_CALLEES,
        Some(callees) if callees < TOO_FEW_CALLEES => return None,
        _ if cost.rows < 2 || absent == Some(false) => IN_ONE_ROW,
        _ => IN_ROWS,
    };
    if cost.both < needed || has_accesses && accesses.both < ACCESSES {
        return None;
    }
    let kind = if side == 0 { MoveKind::Inlined } else { MoveKind::Outlined };
    let [from, to] = known.direct([number, other], side == 0);
    let (balance, rows) = (cost.smaller, cost.rows);
    let in_debug_info = false;
    let evidence = CodeMove { kind, from, to, balance, callees, rows, absent, in_debug_info };
    let score = cost.smaller * cost.both * callees.unwrap_or(CALLEES);
    Some(Candidate { score, one: other, other: number, evidence })
}

/// The share of a function's callees that `into` calls on the other side; none if it calls nothing.
#[allow(clippy::cast_precision_loss, reason = "a share; sums are far below 2^53")]
pub(super) fn moved_callees(
    known: Known<'_>,
    parts: &Parts,
    (number, side): (usize, usize),
    into: &Part,
) -> Option<f64> {
    let functions = &known.field.functions;
    let called: BTreeSet<usize> = into
        .functions
        .iter()
        .flat_map(|one| functions[*one].callees[1 - side].keys())
        .copied()
        // A function that was put into the one that it called still calls what that is now.
        .chain(into.functions.iter().copied())
        .map(|callee| parts.number(callee))
        .collect();
    let own = parts.number(number);
    let (mut all, mut moved) = (0, 0);
    for (callee, sum) in &functions[number].callees[side] {
        let callee = parts.number(*callee);
        if callee != own {
            all += sum;
            moved += if called.contains(&callee) { *sum } else { 0 };
        }
    }
    (all > 0).then(|| moved as f64 / all as f64)
}
