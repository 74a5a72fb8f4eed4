//! What a program costs by a number among its arguments: the sentences, a small picture of all own
//! work and of the largest rows, and all rows that depend on the number as a table.

use pathmeter_model::{ProgramSlopeResult, ProgramSlopeRow, clean, command_line};

use super::changes::lead;
use super::data::Data;
use super::html::Html;
use super::sheet::{Cell, Heading, Row, Sheet};
use super::slope::{Line, draw_line};
use crate::number::grouped;
use crate::program_slope::{
    describe_own_work, describe_parts, describe_rows, is_telling, sort_rows,
};

const HEADINGS: [Heading; 7] = [
    ("row", "text"),
    ("first", "number"),
    ("last", "number"),
    ("constant", "number"),
    ("per unit", "number"),
    ("square", "number"),
    ("bends, steps, scatters", "text"),
];
/// How many rows have pictures at most.
const PICTURES: usize = 8;

/// What one more costs in own work.
pub(super) fn write_headline(result: &ProgramSlopeResult) -> String {
    describe_own_work(result)
}

pub(super) fn draw_section(result: &ProgramSlopeResult, data: &mut Data) -> Html {
    let mut rows: Vec<&ProgramSlopeRow> =
        result.rows.iter().filter(|row| is_telling(row)).collect();
    sort_rows(&mut rows);
    let others = describe_rows(result, &result.rows.iter().collect::<Vec<_>>());
    let mut html = Html::default();
    html.add(&lead(Some(others).filter(|text| !text.is_empty())));
    html.raw("<p class=\"note\"><code>").text(&clean(&command_line(&result.command)));
    html.raw("</code>, ").text(&result.word).raw(" = ").text(&result.digits.join(", "));
    html.raw(". The pictures have the difference to the first number, in instructions; dots are ");
    html.raw("measured.</p><div class=\"slopes\">");
    for row in rows.iter().take(PICTURES) {
        html.add(&draw_figure(result, row));
    }
    html.raw("</div>");
    let sheet = Sheet {
        caption: "Rows that depend on the number",
        sorts: true,
        headings: HEADINGS.to_vec(),
        rows: rows.iter().map(|row| list_values(result, row)).collect(),
    };
    html.add(&sheet.html(data)).add(&draw_legend(result));
    html
}

/// A row's line, with what each unit costs below it.
fn draw_figure(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> Html {
    let word = &result.word;
    let [constant, unit, square, remark] = describe_parts(result, row);
    let parts = [(constant, String::new()), (unit, format!(" per {word}"))];
    let parts =
        parts.into_iter().chain([(square, format!(" per {word}²")), (remark, String::new())]);
    let parts = parts.filter(|(amount, _)| !amount.is_empty());
    let told = parts.map(|(amount, per)| amount + &per).collect::<Vec<_>>().join(" and ");
    let first = row.values.first().copied().unwrap_or(0);
    let differences: Vec<i64> = row
        .values
        .iter()
        .map(|value| value.cast_signed().saturating_sub(first.cast_signed()))
        .collect();
    let last = result.digits.last().map_or_else(String::new, |digits| format!("{word} = {digits}"));
    draw_line(&Line {
        name: &row.row,
        numbers: &result.numbers,
        last: &last,
        differences: &differences,
        told: &told,
    })
}

fn list_values(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> Row {
    let value = |value: Option<&u64>| {
        let value = value.copied().unwrap_or(0);
        Cell::number("", &value, grouped(value))
    };
    let [constant, unit, square, remark] = describe_parts(result, row);
    let of_terms = row.function.map(|it| [it.constant, it.per_unit, it.per_square]);
    // Sorted by whole instructions, which is close enough to tell rows apart.
    let rank = |at: usize| {
        of_terms.map_or(0, |it| it[at].numerator / it[at].denominator.max(1).cast_signed())
    };
    Row {
        name: row.row.clone(),
        anchor: row.row.clone(),
        unit: None,
        verdict: "",
        cells: vec![
            value(row.values.first()),
            value(row.values.last()),
            Cell::number("", &rank(0), constant),
            Cell::number("", &rank(1), unit),
            Cell::number("", &rank(2), square),
            Cell::text("", &remark),
        ],
        details: None,
    }
}

/// What the columns mean, and what was not measured.
fn draw_legend(result: &ProgramSlopeResult) -> Html {
    let word = &result.word;
    let [first, last] =
        [result.digits.first(), result.digits.last()].map(|it| it.map_or("", |it| &**it));
    let mut html = Html::default();
    html.raw("<p class=\"note\">first, last: medians of the later runs with ").text(word);
    html.raw(" = ").text(first).raw(" and ").text(last);
    html.raw(", of a region of one execution. constant + ").text(word).raw(" · per unit + ");
    html.text(word).raw("² · square is the value for every number that was measured; where that ");
    html.raw("holds for none, per unit is the slope up to the first bend. A step, such as +39 ");
    html.raw("from 100, is what a number with more digits costs besides. A row scatters if not ");
    html.raw("most pairs of runs have the difference of its values.</p>");
    if !result.unmeasured.is_empty() {
        html.raw("<p class=\"note\">Not measured with every number: ");
        html.text(&result.unmeasured.join(", ")).raw(".</p>");
    }
    html
}
