//! A history of results: a line over time for each path that was asked for, with its dates and its
//! largest step, and a table of the results.

use pathmeter_model::{History, KeptResult, PathHistory, Unit};

use super::chart::{Chart, Place, draw_chart};
use super::html::Html;
use crate::history::{amount, commit_of, day, name_result, text};
use crate::number::plural;

/// `switch.yield over 7 results, 2026-01-01 to 2026-07-01.`
pub(super) fn headline(history: &History) -> String {
    let history = history.by_series();
    let of = match &history.paths[..] {
        [] => String::new(),
        [one] => format!("{} over ", one.path),
        paths => format!("{} over ", plural(paths.len(), "path")),
    };
    let results = plural(history.results.len(), "result");
    let ends = history.results.first().zip(history.results.last());
    let dates = ends.map(|(first, last)| format!(", {} to {}", day(first), day(last)));
    format!("{of}{results}{}.", dates.unwrap_or_default())
}

pub(super) fn section(history: &History) -> Html {
    let history = history.by_series();
    let mut html = Html::default();
    if history.paths.is_empty() {
        html.raw("<p class=\"note\">This document has no paths: name some after ");
        html.raw("<code>pathmeter history show</code>.</p>");
    }
    html.raw("<div class=\"lines wide\">");
    for path in &history.paths {
        html.add(&line(&history.results, path));
    }
    html.raw("</div>").add(&table(&history));
    html
}

fn line(results: &[KeptResult], path: &PathHistory) -> Html {
    let about: Vec<String> = results.iter().map(name_result).collect();
    let point = |at: usize| {
        let value = path.points[at]?.value?;
        Some(Place { at, value, about: &about[at] })
    };
    let places: Vec<Place<'_>> = (0..path.points.len()).filter_map(point).collect();
    let unit = path.points.iter().flatten().find(|point| point.value.is_some());
    let unit = unit.map_or(Unit::Instructions, |point| point.unit);
    let [first, last] = [results.first(), results.last()].map(|it| it.map(day).unwrap_or_default());
    draw_chart(&Chart {
        name: &path.path,
        lines: &[places],
        places: results.len(),
        ends: [&first, &last],
        amount: &|value| amount(value, unit),
    })
}

fn table(history: &History) -> Html {
    let mut html = Html::default();
    if history.results.is_empty() {
        return html;
    }
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>Results</caption><thead><tr>");
    html.raw("<th scope=\"col\">label</th><th scope=\"col\" class=\"n\">#</th>");
    html.raw("<th scope=\"col\">date</th><th scope=\"col\">commit</th>");
    html.raw("<th scope=\"col\">release</th>");
    for path in &history.paths {
        html.raw("<th scope=\"col\" class=\"n\">").name(&path.path).raw("</th>");
    }
    html.raw("</tr></thead><tbody>");
    for (at, kept) in history.results.iter().enumerate() {
        html.raw("<tr><th scope=\"row\">").name(&kept.label).raw("</th>");
        html.figure(&kept.number.to_string()).cell(&day(kept)).cell(&commit_of(kept));
        html.cell(kept.release.as_deref().unwrap_or_default());
        for path in &history.paths {
            html.figure(text(path.points[at]).trim_end());
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    html
}
