//! One subject: every path with its value, events and checks. The rows of a program stand in the
//! order of what they cost, its own work first.

use std::cmp::Reverse;

use pathmeter_model::{
    Measurement, PathEvents, PathResult, RowKind, Status, ValueCount, command_line,
};
use pathmeter_trace::{Event, Explain, Role};

use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet, other_unit};
use super::window::{explanation, place_in_window};
use crate::comparison::MANY_VALUES;
use crate::headline::{count_paths, describe_work};
use crate::number::{at_least, grouped, share};

/// Most values that a table has.
const MOST_VALUES: usize = 20;

const HEADINGS: [Heading; 5] = [
    ("path", "text"),
    ("value", "number"),
    ("most in", "text"),
    ("events with a cost", "text"),
    ("checks", "text"),
];

/// `43 paths measured on 6.1.0`, or of a program `ls -R / and its system calls execute 1,200,000
/// instructions, most in openat (300,000), on 6.1.0`.
pub(super) fn headline(result: &Measurement) -> String {
    let name = result.configuration.release.as_ref().unwrap_or(&result.subject.name);
    if let Some(text) = of_program(result) {
        return format!("{text}, on {name}.");
    }
    let count = |status| result.paths.iter().filter(|path| path.status == status).count();
    let (failed, unsupported) = (count(Status::Failed), count(Status::Unsupported));
    let mut text = format!("{} measured on {name}", count_paths(count(Status::Ok)));
    let rest = [(failed, "failed"), (unsupported, "unsupported")];
    for (number, word) in rest.into_iter().filter(|(number, _)| *number > 0) {
        text.extend([", ", &number.to_string(), " ", word]);
    }
    text + "."
}

fn of_program(result: &Measurement) -> Option<String> {
    let program = result.configuration.program.as_ref()?;
    let work = describe_work(result)?;
    Some(format!("{} and its system calls execute {work}", command_line(&program.command)))
}

/// The place of a row by the kind of its work: all own work, its parts and the program's regions,
/// then what others do.
fn rank(kind: RowKind) -> u8 {
    match kind {
        RowKind::OwnWork => 0,
        kind if kind.is_own_work() => 1,
        _ => 2,
    }
}

/// The paths in the order of the page: as they are, or of a program its own work first, then what
/// others do, each by what it costs.
fn sort_paths(result: &Measurement) -> Vec<&PathResult> {
    let mut paths: Vec<&PathResult> = result.paths.iter().collect();
    paths.sort_by_key(|path| {
        let costs = path.costs();
        let instructions = costs.as_ref().map(|row| row.typical().instructions);
        (path.work_kind().map_or(1, rank), Reverse(instructions))
    });
    paths
}

pub(super) fn section(result: &Measurement, windows: &[Explain], data: &mut Data) -> Html {
    let mut html = Html::default();
    for note in &result.notes {
        html.raw("<p class=\"warning\">").text(note).raw("</p>");
    }
    let rows = sort_paths(result).into_iter().map(|path| {
        let explain = windows.iter().find(|explain| explain.path == path.path);
        row(path, explain, data)
    });
    let (rows, headings) = (rows.collect(), HEADINGS.to_vec());
    html.add(&Sheet { caption: "All paths", sorts: true, headings, rows }.html(data));
    html
}

fn row(path: &PathResult, explain: Option<&Explain>, data: &mut Data) -> Row {
    let value = path.value().unwrap_or(0);
    let most_in = explain.map(|it| place_in_window(&it.base.window)).unwrap_or_default();
    let costs = path.events.as_ref().map(costs).unwrap_or_default();
    Row {
        name: path.path.clone(),
        anchor: path.path.clone(),
        unit: path.value().and_then(|_| other_unit(path.unit)),
        verdict: "",
        cells: vec![
            Cell::number("", &value, shown_value(path)),
            Cell::list("where", most_in),
            Cell::list("events", costs),
            Cell::text("", checks(path)),
        ],
        details: details(path, explain, data),
    }
}

/// The row's value; or why there is none.
fn shown_value(path: &PathResult) -> String {
    match &path.estimate {
        Some(estimate) => {
            let sign =
                if estimate.typical.len() > 1 { MANY_VALUES.to_string() } else { String::new() };
            sign + &at_least(estimate.value, path.is_lower_bound(estimate.value))
        }
        None => path.status.to_string(),
    }
}

/// `lfence 2, data-lines 31`: events that cost by themselves.
fn costs(events: &PathEvents) -> String {
    let costly = Event::all().filter(|event| matches!(event.role(), Role::Cost | Role::Footprint));
    let numbers = costly.map(|event| (event, events.value(event)));
    let texts = numbers.filter(|(_, number)| *number > 0);
    let texts = texts.map(|(event, number)| format!("{event} {}", grouped(number)));
    texts.collect::<Vec<_>>().join(", ")
}

fn checks(path: &PathResult) -> String {
    let checks = path.checks.iter().map(|check| format!("{}: {}", check.name, check.value));
    path.reason.iter().cloned().chain(checks).collect::<Vec<_>>().join("; ")
}

fn details(path: &PathResult, explain: Option<&Explain>, data: &mut Data) -> Option<Html> {
    let mut html = Html::default();
    if let Some(explain) = explain {
        html.add(&explanation(explain, data));
    }
    if let Some(estimate) = path.estimate.as_ref().filter(|estimate| estimate.values.len() > 1) {
        html.raw("<div class=\"scroll\"><table class=\"small\">");
        html.raw("<caption>Exact values, the most frequent first</caption>");
        html.headings(&["#value", "#samples", "#share"]).raw("<tbody>");
        let mut values: Vec<&ValueCount> = estimate.values.iter().collect();
        values.sort_by_key(|value| Reverse(value.count));
        for value in values.iter().take(MOST_VALUES) {
            html.raw("<tr>").figure(&grouped(value.value)).figure(&grouped(value.count));
            html.figure(&share(value.count, path.samples.len() as u64)).raw("</tr>");
        }
        html.raw("</tbody></table></div>");
    }
    if let Some(events) = &path.events {
        html.raw("<div class=\"scroll\"><table class=\"small\"><caption>Events</caption>");
        html.headings(&["event", "#number"]).raw("<tbody>");
        for event in Event::all().filter(|event| events.value(*event) > 0) {
            html.raw("<tr><th scope=\"row\">").text(event.word()).raw("</th>");
            html.figure(&grouped(events.value(event))).raw("</tr>");
        }
        html.raw("</tbody></table></div>");
    }
    (!html.as_str().is_empty()).then_some(html)
}
