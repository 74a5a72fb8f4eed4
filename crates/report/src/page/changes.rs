//! Two subjects: every path, the worst change first, with the functions that changed it.

use pathmeter_model::{
    Comparison, EventComparison, FunctionChange, PathComparison, SideInfo, Verdict,
};
use pathmeter_trace::Explain;

use super::causes;
use super::data::Data;
use super::html::Html;
use super::severity::{rank, word, worst_first};
use super::window::{direction, explanation, places, places_of, places_of_row};
use crate::comparison::{MANY_VALUES, SEVERAL_VALUES, change};
use crate::explain::beside_row;
use crate::measured_with::{doubt, of_sides};
use crate::number::{at_least, grouped, percent, signed};
use crate::shades::shade;

/// Functions of a row of a program that its details have.
const MOST_FUNCTIONS: usize = 15;

const HEADINGS: [(&str, &str); 8] = [
    ("path", "text"),
    ("base", "number"),
    ("new", "number"),
    ("difference", "number"),
    ("percent", "number"),
    ("changed in", "text"),
    ("other events", "text"),
    ("verdict", "number"),
];

/// The section's body. `number` is its place on the page, for the names of its elements.
pub(super) fn section(
    comparison: &Comparison,
    explanations: &[Explain],
    number: usize,
    data: &mut Data,
) -> Html {
    let mut html = Html::default();
    html.add(&sides(comparison));
    html.add(&across(comparison));
    html.add(&causes::table(comparison)).add(&causes::picture(comparison));
    html.add(&measured(of_sides(&comparison.base, &comparison.new)));
    html.add(&tally(comparison));
    html.raw("<div class=\"tablebox\">").add(&filter());
    html.raw("<table class=\"paths sortable\"><caption class=\"sr\">Paths, the worst change first");
    html.raw("</caption>").add(&sortable(&HEADINGS));
    for (place, path) in worst_first(&comparison.paths).into_iter().enumerate() {
        let explain = explanations.iter().find(|explain| explain.path == path.path);
        html.add(&rows(path, explain, (number, place), data));
    }
    html.raw("</table></div>");
    if comparison.paths.iter().any(PathComparison::is_many_valued) {
        html.raw("<p class=\"note\">").text(SEVERAL_VALUES).raw("</p>");
    }
    html
}

/// Which two kernels are compared.
fn sides(comparison: &Comparison) -> Html {
    let mut html = Html::default();
    html.raw("<dl class=\"sides\">");
    for (heading, side) in [("base", &comparison.base), ("new", &comparison.new)] {
        let SideInfo { name, release, .. } = side;
        html.raw("<div><dt>").text(heading).raw("</dt><dd>");
        html.raw("<b>").text(release.as_deref().unwrap_or(name)).raw("</b> ");
        html.raw("<span class=\"file\">").text(name).raw("</span>");
        if let Some(doubt) = side.measured_with.as_ref().and_then(doubt) {
            html.raw(" ").text(&doubt);
        }
        html.raw("</dd></div>");
    }
    html.raw("</dl>");
    html
}

/// What was measured with what.
pub(super) fn measured(lines: Vec<String>) -> Html {
    let mut html = Html::default();
    for line in lines {
        html.raw("<p class=\"note\">Measured with ").text(&line).raw(".</p>");
    }
    html
}

/// In what else the two were measured differently.
fn across(comparison: &Comparison) -> Html {
    let differences = comparison.configuration_differences.iter();
    warning(differences.map(ToString::to_string).collect())
}

/// What must be known before any number is believed; nothing if there is nothing.
pub(super) fn warning(lines: Vec<String>) -> Html {
    let mut html = Html::default();
    if lines.is_empty() {
        return html;
    }
    html.raw("<div class=\"warning\" role=\"note\"><p><b>Measured differently.</b> These results ");
    html.raw("differ in more than the kernel, so a difference may not be the kernel's.</p><ul>");
    for line in lines {
        html.raw("<li>").text(&line).raw("</li>");
    }
    html.raw("</ul></div>");
    html
}

/// How many paths have each verdict: buttons that show these alone.
fn tally(comparison: &Comparison) -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"chips\" role=\"group\" aria-label=\"show paths by verdict\">");
    for verdict in Verdict::ALL {
        let count = comparison.summary.count(verdict);
        if count == 0 {
            continue;
        }
        html.raw("<button type=\"button\" class=\"chip ").raw(word(verdict));
        html.raw("\" data-verdict=\"").raw(word(verdict)).raw("\" aria-pressed=\"false\">");
        html.number(count as u64).raw(" ").raw(word(verdict)).raw("</button> ");
    }
    html.raw("</p>");
    html
}

/// The field by which a table is filtered.
pub(super) fn filter() -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"filter\"><label>Filter <input type=\"search\" ");
    html.raw("placeholder=\"path or function\"></label> ");
    html.raw("<output aria-live=\"polite\"></output></p>");
    html
}

/// Headings by which a table is sorted.
pub(super) fn sortable(headings: &[(&'static str, &'static str)]) -> Html {
    let mut html = Html::default();
    html.raw("<thead><tr>");
    for (heading, kind) in headings {
        html.raw("<th scope=\"col\" data-kind=\"").raw(kind).raw("\"><button type=\"button\">");
        html.raw(heading).raw("</button></th>");
    }
    html.raw("</tr></thead>");
    html
}

/// A path's row, and below it what opens.
fn rows(
    path: &PathComparison,
    explain: Option<&Explain>,
    place: (usize, usize),
    data: &mut Data,
) -> Html {
    let details = details(path, explain, data);
    let difference = explain.and_then(|explain| explain.difference.as_ref());
    let mut html = Html::default();
    html.raw("<tbody class=\"").raw(word(path.verdict)).raw("\" data-verdict=\"");
    html.raw(word(path.verdict)).raw("\"><tr>");
    html.add(&opener(&path.path, details.is_some(), place));
    value_cells(&mut html, path);
    difference_cells(&mut html, path);
    html.raw("<td class=\"where\" data-label=\"in\">");
    let named = difference.map_or_else(|| places_of_row(&path.functions), places);
    html.text(&named).raw("</td>");
    html.raw("<td class=\"events\" data-label=\"events\">").add(&shown_events(path)).raw("</td>");
    html.raw("<td class=\"verdict\" data-value=\"").number(rank(path.verdict)).raw("\">");
    html.raw(word(path.verdict)).raw("</td></tr>");
    if let Some(details) = details {
        html.raw("<tr class=\"detail\" id=\"").add(&id(place)).raw("\"><td colspan=\"8\">");
        html.add(&details).raw("</td></tr>");
    }
    html.raw("</tbody>");
    html
}

fn value_cells(html: &mut Html, path: &PathComparison) {
    let base = ("base", path.base, path.base_at_least, path.base_values);
    let new = ("new", path.new, path.new_at_least, path.new_values);
    for (label, value, bound, values) in [base, new] {
        let sign = if values > 1 { MANY_VALUES.to_string() } else { String::new() };
        let text = value.map_or_else(String::new, |value| sign + &at_least(value, bound));
        html.raw("<td class=\"n\" data-label=\"").raw(label).raw("\" data-value=\"");
        html.number(value.unwrap_or(0)).raw("\">").text(&text).raw("</td>");
    }
}

fn difference_cells(html: &mut Html, path: &PathComparison) {
    let changed = path.difference.map_or_else(String::new, signed);
    html.raw("<td class=\"n ").raw(direction(path.difference.unwrap_or_default()));
    html.raw("\" data-label=\"difference\" data-value=\"").number(path.difference.unwrap_or(0));
    html.raw("\">").text(&change(path, &changed)).raw("</td>");
    let part = path.percent.map_or_else(String::new, percent);
    html.raw("<td class=\"n shade ").raw(shade(path.verdict, path.percent));
    html.raw("\" data-label=\"percent\" data-value=\"");
    html.text(&path.percent.unwrap_or(0.0).to_string());
    html.raw("\">").text(&change(path, &part)).raw("</td>");
}

/// The name of a row's details: by the places of section and row.
pub(super) fn id((section, row): (usize, usize)) -> Html {
    let mut html = Html::default();
    html.raw("s").number(section as u64).raw("r").number(row as u64);
    html
}

/// The path's name, as a button if there is something to open.
pub(super) fn opener(path: &str, opens: bool, place: (usize, usize)) -> Html {
    let mut html = Html::default();
    html.raw("<th scope=\"row\">");
    if opens {
        html.raw("<button type=\"button\" class=\"open\" aria-expanded=\"true\" aria-controls=\"");
        html.add(&id(place)).raw("\">").text(path).raw("</button>");
    } else {
        html.raw("<span class=\"open\">").text(path).raw("</span>");
    }
    html.raw("</th>");
    html
}

/// Why there is no verdict, or which other events differ. Of many, the style sheet shows as many as
/// have room in a row, since all of them are in the table that the row opens.
fn shown_events(path: &PathComparison) -> Html {
    let mut html = Html::default();
    if let Some(reason) = &path.reason {
        html.text(reason);
        return html;
    }
    let texts =
        path.shown_events().map(|event| format!("{} {}", event.event, signed(event.difference)));
    let texts: Vec<String> = texts.collect();
    if !texts.is_empty() {
        html.raw("<span class=\"some\">").text(&texts.join(", ")).raw("</span>");
    }
    html
}

/// What opens below a row; nothing if there is nothing more to know.
fn details(path: &PathComparison, explain: Option<&Explain>, data: &mut Data) -> Option<Html> {
    let mut html = Html::default();
    if let Some(explain) = explain {
        html.add(&explanation(explain, data));
        for sentence in beside_row(explain, path) {
            html.raw("<p class=\"note\">").text(&sentence).raw(".</p>");
        }
    }
    if !path.events.is_empty() {
        html.add(&events_table(&path.events, explain));
    }
    if let Some(moved) = path.moved.filter(|moved| moved.functions > 0) {
        html.raw("<p><b>Placement:</b> ").number(moved.functions as u64).raw(" of ");
        html.number(moved.of as u64);
        html.raw(" functions begin at another place in their line of 64 bytes.</p>");
    }
    let changed = !matches!(path.verdict, Verdict::Same | Verdict::Unsupported | Verdict::Broken);
    if !path.functions.is_empty() {
        html.add(&functions_table(&path.functions));
    } else if changed && explain.is_none() {
        html.raw(
            "<p class=\"note\">Which functions changed it is not known from these documents: ",
        );
        html.raw(match path.work {
            Some(_) => "<code>pathmeter run --explain</code> names them.</p>",
            None => "make the report of the two kernels.</p>",
        });
    }
    (!html.as_str().is_empty()).then_some(html)
}

/// The functions in which a row of a program differs.
fn functions_table(functions: &[FunctionChange]) -> Html {
    let mut html = Html::default();
    html.raw(
        "<div class=\"scroll\"><table class=\"small\"><caption>Functions that differ, in one ",
    );
    html.raw("run of each side</caption>");
    html.headings(&["function", "#base", "#new", "#difference", "#calls"]).raw("<tbody>");
    for one in functions.iter().take(MOST_FUNCTIONS) {
        html.raw("<tr><th scope=\"row\">").text(&one.function).raw("</th>");
        html.figure(&grouped(one.base)).figure(&grouped(one.new)).figure(&signed(one.difference));
        html.figure(&match (one.base_calls, one.new_calls) {
            (base, new) if base == new => grouped(base),
            (base, new) => format!("{} → {}", grouped(base), grouped(new)),
        });
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    if let Some(more) = functions.len().checked_sub(MOST_FUNCTIONS).filter(|more| *more > 0) {
        html.raw("<p class=\"note\">").number(more as u64).raw(" more functions differ.</p>");
    }
    html
}

fn events_table(events: &[EventComparison], explain: Option<&Explain>) -> Html {
    let mut html = Html::default();
    let difference = explain.and_then(|explain| explain.difference.as_ref());
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>Events that differ</caption>");
    let headings = ["event", "#base", "#new", "#difference", "changed in"];
    // Of which functions an event is, only a recording tells.
    let columns = if difference.is_some() { 5 } else { 4 };
    html.headings(&headings[..columns]).raw("<tbody>");
    for event in events {
        html.raw("<tr><th scope=\"row\">").text(&event.event).raw("</th>");
        html.figure(&at_least(event.base, false)).figure(&at_least(event.new, false));
        html.figure(&signed(event.difference));
        if let Some(difference) = difference {
            html.cell(&places_of(difference, &event.event));
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    html
}
