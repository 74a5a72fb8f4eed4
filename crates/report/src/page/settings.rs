//! What the settings of one kernel cost: a row for each that changes something, the others by what
//! became of them.

use pathmeter_model::{
    PathSum, SettingChange, SettingOutcome, SettingRow, SettingsResult, SettingsSet,
};

use super::changes::lead;
use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use super::window::direction;
use crate::number::{grouped, percent, plural, signed};
use crate::settings::{FOLDED, by_how_much, changes, events, function, named, share_of_row, told};
use crate::shades::shade;

const HEADINGS: [Heading; 9] = [
    ("setting", "text"),
    ("paths", "number"),
    ("largest change in", "text"),
    ("difference", "number"),
    ("percent", "number"),
    ("function", "text"),
    ("events", "text"),
    ("program", "number"),
    ("set", "text"),
];

/// `9 of 15 settings change what 6.1.0 executes on skylake: boot:nopti most, getcpu.syscall -8
/// instructions (-2.80 %)`.
pub(super) fn headline(result: &SettingsResult) -> String {
    let rows = || result.sets.iter().flat_map(|set| &set.rows);
    let name = result.base.release.as_ref().unwrap_or(&result.base.name);
    let changed = || rows().filter(|row| row.outcome == SettingOutcome::Changed);
    let of = format!("{} of {}", changed().count(), plural(rows().count(), "setting"));
    let largest = changed().filter_map(|row| Some((row, row.changed.first()?)));
    let largest =
        largest.max_by(|(_, one), (_, other)| one.percent.abs().total_cmp(&other.percent.abs()));
    let most = largest.map_or_else(String::new, |(row, change)| {
        let share = percent(change.percent);
        let share = if share.is_empty() { share } else { format!(" instructions ({share})") };
        format!(": {} most, {} {}{share}", row.setting, change.path, by_how_much(change))
    });
    format!("{of} change what {name} executes on {}{most}.", cpu(result))
}

/// The profile's name, or QEMU's text.
fn cpu(result: &SettingsResult) -> &str {
    let cpu = result.configuration.cpu.as_str();
    cpu.split_once(": ").map_or(cpu, |(profile, _)| profile)
}

/// The section's body.
pub(super) fn section(result: &SettingsResult, data: &mut Data) -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"note\">Each setting is measured alone, against the default.</p>");
    let of_set = |set: &'_ SettingsSet| -> Vec<Row> {
        let changed = set.rows.iter().filter(|row| row.outcome == SettingOutcome::Changed);
        changed.map(|row| row_of(&set.name, row)).collect()
    };
    let rows = result.sets.iter().flat_map(of_set).collect();
    let caption = "Settings that change something";
    let sheet = Sheet { caption, sorts: true, headings: HEADINGS.to_vec(), rows };
    html.add(&sheet.html(data));
    for set in &result.sets {
        html.add(&without_numbers(&set.rows)).add(&sums(&set.sums));
    }
    html
}

/// A setting's row, and below it what opens.
fn row_of(set: &str, row: &SettingRow) -> Row {
    let largest = row.changed.first();
    let difference = largest.map_or(0, |change| change.difference);
    let program = row.program.as_ref();
    Row {
        name: row.setting.clone(),
        anchor: row.setting.clone(),
        unit: None,
        verdict: "",
        cells: vec![
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
            share(largest.map(|change| (shaded(change), change.percent))),
            Cell::text("where", function(row)),
            Cell::list("events", events(row)),
            share(program.map(|cost| (shade(cost.verdict, Some(cost.percent)), cost.percent))),
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

fn shaded(change: &SettingChange) -> &'static str {
    shade(change.verdict, Some(change.percent))
}

/// What opens: every path that the setting changes, what it does to the program, its source.
fn details(row: &SettingRow) -> Html {
    let mut html = lead(told(row));
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>Paths that change</caption>");
    let headings = ["path", "#difference", "#percent", "#default", "#with it", "other events"];
    html.headings(&headings).raw("<tbody>");
    for change in &row.changed {
        let new = change.base.map(|base| base.saturating_add_signed(change.difference));
        let value = |value: Option<u64>| value.map_or_else(String::new, grouped);
        let others: Vec<String> = change
            .events
            .iter()
            .map(|event| format!("{} {}", event.event, signed(event.difference)))
            .collect();
        html.raw("<tr><th scope=\"row\">").text(&change.path).raw("</th>");
        html.figure(&signed(change.difference)).figure(&percent(change.percent));
        html.figure(&value(change.base)).figure(&value(new));
        html.cell(&others.join(", ")).raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    if let Some(cost) = &row.program {
        html.raw("<p><b>Program:</b> ").text(&signed(cost.difference)).raw(" instructions of ");
        html.text(&grouped(cost.base)).raw(", most in ");
        html.text(&cost.row.as_ref().map_or_else(|| "no single row".to_owned(), share_of_row));
        if !cost.events.is_empty() {
            html.raw("; events: ").text(&changes(&cost.events));
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
        let names: Vec<String> = of.map(|row| named(row, outcome)).collect();
        if !names.is_empty() {
            html.raw("<li><b>").raw(heading).raw(":</b> ").text(&names.join(", ")).raw("</li>");
        }
    }
    html.raw("</ul>");
    html
}

/// The parts of a set against the setting that stands for all.
fn sums(sums: &[PathSum]) -> Html {
    let mut html = Html::default();
    if sums.is_empty() {
        return html;
    }
    html.raw("<details><summary>The parts of the set, added up, against all at once</summary>");
    html.raw("<div class=\"scroll\"><table class=\"small\">");
    html.headings(&["path", "#parts", "#all at once", "#left over"]).raw("<tbody>");
    for sum in sums {
        html.raw("<tr><th scope=\"row\">").text(&sum.path).raw("</th>");
        html.figure(&signed(sum.parts)).figure(&signed(sum.all)).figure(&signed(sum.left_over));
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></details>");
    html
}
