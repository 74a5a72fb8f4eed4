//! Paths over results as SVG: one file without scripts or fonts of its own, light or dark as the
//! reader's system is. Everything that came from outside is escaped.

use std::fmt::Write;

use pathmeter_model::{History, KeptResult, PathHistory, Point, Status, Unit, float};

use super::amount::{amount, word};
use super::{commit_of, day, name_result};
use crate::largest_step::{find_largest_step, larger_of};
use crate::number::percent;
use crate::picture::{Scale, file};
use crate::xml::escaped;

const WIDTH: f64 = 960.0;
/// Of one path's drawing, with its heading and its dates.
const PANEL: f64 = 220.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 40.0;
/// Above the first drawing, and below the last.
const MARGIN: f64 = 10.0;
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
    let height = PANEL * float(history.paths.len() as u64) + 2.0 * MARGIN;
    let names: Vec<&str> = history.paths.iter().map(|path| path.path.as_str()).collect();
    let title = format!("{} over {} results", names.join(", "), history.results.len());
    let paper = "<rect width=\"100%\" height=\"100%\" fill=\"var(--back)\"/>\n";
    let mut svg = paper.to_owned();
    for (number, path) in (0_u64..).zip(&history.paths) {
        let _ = writeln!(svg, "<g transform=\"translate(0 {})\">", MARGIN + float(number) * PANEL);
        panel(&mut svg, history, path);
        svg += "</g>\n";
    }
    file(&title, [WIDTH, height], CSS, &svg)
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
        mark(svg, (axes.x(at), y), point, kept);
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
        "<path class=\"step\" d=\"M{left:.1} {TOP}H{right:.1}V{}H{left:.1}Z\"/>\
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
fn mark(svg: &mut String, (x, y): (f64, Option<f64>), point: &Point, kept: &KeptResult) {
    let _ = match (point.status, point.value, y) {
        (Status::Ok, Some(value), Some(y)) => writeln!(
            svg,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{}</title>\
             </circle>",
            escaped(&format!("{} {}, {}", amount(value, point.unit), unit(point), about(kept)))
        ),
        (Status::Ok, ..) => Ok(()),
        (status, ..) => writeln!(
            svg,
            "<path class=\"bad\" d=\"M{x:.1} {}m-4 -4l8 8m0 -8l-8 8\"><title>{}</title></path>",
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
    let commit = kept.commit.as_ref().map(|_| format!(", {}", commit_of(kept)));
    name_result(kept) + &commit.unwrap_or_default()
}

fn grid(svg: &mut String, axes: &Axes) {
    let Some([lowest, highest]) = axes.ends else { return };
    let mut values = vec![lowest, lowest + (highest - lowest) / 2, highest];
    values.dedup();
    for value in values {
        let (y, right, end) = (axes.y(value), WIDTH - RIGHT, LEFT - 10.0);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
             <text x=\"{end}\" y=\"{y:.1}\" dy=\"4\" text-anchor=\"end\">{}</text>",
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
        let (x, y) = (axes.x(at), PANEL - 12.0);
        let text = escaped(&day(kept));
        let _ =
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>");
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
        let mut all: Vec<(f64, f64)> =
            run.iter().filter_map(|(at, point)| Some((axes.x(*at), axes.y(of(point)?)))).collect();
        if backwards {
            all.reverse();
        }
        for (number, (x, y)) in all.iter().enumerate() {
            let _ = match (number, backwards) {
                (0, false) => write!(text, "M{x:.1} {y:.1}"),
                (0, true) => write!(text, "L{x:.1} {y:.1}"),
                (_, false) => write!(text, "H{x:.1}V{y:.1}"),
                (_, true) => write!(text, "V{y:.1}H{x:.1}"),
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
    across: Scale,
    up: Scale,
    /// The lowest and the highest value; None without any.
    ends: Option<[u64; 2]>,
    unit: Unit,
}

impl Axes {
    fn new(path: &PathHistory, unit: Option<Unit>) -> Self {
        let points = || path.points.iter().flatten();
        let lowest = points().flat_map(|it| [it.value, it.low]).flatten().min();
        let highest = points().flat_map(|it| [it.value, it.high]).flatten().max();
        let ends = lowest.zip(highest).map(|(lowest, highest)| [lowest, highest]);
        let last = path.points.len().saturating_sub(1).max(1);
        Self {
            across: Scale::of([0, last as u64], [LEFT, WIDTH - RIGHT]),
            up: Scale::of(ends.unwrap_or_default(), [PANEL - BOTTOM, TOP]),
            ends,
            unit: unit.unwrap_or(Unit::Instructions),
        }
    }

    fn x(&self, at: usize) -> f64 {
        self.across.place_count(at as u64)
    }

    fn y(&self, value: u64) -> f64 {
        self.up.place_count(value)
    }
}
