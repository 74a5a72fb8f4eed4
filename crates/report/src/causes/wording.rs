//! What a cause is, in a few words: how many instructions, in which functions, with which events.

use std::collections::BTreeMap;

use pathmeter_model::{Cause, CauseInRow, CausePart, CauseRow, CodeMove, EXECUTIONS, MoveKind};
use pathmeter_trace::{Change, Event, Role};

use crate::number::{grouped, mean, signed};

/// A part that came or went is told first only if it has so much of the largest part's share.
const TELLING: f64 = 0.1;

/// `+39 a call`, `-460 in 2 of 3 rows`, or of rows that have little in common their range:
/// `-638…+8`. Nothing if it is in one row, or executes as many instructions.
pub(super) fn each(cause: &Cause) -> String {
    if let Some(per_call) = cause.per_call.as_ref().filter(|it| it.difference != 0) {
        return format!("{} a call", signed(per_call.difference));
    }
    let typical = cause.typical;
    let differ = || cause.rows.iter().map(|row| row.difference).filter(|more| *more != 0);
    match (typical.rows, typical.of) {
        (_, 0 | 1) => String::new(),
        (rows, of) if rows == of => format!("{} a row", signed(typical.difference)),
        (rows, of) if 2 * rows >= of => {
            format!("{} in {rows} of {of} rows", signed(typical.difference))
        }
        _ => range(differ().min().unwrap_or(0), differ().max().unwrap_or(0)),
    }
}

/// What each execution of a program's row has of a cause, `+1`; nothing of the cause that is their
/// number. None if the row is not executed by calls.
pub(super) fn each_execution(cause: &Cause, row: &CauseRow) -> Option<String> {
    let [_, new] = row.executions?;
    let is_number = cause.parts.iter().any(|part| part.functions.iter().any(|it| it == EXECUTIONS));
    Some(if is_number { String::new() } else { mean(cause.difference, new) })
}

fn range(least: i64, most: i64) -> String {
    if least == most { signed(least) } else { format!("{}…{}", signed(least), signed(most)) }
}

/// The functions that say most: one that went and one that came, below which the others are, and
/// then those with the largest share.
pub(super) fn telling(cause: &Cause, most: usize) -> impl Iterator<Item = &CausePart> {
    let largest = cause.parts.first().map_or(0.0, |part| part.share);
    let tells = move |part: &CausePart| part.is_first && part.share >= TELLING * largest;
    let fate = |change: Change| cause.parts.iter().position(|it| tells(it) && it.change == change);
    let firsts = [fate(Change::Vanished), fate(Change::Appeared)];
    let rest = (0..cause.parts.len()).filter(move |place| !firsts.contains(&Some(*place)));
    let order = firsts.into_iter().flatten().chain(rest);
    order.take(most).map(|place| &cause.parts[place])
}

/// `prandom_u32_state (new)`, `unmap_page_range renamed __zap_vma_range`.
pub(crate) fn name(part: &CausePart) -> String {
    let name = match (&part.functions[..], &part.moves[..]) {
        (_, [only]) => moved(only),
        ([one, more @ ..], [_, ..]) => format!("{one} and {} more, moved", more.len()),
        (functions, []) => functions.join(", "),
        ([], _) => String::new(),
    };
    let fate = match part.change {
        Change::Appeared => " (new)",
        Change::Vanished => " (gone)",
        _ => "",
    };
    name + fate
}

pub(super) fn moved(it: &CodeMove) -> String {
    let CodeMove { from, to, .. } = it;
    match it.kind {
        MoveKind::Renamed => format!("{from} renamed {to}"),
        MoveKind::Moved => format!("{from} moved to {to}"),
        MoveKind::Inlined => format!("{from} put into {to}"),
        MoveKind::Outlined => format!("{to} taken out of {from}"),
        MoveKind::StringInstructions => {
            format!("string instructions in {to} in place of {from}")
        }
    }
}

/// The same with its difference over all rows: `prandom_u32_state +2,720 (new)`.
pub(super) fn function(part: &CausePart) -> String {
    if part.difference == 0 {
        return name(part);
    }
    let name = name(part);
    let (name, fate) = name
        .split_once(" (")
        .map_or((&*name, String::new()), |(name, fate)| (name, format!(" ({fate}")));
    format!("{name} {}{fate}", signed(part.difference))
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
        let is_most = 2 * counts.len() >= differing(cause).count();
        let told = is_most && least.signum() == most.signum();
        told.then(|| format!("{event} {}", range(least, most)))
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
