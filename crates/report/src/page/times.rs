//! Times of a machine: every path of a session, or of two sides compared. No count is in these
//! tables.

use std::cmp::Reverse;

use pathmeter_model::{
    PathTimes, Status, TimeComparison, TimeRow, TimeVerdict, Times, Verdict, float,
};

use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use super::whisker::Whiskers;
use crate::headline::count_paths;
use crate::number::{grouped, percent, plural};
use crate::shades::shade;
use crate::times::{
    facts, facts_of_session, half_width, machine, reason, sentence, show_level, time, within,
};

/// The first words of a page of times, in place of the sentence on counts.
pub(super) const ABOUT: &str = "Times are nanoseconds of one machine, at the time when they were \
                                taken. They are not counts, and differ from machine to machine.";

const HEADINGS: [Heading; 8] = [
    ("path", "text"),
    ("ns", "number"),
    ("±", "number"),
    ("cycles", "number"),
    ("A/A′", "number"),
    ("p99 ns", "number"),
    ("p99.9 ns", "number"),
    ("stalls", "number"),
];
const COMPARED: [Heading; 8] = [
    ("path", "text"),
    ("base ns", "number"),
    ("new ns", "number"),
    ("difference", "number"),
    ("95 % interval", "number"),
    ("A/A′ within", "number"),
    ("reason", "text"),
    ("verdict", "number"),
];

/// `43 paths timed on Linux 6.1 on AMD EPYC; CPU 1 of 0-1, 2 unsupported.`
pub(super) fn headline(times: &Times, shown: &[String]) -> String {
    let count = |status| of(times, shown).filter(|path| path.status == status).count();
    let mut text = format!("{} timed on {}", count_paths(count(Status::Ok)), machine(&times.host));
    for status in [Status::Failed, Status::Unsupported] {
        let number = count(status);
        if number > 0 {
            text.extend([", ", &grouped(number as u64), " ", &status.to_string()]);
        }
    }
    text + "."
}

/// The paths that are shown.
fn of<'a>(times: &'a Times, shown: &'a [String]) -> impl Iterator<Item = &'a PathTimes> {
    times.paths.iter().filter(|path| shown.contains(&path.path))
}

/// The section of one session.
pub(super) fn section(times: &Times, shown: &[String], data: &mut Data) -> Html {
    let cycle = times.ticks_per_cycle();
    let mut html = notes(&times.notes);
    let measured = of(times, shown).filter(|path| path.status == Status::Ok);
    let rows = measured.map(|path| row(times, path, cycle.ok())).collect();
    let caption = "All paths, in nanoseconds";
    html.add(&Sheet { caption, sorts: true, headings: HEADINGS.to_vec(), rows }.html(data));
    let others = of(times, shown).filter(|path| path.status != Status::Ok);
    let why = |path: &PathTimes| path.reason.clone().unwrap_or_default();
    html.add(&without(others.map(|path| (&*path.path, path.status.to_string(), why(path)))));
    html.add(&facts_of(&facts_of_session(times, cycle)));
    html
}

fn row(times: &Times, path: &PathTimes, cycle: Option<f64>) -> Row {
    let level = times.level(path, 0);
    let ns = level.map(|level| times.nanoseconds(level.ticks));
    let cycles = level.zip(cycle).map(|(level, cycle)| level.ticks / cycle);
    let in_unit =
        |scale: &dyn Fn(f64) -> f64| level.map_or(String::new(), |it| show_level(it, scale));
    let single = |ticks: u64| times.nanoseconds(float(ticks));
    let copy = level.and_then(|_| times.copy_difference(path));
    let width = level.and_then(|it| Some((it.interval?.width() / it.ticks, half_width(it)?)));
    let (share, width) = width.unzip();
    let stalls = level.map(|level| level.stalls as u64).filter(|stalls| *stalls > 0);
    Row {
        name: path.path.clone(),
        anchor: format!("time.{}", path.path),
        unit: None,
        verdict: "",
        cells: vec![
            figure(ns, |_| in_unit(&|ticks| times.nanoseconds(ticks))),
            figure(share, |_| width.clone().unwrap_or_default()),
            figure(cycles, |_| in_unit(&|ticks| cycle.map_or(ticks, |cycle| ticks / cycle))),
            figure(copy, |share| format!("{share:+.2} %")),
            figure(path.single.map(|it| single(it.p99)), time),
            figure(path.single.map(|it| single(it.p999)), time),
            figure(stalls.map(float), |_| stalls.map(grouped).unwrap_or_default()),
        ],
        details: None,
    }
}

/// A cell with a number; nothing is less than any.
fn figure(value: Option<f64>, shown: impl Fn(f64) -> String) -> Cell {
    let known = value.filter(|value| value.is_finite());
    Cell::number("", &known.unwrap_or(-1e9), known.map(shown).unwrap_or_default())
}

/// The section of two sides. `across` is in what else than the kernel they differ, a line each.
pub(super) fn draw_comparison(
    comparison: &TimeComparison,
    across: &[String],
    data: &mut Data,
) -> Html {
    let mut html = super::changes::warning(across.to_vec());
    html.add(&notes(&comparison.notes)).add(&tally(comparison));
    let margin = 100.0 * comparison.margin;
    let scale = Whiskers::of(comparison.paths.iter().filter_map(|row| row.interval), margin);
    let mut shown: Vec<&TimeRow> = comparison.paths.iter().filter(|row| is_measured(row)).collect();
    shown.sort_by(|one, other| severity(one).total_cmp(&severity(other)));
    shown.sort_by_key(|row| rank(row.verdict));
    let rows = shown.into_iter().map(|row| compared_row(row, comparison, &scale)).collect();
    let caption = "Paths, in nanoseconds, the worst change first";
    html.add(&Sheet { caption, sorts: true, headings: COMPARED.to_vec(), rows }.html(data));
    html.raw(
        "<p class=\"note\">A dot with whiskers is the difference in its interval; the band is ",
    );
    html.text(&format!("±{margin:.1} %"));
    html.raw(", and a hollow dot is far beyond most others.</p>");
    let others = comparison.paths.iter().filter(|row| !is_measured(row));
    let why = |row: &TimeRow| reason(row, comparison).unwrap_or_default();
    html.add(&without(others.map(|row| (&*row.path, row.verdict.word().to_owned(), why(row)))));
    html.add(&facts_of(&facts(comparison)));
    html
}

fn is_measured(row: &TimeRow) -> bool {
    row.verdict != TimeVerdict::Unmeasured
}

/// Sorts the largest difference first.
fn severity(row: &TimeRow) -> f64 {
    -row.difference.unwrap_or_default().abs()
}

fn rank(verdict: TimeVerdict) -> u8 {
    match verdict {
        TimeVerdict::Slower => 0,
        TimeVerdict::Faster => 1,
        TimeVerdict::Undecidable => 2,
        TimeVerdict::Equal => 3,
        TimeVerdict::Unmeasured => 4,
    }
}

/// How many paths have each verdict.
fn tally(comparison: &TimeComparison) -> Html {
    let all =
        [TimeVerdict::Slower, TimeVerdict::Faster, TimeVerdict::Undecidable, TimeVerdict::Equal];
    chips(all.map(|verdict| (comparison.count(verdict), verdict.word(), verdict.word())))
}

/// Buttons that show the rows of one class alone: how many there are, the class, and its words.
pub(super) fn chips<const N: usize>(all: [(usize, &'static str, &'static str); N]) -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"chips\" role=\"group\" aria-label=\"show some paths alone\">");
    for (count, class, words) in all.into_iter().filter(|(count, ..)| *count > 0) {
        html.raw("<button type=\"button\" class=\"chip ").raw(class).raw("\" data-verdict=\"");
        html.raw(class).raw("\" aria-pressed=\"false\">").number(count as u64).raw(" ");
        html.raw(words).raw("</button> ");
    }
    html.raw("</p>");
    html
}

fn compared_row(row: &TimeRow, comparison: &TimeComparison, scale: &Whiskers) -> Row {
    let colour = match row.verdict {
        TimeVerdict::Slower => shade(Verdict::Higher, row.difference),
        TimeVerdict::Faster => shade(Verdict::Lower, row.difference),
        _ => "",
    };
    let range = row.interval.map(within).unwrap_or_default();
    let both = row.difference.zip(row.interval);
    let picture = both.map(|(difference, interval)| scale.picture(difference, interval, &range));
    let share = row.difference.unwrap_or_default();
    Row {
        name: row.path.clone(),
        anchor: format!("time.{}", row.path),
        unit: None,
        verdict: row.verdict.word(),
        cells: vec![
            figure(row.base, time),
            figure(row.new, time),
            Cell::number(
                &format!("shade {colour}"),
                &share,
                row.difference.map(percent).unwrap_or_default(),
            ),
            Cell::number("interval", &share, range).with_picture(picture.unwrap_or_default()),
            figure(row.null, |null| format!("{null:.2} %")),
            Cell::text("", reason(row, comparison).unwrap_or_default()),
            Cell::ranked("verdict", &rank(row.verdict), row.verdict.word()),
        ],
        details: None,
    }
}

/// The paths without times, by what became of them and why.
fn without<'a>(paths: impl Iterator<Item = (&'a str, String, String)>) -> Html {
    let mut paths: Vec<_> = paths.collect();
    let mut html = Html::default();
    if paths.is_empty() {
        return html;
    }
    paths.sort_by_key(|(_, status, _)| Reverse(status == "failed"));
    html.raw("<details><summary>").text(&plural(paths.len(), "path")).raw(" without times");
    html.raw("</summary><ul class=\"subjects\">");
    for (path, status, why) in paths {
        html.raw("<li><b>").text(path).raw("</b>: ").text(&status).raw("; ").text(&why);
        html.raw("</li>");
    }
    html.raw("</ul></details>");
    html
}

/// Notes that a reader needs.
pub(super) fn notes(notes: &[String]) -> Html {
    let mut html = Html::default();
    for note in notes {
        html.raw("<p class=\"warning\">").text(note).raw("</p>");
    }
    html
}

/// Facts of the measurement, a paragraph each.
pub(super) fn facts_of(facts: &[String]) -> Html {
    let mut html = Html::default();
    for fact in facts {
        html.raw("<p class=\"note\">").text(fact).raw(".</p>");
    }
    html
}

/// The headline of two sides.
pub(super) fn headline_of_two(comparison: &TimeComparison) -> String {
    let TimeComparison { base, new, .. } = comparison;
    let sides = [base, new].map(|side| format!("Linux {} ({})", side.host.release, side.condition));
    let [base, new] = sides;
    format!("Times of {new} against {base}: {}", lowered(&sentence(comparison)))
}

/// A sentence after a colon.
fn lowered(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
