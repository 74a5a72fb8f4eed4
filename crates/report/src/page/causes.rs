//! The causes of a comparison on the page, and a picture of all rows: a bar each, by size.

use pathmeter_model::{Cause, CauseInRow, CausePart, CodeMove, Comparison, PathComparison};
use pathmeter_trace::Role;

use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use crate::causes::{CauseLine, evidence, function_name, lines, share};
use crate::number::{grouped, percent, plural, signed};

/// The picture's size, in its own units.
const WIDTH: usize = 960;
const HEIGHT: usize = 72;
/// A change of so many percent has the full height; larger ones are cut there.
const FULL: f64 = 25.0;
/// Most functions of a cause that its details have.
const MOST_PARTS: usize = 25;

const HEADINGS: [Heading; 6] = [
    ("kind of work", "text"),
    ("share", "number"),
    ("rows", "number"),
    ("instructions", "number"),
    ("each", "text"),
    ("functions, other events", "text"),
];

/// The table of the causes; nothing if functions are not known.
pub(super) fn table(comparison: &Comparison, data: &mut Data) -> Html {
    let mut html = Html::default();
    let Some(causes) = comparison.causes.as_ref().filter(|it| !it.causes.is_empty()) else {
        return html;
    };
    let lines = lines(causes);
    let row = |(line, cause): (CauseLine, &Cause)| Row {
        name: line.area,
        anchor: format!("cause.{}", cause.parts.first().map_or("", |it| &*it.functions[0])),
        unit: None,
        verdict: "",
        cells: vec![
            Cell::number("", &cause.share, line.share),
            Cell::number("", &cause.rows.len(), line.rows),
            Cell::number("", &cause.difference, line.in_all),
            Cell::text("", line.each),
            Cell::text("where", line.functions),
        ],
        details: Some(details(cause)),
    };
    let rows = lines.shown.into_iter().zip(&causes.causes).map(row).collect();
    let caption = "What the differences come from, over all rows";
    let sheet = Sheet { caption, sorts: false, headings: HEADINGS.to_vec(), rows };
    html.add(&sheet.html(data));
    html.raw("<p class=\"note\">").text(&lines.notes.join("; ")).raw(".</p>");
    html.add(&moves(&causes.moves));
    html
}

/// The functions of a cause, the rows that it is in, and why functions are taken together.
fn details(cause: &Cause) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"tables\">").add(&parts(&cause.parts)).add(&rows(cause)).raw("</div>");
    let moves: Vec<CodeMove> = cause.parts.iter().flat_map(|part| part.moves.clone()).collect();
    html.add(&list(&moves));
    html
}

fn parts(parts: &[CausePart]) -> Html {
    let mut html = Html::default();
    html.raw("<table class=\"small\"><caption>Functions</caption>");
    html.headings(&["function", "#instructions", "#calls", "#share"]).raw("<tbody>");
    for part in parts.iter().take(MOST_PARTS) {
        html.raw("<tr><th scope=\"row\">").text(&function_name(part)).raw("</th>");
        html.figure(&signed(part.difference)).figure(&grouped(part.calls));
        html.figure(&share(part.share)).raw("</tr>");
    }
    html.raw("</tbody></table>");
    if let Some(more) = parts.len().checked_sub(MOST_PARTS).filter(|more| *more > 0) {
        html.raw("<p class=\"note\">").text(&plural(more, "more function")).raw(".</p>");
    }
    html
}

fn rows(cause: &Cause) -> Html {
    let mut html = Html::default();
    html.raw("<table class=\"small\"><caption>Rows</caption>");
    html.headings(&["row", "#instructions", "other events"]).raw("<tbody>");
    for row in &cause.rows {
        html.raw("<tr><th scope=\"row\">").text(&row.path).raw("</th>");
        html.figure(&signed(row.difference)).cell(&events_of_row(row)).raw("</tr>");
    }
    html.raw("</tbody></table>");
    html
}

/// `rdtsc -1, lfence +2`.
fn events_of_row(row: &CauseInRow) -> String {
    let costs = row.events.iter().filter(|(event, _)| event.role() == Role::Cost);
    let texts = costs.map(|(event, more)| format!("{event} {}", signed(*more)));
    texts.collect::<Vec<_>>().join(", ")
}

/// Code that moved and costs the same in every row.
fn moves(moves: &[CodeMove]) -> Html {
    let mut html = Html::default();
    if !moves.is_empty() {
        let all = plural(moves.len(), "function");
        html.raw("<details><summary>Moved at no cost: ").text(&all).raw("</summary>");
        html.add(&list(moves)).raw("</details>");
    }
    html
}

fn list(moves: &[CodeMove]) -> Html {
    let mut html = Html::default();
    if !moves.is_empty() {
        html.raw("<ul class=\"moves\">");
        for one in moves {
            html.raw("<li>").text(&evidence(one)).raw("</li>");
        }
        html.raw("</ul>");
    }
    html
}

/// A bar for each row that differs, from the largest decrease to the largest increase; the median
/// of all rows that were compared is marked.
pub(super) fn picture(comparison: &Comparison) -> Html {
    let mut html = Html::default();
    let mut rows: Vec<(&PathComparison, f64)> =
        comparison.paths.iter().filter_map(|path| Some((path, path.percent?))).collect();
    rows.sort_by(|one, other| one.1.total_cmp(&other.1));
    if rows.iter().all(|(_, percent)| *percent == 0.0) {
        return html;
    }
    let step = WIDTH / rows.len().max(1);
    html.raw("<figure class=\"bars\"><svg role=\"img\" viewBox=\"0 0 ").number(WIDTH as u64);
    html.raw(" ").number(HEIGHT as u64).raw("\" aria-label=\"change of each row\">");
    for (place, (path, change)) in rows.iter().enumerate() {
        html.add(&bar(place * step, step, path, *change));
    }
    let middle = rows.len() / 2;
    html.raw("<line class=\"median\" x1=\"").number((middle * step + step / 2) as u64);
    html.raw("\" x2=\"").number((middle * step + step / 2) as u64);
    html.raw("\" y1=\"0\" y2=\"").number(HEIGHT as u64).raw("\"/></svg><figcaption>");
    html.text(&format!(
        "{} rows by their change; dashed: the median, {}; full height: 25 % or more",
        rows.len(),
        Some(percent(rows[middle].1)).filter(|it| !it.is_empty()).unwrap_or("0 %".to_owned())
    ));
    html.raw("</figcaption></figure>");
    html
}

/// A bar up for more, down for less.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "at most half the picture's height, and not negative"
)]
fn bar(left: usize, step: usize, path: &PathComparison, change: f64) -> Html {
    let half = HEIGHT / 2;
    let size = ((change.abs() / FULL).min(1.0) * half as f64).ceil() as usize;
    let top = if change > 0.0 { half - size } else { half };
    let mut html = Html::default();
    html.raw("<rect class=\"").raw(if change > 0.0 { "higher" } else { "lower" });
    html.raw("\" x=\"").number(left as u64).raw("\" y=\"").number(top as u64);
    html.raw("\" width=\"").number(step.saturating_sub(2).max(1) as u64);
    html.raw("\" height=\"").number(size as u64).raw("\"><title>");
    html.text(&format!("{} {}", path.path, percent(change))).raw("</title></rect>");
    html
}
