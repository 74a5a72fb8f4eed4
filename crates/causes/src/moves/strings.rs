//! Functions whose work their caller does by string instructions now, or did on base: as many bytes
//! are written, in fewer instructions.

use pathmeter_model::{CodeMove, MoveKind};

use super::{Candidate, Known};
use crate::{
    field::Function,
    parts::Parts,
    vector::{Weights, size},
};

/// Fewest bytes in a row that show it.
const BYTES: i64 = 256;
/// The share of the difference that must be in rows that show it.
const ROWS: f64 = 0.9;
/// How many calls may lie between.
const DEPTH: usize = 2;

pub(super) fn candidates(known: Known<'_>, parts: &Parts) -> Vec<Candidate> {
    let functions = &known.field.functions;
    let writes = |it: &Function<'_>| it.stored.iter().any(|bytes| bytes.abs() >= BYTES);
    let writers = functions.iter().enumerate().filter(|(_, function)| writes(function));
    let mut all = Vec::new();
    for (number, writer) in writers {
        let mut callers = vec![number];
        for _ in 0..DEPTH {
            let above = |one: &usize| {
                let [base, new] = &functions[*one].callers;
                base.keys().chain(new.keys()).copied().collect::<Vec<_>>()
            };
            callers = callers.iter().flat_map(above).collect();
            let others = callers.iter().filter(|one| parts.number(**one) != parts.number(number));
            all.extend(others.filter_map(|caller| {
                let share = compensated_share(&known.field.weights, writer, &functions[*caller]);
                (share >= ROWS).then(|| candidate(known, number, *caller, share))
            }));
        }
    }
    all
}

/// The share of the writer's difference that is in rows in which its caller's string instructions
/// make up for the bytes that it writes no more, or the other way round.
fn compensated_share(weights: &Weights, writer: &Function<'_>, caller: &Function<'_>) -> f64 {
    let bytes = writer.stored.iter().zip(&writer.strings).zip(&caller.strings);
    let is_shown = bytes.map(|((stored, own), strings)| {
        let left = stored + strings;
        *own == 0 && stored.abs() >= BYTES && left.abs() <= stored.abs() / 16
    });
    let of_shown: Vec<i64> =
        is_shown.zip(&writer.change).map(|(is, change)| if is { *change } else { 0 }).collect();
    let all = size(weights, &writer.change);
    if all > 0.0 { size(weights, &of_shown) / all } else { 0.0 }
}

fn candidate(known: Known<'_>, writer: usize, caller: usize, share: f64) -> Candidate {
    let function = &known.field.functions[writer];
    let rows = function.change.iter().filter(|change| **change != 0).count();
    let is_less = function.change.iter().sum::<i64>() < 0;
    let [from, to] = known.direct([writer, caller], is_less);
    let kind = MoveKind::StringInstructions;
    let (callees, absent, in_debug_info) = (None, None, false);
    let evidence =
        CodeMove { kind, from, to, balance: share, callees, rows, absent, in_debug_info };
    Candidate { score: share, one: caller, other: writer, evidence }
}
