//! An experiment as one page: symptom, the source's figures, ours, and whether what was expected came
//! out.

use anstyle::AnsiColor;
use pathmeter_experiment::{
    Cell as Observed, Experiment, Judged, Measured, Metric, Outcome, Report,
};
use textwrap::Options;

use crate::number::grouped;
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table, clean};

/// Prose is wrapped here even on wider terminals.
const WIDEST: usize = 100;

/// The page of one experiment, to be read from top to bottom.
pub fn experiment_page(report: &Report, style: Style) -> String {
    let experiment = &report.experiment;
    let mut parts = vec![head(experiment, style), published(experiment, style)];
    parts.push(subjects(experiment, style));
    parts.extend(experiment.metrics.iter().map(|metric| measured(report, *metric, style)));
    parts.push(checks(report, style));
    parts.push(expectations(&report.judged, style));
    parts.push(caveats(experiment, style));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn head(experiment: &Experiment, style: Style) -> String {
    let title = format!("{}: {}\n", experiment.name, experiment.title);
    let source = style.paint(&wrapped("", &experiment.source, style), QUIET);
    let story = [
        ("symptom  ", &experiment.symptom),
        ("cause    ", &experiment.cause),
        ("cure     ", &experiment.cure),
    ];
    let story: String = story.iter().map(|(word, text)| wrapped(word, text, style)).collect();
    style.paint(&title, PLAIN.bold()) + &source + "\n" + &story
}

/// `text` behind `word`, its further lines indented alike.
fn wrapped(word: &str, text: &str, style: Style) -> String {
    let width = style.width.unwrap_or(WIDEST).clamp(40, WIDEST);
    let indent = " ".repeat(word.chars().count());
    let options = Options::new(width).initial_indent(word).subsequent_indent(&indent);
    textwrap::fill(&clean(text), options) + "\n"
}

fn heading(text: &str, style: Style) -> String {
    style.paint(text, PLAIN.bold()) + "\n"
}

/// The source's own figures.
fn published(experiment: &Experiment, style: Style) -> String {
    let published = &experiment.published;
    let mut table = table(&published.columns);
    for row in &published.rows {
        table
            .row([row.label.as_str().into()].into_iter().chain(row.figures.iter().map(Cell::from)));
    }
    heading(&format!("published: {}", published.unit), style) + &table.render(style)
}

fn table<T: AsRef<str>>(columns: &[T]) -> Table {
    let columns = columns.iter().map(|column| (column.as_ref(), Align::Right));
    Table::new(&[("", Align::Left)].into_iter().chain(columns).collect::<Vec<_>>())
}

/// What each subject is.
fn subjects(experiment: &Experiment, style: Style) -> String {
    let mut table =
        Table::new(&[("measured", Align::Left), ("", Align::Left), ("subject", Align::Left)]);
    for subject in &experiment.subjects {
        table.row([&subject.label, &subject.role, &subject.subject].map(Cell::from));
    }
    table.render(style)
}

fn measured(report: &Report, metric: Metric, style: Style) -> String {
    if metric == Metric::Census { census(report, style) } else { numbers(report, metric, style) }
}

/// One number a subject and path; the more numerous of the two are the rows.
fn numbers(report: &Report, metric: Metric, style: Style) -> String {
    let experiment = &report.experiment;
    let subjects: Vec<&str> = experiment.subjects.iter().map(|s| s.label.as_str()).collect();
    let paths: Vec<&str> = experiment.paths.iter().map(|p| p.label.as_str()).collect();
    let by_subject = subjects.len() > paths.len();
    let (rows, columns) = if by_subject { (&subjects, &paths) } else { (&paths, &subjects) };
    let mut table = table(columns);
    for (row, label) in rows.iter().enumerate() {
        let cell = |column| {
            let (subject, path) = if by_subject { (row, column) } else { (column, row) };
            number(observed(report, subject, path), metric)
        };
        table.row([Cell::from(label)].into_iter().chain((0..columns.len()).map(cell)));
    }
    heading(metric.heading(), style) + &table.render(style) + &reasons(report, metric, style)
}

fn observed(report: &Report, subject: usize, path: usize) -> Option<&Observed> {
    report.observed.cells.get(subject)?.get(path)
}

fn number(cell: Option<&Observed>, metric: Metric) -> Cell {
    match cell {
        Some(Observed::Measured(measured)) => grouped(measured.value(metric)).into(),
        Some(Observed::Unsupported(_)) => Cell::painted("unsupported here", QUIET),
        Some(Observed::Failed(_)) => Cell::painted("failed", AnsiColor::Red.on_default().bold()),
        None => "".into(),
    }
}

/// Why cells have no number, said once, below the instructions.
fn reasons(report: &Report, metric: Metric, style: Style) -> String {
    if metric != Metric::Instructions {
        return String::new();
    }
    let mut said: Vec<String> = Vec::new();
    for (subject, cells) in report.experiment.subjects.iter().zip(&report.observed.cells) {
        for cell in cells {
            let (Observed::Unsupported(reason) | Observed::Failed(reason)) = cell else { continue };
            let line = format!("{}: {reason}", subject.label);
            if !said.contains(&line) {
                said.push(line);
            }
        }
    }
    said.iter().map(|line| style.paint(&wrapped("", line, style), QUIET)).collect()
}

/// A table a path: how often each slow instruction was met, by subject.
fn census(report: &Report, style: Style) -> String {
    let paths = report.experiment.paths.iter().enumerate();
    paths.map(|(index, path)| census_of(report, index, &path.label, style)).collect()
}

fn census_of(report: &Report, path: usize, label: &str, style: Style) -> String {
    let subjects = &report.experiment.subjects;
    let columns: Vec<Option<&Measured>> = (0..subjects.len())
        .map(|subject| match observed(report, subject, path) {
            Some(Observed::Measured(measured)) => Some(measured),
            _ => None,
        })
        .collect();
    let mut met: Vec<&String> =
        columns.iter().flatten().flat_map(|measured| measured.census.keys()).collect();
    met.sort();
    met.dedup();
    let labels: Vec<&str> = subjects.iter().map(|subject| subject.label.as_str()).collect();
    let mut table = table(&labels);
    for slow in &met {
        let cell = |measured: Option<&Measured>| -> Cell {
            let count = measured.map(|m| m.census.get(*slow).copied().unwrap_or(0));
            count.map(grouped).unwrap_or_default().into()
        };
        table.row([Cell::from(slow)].into_iter().chain(columns.iter().copied().map(cell)));
    }
    let title = format!("{}: {label}", Metric::Census.heading());
    if met.is_empty() { String::new() } else { heading(&title, style) + &table.render(style) }
}

/// What the checks of each subject said.
fn checks(report: &Report, style: Style) -> String {
    let Some(path) = &report.experiment.checks_of else { return String::new() };
    let labels: Vec<&str> =
        report.experiment.subjects.iter().map(|subject| subject.label.as_str()).collect();
    let mut table = table(&labels);
    for name in &report.experiment.checks {
        let cell = |checks: &Vec<pathmeter_experiment::ObservedCheck>| -> Cell {
            let found = checks.iter().find(|check| check.name == *name);
            found.map(|check| check.value.as_str()).unwrap_or_default().into()
        };
        table.row([Cell::from(name)].into_iter().chain(report.observed.checks.iter().map(cell)));
    }
    heading(path, style) + &table.render(style)
}

fn expectations(judged: &[Judged], style: Style) -> String {
    let line = |judged: &Judged| {
        let (mark, paint) = match judged.outcome {
            Outcome::Holds => ("yes ", AnsiColor::Green.on_default()),
            Outcome::Fails => ("NO  ", AnsiColor::Red.on_default().bold()),
            Outcome::Untold => ("?   ", AnsiColor::Yellow.on_default()),
        };
        let text = wrapped("    ", &format!("{} ({})", judged.says, judged.seen), style);
        style.paint(mark, paint) + text.get(mark.len()..).unwrap_or_default()
    };
    heading("what must come out", style) + &judged.iter().map(line).collect::<String>()
}

fn caveats(experiment: &Experiment, style: Style) -> String {
    let lines = experiment.caveats.iter().map(|line| wrapped("- ", line, style));
    heading("what the figures can and can't show", style) + &lines.collect::<String>()
}
