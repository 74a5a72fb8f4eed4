//! What a cause is, in a few words: how many instructions, in which functions, with which events.

use std::collections::BTreeMap;

use pathmeter_model::{Cause, CauseInRow, CausePart, MoveKind};
use pathmeter_trace::{Change, Event, Role};

use crate::number::{grouped, signed};

/// `+39 a call`, `-460 in 2 of 3`, `-638…-464`, or the sum over rows of which none is typical:
/// `-1,403 in all`.
pub(super) fn instructions(cause: &Cause) -> String {
    if let Some(per_call) = cause.per_call.as_ref().filter(|it| it.difference != 0) {
        return format!("{} a call", signed(per_call.difference));
    }
    let typical = cause.typical;
    let differ = || cause.rows.iter().map(|row| row.difference).filter(|more| *more != 0);
    let (least, most) = (differ().min().unwrap_or(0), differ().max().unwrap_or(0));
    match (typical.rows, typical.of) {
        (_, 0) => "as many".to_owned(),
        (rows, of) if rows == of => signed(typical.difference),
        (rows, of) if 2 * rows >= of => format!("{} in {rows} of {of}", signed(typical.difference)),
        _ if least.signum() == most.signum() => format!("{}…{}", signed(least), signed(most)),
        _ => format!("{} in all", signed(cause.difference)),
    }
}

/// A part that came or went is told first only if it has so much of the largest part's share.
const TELLING: f64 = 0.1;

/// The functions that say most: one that went and one that came, below which the others are, and
/// then those with the largest share.
pub(super) fn functions(cause: &Cause, most: usize) -> Vec<String> {
    let largest = cause.parts.first().map_or(0.0, |part| part.share);
    let tells = |part: &CausePart| part.is_first && part.share >= TELLING * largest;
    let fate = |change: Change| cause.parts.iter().position(|it| tells(it) && it.change == change);
    let firsts = [fate(Change::Vanished), fate(Change::Appeared)];
    let rest = (0..cause.parts.len()).filter(|place| !firsts.contains(&Some(*place)));
    let order = firsts.into_iter().flatten().chain(rest);
    order.take(most).map(|it| function(&cause.parts[it])).collect()
}

/// `prandom_u32_state +40 a call (new)`, `dequeue_task with set_next_task -30`.
fn function(part: &CausePart) -> String {
    let strings = part.moves.iter().find(|it| it.kind == MoveKind::StringInstructions);
    let names = match (&part.functions[..], strings) {
        (_, Some(moved)) => {
            format!("string instructions in {} in place of {}", moved.to, moved.from)
        }
        ([], _) => String::new(),
        ([one], _) => one.clone(),
        ([one, other], _) => format!("{one} with {other}"),
        ([one, more @ ..], _) => format!("{one} with {} more", more.len()),
    };
    let typical = part.typical;
    if typical.of == 0 {
        return names;
    }
    let number = match part.per_call {
        Some(each) if part.calls > 1 => format!("{} a call", signed(each)),
        _ if 2 * typical.rows >= typical.of => signed(typical.difference),
        _ => format!("{} in all", signed(part.difference)),
    };
    let fate = match part.change {
        Change::Appeared => " (new)",
        Change::Vanished => " (gone)",
        _ => "",
    };
    format!("{names} {number}{fate}")
}

/// The slow instructions and bytes of string instructions that differ, of a call or in most rows:
/// `rdtsc -1`, `string-bytes +16,424…+16,440`; at most so many.
pub(super) fn events(cause: &Cause, most: usize) -> String {
    if let Some(per_call) = &cause.per_call {
        let costs = per_call.events.iter().filter(|(event, _)| event.role() == Role::Cost);
        let texts = costs.map(|(event, more)| format!("{event} {}", signed(*more)));
        return texts.take(most).collect::<Vec<_>>().join(", ");
    }
    let mut counts: BTreeMap<Event, Vec<i64>> = BTreeMap::new();
    let all = cause.rows.iter().flat_map(|row| &row.events);
    for (event, more) in all.filter(|(event, _)| event.role() == Role::Cost) {
        counts.entry(*event).or_default().push(*more);
    }
    let told = counts.into_iter().filter_map(|(event, counts)| {
        let (least, most) = (*counts.iter().min()?, *counts.iter().max()?);
        let range = if least == most {
            signed(least)
        } else {
            format!("{}…{}", signed(least), signed(most))
        };
        let is_most =
            2 * counts.len() >= differing(cause).count() && least.signum() == most.signum();
        is_most.then(|| format!("{event} {range}"))
    });
    told.take(most).collect::<Vec<_>>().join(", ")
}

/// The rows in which it executes more or fewer instructions; of as many, all in which its events
/// differ.
pub(super) fn differing(cause: &Cause) -> impl Iterator<Item = &CauseInRow> {
    let in_all = cause.typical.of == 0;
    cause.rows.iter().filter(move |row| in_all || row.difference != 0)
}

/// In which rows: `in switch.pipe`, `in 33 rows`.
pub(super) fn rows(cause: &Cause) -> String {
    let mut differ = differing(cause);
    match (differ.next(), differ.count()) {
        (Some(row), 0) => format!("in {}", row.path),
        (_, more) => format!("in {} rows", grouped(more as u64 + 1)),
    }
}
