//! A history of results: its tables here, its drawings in `history/`.

mod amount;
mod plot;
mod svg;
mod times;

use pathmeter_model::{
    Blame, Comparison, History, KeptResult, PathComparison, Point, Status, Step, Unit, Verdict,
    clean,
};

pub(crate) use self::amount::amount;
use self::amount::word;
pub use self::plot::history_plot;
pub use self::svg::history_svg;
use self::times::{machines, times_cells};
use crate::causes::{INSTRUCTIONS, counts, name_causes_of_row, sentence};
use crate::comparison::{MANY_VALUES, ONE_VALUE, Placement, fact, legend, row, shortened};
use crate::headline::describe_amount;
use crate::number::{grouped, percent, plural};
use crate::style::{PLAIN, QUIET, Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// Digits of a commit that are shown: as many as Linux's own changelogs have.
const COMMIT_DIGITS: usize = 12;
/// How the functions are had.
const OFFER: &str = "which functions changed: name the kernels of two results after the path";
/// Characters of a date that are its day.
const DAY: usize = 10;

/// A row for each result, with a column for each path; without paths, how many are ok and failed.
pub fn history_table(history: &History, style: Style) -> String {
    if history.paths.is_empty() {
        return kept_table(&history.results, "", style);
    }
    let history = history.by_series();
    let mut columns = vec![("#", Align::Right), ("date", Align::Left), ("commit", Align::Left)];
    columns.push(("release", Align::Left));
    columns.extend(history.paths.iter().map(|path| (path.path.as_str(), Align::Right)));
    columns.push(("label", Align::Left));
    let mut table = Table::new(&columns).sparing(&["release", "commit"]);
    for (at, kept) in history.results.iter().enumerate() {
        let points = history.paths.iter().map(|path| value(path.points.get(at).copied().flatten()));
        let cells = about(kept).into_iter().chain(points);
        table.row(cells.chain([kept.label.as_str().into()]));
    }
    let count = count(history.results.len(), "", style);
    [table.render(style), "\n".to_owned(), count, machines(&history, style)].concat()
}

/// A row for each result, and how many there are, after which stands `what` became of them.
pub fn kept_table(results: &[KeptResult], what: &str, style: Style) -> String {
    if results.is_empty() {
        return count(0, what, style);
    }
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("date", Align::Left),
        ("commit", Align::Left),
        ("release", Align::Left),
        ("paths ok", Align::Right),
        ("failed", Align::Right),
        ("label", Align::Left),
    ])
    .sparing(&["release", "commit"]);
    for kept in results {
        let failed = if kept.failed == 0 { String::new() } else { grouped(kept.failed) };
        table.row(about(kept).into_iter().chain([
            grouped(kept.ok).as_str().into(),
            Cell::painted(&failed, of_verdict(Verdict::Broken)),
            kept.label.as_str().into(),
        ]));
    }
    table.render(style) + "\n" + &count(results.len(), what, style)
}

/// The first result of each step of a path, with the values before and after.
pub fn blame_table(blame: &Blame, style: Style) -> String {
    let heading = summarize_steps(blame, style) + &fact("path", &blame.path, PLAIN, style);
    let heading = heading + &began(blame, style);
    let compared = || blame.steps.iter().filter_map(|step| step.comparison.as_ref());
    let marked = compared().any(PathComparison::is_many_valued);
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("date", Align::Left),
        ("commit", Align::Left),
        ("release", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("difference", Align::Right),
        ("percent", Align::Right),
        ("verdict", Align::Left),
        ("label; other events, reason", Align::Left),
    ])
    .sparing(&["release", "percent", "commit"])
    .with_whole_remarks();
    for step in &blame.steps {
        table.row(step_row(step, marked));
    }
    let steps = if blame.steps.is_empty() {
        String::new()
    } else {
        let all: Vec<&PathComparison> = compared().collect();
        table.render(style) + "\n" + &legend(&all, false, marked, style)
    };
    let notes = blame.notes.iter().map(|note| style.fill(&format!("note: {note}"), 0) + "\n");
    [heading, "\n".to_owned(), steps, describe_steps(blame, style), notes.collect()].concat()
}

/// `switch.yield: 2 steps in 4 results; the largest is #3 of 2026-01-03, +33 instructions
/// (+1.00 %)`.
fn summarize_steps(blame: &Blame, style: Style) -> String {
    let (steps, results) = (plural(blame.steps.len(), "step"), usize_of(blame.results));
    let size = |step: &&Step| {
        let times = step.times.as_ref().and_then(|row| row.difference);
        let counts = step.comparison.as_ref().and_then(|row| row.percent);
        counts.or(times).map_or(0.0, f64::abs)
    };
    let largest = blame.steps.iter().max_by(|one, other| size(one).total_cmp(&size(other)));
    let largest = largest.filter(|step| size(step) > 0.0).map_or_else(String::new, |step| {
        let kept = &step.result;
        let times = step.times.as_ref().and_then(|row| row.difference).map(percent);
        let change = step.comparison.as_ref().map(describe_amount).or(times).unwrap_or_default();
        let (number, label) = (kept.number, clean(&kept.label));
        format!("; the largest is #{number} ({label}) of {}, {change}", day(kept))
    });
    let text = format!("{}: {steps} in {}{largest}", blame.path, plural(results, "result"));
    style.fill(&text, 0) + "\n"
}

/// What each step that was looked at comes to in all rows, and how to have the causes if no one
/// has any.
fn describe_steps(blame: &Blame, style: Style) -> String {
    let whole = || blame.steps.iter().filter_map(|step| Some((step, step.whole.as_deref()?)));
    let line = |(step, whole): (&Step, &Comparison)| {
        let [from, to] = [&step.against, &step.result].map(|it| format!("#{}", it.number));
        style.fill(&format!("{from} to {to}: {}", in_step(&blame.path, whole)), 2) + "\n"
    };
    let lines: String = whole().map(line).collect();
    let is_offered = !lines.is_empty() && whole().all(|(_, whole)| whole.causes.is_none());
    let offer = if is_offered { style.quiet(OFFER) } else { String::new() };
    if lines.is_empty() { lines } else { format!("\n{lines}{offer}\n") }
}

/// What two results come to; the causes are those of the path if only that was recorded.
fn in_step(path: &str, whole: &Comparison) -> String {
    match whole.causes.as_ref().map(|causes| (causes, &causes.rows[..])) {
        Some((causes, [only])) if only.path == path => {
            let named = name_causes_of_row(causes, only).unwrap_or_default();
            let of_path = named.replacen(INSTRUCTIONS, &format!("{INSTRUCTIONS} of {path}"), 1);
            format!("{} {of_path}", counts(&whole.summary)).trim_end().to_owned()
        }
        _ => sentence(whole),
    }
}

/// `in #1, 2026-01-31: 3,300 instructions`.
fn began(blame: &Blame, style: Style) -> String {
    let Some(first) = &blame.first else { return String::new() };
    let unit = match (first.point.status, first.point.unit) {
        (Status::Ok, Unit::Check) | (Status::Unsupported | Status::Failed, _) => String::new(),
        (Status::Ok, unit) => format!(" {}", word(unit)),
    };
    let value = text(Some(first.point)).trim_end().to_owned();
    fact("from", &format!("{value}{unit} in {}", name_result(&first.result)), PLAIN, style)
}

fn step_row(step: &Step, marked: bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = about(&step.result).into();
    let label = &step.result.label;
    if let Some(times) = &step.times {
        cells.extend(times_cells(times, label));
        return cells;
    }
    let Some(comparison) = &step.comparison else {
        cells.extend([(); 4].map(|()| "".into()));
        cells.push(Cell::painted("not compared", of_verdict(Verdict::ModeAppeared)));
        let differences: Vec<String> = step
            .configuration_differences
            .iter()
            .map(|it| format!("{} {:?} → {:?}", it.field, shortened(&it.base), shortened(&it.new)))
            .collect();
        let reason = format!("measured differently than #{}", step.against.number);
        cells.push(format!("{label}; {reason}: {}", differences.join(", ")).as_str().into());
        return cells;
    };
    let [_, before, after, difference, percent, _, verdict, remark] =
        row(comparison, marked, false, Placement::Hidden);
    let remark = match remark.text() {
        "" => label.clone(),
        more => format!("{label}; {more}"),
    };
    cells.extend([before, after, difference, percent, verdict, remark.as_str().into()]);
    cells
}

/// Number, day, commit and release.
fn about(kept: &KeptResult) -> [Cell; 4] {
    [
        kept.number.to_string().as_str().into(),
        day(kept).as_str().into(),
        commit_of(kept).as_str().into(),
        kept.release.as_deref().unwrap_or_default().into(),
    ]
}

/// `#2, 2026-02-01, 6.1.192`.
pub(crate) fn name_result(kept: &KeptResult) -> String {
    format!("#{}, {}, {}", kept.number, day(kept), kept.label)
}

pub(crate) fn day(kept: &KeptResult) -> String {
    kept.date.chars().take(DAY).collect()
}

fn value(point: Option<Point>) -> Cell {
    let paint = match point.map(|point| point.status) {
        Some(Status::Failed) => of_verdict(Verdict::Broken),
        Some(Status::Unsupported) => QUIET,
        Some(Status::Ok) | None => PLAIN,
    };
    Cell::painted(&text(point), paint)
}

/// The beginning of a commit's hash.
pub(crate) fn commit_of(kept: &KeptResult) -> String {
    kept.commit.iter().flat_map(|commit| commit.chars()).take(COMMIT_DIGITS).collect()
}

/// What a result has of a path: its value, marked if it is one of several, or its status.
pub(crate) fn text(point: Option<Point>) -> String {
    let Some(point) = point else { return String::new() };
    match (point.status, point.value) {
        (Status::Ok, Some(value)) => {
            // A level has an interval, and is one value.
            let one = point.low == point.high || point.unit == Unit::Ps;
            let marker = if one { ONE_VALUE } else { MANY_VALUES };
            format!("{}{marker}", amount(value, point.unit))
        }
        (Status::Ok, None) => format!("passed{ONE_VALUE}"),
        (status, _) => format!("{status}{ONE_VALUE}"),
    }
}

fn count(results: usize, what: &str, style: Style) -> String {
    let text = format!("{} {what}", plural(results, "result"));
    style.fill(text.trim_end(), 0) + "\n"
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
