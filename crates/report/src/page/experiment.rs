//! An experiment: what was measured before and after, beside the source's own figures.

use pathmeter_experiment::{
    Elapsed, ExpectationOutcome, Experiment, ExperimentReport, Measured, Metric, ObservedCell,
};

use super::changes::note_measured_with;
use super::html::Html;
use crate::experiment::Counted;
use crate::measured_with::of_many;

/// `5 of 6 expectations hold`, for one experiment.
pub(super) fn headline(report: &ExperimentReport) -> String {
    let holds = report.judged.iter().filter(|it| it.outcome == ExpectationOutcome::Holds).count();
    let Experiment { name, title, .. } = &report.experiment;
    format!("{name}: {title}. {holds} of {} expectations hold.", report.judged.len())
}

pub(super) fn section(report: &ExperimentReport) -> Html {
    let experiment = &report.experiment;
    let mut html = Html::default();
    html.raw("<p class=\"note\">").text(&experiment.source).raw("</p><dl class=\"story\">");
    let story = [
        ("symptom", &experiment.symptom),
        ("cause", &experiment.cause),
        ("cure", &experiment.cure),
    ];
    for (word, text) in story {
        html.raw("<dt>").text(word).raw("</dt><dd>").text(text).raw("</dd>");
    }
    html.raw("</dl><div class=\"beside\"><section><h3>Published</h3>").add(&published(experiment));
    html.raw("</section><section><h3>Measured here</h3>").add(&subjects(experiment));
    for metric in experiment.metrics.iter().filter(|metric| **metric != Metric::Census) {
        html.add(&numbers(report, *metric));
    }
    html.add(&elapsed(report)).raw("</section></div>").add(&expectations(report));
    html.raw("<details><summary>What these numbers can and can't show</summary><ul>");
    for caveat in &experiment.caveats {
        html.raw("<li>").text(caveat).raw("</li>");
    }
    html.raw("</ul></details>").add(&note_measured_with(of_many(&report.observed.measured_with)));
    html
}

fn published(experiment: &Experiment) -> Html {
    let published = &experiment.published;
    let mut html = Html::default();
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>").text(&published.unit);
    html.raw("</caption>").add(&columns(published.columns.iter().map(String::as_str)));
    html.raw("<tbody>");
    for row in &published.rows {
        html.raw("<tr><th scope=\"row\">").text(&row.label).raw("</th>");
        for value in &row.values {
            html.figure(value);
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    html
}

fn columns<'a>(labels: impl Iterator<Item = &'a str>) -> Html {
    let mut html = Html::default();
    html.raw("<thead><tr><td></td>");
    for label in labels {
        html.raw("<th scope=\"col\" class=\"n\">").text(label).raw("</th>");
    }
    html.raw("</tr></thead>");
    html
}

/// What each column stands for.
fn subjects(experiment: &Experiment) -> Html {
    let mut html = Html::default();
    html.raw("<ul class=\"subjects\">");
    for subject in &experiment.subjects {
        html.raw("<li><b>").text(&subject.label).raw("</b>: ").text(&subject.role);
        html.raw(" <code>").text(&subject.subject).raw("</code></li>");
    }
    html.raw("</ul>");
    html
}

/// A row for each path, a column for each subject.
fn numbers(report: &ExperimentReport, metric: Metric) -> Html {
    let cells = &report.observed.cells;
    let counted = Counted::of(report, metric);
    let shown = |measured: &Measured| counted.number(measured, metric);
    let labels = report.experiment.paths.iter().map(|path| path.label.as_str());
    table(report, &counted.heading(metric), labels, cells, shown)
}

/// The table of times by the host's clock; nothing without any.
fn elapsed(report: &ExperimentReport) -> Html {
    let paths = &report.experiment.elapsed;
    if paths.is_empty() {
        return Html::default();
    }
    let shown =
        |elapsed: &Elapsed| format!("{}.{:02}", elapsed.percent / 100, elapsed.percent % 100);
    let heading = "Two CPUs at once against one, by this host's clock: times as long";
    let labels = paths.iter().map(|path| path.label.as_str());
    table(report, heading, labels, &report.observed.elapsed, shown)
}

/// A number for each subject and path; the more numerous of the two are the rows.
fn table<'a, T>(
    report: &'a ExperimentReport,
    heading: &str,
    labels: impl Iterator<Item = &'a str>,
    cells: &[Vec<ObservedCell<T>>],
    shown: impl Fn(&T) -> String,
) -> Html {
    let subjects: Vec<&str> =
        report.experiment.subjects.iter().map(|subject| subject.label.as_str()).collect();
    let paths: Vec<&str> = labels.collect();
    let by_subject = subjects.len() > paths.len();
    let (rows, across) = if by_subject { (&subjects, &paths) } else { (&paths, &subjects) };
    let mut html = Html::default();
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>").text(heading);
    html.raw("</caption>").add(&columns(across.iter().copied())).raw("<tbody>");
    for (row, label) in rows.iter().enumerate() {
        html.raw("<tr><th scope=\"row\">").text(label).raw("</th>");
        for column in 0..across.len() {
            let (subject, path) = if by_subject { (row, column) } else { (column, row) };
            match cells.get(subject).and_then(|row| row.get(path)) {
                Some(ObservedCell::Measured(measured)) => html.figure(&shown(measured)),
                Some(ObservedCell::Unsupported(reason)) => {
                    because(&mut html, "unsupported", reason)
                }
                Some(ObservedCell::Failed(reason)) => because(&mut html, "failed", reason),
                Some(ObservedCell::NotAsked) | None => html.figure("–"),
            };
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    html
}

fn because<'a>(html: &'a mut Html, word: &'static str, reason: &str) -> &'a mut Html {
    html.raw("<td class=\"n\" title=\"").text(reason).raw("\">").raw(word).raw("</td>")
}

fn expectations(report: &ExperimentReport) -> Html {
    let mut html = Html::default();
    html.raw("<h3>Expectations</h3><ul class=\"expectations\">");
    for judged in &report.judged {
        let word = match judged.outcome {
            ExpectationOutcome::Holds => "holds",
            ExpectationOutcome::Fails => "fails",
            ExpectationOutcome::Inconclusive => "inconclusive",
        };
        html.raw("<li><span class=\"outcome ").raw(word).raw("\">").raw(word).raw("</span> ");
        html.text(&judged.statement).raw(" <span class=\"note\">").text(&judged.seen);
        html.raw(if judged.exact { "</span></li>" } else { " (this host's time)</span></li>" });
    }
    html.raw("</ul>");
    html
}
