//! The causes of a comparison on the page, and a picture of the rows that differ most.

use pathmeter_model::{Cause, CauseInRow, CausePart, CodeMove, Comparison, PathComparison};
use pathmeter_trace::Role;

use super::bars::{Bar, draw_bars};
use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use crate::causes::{CauseLine, evidence, function_name, lines, share};
use crate::number::{grouped, percent, plural, signed};
use crate::severity::{is_all_own, most_changed_first};

/// Most bars of the picture.
const MOST_BARS: usize = 12;
/// Most functions of a cause that its details have.
const MOST_PARTS: usize = 25;

const HEADINGS: [Heading; 6] = [
    ("cause: kind of work", "text"),
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
        html.raw("<tr><th scope=\"row\">").name(&function_name(part)).raw("</th>");
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
        html.raw("<tr><th scope=\"row\">").name(&row.path).raw("</th>");
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

/// A bar for each of the rows that differ most: of paths in percent, from the largest increase to
/// the largest decrease; of a program in instructions, its own work first. Work that is not its own
/// is left out: its changes are no findings about it.
pub(super) fn picture(comparison: &Comparison) -> Html {
    if comparison.program.is_some() {
        return picture_instructions(comparison);
    }
    let mut rows: Vec<(&PathComparison, f64)> =
        comparison.paths.iter().filter_map(|path| Some((path, path.percent?))).collect();
    rows.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    let (shown, others) = rows.split_at(rows.len().min(MOST_BARS));
    let changed = shown.iter().filter(|row| row.1 != 0.0);
    let mut all: Vec<Bar> = changed.map(|(path, share)| describe_bar(path, *share)).collect();
    all.sort_by(|one, other| other.share.total_cmp(&one.share));
    draw_bars(&all, &caption(all.len(), &rows, others))
}

/// A bar for each of a program's rows that differ most, in instructions, its own work first.
/// Regions are left out: their numbers are of one execution.
#[allow(clippy::cast_precision_loss, reason = "the length of a bar")]
fn picture_instructions(comparison: &Comparison) -> Html {
    let sorted = most_changed_first(&comparison.paths).into_iter();
    let own = sorted.filter(|row| row.work.is_some() && (row.is_own_work() || is_all_own(row)));
    let changed: Vec<(&PathComparison, i64)> =
        own.filter_map(|row| Some((row, row.difference.filter(|it| *it != 0)?))).collect();
    let (shown, others) = changed.split_at(changed.len().min(MOST_BARS));
    let bar = |(row, by): &(&PathComparison, i64)| {
        let part = row.percent.map(percent).filter(|part| !part.is_empty());
        let part = part.map_or_else(String::new, |part| format!(" ({part})"));
        Bar { name: row.path.clone(), share: *by as f64, mark: None, text: signed(*by) + &part }
    };
    let bars: Vec<Bar> = shown.iter().map(bar).collect();
    let less = others.first().map_or_else(String::new, |(_, by)| {
        format!("; the others differ by no more than {}", grouped(by.unsigned_abs()))
    });
    let differ = plural(changed.len(), "row");
    let caption =
        format!("Largest changes in instructions, {} of {differ} that differ{less}.", bars.len());
    draw_bars(&bars, &caption)
}

/// The bar of a path, with its change in percent and in instructions.
fn describe_bar(path: &PathComparison, share: f64) -> Bar {
    let difference = path.difference.filter(|difference| *difference != 0);
    let by = difference.map_or_else(String::new, |it| format!(" ({})", signed(it)));
    let text = format!("{}{by}", percent(share));
    Bar { name: path.path.clone(), share, mark: None, text }
}

/// How many rows have a bar, and between which limits the others differ.
fn caption(
    bars: usize,
    rows: &[(&PathComparison, f64)],
    others: &[(&PathComparison, f64)],
) -> String {
    let less = others.first().filter(|row| row.1 != 0.0);
    let less = less.map_or_else(String::new, |row| {
        format!(
            "; the others differ by no more than {}",
            percent(row.1.abs()).trim_start_matches('+')
        )
    });
    format!("Largest changes in percent, {bars} of {}{less}.", plural(rows.len(), "row"))
}
