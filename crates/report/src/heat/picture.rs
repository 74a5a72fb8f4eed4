//! The map as one picture, an SVG without scripts or fonts of
//! its own, light or dark as the reader's system is. Each cell has its number as text, so that
//! nobody has to tell colours apart. Everything that came from outside is escaped.

use std::fmt::Write;

use pathmeter_model::{Measurement, PathComparison, Threshold, compare};

use super::{Axes, Cell, Columns, find_before, find_path};
use crate::measured_with::machine;
use crate::number::{grouped, percent, signed, unit_word};
use crate::picture::file;
use crate::shades::{COLOURS, SIGNS, legend};
use crate::xml::escaped;

/// Most characters of a path's name, and of a line of a kernel's, that are drawn.
const LONGEST_PATH: usize = 40;
const LONGEST_LABEL: usize = 20;
/// Lines of a column's name.
const MOST_LINES: usize = 4;
/// Width of a character of the names, in tenths: fonts of one width have 0.6 of their size.
const CHARACTER: usize = 75;
const MARGIN: usize = 12;
const ROW: usize = 22;
/// Between two families of paths.
const GAP: usize = 4;
const LINE: usize = 14;
const LEAST_COLUMN: usize = 50;
/// Above the kernels' names, and below the last row.
const HEAD: usize = 48;
const FOOT: usize = 58;

const CSS: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#1b1f24;--dim:#59636e;--on:#fff;--box:#eef1f4}\
@media(prefers-color-scheme:dark){:root{--back:#14181d;--ink:#e6edf3;--dim:#9aa5b1;--box:#20262d}}\
text{font:12px system-ui,sans-serif;fill:var(--ink);text-anchor:middle}\
.left{text-anchor:start}.name{font:12px ui-monospace,Menlo,Consolas,monospace}\
.head{font-size:16px;font-weight:600;text-anchor:start}.quiet{fill:var(--dim)}\
rect{fill:var(--box)}.up1{fill:var(--up1)}.up2{fill:var(--up2)}.up3{fill:var(--up3)}\
.up4{fill:var(--up4)}.down1{fill:var(--down1)}.down2{fill:var(--down2)}\
.down3{fill:var(--down3)}.down4{fill:var(--down4)}.events{fill:var(--events)}\
.broken{fill:none;stroke:var(--up4)}.on{fill:var(--on)}";

/// What the cells of a heat map compare a kernel with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatBase {
    /// The result at this place, from 0.
    Result(usize),
    /// The last result before it that was measured alike, of another kernel.
    Before,
}

impl HeatBase {
    /// With which result each of these is compared; the base itself with none, and with
    /// [`Self::Before`] none of the first that were measured so.
    fn of(self, results: &[Measurement]) -> Vec<Option<usize>> {
        match self {
            Self::Result(base) => {
                (0..results.len()).map(|place| (base != place).then_some(base)).collect()
            }
            Self::Before => find_before(results),
        }
    }
}

/// The picture: a row for each path that has a value in one of `results`, in the order in which
/// they have them, and a column for each result. All are judged by the rules of [`compare`].
pub fn heat_map_svg(results: &[Measurement], base: HeatBase) -> String {
    let map = Map::new(results, base);
    let paper = "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--back)\"/>\n";
    let mut svg = paper.to_owned();
    map.headings(&mut svg);
    map.rows(&mut svg);
    map.legend(&mut svg);
    file(&map.headline(), [map.width(), map.height()], &format!("{COLOURS}{CSS}"), &svg)
}

/// What is drawn, and where. Writing to a `String` does not fail, so its results are dropped.
struct Map<'a> {
    results: &'a [Measurement],
    base: HeatBase,
    /// By result: the place of the one with which it is compared.
    bases: Vec<Option<usize>>,
    labels: Vec<String>,
    /// The kernel, if all are of one.
    kernel: Option<String>,
    /// The lines of each label.
    lines: Vec<Vec<String>>,
    paths: Vec<&'a str>,
    /// By result: each path compared with the base; empty for the base itself.
    compared: Vec<Vec<PathComparison>>,
    left: usize,
    column: usize,
}

impl<'a> Map<'a> {
    fn new(results: &'a [Measurement], base: HeatBase) -> Self {
        let Axes { columns: Columns { labels, kernel }, paths, .. } = Axes::of(results);
        let bases = base.of(results);
        let with_base = |(place, new): (usize, &Measurement)| {
            let base = bases[place].and_then(|base| results.get(base));
            base.map_or_else(Vec::new, |base| compare(base, new, Threshold::default()).paths)
        };
        let compared = results.iter().enumerate().map(with_base).collect();
        let lines: Vec<Vec<String>> = labels.iter().map(|label| in_lines(label)).collect();
        let longest = paths.iter().map(|path| path.chars().count()).max().unwrap_or(0);
        let widest = lines.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
        Self {
            results,
            base,
            bases,
            labels,
            kernel,
            lines,
            compared,
            left: MARGIN + longest.min(LONGEST_PATH) * CHARACTER / 10 + 10,
            column: (widest * CHARACTER / 10 + 8).max(LEAST_COLUMN),
            paths,
        }
    }

    fn width(&self) -> usize {
        // Room for the heading and the legend.
        (self.left + self.column * self.results.len() + MARGIN).max(640)
    }

    /// Where the first row begins.
    fn top(&self) -> usize {
        HEAD + LINE * self.lines.iter().map(Vec::len).max().unwrap_or(0) + 6
    }

    fn height(&self) -> usize {
        self.places().last().map_or(self.top(), |(_, y)| y + ROW) + FOOT
    }

    /// The paths, each with the top of its row.
    fn places(&self) -> impl Iterator<Item = (&'a str, usize)> {
        let mut y = self.top();
        let mut before: Option<&str> = None;
        self.paths.iter().map(move |&path| {
            if before.is_some_and(|before| family(before) != family(path)) {
                y += GAP;
            }
            before = Some(path);
            y += ROW;
            (path, y - ROW)
        })
    }

    fn headline(&self) -> String {
        let what = match &self.kernel {
            None => "What each kernel costs more or less than".to_owned(),
            Some(kernel) => format!("What {kernel} costs more or less than"),
        };
        match self.base {
            HeatBase::Before => format!("{what} the one before"),
            HeatBase::Result(base) => {
                let base = self.labels.get(base).map_or("the first", String::as_str);
                let with = if self.kernel.is_some() { "with " } else { "" };
                format!("{what} {with}{base}")
            }
        }
    }

    fn headings(&self, svg: &mut String) {
        let how = self
            .results
            .first()
            .map(|it| machine(&it.configuration.measured_with()))
            .unwrap_or_default();
        let _ = writeln!(
            svg,
            "<text class=\"head\" x=\"{MARGIN}\" y=\"24\">{}</text>\n\
             <text class=\"left quiet\" x=\"{MARGIN}\" y=\"42\">{}</text>",
            escaped(&self.headline()),
            escaped(&format!("instructions of hot paths, in percent; {}", cut(&how, 60)))
        );
        for (place, lines) in self.lines.iter().enumerate() {
            let x = self.left + self.column * place + self.column / 2;
            for (number, line) in lines.iter().enumerate() {
                let y = HEAD + LINE * (number + 1);
                let line = escaped(line);
                let _ = writeln!(svg, "<text class=\"name\" x=\"{x}\" y=\"{y}\">{line}</text>");
            }
        }
    }

    fn rows(&self, svg: &mut String) {
        for (path, y) in self.places() {
            let (middle, name) = (y + ROW / 2 + 4, escaped(&cut(path, LONGEST_PATH)));
            let _ = writeln!(
                svg,
                "<text class=\"left name\" x=\"{MARGIN}\" y=\"{middle}\">{name}</text>"
            );
            for place in 0..self.results.len() {
                self.cell(svg, path, place, y);
            }
        }
    }

    fn cell(&self, svg: &mut String, path: &str, place: usize, y: usize) {
        let compared = self.compared[place].iter().find(|it| it.path == path);
        let base = self.bases[place];
        let Cell { class, text } = match base {
            None => Cell::of_base(&self.results[place], path),
            Some(_) => Cell::from_comparison(compared),
        };
        let title = match (base, compared) {
            (Some(base), Some(it)) => self.title(base, place, it),
            _ => self.own_title(place, path),
        };
        let (x, width, height) = (self.left + self.column * place, self.column - 2, ROW - 2);
        let (middle, bottom) = (x + width / 2, y + ROW / 2 + 4);
        let on = match class {
            "up4" | "down4" => " class=\"on\"",
            "" | "none" | "base" => " class=\"quiet\"",
            _ => "",
        };
        let _ = writeln!(
            svg,
            "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{height}\" rx=\"2\"/><text{on} x=\"{middle}\" y=\"{bottom}\">{}</text></g>",
            escaped(&title),
            escaped(&text)
        );
    }

    fn own_title(&self, place: usize, path: &str) -> String {
        let found = find_path(&self.results[place], path);
        let unit = found.map(|it| unit_word(it.unit)).unwrap_or_default();
        let reason = found.and_then(|it| it.reason.clone());
        let value = Cell::of_base(&self.results[place], path).text;
        let what = reason.unwrap_or_else(|| format!("{value} {unit}"));
        format!("{path}, {}: {what}", self.labels[place])
    }

    /// `switch.yield, 6.1 to 6.12: 3,297 to 3,639 instructions, +342, +10.37 %, higher`.
    fn title(&self, base: usize, place: usize, it: &PathComparison) -> String {
        let base = self.labels.get(base).map_or("", String::as_str);
        let mut text = format!("{}, {base} to {}: ", it.path, self.labels[place]);
        if let (Some(before), Some(after)) = (it.base, it.new) {
            let _ =
                write!(text, "{} to {} {}, ", grouped(before), grouped(after), unit_word(it.unit));
        }
        if let Some(difference) = it.difference.filter(|difference| *difference != 0) {
            let part = it.percent.map(percent).unwrap_or_default();
            let _ = write!(text, "{}, {part}, ", signed(difference));
        }
        text += &it.verdict.to_string();
        if let Some(reason) = &it.reason {
            text.extend([": ", reason]);
        }
        for event in it.shown_events() {
            let _ = write!(text, ", {} {}", event.event, signed(event.difference));
        }
        text
    }

    fn legend(&self, svg: &mut String) {
        let y = self.height() - FOOT + 14;
        for (number, (class, text)) in legend().iter().enumerate() {
            let x = MARGIN + number * 52;
            let on = if class.ends_with('4') { " class=\"on\"" } else { "" };
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"50\" height=\"18\" \
                 rx=\"2\"/><text{on} x=\"{}\" y=\"{}\">{}</text>",
                x + 25,
                y + 13,
                escaped(text)
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"left quiet\" x=\"{MARGIN}\" y=\"{}\">{SIGNS}</text>",
            y + 35
        );
    }
}

/// The part of a path's name before its dot.
fn family(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// A column's name in lines: its parts, and a part that ends with a dash or a plus sign; what does
/// not fit is left out.
fn in_lines(label: &str) -> Vec<String> {
    let parts = label.split(' ').flat_map(|part| part.split_inclusive(['-', '+']));
    parts.take(MOST_LINES).map(|part| cut(part, LONGEST_LABEL)).collect()
}

/// `text` with at most so many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    kept + "…"
}
