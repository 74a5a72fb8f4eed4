//! An experiment as one page: symptom, the source's results, ours, and whether the expectations
//! hold.

use pathmeter_model::{Times, clean};
use std::collections::BTreeMap;

use anstyle::AnsiColor;
use pathmeter_experiment::{
    Elapsed, ExpectationOutcome, Experiment, ExperimentReport, HostTable, HostUnit,
    JudgedCounterExample, JudgedExpectation, Measured, Metric, ObservedCell,
};
use textwrap::Options;

use crate::measured_with::of_many;
use crate::number::grouped;
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};
use crate::times::{explain_level, footer, half_width, show_level};

/// What a sample counts if not instructions.
const STEPS: &str = "steps of the clock";

/// Prose is wrapped here even on wider terminals.
const WIDEST: usize = 100;

/// The page of one experiment, to be read from top to bottom.
pub fn experiment_page(report: &ExperimentReport, style: Style) -> String {
    let experiment = &report.experiment;
    let mut parts = vec![head(experiment, style), published(experiment, style)];
    parts.push(subjects(experiment, style));
    parts.extend(experiment.metrics.iter().map(|metric| format_metric(report, *metric, style)));
    parts.push(checks(report, style));
    parts.push(elapsed(report, style));
    parts.push(expectations(&report.judged, style));
    parts.push(caveats(experiment, style));
    let with = of_many(&report.observed.measured_with);
    parts.push(with.iter().map(|line| style.quiet(line)).collect());
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The page of one experiment on a live host: the story, the source's results, and the times here.
pub fn host_experiment_page(experiment: &Experiment, times: &Times, style: Style) -> String {
    let mut parts = vec![head(experiment, style), published(experiment, style)];
    if let Some(host) = &experiment.host {
        parts.extend([on_host(host, times, style), wrapped("note  ", &host.caveat, style)]);
    }
    parts.push(footer(times, times.ticks_per_cycle(), style).trim_start().to_owned());
    parts.join("\n")
}

/// The times that were taken of these rows.
fn on_host(host: &HostTable, times: &Times, style: Style) -> String {
    let cycle = times.ticks_per_cycle();
    // Where it is not known what a cycle is, the footer says why.
    let (unit, scale): (&str, Box<dyn Fn(f64) -> f64>) = match (host.unit, cycle) {
        (HostUnit::Cycles, Ok(cycle)) => ("cycles", Box::new(move |ticks| ticks / cycle)),
        (HostUnit::Us, _) => ("µs", Box::new(|ticks| times.nanoseconds(ticks) / 1000.0)),
        _ => ("ns", Box::new(|ticks| times.nanoseconds(ticks))),
    };
    let mut table = Table::new(&[
        ("", Align::Left),
        (unit, Align::Right),
        ("±", Align::Right),
        ("path", Align::Left),
        ("reason", Align::Left),
    ])
    .with_remarks();
    for row in &host.rows {
        let path = times.path(&row.path);
        let level = path.and_then(|path| times.level(path, 0));
        let half = level.and_then(half_width).unwrap_or_default();
        let reason = path.and_then(|path| explain_level(path, level));
        table.row([
            row.label.as_str().into(),
            level.map(|level| show_level(level, &scale)).unwrap_or_default().into(),
            half.into(),
            row.path.as_str().into(),
            reason.unwrap_or_default().into(),
        ]);
    }
    heading(&format!("on this machine: {unit}"), style) + &table.render(style)
}

fn head(experiment: &Experiment, style: Style) -> String {
    let title = wrapped("", &format!("{}: {}", experiment.name, experiment.title), style);
    let source = style.paint(&wrapped("", &experiment.source, style), QUIET);
    let story = [
        ("symptom  ", &experiment.symptom),
        ("cause    ", &experiment.cause),
        ("cure     ", &experiment.cure),
    ];
    let story: String = story.iter().map(|(word, text)| wrapped(word, text, style)).collect();
    style.paint(&title, PLAIN.bold()) + &source + "\n" + &story
}

/// `text` after `word`, its further lines indented alike.
fn wrapped(word: &str, text: &str, style: Style) -> String {
    let width = style.width.unwrap_or(WIDEST).clamp(40, WIDEST);
    let indent = " ".repeat(word.chars().count());
    let options = Options::new(width).initial_indent(word).subsequent_indent(&indent);
    textwrap::fill(&clean(text), options) + "\n"
}

fn heading(text: &str, style: Style) -> String {
    style.paint(&style.fill(text, 0), PLAIN.bold()) + "\n"
}

/// The table of the results that the source published.
fn published(experiment: &Experiment, style: Style) -> String {
    let published = &experiment.published;
    let mut table = table(&published.columns);
    for row in &published.rows {
        table.row([row.label.as_str().into()].into_iter().chain(row.values.iter().map(Cell::from)));
    }
    heading(&format!("published: {}", published.unit), style) + &table.render(style)
}

fn table<T: AsRef<str>>(columns: &[T]) -> Table {
    let columns = columns.iter().map(|column| (column.as_ref(), Align::Right));
    Table::new(&[("", Align::Left)].into_iter().chain(columns).collect::<Vec<_>>())
}

/// What each subject is; never cut, since one copies the subject from here.
fn subjects(experiment: &Experiment, style: Style) -> String {
    let mut table =
        Table::new(&[("measured", Align::Left), ("", Align::Left), ("subject", Align::Left)]);
    for subject in &experiment.subjects {
        table.row([&subject.label, &subject.role, &subject.subject].map(Cell::from));
    }
    table.render(Style { width: None, table_width: None, ..style })
}

fn format_metric(report: &ExperimentReport, metric: Metric, style: Style) -> String {
    if metric == Metric::Census { census(report, style) } else { numbers(report, metric, style) }
}

/// One number a subject and path; the more numerous of the two are the rows.
fn numbers(report: &ExperimentReport, metric: Metric, style: Style) -> String {
    let experiment = &report.experiment;
    let subjects: Vec<&str> = experiment.subjects.iter().map(|s| s.label.as_str()).collect();
    let paths: Vec<&str> = experiment.paths.iter().map(|p| p.label.as_str()).collect();
    let by_subject = subjects.len() > paths.len();
    let (rows, columns) = if by_subject { (&subjects, &paths) } else { (&paths, &subjects) };
    let mut table = table(columns);
    let counted = Counted::of(report, metric);
    for (row, label) in rows.iter().enumerate() {
        let cell = |column| {
            let (subject, path) = if by_subject { (row, column) } else { (column, row) };
            number(observed(report, subject, path), metric, counted)
        };
        table.row([Cell::from(label)].into_iter().chain((0..columns.len()).map(cell)));
    }
    heading(&counted.heading(metric), style)
        + &table.render(style)
        + &reasons(report, metric, style)
}

fn observed(
    report: &ExperimentReport,
    subject: usize,
    path: usize,
) -> Option<&ObservedCell<Measured>> {
    report.observed.cells.get(subject)?.get(path)
}

/// What the numbers of a table count, where that is what the samples are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Instructions,
    Steps,
    /// Some of them are steps.
    Both,
}

impl Counted {
    /// In all cells of this metric's table.
    pub(crate) fn of(report: &ExperimentReport, metric: Metric) -> Self {
        let cells = report.observed.cells.iter().flatten();
        let mut steps = cells.filter_map(|cell| match cell {
            ObservedCell::Measured(measured) => Some(measured.in_steps),
            _ => None,
        });
        let first = steps.next().filter(|_| !metric.recorded());
        match (first, steps.any(|other| Some(other) != first)) {
            (None, _) | (Some(false), false) => Self::Instructions,
            (Some(true), false) => Self::Steps,
            (Some(_), true) => Self::Both,
        }
    }

    /// What stands over the table.
    pub(crate) fn heading(self, metric: Metric) -> String {
        let words = metric.heading();
        match self {
            Self::Instructions => words.to_owned(),
            Self::Steps => words.replace("instructions", STEPS),
            Self::Both => format!("{words}; of some cells {STEPS}"),
        }
    }

    /// A number, with its unit where the heading does not have it.
    pub(crate) fn number(self, measured: &Measured, metric: Metric) -> String {
        let number = measured.value(metric).map(grouped).unwrap_or_default();
        if self == Self::Both && measured.in_steps { number + " steps" } else { number }
    }
}

fn number(cell: Option<&ObservedCell<Measured>>, metric: Metric, counted: Counted) -> Cell {
    match cell {
        Some(ObservedCell::Measured(measured)) => counted.number(measured, metric).into(),
        Some(other) => without_results(other),
        None => "".into(),
    }
}

fn without_results<T>(cell: &ObservedCell<T>) -> Cell {
    match cell {
        ObservedCell::Measured(_) => "".into(),
        ObservedCell::Unsupported(_) => Cell::painted("unsupported", QUIET),
        ObservedCell::Failed(_) => Cell::painted("failed", AnsiColor::Red.on_default().bold()),
        ObservedCell::NotAsked => Cell::painted("-", QUIET),
    }
}

/// Why cells of the exact tables have no number, printed once, below the instructions.
fn reasons(report: &ExperimentReport, metric: Metric, style: Style) -> String {
    let cells = &report.observed.cells;
    if metric == Metric::Instructions { missing(report, cells, style) } else { String::new() }
}

/// Why some of `rows`, one a subject, have no results.
fn missing<T>(report: &ExperimentReport, rows: &[Vec<ObservedCell<T>>], style: Style) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (subject, cells) in report.experiment.subjects.iter().zip(rows) {
        for reason in cells.iter().filter_map(ObservedCell::reason) {
            let line = format!("{}: {reason}", subject.label);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.iter().map(|line| style.paint(&wrapped("", line, style), QUIET)).collect()
}

/// A table a path: how often each slow instruction was met, by subject.
fn census(report: &ExperimentReport, style: Style) -> String {
    let paths = report.experiment.paths.iter().enumerate();
    paths.map(|(index, path)| census_of(report, index, &path.label, style)).collect()
}

fn census_of(report: &ExperimentReport, path: usize, label: &str, style: Style) -> String {
    let subjects = &report.experiment.subjects;
    let columns: Vec<Option<&Measured>> = (0..subjects.len())
        .map(|subject| match observed(report, subject, path) {
            Some(ObservedCell::Measured(measured)) => Some(measured),
            _ => None,
        })
        .collect();
    let mut met: Vec<&String> =
        columns.iter().flatten().filter_map(|m| m.census.as_ref()).flat_map(|c| c.keys()).collect();
    met.sort();
    met.dedup();
    let labels: Vec<&str> = subjects.iter().map(|subject| subject.label.as_str()).collect();
    let mut table = table(&labels);
    for slow in &met {
        let cell = |measured: Option<&Measured>| -> Cell {
            let census = measured.and_then(|measured| measured.census.as_ref());
            let count = census.map(|census| census.get(*slow).copied().unwrap_or(0));
            count.map(grouped).unwrap_or_default().into()
        };
        table.row([Cell::from(slow)].into_iter().chain(columns.iter().copied().map(cell)));
    }
    let title = format!("{}: {label}", Metric::Census.heading());
    if met.is_empty() { String::new() } else { heading(&title, style) + &table.render(style) }
}

/// The values of each subject's checks.
fn checks(report: &ExperimentReport, style: Style) -> String {
    let Some(path) = &report.experiment.checks_of else { return String::new() };
    if report.observed.checks.iter().all(Vec::is_empty) {
        return String::new();
    }
    let labels: Vec<&str> =
        report.experiment.subjects.iter().map(|subject| subject.label.as_str()).collect();
    let mut table = table(&labels);
    for name in &report.experiment.checks {
        let cell = |checks: &Vec<pathmeter_experiment::ObservedCheck>| -> Cell {
            let found = checks.iter().find(|check| check.name == *name);
            found.map(|check| check_value(&check.value)).unwrap_or_default().into()
        };
        table.row([Cell::from(name)].into_iter().chain(report.observed.checks.iter().map(cell)));
    }
    heading(path, style) + &table.render(style)
}

/// A check's value; its digits in groups, if it is a number.
fn check_value(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), grouped)
}

/// What two CPUs at once need, against one: a row a subject and path.
fn elapsed(report: &ExperimentReport, style: Style) -> String {
    let experiment = &report.experiment;
    if experiment.elapsed.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("", Align::Left),
        ("", Align::Left),
        ("one CPU", Align::Right),
        ("two CPUs", Align::Right),
        ("ratio", Align::Right),
        ("all pairs", Align::Left),
    ]);
    for (subject, cells) in experiment.subjects.iter().zip(&report.observed.elapsed) {
        for (path, cell) in experiment.elapsed.iter().zip(cells) {
            let times = match cell {
                ObservedCell::NotAsked => continue,
                ObservedCell::Measured(elapsed) => times(elapsed),
                other => ["".into(), "".into(), without_results(other), "".into()],
            };
            table.row([&subject.label, &path.label].map(Cell::from).into_iter().chain(times));
        }
    }
    heading("ns a call, two CPUs against one (this host's time, no exact clock)", style)
        + &table.render(style)
        + &missing(report, &report.observed.elapsed, style)
}

/// Nanoseconds by one CPU and by two, their ratio, and the quartiles of all pairs'.
fn times(elapsed: &Elapsed) -> [Cell; 4] {
    let factor = |percent: u64| format!("{}.{:02}", percent / 100, percent % 100);
    let [ratio, low, high] =
        [elapsed.percent, elapsed.low_percent, elapsed.high_percent].map(factor);
    let pairs = format!("{low} to {high}");
    [grouped(elapsed.one_ns), grouped(elapsed.two_ns), ratio, pairs].map(Cell::from)
}

fn expectations(judged: &[JudgedExpectation], style: Style) -> String {
    let lines = judged.iter().map(|judged| judged_line(judged, style));
    heading("expected results", style) + &lines.collect::<String>()
}

fn judged_line(judged: &JudgedExpectation, style: Style) -> String {
    let (word, paint) = match judged.outcome {
        ExpectationOutcome::Holds => ("yes ", AnsiColor::Green.on_default()),
        ExpectationOutcome::Fails => ("NO  ", AnsiColor::Red.on_default().bold()),
        ExpectationOutcome::Inconclusive => ("?   ", AnsiColor::Yellow.on_default()),
    };
    let host = if judged.exact { "" } else { "; this host's time, which decides nothing" };
    let text = wrapped("    ", &format!("{} ({}{host})", judged.statement, judged.seen), style);
    style.paint(word, paint) + text.get(word.len()..).unwrap_or_default()
}

/// Each expectation of one experiment with its counter-example: that it holds without, and fails
/// with it.
pub fn counter_examples(report: &ExperimentReport, style: Style) -> String {
    let experiment = &report.experiment;
    let title = wrapped("", &format!("{}: {}", experiment.name, experiment.title), style);
    let mut text = style.paint(&title, PLAIN.bold());
    for (expectation, judged) in experiment.expectations.iter().zip(&report.judged) {
        text += &judged_line(judged, style);
        if let Some(counter) = &judged.counter_example {
            text += &counter_line(&expectation.counter_example, counter, style);
        }
    }
    text
}

/// An expectation that fails is what a counter-example is for.
fn counter_line(
    replaced: &BTreeMap<String, String>,
    counter: &JudgedCounterExample,
    style: Style,
) -> String {
    let replaced: Vec<_> =
        replaced.iter().map(|(label, subject)| format!("{label} as {subject}")).collect();
    let (word, paint) = match counter.outcome {
        ExpectationOutcome::Fails => ("no  ", AnsiColor::Green.on_default()),
        ExpectationOutcome::Holds => ("YES ", AnsiColor::Red.on_default().bold()),
        ExpectationOutcome::Inconclusive => ("?   ", AnsiColor::Yellow.on_default()),
    };
    let text = format!("with {} ({})", replaced.join(" and "), counter.seen);
    let text = wrapped("        ", &text, style);
    "    ".to_owned() + &style.paint(word, paint) + text.get(8..).unwrap_or_default()
}

fn caveats(experiment: &Experiment, style: Style) -> String {
    let lines = experiment.caveats.iter().map(|line| wrapped("- ", line, style));
    heading("what the results can and can't show", style) + &lines.collect::<String>()
}

#[cfg(test)]
mod tests;
