//! Many subjects: a heat map of paths × kernels, and a line for each path over the kernels.
//!
//! The map as written is relative to the first kernel; the page's script has all pairs, judged by
//! the same rules as any comparison, and shows it relative to any other.

use std::collections::BTreeMap;

use pathmeter_model::{Comparison, Measurement, PathComparison, Threshold, Unit, Verdict, compare};
use pathmeter_trace::{Event, Explain, Role, SubjectWindow, folded};

use super::changes::{lead, of_results, warning};
use super::chart::{Chart, Place, draw_chart};
use super::data::{Data, History, Pair};
use super::html::Html;
use super::sheet::{draw_unit_and_link, other_unit};
use crate::causes::{counts, origin, sentence};
use crate::headline::describe_step;
use crate::heat::{Axes, Cell, Columns, find_before, find_path, find_series};
use crate::number::{grouped, plural, unit_word};
use crate::shades::{SIGNS, legend};

/// Most series that the headline names.
const MOST_SERIES: usize = 2;

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
    /// The kernel, if all are of one.
    kernel: Option<String>,
    /// For each result the last one before it that was measured alike.
    before: Vec<Option<usize>>,
    paths: Vec<&'a str>,
    /// Those that no kernel has numbers of.
    left_out: Vec<&'a str>,
    /// By base, then by new; each path's place in `paths`.
    pairs: Vec<Vec<Comparison>>,
}

impl<'a> Compared<'a> {
    /// Compares every result with all results.
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
        let Axes { columns: Columns { labels, kernel }, paths, left_out } = Axes::of(results);
        let before = find_before(results);
        Self { given, labels, kernel, before, paths, left_out, pairs }
    }

    fn pair(&self, base: usize, new: usize, path: &str) -> Option<&PathComparison> {
        self.pairs[base][new].paths.iter().find(|compared| compared.path == path)
    }

    /// How the last kernel of each series differs from its first; of the first series if there are
    /// many. If no kernel was measured as another was, how the last result differs from the first.
    pub(super) fn headline(&self) -> String {
        let ends = self.ends();
        let texts = ends.iter().take(MOST_SERIES).map(|(first, last)| {
            let counts = counts(&self.pairs[*first][*last].summary);
            format!("{} → {}: {counts}", self.labels[*first], self.labels[*last])
        });
        let of = self.kernel.iter().map(|kernel| format!("{kernel}, "));
        let more = ends.len().saturating_sub(MOST_SERIES);
        let more = (more > 0).then(|| format!("{more} more below."));
        of.collect::<String>() + &texts.chain(more).collect::<Vec<_>>().join(" ")
    }

    /// The first and the last result of each series of several; of all results without any.
    fn ends(&self) -> Vec<(usize, usize)> {
        let series = find_series(self.given.results).into_iter().filter(|its| its.len() > 1);
        let ends: Vec<(usize, usize)> =
            series.filter_map(|its| Some((*its.first()?, *its.last()?))).collect();
        if ends.is_empty() { vec![(0, self.labels.len() - 1)] } else { ends }
    }

    /// The causes of that; if they are not known, the largest step from kernel to kernel.
    fn lead(&self) -> Option<String> {
        let (first, last) = *self.ends().first()?;
        origin(&self.pairs[first][last]).or_else(|| {
            let (base, new, path) = self.largest_step()?;
            let text = describe_step(path, self.explained(base, new, &path.path).as_ref());
            let [from, to] = [&self.labels[base], &self.labels[new]];
            Some(format!("Largest step, {from} → {to}: {text}."))
        })
    }

    /// Each result with the one before it that was measured alike.
    fn neighbours(&self) -> impl Iterator<Item = (usize, usize)> {
        self.before.iter().enumerate().filter_map(|(new, base)| Some(((*base)?, new)))
    }

    /// What each kernel comes to against the one before; nothing if none was measured so.
    fn steps(&self) -> Html {
        let mut html = Html::default();
        if self.neighbours().next().is_none() {
            return html;
        }
        html.raw("<h3>Each step</h3><dl class=\"steps\">");
        for (base, new) in self.neighbours() {
            html.raw("<dt>").name(&self.labels[base]).raw(" → ").name(&self.labels[new]);
            html.raw("</dt><dd>").name(&sentence(&self.pairs[base][new])).raw("</dd>");
        }
        html.raw("</dl>");
        html
    }

    /// Two neighbours, and the path that costs most more in the second, in percent.
    fn largest_step(&self) -> Option<(usize, usize, &PathComparison)> {
        let of = |(base, new): (usize, usize)| {
            self.pairs[base][new].paths.iter().map(move |path| (base, new, path))
        };
        let higher =
            self.neighbours().flat_map(of).filter(|(.., path)| path.verdict == Verdict::Higher);
        let part = |path: &PathComparison| path.percent.unwrap_or_default();
        higher.max_by(|(.., one), (.., other)| part(one).total_cmp(&part(other)))
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
        html.raw("<option value=\"before\">each to the kernel before</option></select></label> ");
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
            for part in label.split_inclusive('+') {
                html.name(part).raw("<wbr>");
            }
            html.raw("</th>");
        }
        html.raw("</tr></thead><tbody>");
        for path in &self.paths {
            let anchor = data.anchor(path);
            let unit = units(self.given.results, path).first().copied().and_then(other_unit);
            html.raw("<tr id=\"").text(&anchor).raw("\"><th scope=\"row\">").name(path);
            html.add(&draw_unit_and_link(unit, &anchor)).raw("</th>");
            for kernel in 0..self.labels.len() {
                self.cell(&mut html, kernel, path);
            }
            html.raw("</tr>");
        }
        html.raw("</tbody></table></div>");
        html
    }

    fn cell(&self, html: &mut Html, kernel: usize, path: &str) {
        let Cell { class, text } = self.draw_cell(0, kernel, path);
        html.raw("<td><button type=\"button\" class=\"shade ").raw(class).raw("\">");
        html.text(&text).raw("</button></td>");
    }

    /// The cell of a path on kernel `new`, in the map that is relative to `base`.
    fn draw_cell(&self, base: usize, new: usize, path: &str) -> Cell {
        if base == new {
            return Cell::of_base(&self.given.results[base], path);
        }
        Cell::from_comparison(self.pair(base, new, path))
    }

    /// A picture of each path that changed; those of the others are folded.
    fn lines(&self) -> Html {
        let changes = |path: &&str| {
            let pair = |(base, new)| self.pair(base, new, path);
            self.neighbours()
                .filter_map(pair)
                .any(|pair| !matches!(pair.verdict, Verdict::Same | Verdict::Unsupported))
        };
        let (changed, same): (Vec<&str>, Vec<&str>) = self.paths.iter().copied().partition(changes);
        // Without neighbours nothing was compared, and so nothing is known to be the same.
        if changed.is_empty() && self.neighbours().next().is_none() {
            return self.draw_pictures(&same);
        }
        let mut html = self.draw_pictures(&changed);
        if !same.is_empty() {
            let summary = format!("{} that no step changed", plural(same.len(), "path"));
            html.raw("<details class=\"unchanged\"><summary>").text(&summary).raw("</summary>");
            html.add(&self.draw_pictures(&same)).raw("</details>");
        }
        html
    }

    fn draw_pictures(&self, paths: &[&str]) -> Html {
        let mut html = Html::default();
        html.raw("<div class=\"lines\">");
        for path in paths {
            let units = units(self.given.results, path);
            for unit in &units {
                let of = |result| value(result, path, *unit);
                let values: Vec<Option<u64>> = self.given.results.iter().map(of).collect();
                let name = match units.len() {
                    1 => (*path).to_owned(),
                    _ => format!("{path}, {}", unit_word(*unit)),
                };
                html.add(&self.line(&name, &values));
            }
        }
        html.raw("</div>");
        html
    }

    /// The values of a path over the kernels: a line for each series.
    fn line(&self, name: &str, values: &[Option<u64>]) -> Html {
        let point = |at: usize| Some(Place { at, value: values[at]?, about: &self.labels[at] });
        let series = find_series(self.given.results);
        let lines: Vec<Vec<Place<'_>>> =
            series.iter().map(|its| its.iter().filter_map(|at| point(*at)).collect()).collect();
        let ends = [self.labels.first(), self.labels.last()].map(|it| it.map_or("", |it| it));
        draw_chart(&Chart { name, lines: &lines, places: values.len(), ends, amount: &grouped })
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
        let own = |(at, before): (usize, &Option<usize>)| before.unwrap_or(at);
        let before = self.before.iter().enumerate().map(own).collect();
        let kernels = self.labels.clone();
        History { kernels, before, paths, values, events, functions, pairs }
    }

    fn letters(&self, base: usize, new: usize, data: &mut Data) -> Pair {
        let mut pair = Pair { verdicts: String::new(), numbers: Vec::new(), cells: Vec::new() };
        for path in &self.paths {
            let Cell { class, text } = self.draw_cell(base, new, path);
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

/// The row's value, if it counts this.
fn value(result: &Measurement, path: &str, unit: Unit) -> Option<u64> {
    let path = find_path(result, path).filter(|path| path.unit == unit)?;
    path.value()
}

/// What a path's values count, in the order in which results have them. Values of different units
/// are never in one line.
fn units(results: &[Measurement], path: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    for found in results.iter().filter_map(|result| find_path(result, path)) {
        if found.value().is_some() && !units.contains(&found.unit) {
            units.push(found.unit);
        }
    }
    units
}

/// The events that a cell's difference shows.
fn events_of(result: &Measurement, path: &str, data: &mut Data) -> Vec<u64> {
    let Some(events) = find_path(result, path).and_then(|path| path.events.as_ref()) else {
        return Vec::new();
    };
    let shown = |event: &Event| event.role() != Role::Detail;
    let numbers = Event::all().filter(shown).map(|event| (event, events.value(event)));
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
