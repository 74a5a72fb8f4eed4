//! Functions put into another one, or taken out of one, by debug information: one kernel has the
//! function in its symbol table, and the other one only within the functions into which its
//! compiler put it. If one of these calls it in the first kernel, that is where its code is,
//! however much the two differ by.

use pathmeter_model::{CodeMove, MoveKind};

use super::{Candidate, Known, inline::moved_callees};
use crate::{parts::Parts, vector::Balance};

/// How much of what is called of a function its caller must call. A function has one part, so of
/// one that many callers had alike it is not known which of them has the difference.
const CALLED: f64 = 0.6;

pub(super) fn candidates(known: Known<'_>, parts: &Parts) -> Vec<Candidate> {
    let Some(kernels) = known.kernels else { return Vec::new() };
    let mut all = Vec::new();
    for (number, function) in known.field.functions.iter().enumerate() {
        let has = |side: usize| kernels[side].names.contains(function.name);
        for side in [0, 1].into_iter().filter(|side| has(*side) && !has(1 - side)) {
            let callers = function.callers[side].keys();
            let holders = callers.filter(|it| known.holds(side, **it, number) == Some(true));
            all.extend(holders.filter_map(|it| candidate(known, parts, (number, side), *it)));
        }
    }
    all
}

#[allow(clippy::cast_precision_loss, reason = "a share; sums are far below 2^53")]
fn candidate(
    known: Known<'_>,
    parts: &Parts,
    (number, side): (usize, usize),
    caller: usize,
) -> Option<Candidate> {
    let (part, into) = (parts.with(number), parts.with(caller));
    let callers = &known.field.functions[number].callers[side];
    let called = callers[&caller] as f64 / callers.values().sum::<u64>().max(1) as f64;
    if called < CALLED || parts.number(number) == parts.number(caller) {
        return None;
    }
    let cost = Balance::of(&known.field.weights, &part.change, &into.change);
    let kind = if side == 0 { MoveKind::Inlined } else { MoveKind::Outlined };
    let [from, to] = known.direct([number, caller], side == 0);
    let evidence = CodeMove {
        kind,
        from,
        to,
        balance: cost.smaller,
        callees: moved_callees(known, parts, (number, side), into),
        rows: cost.rows,
        absent: Some(true),
        in_debug_info: true,
    };
    Some(Candidate { score: called, one: caller, other: number, evidence })
}
