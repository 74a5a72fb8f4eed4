//! What a kernel costs by the number of a setting: a small picture of each row's function, and all
//! rows as a table.

use pathmeter_model::{SlopeResult, SlopeRow, SlopeRows, clean, command_line, float};

use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use crate::number::{grouped, signed};
use crate::picture::{Scale, ends, heights};
use crate::slope::{per_unit, remark, sentence, slope};

const HEADINGS: [Heading; 5] = [
    ("row", "text"),
    ("default", "number"),
    ("constant", "number"),
    ("per unit", "number"),
    ("bends", "text"),
];
/// How many rows have pictures at most.
const PICTURES: usize = 12;
/// The size of a picture, and of the room around its function, in its own units.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 130.0;
/// The width of a digit of the numbers beside a picture, at most.
const DIGIT: f64 = 6.2;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// The sentence of the paths, or of the program if no path was looked at.
pub(super) fn headline(result: &SlopeResult) -> String {
    let name = result.base.release.as_ref().unwrap_or(&result.base.name);
    format!("{} on {name}: {}", result.setting, sentence(result, &result.paths, "path"))
}

pub(super) fn section(result: &SlopeResult, data: &mut Data) -> Html {
    let mut html = Html::default();
    html.raw(
        "<p class=\"note\">The difference to the kernel without the setting, in instructions, ",
    );
    html.raw("by the number of ").text(&result.unit).raw("s. Dots are measured; between two of ");
    html.raw("them the function is taken to be linear.</p>");
    html.add(&rows(result, &result.paths, "Paths that differ", data));
    if let (Some(command), Some(program)) = (&result.program, &result.program_rows) {
        html.raw("<h3>").text(&clean(&command_line(command))).raw("</h3><p>");
        html.text(&sentence(result, program, "row")).raw("</p>");
        html.add(&rows(result, program, "Rows of the program that differ", data));
    }
    html
}

fn rows(result: &SlopeResult, rows: &SlopeRows, caption: &'static str, data: &mut Data) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"slopes\">");
    for row in rows.rows.iter().filter(|row| !row.scatters).take(PICTURES) {
        html.add(&figure(result, row));
    }
    html.raw("</div>");
    let all = rows.rows.iter().map(|row| sheet_row(caption, row)).collect();
    let sheet = Sheet { caption, sorts: true, headings: HEADINGS.to_vec(), rows: all };
    html.add(&sheet.html(data));
    if !rows.unmeasured.is_empty() {
        let names = rows.unmeasured.join(", ");
        html.raw("<p class=\"note\">Not measured under every number: ").text(&names).raw("</p>");
    }
    html
}

/// A row's function, with what it costs below it.
fn figure(result: &SlopeResult, row: &SlopeRow) -> Html {
    let told = match (row.is_straight(), row.constant) {
        (true, Some(constant)) => {
            let each = signed(per_unit(row));
            format!("{} and {each} per {}", signed(constant), result.unit)
        }
        _ => remark(row),
    };
    let last =
        result.numbers.last().map_or_else(String::new, |it| format!("{it} {}s", result.unit));
    draw_line(&Line {
        name: &row.row,
        numbers: &result.numbers,
        last: &last,
        differences: &row.differences,
        told: &told,
    })
}

/// A line through measured points.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    /// The numbers, in ascending order.
    pub(super) numbers: &'a [u64],
    /// What stands below the last number.
    pub(super) last: &'a str,
    /// The differences with these numbers, in instructions.
    pub(super) differences: &'a [i64],
    /// What the line says, in words.
    pub(super) told: &'a str,
}

/// The function through the measured points, over a line where the difference is none, with what it
/// says below.
pub(super) fn draw_line(line: &Line<'_>) -> Html {
    let Line { name, numbers, last, differences, told } = line;
    let ends = ends(differences.iter());
    let digits = ends.map(|end| signed(end).len()).into_iter().max().unwrap_or(0);
    let left = 12.0 + DIGIT * float(digits as u64);
    let most = numbers.last().copied().unwrap_or(0).max(1);
    let across = Scale::of([0, most], [left, WIDTH - RIGHT]);
    let (x, y) = (|number| across.place_count(number), heights(ends, [TOP, HEIGHT - BOTTOM]));
    let points = numbers.iter().zip(*differences).map(|(number, it)| [x(*number), y(*it)]);
    let points: Vec<[f64; 2]> = points.collect();

    let mut html = Html::default();
    html.raw("<figure><svg class=\"slope\" viewBox=\"0 0 260 130\" role=\"img\" aria-label=\"");
    html.text(&format!("{name}: {told}")).raw("\">");
    html.placed("<path class=\"none\" d=\"M{} {}H{}\"/>", &[left, y(0), WIDTH - RIGHT]);
    html.raw("<path class=\"line\" d=\"");
    for (at, point) in points.iter().enumerate() {
        html.placed(if at == 0 { "M{} {}" } else { "L{} {}" }, point);
    }
    html.raw("\"/>");
    for point in &points {
        html.placed("<circle r=\"2.5\" cx=\"{}\" cy=\"{}\"/>", point);
    }
    for end in ends.into_iter().filter(|end| *end != 0).chain([0]) {
        html.placed("<text x=\"{}\" y=\"{}\">", &[left - 5.0, y(end) + 4.0]);
        html.text(&signed(end)).raw("</text>");
    }
    let [first, end] = [numbers.first(), numbers.last()].map(|it| it.copied().unwrap_or(0));
    for (number, text) in [(first, &*first.to_string()), (end, *last)] {
        html.placed("<text y=\"126\" x=\"{}\">", &[x(number) + 8.0]).text(text).raw("</text>");
    }
    html.raw("</svg><figcaption><b>").text(name).raw("</b><br>").text(told);
    html.raw("</figcaption></figure>");
    html
}

fn sheet_row(caption: &str, row: &SlopeRow) -> Row {
    let each = row.pieces.first();
    Row {
        name: row.row.clone(),
        anchor: format!("{}.{}", caption.split(' ').next().unwrap_or_default(), row.row),
        unit: None,
        verdict: "",
        cells: vec![
            Cell::number("", &row.base, grouped(row.base)),
            Cell::number(
                "",
                &row.constant.unwrap_or_default(),
                row.constant.map(signed).unwrap_or_default(),
            ),
            Cell::number("", &per_unit(row), each.map(slope).unwrap_or_default()),
            Cell::text("", remark(row)),
        ],
        details: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_differences(numbers: &[u64], differences: &[i64], told: &str) -> String {
        draw_line(&Line { name: "file.stat", numbers, last: "16 layers", differences, told })
            .into_string()
    }

    #[test]
    fn a_picture_has_a_dot_for_each_number_within_its_frame() {
        for differences in [vec![10, 20, 40], vec![-10, 0, 30], vec![0, 0, 0], vec![-1, -5, -9]] {
            let svg = draw_differences(&[1, 2, 16], &differences, "told");
            assert_eq!(svg.matches("<circle").count(), 3);
            let places = svg.split("cy=\"").skip(1).filter_map(|rest| rest.split('"').next());
            for place in places {
                let place: f64 = place.parse().unwrap();
                assert!((TOP..=HEIGHT - BOTTOM).contains(&place), "{svg}");
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn what_a_document_without_numbers_draws_is_no_nonsense() {
        let svg = draw_differences(&[], &[], "<i>");
        assert!(!svg.contains("NaN") && !svg.contains("<i>"), "{svg}");
    }
}
