//! Many subjects: a heat map of paths × kernels, and a line for each path over the kernels.
//!
//! The map as written is relative to the first kernel; the page's script has all pairs, judged by
//! the same rules as any comparison, and shows it relative to any other.

use std::collections::BTreeMap;

use pathmeter_model::{Comparison, Measurement, PathComparison, Threshold, Unit, Verdict, compare};
use pathmeter_trace::{Event, Explain, Role, SubjectWindow, folded};

use super::changes::{lead, of_results, warning};
use super::data::{Data, History, Pair};
use super::html::Html;
use super::sheet::{beside, other_unit};
use crate::causes::{counts, origin, sentence};
use crate::headline::step;
use crate::heat::{Axes, Cell, found};
use crate::number::{grouped, percent, unit_word};
use crate::shades::{SIGNS, legend};

/// Size of a line's picture, in its own units.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 56.0;
const MARGIN: f64 = 6.0;

/// Results in the order of the page, with what was recorded of each.
pub(super) struct Given<'a> {
    pub(super) results: &'a [Measurement],
    /// For each result; empty if nothing was recorded.
    pub(super) windows: &'a [Vec<SubjectWindow>],
    /// Pairs of which the causes are known, by the places of both.
    pub(super) explained: &'a [(usize, usize, Comparison)],
}

/// All results with their comparisons.
pub(super) struct Compared<'a> {
    given: Given<'a>,
    labels: Vec<String>,
    paths: Vec<&'a str>,
    /// Those that no kernel has numbers of.
    left_out: Vec<&'a str>,
    /// By base, then by new; each path's place in `paths`.
    pairs: Vec<Vec<Comparison>>,
}

impl<'a> Compared<'a> {
    /// Compares all with all.
    pub(super) fn new(given: Given<'a>) -> Self {
        let results = given.results;
        let against = |base: &Measurement| {
            let pair = |new: &Measurement| compare(base, new, Threshold::default());
            results.iter().map(pair).collect()
        };
        let mut pairs: Vec<Vec<Comparison>> = results.iter().map(against).collect();
        for (base, new, comparison) in given.explained {
            pairs[*base][*new] = comparison.clone();
        }
        let Axes { labels, paths, left_out } = Axes::of(results);
        Self { given, labels, paths, left_out, pairs }
    }

    fn pair(&self, base: usize, new: usize, path: &str) -> Option<&PathComparison> {
        self.pairs[base][new].paths.iter().find(|compared| compared.path == path)
    }

    /// How the last kernel differs from the first.
    pub(super) fn headline(&self) -> String {
        let last = self.labels.len() - 1;
        let counts = counts(&self.pairs[0][last].summary);
        format!("{} → {}: {counts}", self.labels[0], self.labels[last])
    }

    /// The causes of that; if they are not known, the largest step between neighbours.
    fn lead(&self) -> Option<String> {
        origin(&self.pairs[0][self.labels.len() - 1]).or_else(|| {
            let (new, path) = self.largest_step()?;
            let text = step(path, self.explained(new - 1, new, &path.path).as_ref());
            let [from, to] = [&self.labels[new - 1], &self.labels[new]];
            Some(format!("Largest step, {from} → {to}: {text}."))
        })
    }

    /// What each kernel comes to against the one before.
    fn steps(&self) -> Html {
        let mut html = Html::default();
        html.raw("<h3>Each step</h3><dl class=\"steps\">");
        for new in 1..self.labels.len() {
            html.raw("<dt>").text(&self.labels[new - 1]).raw(" → ").text(&self.labels[new]);
            html.raw("</dt><dd>").text(&sentence(&self.pairs[new - 1][new])).raw("</dd>");
        }
        html.raw("</dl>");
        html
    }

    /// The kernel, and its path, that costs most more than the one before, in percent.
    fn largest_step(&self) -> Option<(usize, &PathComparison)> {
        let steps = (1..self.labels.len())
            .flat_map(|new| self.pairs[new - 1][new].paths.iter().map(move |path| (new, path)));
        let higher = steps.filter(|(_, path)| path.verdict == Verdict::Higher);
        let part = |path: &PathComparison| path.percent.unwrap_or_default();
        higher.max_by(|(_, one), (_, other)| part(one).total_cmp(&part(other)))
    }

    fn window(&self, kernel: usize, path: &str) -> Option<&SubjectWindow> {
        self.given.windows.get(kernel)?.iter().find(|window| window.path == path)
    }

    fn explained(
        &self,
        base: usize,
        new: usize,
        path: &str,
    ) -> Option<pathmeter_trace::Difference> {
        let (base, new) = (self.window(base, path)?, self.window(new, path)?);
        Explain::new(base.clone(), Some(new.clone())).difference
    }

    /// The section's body. `number` is its place among the page's histories.
    pub(super) fn section(&self, across: Vec<String>, data: &mut Data) -> Html {
        let mut html = Html::default();
        html.add(&lead(self.lead())).add(&of_results(self.given.results)).add(&warning(across));
        html.raw("<div class=\"history\" data-history=\"").number(data.histories.len() as u64);
        html.raw("\">").add(&self.controls()).add(&explained_shades()).add(&self.map(data));
        if !self.left_out.is_empty() {
            html.raw(
                "<p class=\"note\">Without a cost in any of these kernels, or not executable: ",
            );
            html.text(&self.left_out.join(", ")).raw(".</p>");
        }
        html.raw("</div>")
            .add(&self.steps())
            .raw("<h3>Each path over the kernels</h3>")
            .add(&self.lines());
        let history = self.history(data);
        data.histories.push(history);
        html
    }

    fn controls(&self) -> Html {
        let mut html = Html::default();
        html.raw("<p class=\"filter\"><label>Relative to <select>");
        for (number, label) in self.labels.iter().enumerate() {
            html.raw("<option value=\"").number(number as u64).raw("\">").text(label);
            html.raw("</option>");
        }
        html.raw("<option value=\"before\">each to the one before</option></select></label> ");
        html.raw("<label>Filter <input type=\"search\" placeholder=\"path\"></label> ");
        html.raw("<output aria-live=\"polite\"></output></p>");
        html
    }

    fn map(&self, data: &mut Data) -> Html {
        let mut html = Html::default();
        html.raw(
            "<div class=\"scroll map\" tabindex=\"0\" role=\"group\" aria-label=\"heat map\">",
        );
        html.raw(
            "<table class=\"heat\"><caption class=\"sr\">Paths by kernels, in percent of the ",
        );
        html.raw("chosen one; a cell opens the difference</caption><thead><tr>");
        html.raw("<th scope=\"col\">path</th>");
        for label in &self.labels {
            html.raw("<th scope=\"col\">");
            for part in label.split_inclusive(['-', '+']) {
                html.text(part).raw("<wbr>");
            }
            html.raw("</th>");
        }
        html.raw("</tr></thead><tbody>");
        for path in &self.paths {
            let anchor = data.anchor(path);
            let unit = units(self.given.results, path).first().copied().and_then(other_unit);
            html.raw("<tr id=\"").text(&anchor).raw("\"><th scope=\"row\">").text(path);
            html.add(&beside(unit, &anchor)).raw("</th>");
            for kernel in 0..self.labels.len() {
                self.cell(&mut html, kernel, path);
            }
            html.raw("</tr>");
        }
        html.raw("</tbody></table></div>");
        html
    }

    fn cell(&self, html: &mut Html, kernel: usize, path: &str) {
        let Cell { class, text } = self.drawn(0, kernel, path);
        html.raw("<td><button type=\"button\" class=\"shade ").raw(class).raw("\">");
        html.text(&text).raw("</button></td>");
    }

    /// The cell of a path on kernel `new`, in the map that is relative to `base`.
    fn drawn(&self, base: usize, new: usize, path: &str) -> Cell {
        if base == new {
            return Cell::of_base(&self.given.results[base], path);
        }
        Cell::compared(self.pair(base, new, path))
    }

    fn lines(&self) -> Html {
        let mut html = Html::default();
        html.raw("<div class=\"lines\">");
        for path in &self.paths {
            let units = units(self.given.results, path);
            for unit in &units {
                let of = |result| value(result, path, *unit);
                let values: Vec<Option<u64>> = self.given.results.iter().map(of).collect();
                let name = match units.len() {
                    1 => (*path).to_owned(),
                    _ => format!("{path}, {}", unit_word(*unit)),
                };
                html.add(&line(&name, &self.labels, &values));
            }
        }
        html.raw("</div>");
        html
    }

    fn history(&self, data: &mut Data) -> History {
        let results = self.given.results;
        // The script compares kernels with each other, so a path has one unit.
        let of_path = |path: &&str| {
            let unit = units(results, path).first().copied().unwrap_or(Unit::Instructions);
            results.iter().map(|result| value(result, path, unit)).collect()
        };
        let values = self.paths.iter().map(of_path).collect();
        let mut events = Vec::new();
        let mut functions = Vec::new();
        for path in &self.paths {
            events.push(results.iter().map(|it| events_of(it, path, data)).collect());
            let kernels = 0..results.len();
            let own = |kernel| Some(functions_of(self.window(kernel, path)?, data));
            functions.push(kernels.map(own).collect());
        }
        let all = 0..results.len();
        let mut pair = |base, new| self.letters(base, new, data);
        let pairs = all.clone().map(|base| all.clone().map(|new| pair(base, new)).collect());
        let pairs = pairs.collect();
        let paths = self.paths.iter().map(|path| (*path).to_owned()).collect();
        History { kernels: self.labels.clone(), paths, values, events, functions, pairs }
    }

    fn letters(&self, base: usize, new: usize, data: &mut Data) -> Pair {
        let mut pair = Pair { verdicts: String::new(), numbers: Vec::new(), cells: Vec::new() };
        for path in &self.paths {
            let Cell { class, text } = self.drawn(base, new, path);
            pair.cells.push(data.name(&format!("{class} {text}")));
            let compared = self.pair(base, new, path);
            let letter = match compared.map(|compared| (compared.verdict, compared)) {
                Some((Verdict::Same, _)) => 's',
                Some((Verdict::Broken, _)) => 'b',
                None | Some((Verdict::Unsupported, _)) => 'u',
                Some((verdict, compared)) => {
                    let sides = [compared.base, compared.new];
                    pair.numbers.extend(sides.map(Option::unwrap_or_default));
                    match verdict {
                        Verdict::Higher => 'h',
                        Verdict::Lower => 'l',
                        Verdict::ModeAppeared => 'm',
                        Verdict::LongerTail => 't',
                        Verdict::ShorterTail => 'r',
                        _ => 'e',
                    }
                }
            };
            pair.verdicts.push(letter);
        }
        pair
    }
}

fn explained_shades() -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"legend\">Percent of the chosen kernel: ");
    for (class, text) in legend() {
        html.raw("<span class=\"shade ").raw(class).raw("\">").text(&text).raw("</span> ");
    }
    html.text(SIGNS).raw(". A cell opens its difference.</p>");
    html
}

/// The most frequent value, if it counts this.
fn value(result: &Measurement, path: &str, unit: Unit) -> Option<u64> {
    let path = found(result, path).filter(|path| path.unit == unit)?;
    path.estimate.as_ref().map(|estimate| estimate.value)
}

/// What a path's values count, in the order in which results have them. Values of different units
/// are never in one line.
fn units(results: &[Measurement], path: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    for found in results.iter().filter_map(|result| found(result, path)) {
        if found.estimate.is_some() && !units.contains(&found.unit) {
            units.push(found.unit);
        }
    }
    units
}

/// The events that a cell's difference shows.
fn events_of(result: &Measurement, path: &str, data: &mut Data) -> Vec<u64> {
    let Some(events) = found(result, path).and_then(|path| path.events.as_ref()) else {
        return Vec::new();
    };
    let shown = |event: &Event| event.role() != Role::Detail;
    let numbers = Event::all().filter(shown).map(|event| (event, events.typical(event)));
    let some = numbers.filter(|(_, number)| *number > 0);
    some.flat_map(|(event, number)| [data.name(event.word()) as u64, number]).collect()
}

/// What each function executes itself, by names without compilers' suffixes.
fn functions_of(window: &SubjectWindow, data: &mut Data) -> Vec<u64> {
    let mut own: BTreeMap<usize, u64> = BTreeMap::new();
    for function in &window.window.functions {
        let sum = own.entry(data.name(folded(&function.name))).or_default();
        *sum = sum.saturating_add(function.counts.instructions);
    }
    let some = own.into_iter().filter(|(_, instructions)| *instructions > 0);
    some.flat_map(|(name, instructions)| [name as u64, instructions]).collect()
}

/// A path's values over the kernels.
fn line(path: &str, labels: &[String], values: &[Option<u64>]) -> Html {
    let mut html = Html::default();
    let known = values.iter().flatten();
    let (Some(least), Some(most)) = (known.clone().min(), known.clone().max()) else { return html };
    html.raw("<figure class=\"line\"><figcaption><b>").text(path).raw("</b> <span>");
    html.text(&range(values)).raw("</span></figcaption><svg viewBox=\"0 0 240 56\" role=\"img\" ");
    html.raw("aria-label=\"").text(path).raw("\">");
    let span = most.saturating_sub(*least).max(1);
    let x = |kernel: usize| {
        let steps = small(labels.len().saturating_sub(1).max(1) as u64);
        MARGIN + small(kernel as u64) * (WIDTH - 2.0 * MARGIN) / steps
    };
    let height = HEIGHT - 2.0 * MARGIN;
    let y = |value: u64| {
        if most == least {
            HEIGHT / 2.0
        } else {
            HEIGHT - MARGIN - small(value - least) / small(span) * height
        }
    };
    let points = values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
    html.raw("<polyline points=\"");
    for (kernel, value) in points.clone() {
        html.text(&format!("{:.1},{:.1} ", x(kernel), y(value)));
    }
    html.raw("\"/>");
    for (kernel, value) in points {
        html.raw("<circle r=\"3\" cx=\"").text(&format!("{:.1}", x(kernel))).raw("\" cy=\"");
        html.text(&format!("{:.1}", y(value))).raw("\"><title>").text(&labels[kernel]);
        html.raw(": ").text(&grouped(value)).raw("</title></circle>");
    }
    html.raw("</svg></figure>");
    html
}

/// `3,210 → 3,400 (+5.92 %)`, first to last.
fn range(values: &[Option<u64>]) -> String {
    let mut known = values.iter().flatten();
    let (Some(first), last) = (known.next(), known.next_back()) else { return String::new() };
    let last = last.unwrap_or(first);
    let part = 100.0 * (small(*last) - small(*first)) / small((*first).max(1));
    match percent(part) {
        none if none.is_empty() => grouped(*first),
        part => format!("{} → {} ({part})", grouped(*first), grouped(*last)),
    }
}

/// For pictures and percentages: exact below 2^53.
#[allow(clippy::cast_precision_loss, reason = "a picture has fewer points than that")]
fn small(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_that_of_the_known_values() {
        assert_eq!(range(&[None, Some(100), Some(7), Some(150)]), "100 → 150 (+50.00 %)");
        assert_eq!(range(&[Some(100), None]), "100");
        assert_eq!(range(&[None]), "");
    }
}
