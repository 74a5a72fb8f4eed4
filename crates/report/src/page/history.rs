//! Many subjects: a heat map of paths × kernels, and a line for each path over the kernels.
//!
//! The map as written is relative to the first kernel; the page's script has all pairs, judged by
//! the same rules as any comparison, and shows it relative to any other.

use std::collections::{BTreeMap, HashMap};

use pathmeter_model::{
    Comparison, Measurement, PathComparison, PathResult, Status, Threshold, Unit, Verdict, compare,
};
use pathmeter_trace::{Event, Explain, Role, SubjectWindow, folded};

use super::changes::warning;
use super::data::{Data, History, Pair};
use super::headline::{counted, step};
use super::html::Html;
use super::severity::shade;
use crate::number::{grouped, percent, unit_word};

/// Size of a line's picture, in its own units.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 56.0;
const MARGIN: f64 = 6.0;

/// Results in the order of the page, with what was recorded of each.
pub(super) struct Results<'a> {
    pub(super) results: &'a [Measurement],
    /// For each result; empty if nothing was recorded.
    pub(super) windows: &'a [Vec<SubjectWindow>],
}

/// All results with their comparisons.
pub(super) struct Compared<'a> {
    given: Results<'a>,
    labels: Vec<String>,
    paths: Vec<&'a str>,
    /// Those that no kernel has numbers of.
    left_out: Vec<&'a str>,
    /// By base, then by new; each path's place in `paths`.
    pairs: Vec<Vec<Comparison>>,
}

impl<'a> Compared<'a> {
    /// Compares all with all.
    pub(super) fn new(given: Results<'a>) -> Self {
        let results = given.results;
        let mut paths: Vec<&str> = Vec::new();
        let mut left_out: Vec<&str> = Vec::new();
        for path in results.iter().flat_map(|result| &result.paths) {
            let name = path.path.as_str();
            if !paths.contains(&name) && results.iter().any(|result| is_shown(result, name)) {
                paths.push(name);
            } else if !paths.contains(&name) && !left_out.contains(&name) {
                left_out.push(name);
            }
        }
        let against = |base: &Measurement| {
            let pair = |new: &Measurement| compare(base, new, Threshold::default());
            results.iter().map(pair).collect()
        };
        let pairs = results.iter().map(against).collect();
        Self { labels: labels(results), paths, left_out, pairs, given }
    }

    fn pair(&self, base: usize, new: usize, path: &str) -> Option<&PathComparison> {
        self.pairs[base][new].paths.iter().find(|compared| compared.path == path)
    }

    /// How the last kernel differs from the first, and the largest step between neighbours.
    pub(super) fn headline(&self) -> String {
        let last = self.labels.len() - 1;
        let summary = self.pairs[0][last].summary;
        let of = |verdicts: &[Verdict]| verdicts.iter().map(|it| summary.count(*it)).sum::<usize>();
        let more = of(&[Verdict::Higher, Verdict::ModeAppeared, Verdict::LongerTail]);
        let less = of(&[Verdict::Lower, Verdict::ShorterTail]);
        let [from, to] = [&self.labels[0], &self.labels[last]];
        let all = counted(self.paths.len());
        let whole = format!("From {from} to {to}, {more} of {all} cost more and {less} less.");
        let Some((new, path)) = self.largest_step() else { return whole };
        let text = step(path, self.explained(new - 1, new, &path.path).as_ref());
        let [from, to] = [&self.labels[new - 1], &self.labels[new]];
        format!("{whole} Largest step, from {from} to {to}: {text}.")
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
        html.add(&warning(across));
        html.raw("<div class=\"history\" data-history=\"").number(data.histories.len() as u64);
        html.raw("\">").add(&self.controls()).add(&self.map()).add(&legend());
        if !self.left_out.is_empty() {
            html.raw(
                "<p class=\"note\">Without a cost in any of these kernels, or not executable: ",
            );
            html.text(&self.left_out.join(", ")).raw(".</p>");
        }
        html.raw("</div><h3>Each path over the kernels</h3>").add(&self.lines());
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

    fn map(&self) -> Html {
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
            html.raw("<tr><th scope=\"row\">").text(path).raw("</th>");
            for kernel in 0..self.labels.len() {
                self.cell(&mut html, kernel, path);
            }
            html.raw("</tr>");
        }
        html.raw("</tbody></table></div>");
        html
    }

    fn cell(&self, html: &mut Html, kernel: usize, path: &str) {
        let compared = self.pair(0, kernel, path);
        let class = compared.map_or("none", |it| shade(it.verdict, it.percent));
        let text = match (kernel, compared) {
            (0, Some(it)) => it.base.map_or_else(|| "–".to_owned(), grouped),
            (_, Some(it)) => in_cell(it),
            (_, None) => "–".to_owned(),
        };
        let class = if kernel == 0 { "base" } else { class };
        html.raw("<td><button type=\"button\" class=\"shade ").raw(class).raw("\">");
        html.text(&text).raw("</button></td>");
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
        let pair = |comparison: &Comparison| self.letters(comparison);
        let pairs = self.pairs.iter().map(|row| row.iter().map(pair).collect()).collect();
        let paths = self.paths.iter().map(|path| (*path).to_owned()).collect();
        History { kernels: self.labels.clone(), paths, values, events, functions, pairs }
    }

    fn letters(&self, comparison: &Comparison) -> Pair {
        let by_name: HashMap<&str, &PathComparison> =
            comparison.paths.iter().map(|path| (path.path.as_str(), path)).collect();
        let mut pair = Pair { verdicts: String::new(), numbers: Vec::new() };
        for path in &self.paths {
            let letter = match by_name.get(path).map(|compared| (compared.verdict, compared)) {
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

fn legend() -> Html {
    let mut html = Html::default();
    html.raw("<p class=\"legend\">In percent of the chosen kernel. ");
    html.raw("<span class=\"shade down4\">−20 %</span> <span class=\"shade down2\">−1 %</span> ");
    html.raw("<span class=\"shade up1\">more</span> <span class=\"shade up2\">+1 %</span> ");
    html.raw("<span class=\"shade up3\">+5 %</span> <span class=\"shade up4\">+20 %</span> ");
    html.raw("<span class=\"shade events\">other events</span> · same, – not measured. ");
    html.raw("A cell opens its difference.</p>");
    html
}

/// What a cell shows: percent, or a sign.
pub(crate) fn in_cell(path: &PathComparison) -> String {
    match path.verdict {
        Verdict::Same => "·".to_owned(),
        Verdict::Unsupported => "–".to_owned(),
        Verdict::Broken => "broken".to_owned(),
        Verdict::EventsDiffer => "e".to_owned(),
        _ => path.percent.map_or_else(|| "?".to_owned(), short_percent),
    }
}

/// `+12`, `-0.4` or `+0.02`: two digits are enough for a cell.
fn short_percent(percent: f64) -> String {
    match percent.abs() {
        9.95.. => format!("{percent:+.0}"),
        0.095.. => format!("{percent:+.1}"),
        _ => format!("{percent:+.2}"),
    }
}

fn found<'a>(result: &'a Measurement, path: &str) -> Option<&'a PathResult> {
    result.paths.iter().find(|found| found.path == path)
}

/// Whether a path has numbers, or should have.
pub(crate) fn is_shown(result: &Measurement, path: &str) -> bool {
    let path = found(result, path);
    path.is_some_and(|path| path.estimate.is_some() || path.status == Status::Failed)
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

/// A short name for each kernel: its release, or its file's name where two have one release,
/// without what all have at the end.
pub(crate) fn labels(results: &[Measurement]) -> Vec<String> {
    let release = |result: &Measurement| result.configuration.release.clone();
    let mut labels: Vec<String> =
        results.iter().map(|it| release(it).unwrap_or_else(|| it.subject.name.clone())).collect();
    for (at, result) in results.iter().enumerate() {
        if results.iter().filter(|other| release(other) == release(result)).count() > 1 {
            labels[at].clone_from(&result.subject.name);
        }
    }
    let shared = shared_end(&labels);
    labels.iter().map(|label| label[..label.len() - shared].to_owned()).collect()
}

/// How many bytes all end with alike, from a dash on; none may be left empty.
fn shared_end(labels: &[String]) -> usize {
    let Some(first) = labels.first().filter(|_| labels.len() > 1) else { return 0 };
    let ends = first.match_indices('-').map(|(at, _)| &first[at..]);
    let all = |end: &&str| labels.iter().all(|it| it.len() > end.len() && it.ends_with(*end));
    ends.clone().find(all).map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_end_with_is_left_out() {
        let of = |labels: &[&str]| {
            shared_end(&labels.iter().map(|&it| it.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["6.1.0-48-cloud-amd64", "6.12.94-cloud-amd64"]), "-cloud-amd64".len());
        assert_eq!(of(&["-a", "-a"]), 0);
        assert_eq!(of(&["6.1-a"]), 0);
    }

    #[test]
    fn a_range_is_that_of_the_known_values() {
        assert_eq!(range(&[None, Some(100), Some(7), Some(150)]), "100 → 150 (+50.00 %)");
        assert_eq!(range(&[Some(100), None]), "100");
        assert_eq!(range(&[None]), "");
    }

    #[test]
    fn a_cell_has_two_digits() {
        let texts = [0.44, -9.96, 38.2, 0.021].map(short_percent);
        assert_eq!(texts, ["+0.4", "-10", "+38", "+0.02"]);
    }
}
