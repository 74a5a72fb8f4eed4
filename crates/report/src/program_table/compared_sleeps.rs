//! Where a program's tasks slept on two kernels, as far as that differs.

use std::cmp::Reverse;

use pathmeter_model::{ProgramComparison, SleepComparison, TypicalSleeps};

use super::sleeps::{UNKNOWN_IDLE, WHAT_IT_IS, name};
use super::{HOW_TO_UNFOLD, IDLE, NONE};
use crate::number::{grouped, plural};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Most rows that are shown.
const MOST_SHOWN: usize = 8;

/// The rows and regions in which tasks slept differently, the most sleeps first; nothing if all are
/// alike.
pub(super) fn compared_sleeps(program: &ProgramComparison, shown: Rows, style: Style) -> String {
    let sleeps = |it: &SleepComparison| it.base.sleeps.max(it.new.sleeps);
    let slept = program.sleeps.iter().filter(|it| sleeps(it) > 0);
    let (mut differ, same): (Vec<_>, Vec<_>) = slept.partition(|it| it.base != it.new);
    if differ.is_empty() {
        return String::new();
    }
    differ.sort_by_key(|it| Reverse(sleeps(it)));
    let most = if shown == Rows::All { usize::MAX } else { MOST_SHOWN };
    let mut table = Table::new(&[
        ("slept in", Align::Left),
        ("sleeps", Align::Right),
        ("to run", Align::Right),
        (IDLE, Align::Right),
    ]);
    for it in differ.iter().take(most) {
        let number = |of: fn(&TypicalSleeps) -> Option<u64>| change(of(&it.base), of(&it.new));
        table.row([
            name(&(it.process.as_deref(), it.kind, it.slept_in.as_str())).into(),
            number(|side| Some(side.sleeps)).into(),
            number(|side| (side.sleeps > 0).then_some(side.to_run)).into(),
            number(|side| side.idle).into(),
        ]);
    }
    let rest = differ.len().saturating_sub(most);
    let more = (rest > 0).then(|| format!("{rest} more differ: {HOW_TO_UNFOLD}"));
    let alike = (!same.is_empty()).then(|| plural(same.len(), "row") + " with the same sleeps");
    let unknown = differ.iter().any(|it| it.base.idle.and(it.new.idle).is_none());
    let notes = [more, alike, Some(NOT_JUDGED.to_owned())].into_iter().flatten();
    let notes = notes.chain(WHAT_IT_IS.map(str::to_owned));
    let notes = notes.chain(unknown.then(|| UNKNOWN_IDLE.to_owned()));
    "\n".to_owned() + &table.render(style) + &notes.map(|it| style.quiet(&it)).collect::<String>()
}

const NOT_JUDGED: &str = "sleeps are medians of the runs, base → new, and are not judged";

/// `12 → 13`, `12` of what is the same, `- → 12`; nothing of nothing.
fn change(base: Option<u64>, new: Option<u64>) -> String {
    let text = |side: Option<u64>| side.map_or_else(|| NONE.to_owned(), grouped);
    match (base, new) {
        (base, new) if base != new => format!("{} → {}", text(base), text(new)),
        (Some(0), _) => String::new(),
        (base, _) => text(base),
    }
}
