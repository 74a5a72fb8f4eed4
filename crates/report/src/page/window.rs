//! Functions of a recorded window, or of the difference between two, and the place of its flame
//! graph.

use std::cmp::Reverse;

use pathmeter_model::FunctionChange;
use pathmeter_trace::{
    Change, Difference, Event, Explain, Function, FunctionDifference, Side, SubjectWindow,
    WindowTree,
};

use super::data::Data;
use super::html::Html;
use crate::number::{grouped, share, signed};

/// Most functions that a table has; the others are summed.
const MOST_FUNCTIONS: usize = 15;
/// Most functions that are named in a line of a table of events.
const MOST_NAMED: usize = 3;

/// The table of functions and the flame graph.
pub(super) fn explanation(explain: &Explain, data: &mut Data) -> Html {
    let mut html = Html::default();
    if let (Some(new), Some(difference)) = (&explain.new, &explain.difference) {
        html.add(&differing(&explain.base, new, difference));
        html.add(&graph(data.difference(difference), true));
    } else {
        html.add(&profile(&explain.base));
        html.add(&graph(data.window(&explain.base.window), false));
    }
    html
}

/// The figure in which the script draws the call tree.
fn graph(flame: usize, two: bool) -> Html {
    let mut html = Html::default();
    html.raw("<figure class=\"flame\" data-flame=\"").number(flame as u64).raw("\"><figcaption>");
    html.raw(if two {
        "Call tree: a box is as wide as the larger of the two sides. \
         <span class=\"key more\">executes more itself</span> \
         <span class=\"key less\">less</span> <span class=\"key\">the same, or only moved</span>"
    } else {
        "Call tree: a box is as wide as what it executes with all that it calls."
    });
    html.raw("</figcaption><noscript><p>The call tree is drawn by a script.</p></noscript>");
    html.raw("</figure>");
    html
}

/// The functions that differ, those first that differ most; one row for the rest.
fn differing(base: &SubjectWindow, new: &SubjectWindow, difference: &Difference) -> Html {
    let mut html = Html::default();
    let functions = &difference.functions;
    let changed = functions.iter().filter(|function| function.difference != 0).count();
    let shown = changed.min(MOST_FUNCTIONS);
    html.raw("<div class=\"scroll\"><table class=\"small\">");
    html.raw("<caption>Functions, by the instructions that they execute themselves</caption>");
    html.headings(&["function", "#base", "#new", "#difference", "other events"]);
    html.raw("<tbody>");
    for function in &functions[..shown] {
        let sides = [&function.base, &function.new].map(|side| executed(side.as_ref()));
        let name = format_function_name(function);
        row(&mut html, &name, sides, function.difference, &events(function));
    }
    if changed > shown {
        let rest = &functions[shown..changed];
        let name = format!("{} more that differ", rest.len());
        sum_row(&mut html, &name, rest);
    }
    if functions.len() > changed {
        let name = format!("{} that execute as many", functions.len() - changed);
        sum_row(&mut html, &name, &functions[changed..]);
    }
    row(&mut html, "total", [base.window.total, new.window.total], difference.total, "");
    html.raw("</tbody></table></div>");
    html.add(&moved(difference));
    html
}

fn executed(side: Option<&Side>) -> u64 {
    side.map_or(0, |side| side.counts.instructions)
}

fn sum_row(html: &mut Html, name: &str, functions: &[FunctionDifference]) {
    let sum = |side: fn(&FunctionDifference) -> &Option<Side>| {
        functions.iter().map(|function| executed(side(function).as_ref())).sum()
    };
    let difference = functions.iter().map(|function| function.difference).sum();
    row(html, name, [sum(|it| &it.base), sum(|it| &it.new)], difference, "");
}

fn row(html: &mut Html, name: &str, [base, new]: [u64; 2], difference: i64, events: &str) {
    html.raw("<tr><th scope=\"row\">").name(name).raw("</th>");
    html.figure(&grouped(base)).figure(&grouped(new));
    html.raw("<td class=\"n ").raw(direction(difference)).raw("\">").text(&signed(difference));
    html.raw("</td>").cell(events).raw("</tr>");
}

/// The class of a difference.
pub(super) fn direction(difference: i64) -> &'static str {
    match difference {
        ..0 => "less",
        0 => "",
        1.. => "more",
    }
}

fn format_function_name(function: &FunctionDifference) -> String {
    match function.change {
        Change::Appeared => format!("{} (new)", function.name),
        Change::Vanished => format!("{} (gone)", function.name),
        _ => function.name.clone(),
    }
}

/// `lfence +1, data-lines +3`: what costs by itself.
fn events(function: &FunctionDifference) -> String {
    use pathmeter_trace::Role::{Cost, Footprint};
    let costly =
        function.events.iter().filter(|(event, _)| matches!(event.role(), Cost | Footprint));
    let texts = costly.map(|(event, difference)| format!("{event} {}", signed(*difference)));
    texts.collect::<Vec<_>>().join(", ")
}

/// The functions that execute as much and stand elsewhere.
fn moved(difference: &Difference) -> Html {
    let mut html = Html::default();
    let mut moved: Vec<&FunctionDifference> =
        difference.functions.iter().filter(|function| function.moved).collect();
    moved.sort_by_key(|function| Reverse(executed(function.new.as_ref())));
    if moved.is_empty() {
        return html;
    }
    let names: Vec<String> =
        moved.iter().take(MOST_FUNCTIONS).map(|it| format_moved_entry(it)).collect();
    let rest = moved.len() - names.len();
    let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    html.raw("<p><b>Moved, nothing else changed:</b> ").text(&names.join(", ")).text(&rest);
    html.raw("</p>");
    html
}

/// `schedule (0 → 16)`, by the place of its entry in its line.
fn format_moved_entry(function: &FunctionDifference) -> String {
    let entry = |side: &Option<Side>| side.as_ref().and_then(|side| side.entry_in_line);
    match (entry(&function.base), entry(&function.new)) {
        (Some(base), Some(new)) if base != new => format!("{} ({base} → {new})", function.name),
        _ => function.name.clone(),
    }
}

/// The functions of one window, those first that execute most.
fn profile(subject: &SubjectWindow) -> Html {
    let mut html = Html::default();
    let window = &subject.window;
    let mut functions: Vec<&Function> =
        window.functions.iter().filter(|function| function.counts.instructions > 0).collect();
    functions.sort_by_key(|function| Reverse(function.counts.instructions));
    html.raw("<div class=\"scroll\"><table class=\"small\">");
    html.raw("<caption>Functions, by the instructions that they execute themselves</caption>");
    html.headings(&["function", "#instructions", "#share"]);
    html.raw("<tbody>");
    let mut line = |name: &str, instructions: u64| {
        html.raw("<tr><th scope=\"row\">").name(name).raw("</th>");
        html.figure(&grouped(instructions)).figure(&share(instructions, window.total));
        html.raw("</tr>");
    };
    let shown = functions.len().min(MOST_FUNCTIONS);
    for function in &functions[..shown] {
        line(&function.name, function.counts.instructions);
    }
    if functions.len() > shown {
        let rest = functions[shown..].iter().map(|function| function.counts.instructions).sum();
        line(&format!("{} more", functions.len() - shown), rest);
    }
    line("total", window.total);
    html.raw("</tbody></table></div>");
    html
}

/// Where most of a difference is: `finish_task_switch +34`.
pub(super) fn place(difference: &Difference) -> String {
    let first = difference.functions.first().filter(|function| function.difference != 0);
    first.map_or_else(String::new, |it| format!("{} {}", it.name, signed(it.difference)))
}

/// The same of a row of a program.
pub(super) fn place_in_row(functions: &[FunctionChange]) -> String {
    let first = functions.first().filter(|function| function.difference != 0);
    first.map_or_else(String::new, |it| format!("{} {}", it.function, signed(it.difference)))
}

/// The functions that have more or less of an event, those first that differ most.
pub(super) fn places_of(difference: &Difference, event: &str) -> String {
    let Some(event) = Event::from_name(event) else { return String::new() };
    let change =
        |it: &'_ FunctionDifference| it.events.get(&event).map(|change| (it.name.clone(), *change));
    let mut changed: Vec<(String, i64)> = difference.functions.iter().filter_map(change).collect();
    changed.sort_by_key(|(_, change)| Reverse(change.unsigned_abs()));
    format_changes(changed.iter().map(|(name, change)| (name.as_str(), *change)))
}

/// The functions of a row of a program that have more or less of an event, those first that differ
/// most.
pub(super) fn places_in_row(functions: &[FunctionChange], event: &str) -> String {
    let Some(event) = Event::from_name(event) else { return String::new() };
    let change = |it: &'_ FunctionChange| Some((it.function.clone(), *it.events.get(&event)?));
    let mut changed: Vec<(String, i64)> = functions.iter().filter_map(change).collect();
    changed.sort_by_key(|(_, change)| Reverse(change.unsigned_abs()));
    format_changes(changed.iter().map(|(name, change)| (name.as_str(), *change)))
}

fn format_changes<'a>(changes: impl Iterator<Item = (&'a str, i64)>) -> String {
    let changes: Vec<(&str, i64)> = changes.collect();
    let texts = changes.iter().take(MOST_NAMED);
    let texts: Vec<String> =
        texts.map(|(name, change)| format!("{name} {}", signed(*change))).collect();
    let rest = changes.len() - texts.len();
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    texts.join(", ") + &rest
}

/// Where most of a window is: `do_syscall_64 12.0 %`.
pub(super) fn place_in_window(window: &WindowTree) -> String {
    let most = window.functions.iter().max_by_key(|function| function.counts.instructions);
    let text =
        |it: &Function| format!("{} {}", it.name, share(it.counts.instructions, window.total));
    most.map_or_else(String::new, text)
}
