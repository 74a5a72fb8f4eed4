//! What a kernel costs by the number of a setting, as text: a sentence, then the rows that matter.

use pathmeter_model::{SlopePiece, SlopeResult, SlopeRow, SlopeRows, Subject, clean, command_line};

use crate::measurement::footer;
use crate::number::{grouped, plural, signed};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Rows that are shown of each kind, those with most per unit or those that bend.
const FEW: usize = 8;
/// Rows that bend that the sentence names.
const NAMED: usize = 3;

/// The sentence, the rows of the paths and of the program, and what was measured on which machine.
pub fn slope_table(result: &SlopeResult, shown: Rows, style: Style) -> String {
    let subject = Subject::kernel_image(&result.base.name);
    let program = match (&result.program, &result.program_rows) {
        (Some(command), Some(rows)) => {
            let heading = format!("program: {}", clean(&command_line(command)));
            format!("\n{heading}\n{}", section(result, rows, ("row", shown), style))
        }
        _ => String::new(),
    };
    format!(
        "{}\n{}{program}\n{}{}",
        clean(&result.setting),
        section(result, &result.paths, ("path", shown), style),
        legend(result, style),
        footer(&subject, &result.configuration, &[], style)
    )
}

fn section(
    result: &SlopeResult,
    rows: &SlopeRows,
    (what, shown): (&str, Rows),
    style: Style,
) -> String {
    let unmeasured = match &rows.unmeasured[..] {
        [] => String::new(),
        names => {
            style.fill(&format!("not measured under every number: {}", names.join(", ")), 2) + "\n"
        }
    };
    let sentence = style.fill(&sentence(result, rows, what), 0);
    format!("{sentence}\n{}{unmeasured}", table(result, rows, (what, shown), style))
}

/// `31 of 49 paths differ. 29 cost a constant and as much for each layer; most file.stat, +80 and
/// +23 per layer. 2 bend: fork-exit at 4.`
fn sentence(result: &SlopeResult, rows: &SlopeRows, what: &str) -> String {
    let (straight, bent): (Vec<_>, Vec<_>) = rows.rows.iter().partition(|row| row.is_straight());
    let unit = &result.unit;
    let all = plural(rows.compared, what);
    if rows.rows.is_empty() {
        return format!("None of {all} differs.");
    }
    let verb = if rows.rows.len() == 1 { "differs" } else { "differ" };
    let mut text = format!("{} of {all} {verb}.", rows.rows.len());
    if let Some(most) = straight.iter().max_by_key(|row| per_unit(row).unsigned_abs()) {
        let verb = if straight.len() == 1 { "costs" } else { "cost" };
        text += &format!(
            " {} {verb} a constant and as much for each {unit}, to the instruction; most {}: {} and \
             {} per {unit}.",
            straight.len(),
            most.row,
            signed(most.constant.unwrap_or(0)),
            signed(per_unit(most))
        );
    }
    if !bent.is_empty() {
        let verb = if bent.len() == 1 { "does" } else { "do" };
        let named: Vec<String> = bent.iter().take(NAMED).map(|row| place(row)).collect();
        let more = if bent.len() > NAMED { ", …" } else { "" };
        text += &format!(" {} {verb} not: {}{more}.", bent.len(), named.join(", "));
    }
    text
}

/// `fork-exit bends at 4`.
fn place(row: &SlopeRow) -> String {
    let bends: Vec<String> = row.bends().map(|number| number.to_string()).collect();
    match &bends[..] {
        [] => format!("{} has no whole number for each", row.row),
        bends => format!("{} bends at {}", row.row, bends.join(", ")),
    }
}

fn per_unit(row: &SlopeRow) -> i64 {
    row.pieces.first().and_then(|piece| piece.per_unit).unwrap_or(0)
}

fn table(
    result: &SlopeResult,
    rows: &SlopeRows,
    (what, shown): (&str, Rows),
    style: Style,
) -> String {
    let per_unit = format!("per {}", result.unit);
    let mut table = Table::new(&[
        (what, Align::Left),
        ("default", Align::Right),
        ("constant", Align::Right),
        (&per_unit, Align::Right),
        ("bends", Align::Left),
    ])
    .with_whole_remarks();
    let (straight, bent): (Vec<_>, Vec<_>) = rows.rows.iter().partition(|row| row.is_straight());
    let few = if shown == Rows::All { usize::MAX } else { FEW };
    let mut count = 0;
    for row in straight.into_iter().take(few).chain(bent.into_iter().take(few)) {
        table.row([
            row.row.as_str().into(),
            grouped(row.base).into(),
            row.constant.map_or_else(String::new, signed).into(),
            row.pieces.first().map_or_else(String::new, slope).into(),
            remark(row).into(),
        ]);
        count += 1;
    }
    let more = match rows.rows.len() - count {
        0 => String::new(),
        more => format!("{} more: --all\n", plural(more, "row")),
    };
    if count == 0 { String::new() } else { format!("\n{}{more}", table.render(style)) }
}

/// `+23`, or `+50 in 3`, where that is no whole number for each.
fn slope(piece: &SlopePiece) -> String {
    piece.per_unit.map_or_else(
        || format!("{} in {}", signed(piece.difference), piece.to - piece.from),
        signed,
    )
}

/// `from 4 +20, from 8 +18; several values`.
fn remark(row: &SlopeRow) -> String {
    let pieces = row.pieces.iter().skip(1);
    let bends: Vec<String> =
        pieces.map(|piece| format!("from {} {}", piece.from, slope(piece))).collect();
    let values = row.several_values.then(|| "several values".to_owned());
    let parts = [Some(bends.join(", ")).filter(|it| !it.is_empty()), values];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn legend(result: &SlopeResult, style: Style) -> String {
    let numbers: Vec<String> = result.numbers.iter().map(u64::to_string).collect();
    let text = format!(
        "instructions with N {0}s are those of the default, the constant and N times what one more \
         costs; measured for N = {1}, and linear between two of these",
        result.unit,
        numbers.join(", ")
    );
    style.fill(&text, 0) + "\n"
}
