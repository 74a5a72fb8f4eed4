//! What the settings of one kernel cost: a row for each that changes something, the others by what
//! became of them.

use pathmeter_model::{
    PathSum, SettingChange, SettingOutcome, SettingRow, SettingsResult, SettingsSet,
};

use super::bars::{Bar, draw_bars};
use super::changes::lead;
use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use super::window::direction;
use crate::number::{grouped, percent, signed};
use crate::settings::{
    FOLDED, by_how_much, changes, describe_setting, events, format_setting_name, function,
    of_median, setting_beside, share_of_row,
};
use crate::shades::shade;

const HEADINGS: [Heading; 11] = [
    ("price of", "text"),
    ("found with", "text"),
    ("paths", "number"),
    ("most in", "text"),
    ("price", "number"),
    ("percent", "number"),
    ("median", "number"),
    ("function", "text"),
    ("events", "text"),
    ("program", "number"),
    ("set", "text"),
];

pub(super) fn section(result: &SettingsResult, data: &mut Data) -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"note\">Each setting is measured alone, against the kernel as it is. ");
    html.raw("Where it turns something off, that is priced: the kernel as it is less the kernel ");
    html.raw("under the setting, in percent of the latter.</p>").add(&picture(result));
    let of_set = |set: &'_ SettingsSet| -> Vec<Row> {
        let changed = set.rows.iter().filter(|row| row.outcome == SettingOutcome::Changed);
        changed.map(|row| row_of(&set.name, row)).collect()
    };
    let rows = result.sets.iter().flat_map(of_set).collect();
    let caption = "What settings cost, or what they turn off";
    let sheet = Sheet { caption, sorts: true, headings: HEADINGS.to_vec(), rows };
    html.add(&sheet.html(data));
    for set in &result.sets {
        let sign = set.rows.iter().find(|row| row.all).map_or(1, SettingRow::sign);
        html.add(&without_numbers(&set.rows)).add(&sums(&set.sums, sign));
    }
    html
}

/// A bar for each price, the largest of its paths, with the median of all paths as its mark.
fn picture(result: &SettingsResult) -> Html {
    let rows = result.sets.iter().flat_map(|set| &set.rows);
    let bar = |row: &SettingRow| {
        let largest = row.changed.first()?;
        let share = largest.cost().percent;
        let part = percent(share);
        let by = by_how_much(largest);
        let by = if part.is_empty() { by } else { format!("{by} ({part})") };
        let median = row.median_cost().map(|it| format!(", median {}", of_median(it)));
        let text = format!("{by} on {}{}", largest.path, median.unwrap_or_default());
        Some(Bar { name: row.name_priced().to_owned(), share, mark: row.median_cost(), text })
    };
    let mut all: Vec<Bar> = rows.filter_map(bar).collect();
    // Without instructions there is nothing to draw.
    all.retain(|bar| bar.share != 0.0);
    all.sort_by(|one, other| other.share.total_cmp(&one.share));
    draw_bars(
        &all,
        "The largest price of each in percent of a path without it; the line across a bar \
                is the median of all paths.",
    )
}

/// A setting's row, and below it what opens.
fn row_of(set: &str, row: &SettingRow) -> Row {
    let largest = row.changed.first();
    let difference = largest.map_or(0, |change| change.cost().difference);
    let program = row.program.as_ref();
    Row {
        name: row.name_priced().to_owned(),
        anchor: row.setting.clone(),
        unit: None,
        verdict: "",
        cells: vec![
            Cell::text("", setting_beside(row)),
            Cell::number(
                "",
                &row.changed.len(),
                format!("{} of {}", row.changed.len(), row.compared),
            ),
            Cell::text("", largest.map_or("", |change| &change.path)),
            Cell::number(
                direction(difference),
                &difference,
                largest.map(by_how_much).unwrap_or_default(),
            ),
            share(largest.map(|change| (shaded(change), change.cost().percent))),
            median(row.median_cost()),
            Cell::text("where", function(row)),
            Cell::list("events", events(row)),
            share(program.map(|cost| {
                let part = cost.cost().percent;
                (shade(cost.verdict, Some(part)), part)
            })),
            Cell::text("", set),
        ],
        details: Some(details(row)),
    }
}

/// A cell with a share in percent and the colour of it.
fn share(shaded: Option<(&'static str, f64)>) -> Cell {
    let (colour, part) = shaded.unwrap_or_default();
    Cell::number(&format!("shade {colour}"), &part, percent(part))
}

fn median(median: Option<f64>) -> Cell {
    Cell::number("", &median.unwrap_or(0.0), median.map_or_else(String::new, of_median))
}

fn shaded(change: &SettingChange) -> &'static str {
    shade(change.verdict, Some(change.cost().percent))
}

/// What opens: every path that the setting changes, what it does to the program, its source.
fn details(row: &SettingRow) -> Html {
    let mut html = lead(describe_setting(row));
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>Paths that change</caption>");
    let headings =
        ["path", "#price", "#percent", "#as it is", "#under the setting", "other events"];
    html.headings(&headings).raw("<tbody>");
    for change in &row.changed {
        let new = change.base.map(|base| base.saturating_add_signed(change.difference));
        let value = |value: Option<u64>| value.map_or_else(String::new, grouped);
        html.raw("<tr><th scope=\"row\">").name(&change.path).raw("</th>");
        html.figure(&signed(change.cost().difference)).figure(&percent(change.cost().percent));
        html.figure(&value(change.base)).figure(&value(new));
        html.cell(&changes(&change.events, row.sign())).raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    if let Some(cost) = &row.program {
        let most = |share| share_of_row(share, row.sign());
        let share = percent(cost.cost().percent);
        html.raw("<p><b>Program:</b> ").text(&signed(cost.cost().difference));
        html.raw(" instructions (").text(&share).raw("), most in ");
        html.text(&cost.row.as_ref().map_or_else(|| "no single row".to_owned(), most));
        if !cost.events.is_empty() {
            html.raw("; events: ").text(&changes(&cost.events, row.sign()));
        }
        html.raw("</p>");
    }
    html.raw("<p class=\"note\">Source: ").text(&row.source).raw("</p>");
    html
}

/// The settings without numbers, by what became of them.
fn without_numbers(rows: &[SettingRow]) -> Html {
    let mut html = Html::default();
    html.raw("<ul class=\"subjects folded\">");
    for (outcome, heading) in FOLDED {
        let of = rows.iter().filter(|row| row.outcome == outcome);
        let names: Vec<String> = of.map(|row| format_setting_name(row, outcome)).collect();
        if !names.is_empty() {
            html.raw("<li><b>").raw(heading).raw(":</b> ").text(&names.join(", ")).raw("</li>");
        }
    }
    html.raw("</ul>");
    html
}

/// The parts of a set against the setting that stands for all, with the differences times `sign`.
fn sums(sums: &[PathSum], sign: i64) -> Html {
    let mut html = Html::default();
    if sums.is_empty() {
        return html;
    }
    html.raw("<details><summary>The parts of the set, added up, against all at once</summary>");
    html.raw("<div class=\"scroll\"><table class=\"small\">");
    html.headings(&["path", "#parts", "#all at once", "#left over"]).raw("<tbody>");
    for sum in sums {
        html.raw("<tr><th scope=\"row\">").name(&sum.path).raw("</th>");
        for difference in [sum.parts, sum.all, sum.left_over] {
            html.figure(&signed(difference.saturating_mul(sign)));
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></details>");
    html
}
