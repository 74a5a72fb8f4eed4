//! The table of a program on two kernels: the later runs, then the first one.

use std::cmp::Reverse;

use anstyle::Style as Paint;
use pathmeter_model::{
    ConfigurationDifference, CostChange, CostComparison, EventComparison, IdleSteps, OWN_WORK,
    PathComparison, ProgramComparison, ProgramSummary, RowComparison, RowExplanation, RowSummary,
    SUM, SumParts, Verdict, command_line, row_name,
};
use pathmeter_trace::{Event, Role};

use super::unseen::unseen;
use super::{
    ENDED, HOW_TO_UNFOLD, IDLE, NONE, PROGRAM, Rows, calls, command, more_rows, number, quiet,
};
use crate::budget::budget_table;
use crate::comparison::{
    Placement, VARYING, differences, fact, paths, sides, tally, varying, verdicts,
};
use crate::measured_with;
use crate::number::{grouped, percent, plural, share, signed};
use crate::style::{PLAIN, QUIET, Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// What the marker for several values means here.
const OF_A_PAIR: &str =
    "~ has several exact values; shown are those of a run that differs as most runs do";
/// What two programs differ in, by the fields' names.
const COMMAND: &str = "program.command";
const CONTENT: &str = "program.packed_sha256";
/// Digits that are shown of the hash of a program's files.
const HASH_DIGITS: usize = 12;
const FIRST_RUN: &str = "first run";
/// Rows that are shown of those that changed, in the later runs and in the first one; of functions
/// in each row that is explained; and rows that are explained.
const MOST_CHANGED: usize = 12;
const MOST_CHANGED_FIRST: usize = 4;
const MOST_FUNCTIONS: usize = 6;
const MOST_EXPLAINED: usize = 5;

/// The two kernels; a row for each kind of work in the later runs, those that changed first; the
/// same for the first run; the program's own regions, and how many rows have each verdict.
pub fn program_comparison_table(
    comparison: &ProgramComparison,
    rows: Rows,
    style: Style,
) -> String {
    let all = comparison.configuration_differences.iter();
    let others: Vec<_> = all.filter(|it| !is_of_program(it)).cloned().collect();
    [
        sides(&comparison.base, &comparison.new, PROGRAM.len(), style),
        programs(comparison, style),
        ended(comparison, style),
        idle(comparison, style),
        judged(comparison, rows, style),
        first(comparison, rows, style),
        legend(comparison, rows, style),
        explanations(comparison, rows, style),
        regions(&comparison.regions, style),
        comparison.budget.as_ref().map_or_else(String::new, |it| budget_table(it, style)),
        differences(&others, style),
        measured_with::lines(&comparison.base, &comparison.new, style),
        summary(&comparison.summary, style),
    ]
    .concat()
}

/// Whether a difference is that of two programs, which the head shows.
fn is_of_program(difference: &ConfigurationDifference) -> bool {
    [COMMAND, CONTENT].contains(&&*difference.field)
}

/// The program, or the two of them: `./sort-1 words → ./sort-2 words`, or of one command which
/// contents it had.
fn programs(comparison: &ProgramComparison, style: Style) -> String {
    let find = |field| comparison.configuration_differences.iter().find(|it| it.field == field);
    let beginning = |hash: &str| hash.chars().take(HASH_DIGITS).collect::<String>();
    match (find(COMMAND), find(CONTENT)) {
        (Some(two), _) => fact(PROGRAM, &format!("{} → {}", two.base, two.new), PLAIN, style),
        (None, Some(two)) => {
            let command = command_line(&comparison.command);
            let (base, new) = (beginning(&two.base), beginning(&two.new));
            fact(PROGRAM, &format!("{command}, files {base} → {new}"), PLAIN, style)
        }
        (None, None) => command(&comparison.command, style),
    }
}

/// How the program ended on both sides.
fn ended(comparison: &ProgramComparison, style: Style) -> String {
    let (base, new) = (comparison.base_ended, comparison.new_ended);
    if base == new {
        return fact(ENDED, &base.to_string(), PLAIN, style);
    }
    fact(ENDED, &format!("{base} on base, {new} on new"), of_verdict(Verdict::Broken), style)
}

/// How long the CPU idled, if it did: what the program waits for is in no row.
fn idle(comparison: &ProgramComparison, style: Style) -> String {
    let (base, new) = (&comparison.base_idle, &comparison.new_idle);
    if base.most.max(new.most) == 0 {
        return String::new();
    }
    let side = |idle: &IdleSteps| match (idle.least, idle.most) {
        (least, most) if least == most => grouped(least),
        (least, most) => format!("{}…{}", grouped(least), grouped(most)),
    };
    let text = format!("{} steps a run on base, {} on new", side(base), side(new));
    let paint = if base == new { PLAIN } else { of_verdict(Verdict::ModeAppeared) };
    fact(IDLE, &text, paint, style)
}

/// The runs that carry the verdict, what changed first; what is the same is folded.
fn judged(comparison: &ProgramComparison, shown: Rows, style: Style) -> String {
    let heading = if comparison.sum.later.is_some() { "later runs" } else { FIRST_RUN };
    let (marked, sums) = (is_marked(comparison), sums(comparison));
    let is_same = |row: &&RowComparison| shown == Rows::Folded && is_same(&row.cost);
    let (same, mut changed): (Vec<_>, Vec<_>) = comparison.rows.iter().partition(is_same);
    let rest = rest(&mut changed, shown, MOST_CHANGED);
    let mut table = table(heading);
    for row in changed {
        let text = row_name(row.kind, &row.name);
        let remark = joined([Some(remark(&row.cost)), range(&row.cost)]);
        table.row(judged_cells(&text, &row.cost, marked, paint_of(row), &remark));
    }
    for (text, cost) in sums {
        let remark = joined([Some(events(cost)), range(cost)]);
        let cells = judged_cells(text, cost, marked, of_verdict(cost.verdict), &remark);
        table.row(without_calls(cells));
    }
    let same = same.into_iter().map(|row| row.cost.judged());
    let fold = fold(same, comparison.sum.judged(), style);
    let more = more(&rest, |row| row.cost.judged(), style);
    "\n".to_owned() + &table.render(style) + &parts(comparison, style) + &more + &fold
}

/// Where the sums' differences are: `own work: -90 is -100 of lower rows, +10 of same ones`.
fn parts(comparison: &ProgramComparison, style: Style) -> String {
    let (own, sum) = (comparison.own_work_parts, comparison.sum_parts);
    // Of two sums with one verdict the first says it all.
    let sum = sum.filter(|_| comparison.sum.verdict != comparison.own_work.verdict);
    let all = [(OWN_WORK, &comparison.own_work, own), (SUM, &comparison.sum, sum)];
    let line = |(name, cost, parts): (&str, &CostComparison, Option<SumParts>)| {
        let SumParts { higher, lower, mode_appeared, same } = parts?;
        let parts = [
            ("higher", higher),
            ("mode-appeared", mode_appeared),
            ("lower", lower),
            ("other", same),
        ];
        let some = parts.into_iter().filter(|(_, part)| *part != 0);
        let some: Vec<String> =
            some.map(|(rows, part)| format!("{} in {rows} rows", signed(part))).collect();
        let difference = signed(cost.judged().difference);
        let text = format!("{name}: {difference} is {}", some.join(", "));
        (some.len() > 1).then(|| quiet(&text, style))
    };
    all.into_iter().filter_map(line).collect()
}

/// Takes away what is not shown of rows that are sorted.
fn rest<'a>(rows: &mut Vec<&'a RowComparison>, shown: Rows, most: usize) -> Vec<&'a RowComparison> {
    match shown {
        Rows::All => Vec::new(),
        Rows::Folded => rows.split_off(most.min(rows.len())),
    }
}

/// How far pairs of runs differ, where they are no one change.
fn range(cost: &CostComparison) -> Option<String> {
    varying(cost.pairs, cost.verdict)
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    let some = parts.into_iter().flatten().filter(|part| !part.is_empty());
    some.collect::<Vec<_>>().join(", ")
}

/// `23 more rows differ by +1,234 instructions in all: --all shows them`.
fn more<'a>(
    rows: &[&'a RowComparison],
    change: impl Fn(&'a RowComparison) -> &'a CostChange,
    style: Style,
) -> String {
    let sum = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(change(row).difference));
    let sum = signed(sum);
    match rows.len() {
        0 => String::new(),
        1 => quiet(&format!("1 more row differs by {sum}: {HOW_TO_UNFOLD}"), style),
        more => quiet(&format!("{more} more rows differ by {sum} in all: {HOW_TO_UNFOLD}"), style),
    }
}

/// The first run, if it is not the only one; what is the same is folded.
fn first(comparison: &ProgramComparison, shown: Rows, style: Style) -> String {
    if comparison.sum.later.is_none() {
        return String::new();
    }
    let is_same = |row: &&RowComparison| shown == Rows::Folded && is_first_same(&row.cost.first);
    let (same, mut changed): (Vec<_>, Vec<_>) = comparison.rows.iter().partition(is_same);
    changed.sort_by_key(|row| Reverse(row.cost.first.difference.unsigned_abs()));
    let rest = rest(&mut changed, shown, MOST_CHANGED_FIRST);
    let mut table = table(FIRST_RUN);
    for row in changed {
        let change = &row.cost.first;
        let text = row_name(row.kind, &row.name);
        table.row(cells(&text, change, false, PLAIN, "", &first_remark(change)));
    }
    for (text, cost) in sums(comparison) {
        table.row(without_calls(cells(text, &cost.first, false, PLAIN, "", "")));
    }
    let same = same.into_iter().map(|row| &row.cost.first);
    let fold = fold(same, &comparison.sum.first, style);
    let more = more(&rest, |row| &row.cost.first, style);
    "\n".to_owned() + &table.render(style) + &more + &fold
}

/// What stands below the rows.
fn sums(comparison: &ProgramComparison) -> [(&'static str, &CostComparison); 2] {
    [(OWN_WORK, &comparison.own_work), (SUM, &comparison.sum)]
}

fn table(heading: &str) -> Table {
    let table = Table::new(&[
        (heading, Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("percent", Align::Right),
        ("per call", Align::Right),
        ("verdict", Align::Left),
        ("calls, other events", Align::Left),
    ]);
    table.sparing(&["percent"]).with_whole_remarks()
}

fn judged_cells(
    text: &str,
    cost: &CostComparison,
    marked: bool,
    paint: Paint,
    remark: &str,
) -> [Cell; 8] {
    cells(text, cost.judged(), marked, paint, &cost.verdict.to_string(), remark)
}

fn cells(
    text: &str,
    change: &CostChange,
    marked: bool,
    paint: Paint,
    verdict: &str,
    remark: &str,
) -> [Cell; 8] {
    [
        text.into(),
        number(&change.base, marked).into(),
        number(&change.new, marked).into(),
        Cell::painted(&signed(change.difference), paint),
        Cell::painted(&change.percent.map_or_else(String::new, percent), paint),
        change.per_call_difference.map_or_else(|| NONE.to_owned(), signed).into(),
        Cell::painted(verdict, paint),
        remark.into(),
    ]
}

/// Calls of different work don't add up to anything.
fn without_calls(mut cells: [Cell; 8]) -> [Cell; 8] {
    cells[5] = "".into();
    cells
}

/// The verdict's colour, except where the timer decides how much work there is.
fn paint_of(row: &RowComparison) -> Paint {
    if row.kind.is_own_work() { of_verdict(row.cost.verdict) } else { QUIET }
}

fn is_marked(comparison: &ProgramComparison) -> bool {
    let rows = comparison.rows.iter().map(|row| &row.cost);
    let sides = |cost: &CostComparison| {
        let change = cost.judged();
        change.base.values > 1 || change.new.values > 1
    };
    rows.chain([&comparison.sum, &comparison.own_work]).any(sides)
}

/// Whether there is nothing to show of a row in the runs that carry the verdict.
fn is_same(cost: &CostComparison) -> bool {
    cost.verdict == Verdict::Same && remark(cost).is_empty()
}

fn is_first_same(change: &CostChange) -> bool {
    change.difference == 0 && first_remark(change).is_empty()
}

/// As [`remark`], of one run on each side.
fn first_remark(change: &CostChange) -> String {
    let costs = Event::all().filter(|event| event.role() == Role::Cost);
    let differing = costs.filter_map(|event| {
        let (base, new) = (change.base.of_event(event), change.new.of_event(event));
        let difference = i64::try_from(i128::from(new) - i128::from(base)).unwrap_or_default();
        (base != new).then(|| format!("{event} {}", signed(difference)))
    });
    differing_calls(change).into_iter().chain(differing).collect::<Vec<_>>().join(", ")
}

/// How often the work was done where that differs, and the other events that differ:
/// `calls 10 → 12, string-bytes +4,096`.
fn remark(cost: &CostComparison) -> String {
    let calls = cost.calls_differ.then(|| differing_calls(cost.judged())).flatten();
    joined([calls, Some(events(cost))])
}

fn events(cost: &CostComparison) -> String {
    let events = cost.events.iter().filter(|event| event.is_shown());
    let text = |event: &EventComparison| format!("{} {}", event.event, signed(event.difference));
    events.map(text).collect::<Vec<_>>().join(", ")
}

fn differing_calls(change: &CostChange) -> Option<String> {
    let (base, new) = (change.base.calls, change.new.calls);
    (base != new).then(|| format!("calls {} → {}", calls(base), calls(new)))
}

/// `41 rows are the same, 93.2 % of base: --all shows them`.
fn fold<'a>(same: impl Iterator<Item = &'a CostChange>, sum: &CostChange, style: Style) -> String {
    let (rows, instructions) = same.fold((0_usize, 0_u64), |(rows, sum), row| {
        (rows + 1, sum.saturating_add(row.base.instructions))
    });
    let share = share(instructions, sum.base.instructions);
    let share = if share.is_empty() { share } else { format!(", {share} of base") };
    match rows {
        0 => String::new(),
        1 => quiet(&format!("1 row is the same{share}: {HOW_TO_UNFOLD}"), style),
        rows => quiet(&format!("{rows} rows are the same{share}: {HOW_TO_UNFOLD}"), style),
    }
}

fn legend(comparison: &ProgramComparison, shown: Rows, style: Style) -> String {
    let rows = comparison.rows.iter().map(|row| &row.cost);
    let rows = rows.filter(|cost| shown == Rows::All || !is_same(cost));
    let varies = rows.chain(sums(comparison).map(|it| it.1)).any(|cost| range(cost).is_some());
    let lines = [
        Some("numbers are instructions; per call is the difference of what a call costs"),
        Some("own work is without interrupts, softirqs and other work that the timer decides"),
        is_marked(comparison).then_some(OF_A_PAIR),
        varies.then_some(VARYING),
        is_apart(comparison).then_some("own work and the sum are of different runs"),
    ];
    let names = comparison.rows.iter().map(|row| (row.kind, &*row.name));
    let with = [&comparison.base, &comparison.new].map(|side| side.measured_with.as_ref());
    let conditions = with.map(|with| with.map_or("", |with| &with.condition));
    let lines = lines.into_iter().flatten().chain(unseen(names, &conditions));
    "\n".to_owned() + &lines.map(|line| quiet(line, style)).collect::<String>()
}

/// Whether own work is shown as more than the sum that it is a part of.
fn is_apart(comparison: &ProgramComparison) -> bool {
    let [own, sum] = [&comparison.own_work, &comparison.sum].map(CostComparison::judged);
    own.base.instructions > sum.base.instructions || own.new.instructions > sum.new.instructions
}

/// The functions in which the rows that changed differ.
fn explanations(comparison: &ProgramComparison, shown: Rows, style: Style) -> String {
    let most = if shown == Rows::All { usize::MAX } else { MOST_EXPLAINED };
    let explained = || comparison.explanations.iter().flatten();
    let more = more_rows(explained().skip(most).count(), style);
    explained().take(most).map(|row| explanation(row, shown, style)).collect::<String>() + &more
}

/// Names what the functions of a row lack of its difference.
const OTHER_RUNS: &str = "(the row's numbers are of other runs)";

fn explanation(row: &RowExplanation, shown: Rows, style: Style) -> String {
    let mut table = Table::new(&[
        (&*row_name(row.kind, &row.name), Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("calls", Align::Left),
    ]);
    let most = if shown == Rows::All { usize::MAX } else { MOST_FUNCTIONS };
    for one in row.functions.iter().take(most) {
        let calls = match (one.base_calls, one.new_calls) {
            (base, new) if base == new => grouped(base),
            (base, new) => format!("{} → {}", grouped(base), grouped(new)),
        };
        table.row([
            one.function.as_str().into(),
            grouped(one.base).into(),
            grouped(one.new).into(),
            signed(one.difference).into(),
            calls.into(),
        ]);
    }
    if let Some(rest) = row.rest.filter(|rest| *rest != 0) {
        table.row([OTHER_RUNS.into(), "".into(), "".into(), signed(rest).into(), "".into()]);
    }
    let rest = row.functions.iter().skip(most);
    let sum = rest.clone().fold(0_i64, |sum, one| sum.saturating_add(one.difference));
    let more = match rest.count() {
        0 => String::new(),
        more => {
            let (more, differ) =
                (plural(more, "more function"), if more == 1 { "differs" } else { "differ" });
            quiet(&format!("{more} {differ} by {} in all: {HOW_TO_UNFOLD}", signed(sum)), style)
        }
    };
    "\n".to_owned() + &table.render(style) + &more
}

/// The program's own regions, if it has any.
fn regions(regions: &[PathComparison], style: Style) -> String {
    if regions.is_empty() {
        return String::new();
    }
    "\n".to_owned() + &paths(regions, false, Placement::Hidden, style)
}

/// How many rows have each verdict, those of own work and the others, and how many regions.
fn summary(summary: &ProgramSummary, style: Style) -> String {
    let rows = |rows: &RowSummary, names| {
        let counts = [
            (Verdict::Same, rows.same),
            (Verdict::Higher, rows.higher),
            (Verdict::Lower, rows.lower),
            (Verdict::ModeAppeared, rows.mode_appeared),
            (Verdict::EventsDiffer, rows.events_differ),
        ];
        tally(rows.rows, names, &counts, style)
    };
    let own = rows(&summary.own_work, ["row of own work", "rows of own work"]);
    let others = rows(&summary.others, ["other row", "other rows"]);
    let regions = summary.regions;
    let regions = (regions.paths > 0)
        .then(|| tally(regions.paths, ["region", "regions"], &verdicts(regions), style));
    own + &others + &regions.unwrap_or_default()
}
