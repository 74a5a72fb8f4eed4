//! Slopes as one picture, an SVG without scripts or fonts of its own, light or dark as the reader's
//! system is: a drawing for each row, in it a line for each kernel. Everything that came from
//! outside is escaped.

use std::fmt::Write;

use pathmeter_model::{SlopeResult, SlopeRow, clean};

use super::{per_unit, place};
use crate::number::signed;
use crate::picture::{Scale, ends, file, heights};
use crate::xml::escaped;

/// Rows that are drawn: the first of each kernel's.
const MOST: usize = 6;
/// Kernels that have a line of their own; the picture has as many colours.
pub const MOST_SLOPES: usize = 4;
const COLUMNS: usize = 2;
/// Of one drawing, with its heading and what stands below it.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 26.0;
/// Of a line of text.
const LINE: f64 = 18.0;
/// Height of the room above the first drawing.
const HEAD: f64 = 44.0;

const CSS: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#1b1f24;--dim:#59636e;--grid:#d1d9e0;\
--k0:#0b5cad;--k1:#b3540a;--k2:#1a7f37;--k3:#8250df}\
@media(prefers-color-scheme:dark){:root{--back:#14181d;--ink:#e6edf3;--dim:#9aa5b1;\
--grid:#353c45;--k0:#6cb6ff;--k1:#f0a35e;--k2:#57d27b;--k3:#c297ff}}\
text{font:13px system-ui,sans-serif;fill:var(--dim)}.head{font-size:16px;font-weight:600;\
fill:var(--ink)}.name{font-weight:600;fill:var(--ink)}.end{text-anchor:end}\
.grid{stroke:var(--grid)}path{fill:none;stroke-width:2}\
.k0{stroke:var(--k0)}.k1{stroke:var(--k1)}.k2{stroke:var(--k2)}.k3{stroke:var(--k3)}\
text.k0{fill:var(--k0);stroke:none}text.k1{fill:var(--k1);stroke:none}\
text.k2{fill:var(--k2);stroke:none}text.k3{fill:var(--k3);stroke:none}\
circle{fill:var(--back);stroke-width:2}";

/// The picture of these slopes of one setting, at most [`MOST_SLOPES`]. Writing to a `String` does
/// not fail, so its results are dropped.
#[allow(clippy::cast_precision_loss, reason = "places in a picture")]
pub fn slopes_svg(results: &[SlopeResult]) -> String {
    let rows = rows(results);
    let below = LINE * results.len() as f64;
    let panel = HEIGHT + below + 14.0;
    let width = WIDTH * COLUMNS as f64;
    let height = HEAD + panel * rows.len().div_ceil(COLUMNS) as f64;
    let setting = results.first().map_or("", |result| &result.setting);
    let title = format!("{}: instructions more than without it", clean(setting));
    let mut svg = format!(
        "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--back)\"/>\n\
         <text class=\"head\" x=\"12\" y=\"26\">{}</text>\n",
        escaped(&title),
    );
    for (at, row) in rows.iter().enumerate() {
        let (x, y) = (WIDTH * (at % COLUMNS) as f64, HEAD + panel * (at / COLUMNS) as f64);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        drawing(&mut svg, results, row);
        svg += "</g>\n";
    }
    file(&title, [width, height], CSS, &svg)
}

/// The names of the rows that are drawn: by turns each kernel's first, second and so on.
fn rows(results: &[SlopeResult]) -> Vec<&str> {
    let lists = results.iter().map(all_rows);
    let lists: Vec<Vec<&SlopeRow>> = lists.collect();
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut names: Vec<&str> = Vec::new();
    for at in 0..longest {
        for row in lists.iter().filter_map(|list| list.get(at)) {
            if !names.contains(&&*row.row) && names.len() < MOST {
                names.push(&row.row);
            }
        }
    }
    names
}

/// The paths' and the program's.
fn all_rows(result: &SlopeResult) -> Vec<&SlopeRow> {
    let of_program = result.program_rows.iter().flat_map(|rows| &rows.rows);
    let rows = result.paths.rows.iter().chain(of_program);
    // Of others only events differ, or there is no function to draw.
    rows.filter(|row| !row.scatters && row.differences.iter().any(|it| *it != 0)).collect()
}

/// One row of all kernels.
#[allow(clippy::cast_precision_loss, reason = "places in a picture")]
fn drawing(svg: &mut String, results: &[SlopeResult], name: &str) {
    let found: Vec<(usize, &SlopeResult, &SlopeRow)> = results
        .iter()
        .enumerate()
        .filter_map(|(at, it)| {
            Some((at, it, all_rows(it).into_iter().find(|row| row.row == name)?))
        })
        .collect();
    let [low, high] = ends(found.iter().flat_map(|(_, _, row)| &row.differences));
    let last = found.iter().filter_map(|(_, it, _)| it.numbers.last()).max().copied().unwrap_or(1);
    let across = Scale::of([0, last.max(1)], [LEFT, WIDTH - RIGHT]);
    let (x, y) = (|it| across.place_count(it), heights([low, high], [TOP, HEIGHT - BOTTOM]));

    let _ = writeln!(svg, "<text class=\"name\" x=\"12\" y=\"22\">{}</text>", escaped(name));
    let mut ends = vec![0, low, high];
    ends.sort_unstable();
    ends.dedup();
    for end in ends {
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(end) + 4.0,
            signed(end),
            y = y(end),
        );
    }
    let unit = results.first().map_or("", |result| &result.unit);
    for (at, text) in [(0, "0".to_owned()), (last, format!("{last} {unit}s"))] {
        let class = if at == 0 { "" } else { " class=\"end\"" };
        let place = HEIGHT - 8.0;
        let _ = writeln!(svg, "<text{class} x=\"{:.1}\" y=\"{place}\">{text}</text>", x(at));
    }
    for (line, (at, result, row)) in found.iter().enumerate() {
        curve(svg, *at, (result, row), |(number, it)| (x(number), y(it)));
        let place = HEIGHT + LINE * (line as f64 + 0.7);
        let told = describe_kernel(result, row);
        let _ = writeln!(svg, "<text class=\"k{at}\" x=\"12\" y=\"{place:.1}\">{told}</text>");
    }
}

/// A kernel's line, with a dot for each number that was measured.
fn curve(
    svg: &mut String,
    at: usize,
    (result, row): (&SlopeResult, &SlopeRow),
    place: impl Fn((u64, i64)) -> (f64, f64),
) {
    let points = result.numbers.iter().copied().zip(row.differences.iter().copied());
    let points: Vec<(f64, f64)> = points.map(place).collect();
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = writeln!(svg, "<path class=\"k{at}\" d=\"M{}\"/>", line.join("L"));
    for (x, y) in points {
        let _ = writeln!(svg, "<circle class=\"k{at}\" r=\"3\" cx=\"{x:.1}\" cy=\"{y:.1}\"/>");
    }
}

/// The kernel, with what a unit costs on it and where that bends, as text for the picture.
fn describe_kernel(result: &SlopeResult, row: &SlopeRow) -> String {
    let name = result.base.release.as_ref().unwrap_or(&result.base.name);
    let line = row.constant.map(|constant| {
        format!("{} and {} per {}", signed(constant), signed(per_unit(row)), result.unit)
    });
    let bends = (!row.is_straight()).then(|| place(row));
    let function = line.into_iter().chain(bends).collect::<Vec<_>>().join(", ");
    escaped(&clean(&format!("{name}: {function}")))
}

#[cfg(test)]
mod tests {
    use pathmeter_model::{SlopePiece, SlopeRows};

    use super::*;

    fn result(name: &str, differences: &[i64]) -> SlopeResult {
        let text = include_str!("slope.json");
        let mut result: SlopeResult = serde_json::from_str(text).unwrap();
        result.base.release = Some(name.to_owned());
        result.numbers = (1..=differences.len() as u64).collect();
        let pieces = vec![SlopePiece { from: 1, to: 2, difference: 5, per_unit: Some(5) }];
        let row = SlopeRow {
            row: "file.<stat>".to_owned(),
            base: 100,
            differences: differences.to_vec(),
            several_values: false,
            scatters: false,
            constant: Some(3),
            pieces,
        };
        result.paths = SlopeRows { compared: 1, rows: vec![row], unmeasured: Vec::new() };
        result
    }

    #[test]
    fn each_kernel_has_a_line_with_its_dots_in_one_drawing() {
        let svg = slopes_svg(&[result("6.1", &[5, 10]), result("7.3", &[-4, -4, 90])]);
        assert_eq!(svg.matches("<circle").count(), 5);
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(svg.contains("6.1: +3 and +5 per layer") && svg.contains("file.&lt;stat&gt;"));
        for place in svg.split("cy=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let place: f64 = place.parse().unwrap();
            assert!((TOP..=HEIGHT - BOTTOM).contains(&place), "{svg}");
        }
    }

    #[test]
    fn a_row_of_which_only_events_differ_is_not_drawn() {
        let svg = slopes_svg(&[result("6.1", &[0, 0])]);
        assert!(!svg.contains("<circle") && !svg.contains("stat"), "{svg}");
    }

    #[test]
    fn what_has_no_rows_or_no_numbers_is_still_a_picture() {
        for svg in [slopes_svg(&[]), slopes_svg(&[result("x", &[])])] {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
