//! Two subjects: every path, the worst change first, with the functions that changed it.

use pathmeter_model::{Comparison, FunctionChange, Measurement, PathComparison, SideInfo, Verdict};
use pathmeter_trace::Explain;

use super::causes;
use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet, other_unit};
use super::window::{direction, explanation, place, place_in_row, places_in_row, places_of};
use crate::causes::origin;
use crate::comparison::{MANY_VALUES, SEVERAL_VALUES, change};
use crate::explain::beside_row;
use crate::measured_with::{doubt, measured_with, of_sides};
use crate::number::{at_least, grouped, percent, signed};
use crate::severity::{most_changed_first, rank, word, worst_first};
use crate::shades::shade;

/// Functions of a row of a program that its details have.
const MOST_FUNCTIONS: usize = 15;

const HEADINGS: [Heading; 8] = [
    ("path", "text"),
    ("base", "number"),
    ("new", "number"),
    ("difference", "number"),
    ("percent", "number"),
    ("most in", "text"),
    ("other events", "text"),
    ("verdict", "number"),
];

pub(super) fn section(comparison: &Comparison, explanations: &[Explain], data: &mut Data) -> Html {
    let mut html = Html::default();
    html.add(&lead(origin(comparison))).add(&sides(comparison));
    html.add(&note_measured_with(of_sides(&comparison.base, &comparison.new)));
    html.add(&warn_of_differences(comparison));
    html.add(&causes::picture(comparison)).add(&causes::table(comparison, data));
    html.add(&tally(comparison));
    let (sorted, caption) = match comparison.program {
        Some(_) => (most_changed_first(&comparison.paths), "Rows, the most instructions first"),
        None => (worst_first(&comparison.paths), "Paths, the worst change first"),
    };
    let rows = sorted.into_iter().map(|path| {
        let explain = explanations.iter().find(|explain| explain.path == path.path);
        row(path, explain, data)
    });
    let (rows, mut headings) = (rows.collect(), HEADINGS.to_vec());
    if comparison.program.is_some() {
        headings[0].0 = "row";
    }
    let sheet = Sheet { caption, sorts: true, headings, rows };
    html.add(&sheet.html(data));
    if comparison.paths.iter().any(PathComparison::is_many_valued) {
        html.raw("<p class=\"note\">").text(SEVERAL_VALUES).raw("</p>");
    }
    html
}

/// A sentence that goes on where the headline ends.
pub(super) fn lead(text: Option<String>) -> Html {
    let mut html = Html::default();
    if let Some(text) = text {
        html.raw("<p class=\"lead\">").text(&text).raw("</p>");
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

/// A note for each line, which says what one side or result was measured with.
pub(super) fn note_measured_with(lines: Vec<String>) -> Html {
    let mut html = Html::default();
    for line in lines {
        html.raw("<p class=\"note\">Measured with ").text(&line).raw(".</p>");
    }
    html
}

/// Lists each configuration that results were measured with once. If there are several, each has
/// the names of its results.
pub(super) fn of_results<'a>(results: impl IntoIterator<Item = &'a Measurement>) -> Html {
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    for result in results {
        let with = measured_with(&result.configuration.measured_with());
        let name = result.subject.name.as_str();
        match ways.iter_mut().find(|(way, _)| *way == with) {
            Some((_, names)) => names.push(name),
            None => ways.push((with, vec![name])),
        }
    }
    let is_one = ways.len() == 1;
    let text = |(with, names): &(String, Vec<&str>)| {
        if is_one { with.clone() } else { format!("{with} ({})", names.join(", ")) }
    };
    note_measured_with(ways.iter().map(text).collect())
}

/// A warning that lists where the configurations of the two sides differ.
fn warn_of_differences(comparison: &Comparison) -> Html {
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

/// A path's row, and what opens below it.
fn row(path: &PathComparison, explain: Option<&Explain>, data: &mut Data) -> Row {
    let difference = explain.and_then(|explain| explain.difference.as_ref());
    let named = difference.map_or_else(|| place_in_row(&path.functions), place);
    let mut cells = values(path);
    cells.push(Cell::list("where", named));
    cells.push(match &path.reason {
        Some(reason) => Cell::text("events", reason),
        None => Cell::list("events", shown_events(path)),
    });
    cells.push(Cell::ranked("verdict", &rank(path.verdict), word(path.verdict)));
    Row {
        name: path.path.clone(),
        anchor: path.path.clone(),
        unit: path.base.or(path.new).and_then(|_| other_unit(path.unit)),
        verdict: word(path.verdict),
        cells,
        details: details(path, explain, data),
    }
}

/// Base, new, difference and percent.
fn values(path: &PathComparison) -> Vec<Cell> {
    let side = |value: Option<u64>, bound, values| {
        let sign = if values > 1 { MANY_VALUES.to_string() } else { String::new() };
        let text = value.map_or_else(String::new, |value| sign + &at_least(value, bound));
        Cell::number("", &value.unwrap_or(0), text)
    };
    let difference = path.difference.unwrap_or_default();
    let changed = path.difference.map_or_else(String::new, signed);
    let part = path.percent.map_or_else(String::new, percent);
    let shade = format!("shade {}", shade(path.verdict, path.percent));
    vec![
        side(path.base, path.base_at_least, path.base_values),
        side(path.new, path.new_at_least, path.new_values),
        Cell::number(direction(difference), &difference, change(path, &changed)),
        Cell::number(&shade, &path.percent.unwrap_or(0.0), change(path, &part)),
    ]
}

/// The other events that differ, each with its difference.
fn shown_events(path: &PathComparison) -> String {
    let texts =
        path.shown_events().map(|event| format!("{} {}", event.event, signed(event.difference)));
    texts.collect::<Vec<_>>().join(", ")
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
        html.add(&events_table(path, explain));
    }
    if let Some(moved) = path.moved.filter(|moved| moved.functions > 0) {
        html.raw("<p><b>Placement:</b> ").number(moved.functions as u64).raw(" of ");
        html.number(moved.of as u64);
        html.raw(" functions begin at another place in their line of 64 bytes.</p>");
    }
    let changed = !matches!(path.verdict, Verdict::Same | Verdict::Unsupported | Verdict::Broken);
    let functions: Vec<&FunctionChange> =
        path.functions.iter().filter(|one| one.has_moved()).collect();
    if !functions.is_empty() {
        html.add(&functions_table(&functions));
    } else if changed && explain.is_none() && path.functions.is_empty() {
        html.raw("<p class=\"note\">These documents do not show which functions changed it: ");
        html.raw(match path.work {
            Some(_) => "<code>pathmeter run --explain</code> names them.</p>",
            None => "make the report of the two kernels.</p>",
        });
    }
    (!html.as_str().is_empty()).then_some(html)
}

/// The functions in which a row of a program differs.
fn functions_table(functions: &[&FunctionChange]) -> Html {
    let mut html = Html::default();
    html.raw(
        "<div class=\"scroll\"><table class=\"small\"><caption>Functions that differ, in one ",
    );
    html.raw("run of each side</caption>");
    html.headings(&["function", "#base", "#new", "#difference", "#calls"]).raw("<tbody>");
    for one in functions.iter().take(MOST_FUNCTIONS) {
        html.raw("<tr><th scope=\"row\">").name(&one.function).raw("</th>");
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

fn events_table(path: &PathComparison, explain: Option<&Explain>) -> Html {
    let mut html = Html::default();
    let difference = explain.and_then(|explain| explain.difference.as_ref());
    let in_row = path.functions.iter().any(|function| !function.events.is_empty());
    html.raw("<div class=\"scroll\"><table class=\"small\"><caption>Events that differ</caption>");
    let headings = ["event", "#base", "#new", "#difference", "changed in"];
    // Of which functions an event is, a recording tells, or the functions of a row.
    let columns = if difference.is_some() || in_row { 5 } else { 4 };
    html.headings(&headings[..columns]).raw("<tbody>");
    for event in &path.events {
        html.raw("<tr><th scope=\"row\">").text(&event.event).raw("</th>");
        html.figure(&at_least(event.base, false)).figure(&at_least(event.new, false));
        html.figure(&signed(event.difference));
        if let Some(difference) = difference {
            html.cell(&places_of(difference, &event.event));
        } else if in_row {
            html.cell(&places_in_row(&path.functions, &event.event));
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    html
}
