//! Paths over results as SVG: one file without scripts or fonts of its own, light or dark as the
//! reader's system is. Everything that came from outside is escaped.

use std::fmt::Write;

use pathmeter_model::{History, KeptResult, PathHistory, Point, Status, Unit};

use super::amount::{amount, word};
use super::{COMMIT_DIGITS, day};
use crate::largest_step::{find_largest_step, larger_of};
use crate::number::percent;
use crate::xml::escaped;

const WIDTH: u64 = 960;
/// Of one path's drawing, with its heading and its dates.
const PANEL: u64 = 220;
const LEFT: u64 = 110;
const RIGHT: u64 = 30;
const TOP: u64 = 46;
const BOTTOM: u64 = 40;
/// Above the first drawing, and below the last.
const MARGIN: u64 = 10;
/// With no more results than this each has a dot; with more, those at which the value changes.
const MOST_DOTS: usize = 300;

const CSS: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#1b1f24;--dim:#59636e;--grid:#d1d9e0;\
--line:#0b5cad;--band:#0b5cad33;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--back:#14181d;--ink:#e6edf3;--dim:#9aa5b1;\
--grid:#353c45;--line:#6cb6ff;--band:#6cb6ff33;--bad:#ff8a80}}\
svg{background:var(--back)}text{font:13px system-ui,sans-serif;fill:var(--dim)}\
.name{font-weight:600;font-size:15px;fill:var(--ink)}.grid{stroke:var(--grid)}\
.line{fill:none;stroke:var(--line);stroke-width:2}.band{fill:var(--band)}\
.step{fill:var(--grid);opacity:.5}.dot{fill:var(--line)}\
.bad{stroke:var(--bad);stroke-width:2;fill:none}";

/// A drawing for each path, one below the other.
pub fn history_svg(history: &History) -> String {
    let history = &history.by_series();
    let height = PANEL * history.paths.len() as u64 + 2 * MARGIN;
    let names: Vec<&str> = history.paths.iter().map(|path| path.path.as_str()).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{}</title>\n\
         <style>{CSS}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--back)\"/>\n",
        escaped(&format!("{} over {} results", names.join(", "), history.results.len())),
    );
    for (number, path) in (0_u64..).zip(&history.paths) {
        let _ = writeln!(svg, "<g transform=\"translate(0 {})\">", MARGIN + number * PANEL);
        panel(&mut svg, history, path);
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// Writing to a `String` does not fail, so that its results are dropped here.
fn panel(svg: &mut String, history: &History, path: &PathHistory) {
    let with_value = |(point, kept)| Some((Option::filter(point, has_value)?, kept));
    let first = path.points.iter().copied().zip(&history.results).find_map(with_value);
    let about = match first {
        None => "no values".to_owned(),
        // The name has the unit.
        Some((Point { unit: Unit::Ps, .. }, kept)) => kept.machine.clone().unwrap_or_default(),
        Some((point, _)) => point.unit.to_string(),
    };
    let (name, about) = (escaped(&path.path), escaped(&about));
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"20\"><tspan class=\"name\">{name}</tspan> {about}</text>"
    );
    let axes = Axes::new(path, first.map(|(point, _)| point.unit));
    grid(svg, &axes);
    dates(svg, history, &axes);
    step(svg, history, path, &axes);
    for run in runs(path) {
        curve(svg, &axes, &run);
    }
    for (at, (point, kept)) in path.points.iter().zip(&history.results).enumerate() {
        let Some(point) = point else { continue };
        let is_seen = path.points.len() <= MOST_DOTS || changes(path, at);
        let y = point.value.filter(|_| is_seen).map(|value| axes.y(value));
        mark(svg, (&axes.x(at), y.as_deref()), point, kept);
    }
}

/// The largest step, as a band behind the line, with its text above.
fn step(svg: &mut String, history: &History, path: &PathHistory, axes: &Axes) {
    let of = |run: Vec<(usize, Point)>| {
        let values = run.iter().filter_map(|(at, point)| Some((*at, point.value?)));
        find_largest_step(&values.collect::<Vec<_>>())
    };
    let Some(step) = larger_of(runs(path).into_iter().filter_map(of)) else { return };
    let Some(kept) = history.results.get(step.to) else { return };
    let text = format!("largest step {} at {}", percent(step.share), about(kept));
    let (left, right, end) = (axes.x(step.from), axes.x(step.to), WIDTH - RIGHT);
    let _ = writeln!(
        svg,
        "<path class=\"step\" d=\"M{left} {TOP}H{right}V{}H{left}Z\"/>\
         <text x=\"{end}\" y=\"20\" text-anchor=\"end\">{}</text>",
        PANEL - BOTTOM,
        escaped(&text)
    );
}

fn has_value(point: &Point) -> bool {
    point.value.is_some()
}

/// The unit in which a value is shown.
fn unit(point: &Point) -> String {
    match point.unit {
        Unit::Ps => word(Unit::Ps).to_owned(),
        other => other.to_string(),
    }
}

/// A dot for a value, if it has a height here, and a cross for what was not measured.
fn mark(svg: &mut String, (x, y): (&str, Option<&str>), point: &Point, kept: &KeptResult) {
    let _ = match (point.status, point.value, y) {
        (Status::Ok, Some(value), Some(y)) => writeln!(
            svg,
            "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"3.5\"><title>{}</title></circle>",
            escaped(&format!("{} {}, {}", amount(value, point.unit), unit(point), about(kept)))
        ),
        (Status::Ok, ..) => Ok(()),
        (status, ..) => writeln!(
            svg,
            "<path class=\"bad\" d=\"M{x} {}m-4 -4l8 8m0 -8l-8 8\"><title>{}</title></path>",
            PANEL - BOTTOM,
            escaped(&format!("{status}, {}", about(kept)))
        ),
    };
}

/// Whether the value is another one than in the result before.
fn changes(path: &PathHistory, at: usize) -> bool {
    let value = |at: usize| path.points.get(at).copied().flatten().and_then(|point| point.value);
    at.checked_sub(1).is_none_or(|before| value(before) != value(at))
}

fn about(kept: &KeptResult) -> String {
    let commit = kept.commit.as_deref().map(|commit| {
        let digits: String = commit.chars().take(COMMIT_DIGITS).collect();
        format!(", {digits}")
    });
    format!("#{}, {}, {}{}", kept.number, day(kept), kept.label, commit.unwrap_or_default())
}

fn grid(svg: &mut String, axes: &Axes) {
    let mut values = vec![axes.lowest, axes.lowest + (axes.highest - axes.lowest) / 2];
    values.push(axes.highest);
    values.dedup();
    for value in values.into_iter().filter(|_| axes.any) {
        let (y, right, end) = (axes.y(value), WIDTH - RIGHT, LEFT - 10);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y}H{right}\"/>\
             <text x=\"{end}\" y=\"{y}\" dy=\"4\" text-anchor=\"end\">{}</text>",
            amount(value, axes.unit)
        );
    }
}

fn dates(svg: &mut String, history: &History, axes: &Axes) {
    let last = history.results.len().saturating_sub(1);
    let mut places = vec![(0, "start"), (last / 2, "middle"), (last, "end")];
    places.dedup_by_key(|place| place.0);
    for (at, anchor) in places {
        let Some(kept) = history.results.get(at) else { continue };
        let (x, y) = (axes.x(at), PANEL - 12);
        let text = escaped(&day(kept));
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>");
    }
}

/// Neighbouring results that have values of one unit.
fn runs(path: &PathHistory) -> Vec<Vec<(usize, Point)>> {
    let mut runs: Vec<Vec<(usize, Point)>> = Vec::new();
    for (at, point) in path.points.iter().enumerate() {
        let Some(point) = point.filter(|point| point.value.is_some()) else { continue };
        match runs.last_mut() {
            Some(run)
                if run
                    .last()
                    .is_some_and(|&(before, it)| before + 1 == at && it.unit == point.unit) =>
            {
                run.push((at, point));
            }
            _ => runs.push(vec![(at, point)]),
        }
    }
    runs
}

/// A line of steps through the values, on a band of the typical ones.
fn curve(svg: &mut String, axes: &Axes, run: &[(usize, Point)]) {
    let steps = |of: fn(&Point) -> Option<u64>, backwards: bool| {
        let mut text = String::new();
        let mut all: Vec<(String, String)> =
            run.iter().filter_map(|(at, point)| Some((axes.x(*at), axes.y(of(point)?)))).collect();
        if backwards {
            all.reverse();
        }
        for (number, (x, y)) in all.iter().enumerate() {
            let _ = match (number, backwards) {
                (0, false) => write!(text, "M{x} {y}"),
                (0, true) => write!(text, "L{x} {y}"),
                (_, false) => write!(text, "H{x}V{y}"),
                (_, true) => write!(text, "V{y}H{x}"),
            };
        }
        text
    };
    if run.iter().any(|(_, point)| point.low != point.high) {
        let (low, high) = (steps(|it| it.low, false), steps(|it| it.high, true));
        let _ = writeln!(svg, "<path class=\"band\" d=\"{low}{high}Z\"/>");
    }
    let _ = writeln!(svg, "<path class=\"line\" d=\"{}\"/>", steps(|it| it.value, false));
}

/// From results and values to places.
struct Axes {
    results: usize,
    lowest: u64,
    highest: u64,
    /// Whether there is any value.
    any: bool,
    unit: Unit,
}

impl Axes {
    fn new(path: &PathHistory, unit: Option<Unit>) -> Self {
        let points = || path.points.iter().flatten();
        let lowest = points().flat_map(|it| [it.value, it.low]).flatten().min();
        let highest = points().flat_map(|it| [it.value, it.high]).flatten().max();
        Self {
            results: path.points.len(),
            lowest: lowest.unwrap_or(0),
            highest: highest.unwrap_or(0),
            any: highest.is_some(),
            unit: unit.unwrap_or(Unit::Instructions),
        }
    }

    fn x(&self, at: usize) -> String {
        let room = WIDTH - LEFT - RIGHT;
        let last = self.results.saturating_sub(1).max(1) as u64;
        tenths(LEFT * 10 + at as u64 * room * 10 / last)
    }

    fn y(&self, value: u64) -> String {
        let (room, bottom) = (PANEL - TOP - BOTTOM, PANEL - BOTTOM);
        let range = u128::from(self.highest - self.lowest);
        if range == 0 {
            return tenths((bottom - room / 2) * 10);
        }
        let above = u128::from(value.clamp(self.lowest, self.highest) - self.lowest);
        // No more than the room, ten times.
        let above = u64::try_from(above * u128::from(room) * 10 / range).unwrap_or(0);
        tenths(bottom * 10 - above)
    }
}

fn tenths(value: u64) -> String {
    match value % 10 {
        0 => (value / 10).to_string(),
        tenth => format!("{}.{tenth}", value / 10),
    }
}
