//! What a kernel costs by the number of a setting, as text: a sentence, then the rows that matter.

mod picture;

pub use picture::{MOST_SLOPES, slopes_svg};

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
        "{}: {}{program}\n{}{}",
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
    let names = rows.unmeasured.join(", ");
    let unmeasured = style.fill(&format!("not measured under every number: {names}"), 2) + "\n";
    let unmeasured = if names.is_empty() { "" } else { &unmeasured };
    let sentence = style.fill(&sentence(result, rows, what), 0);
    format!("{sentence}\n{}{unmeasured}", table(result, rows, (what, shown), style))
}

/// `31 of 49 paths differ. 29 cost a constant plus the same number of instructions for each layer,
/// exactly; the largest: file.stat, +80 and +23 per layer. 1 does not: wake.switch bends at 4.
/// 1 scatters, which is no function: fork-exit.`
pub(crate) fn sentence(result: &SlopeResult, rows: &SlopeRows, what: &str) -> String {
    let Kinds { straight, bent, scattered } = Kinds::of(rows);
    let all = plural(rows.compared, what);
    let head = match rows.rows.len() {
        0 => format!("None of {all} differs."),
        1 => format!("1 of {all} differs."),
        count => format!("{count} of {all} differ."),
    };
    let functions = [of_straight(&straight, &result.unit), of_bent(&bent)];
    let parts = [Some(head)].into_iter().chain(functions).chain([of_scattered(&scattered)]);
    parts.flatten().collect::<Vec<_>>().join(" ")
}

/// The rows by what their differences are.
struct Kinds<'a> {
    straight: Vec<&'a SlopeRow>,
    bent: Vec<&'a SlopeRow>,
    /// Rows whose points lie on no function.
    scattered: Vec<&'a SlopeRow>,
}

impl<'a> Kinds<'a> {
    fn of(rows: &'a SlopeRows) -> Self {
        let (scattered, others) = rows.rows.iter().partition::<Vec<_>, _>(|row| row.scatters);
        let (straight, bent) = others.into_iter().partition(|row| row.is_straight());
        Self { straight, bent, scattered }
    }
}

/// What those without a bend cost; none without any.
fn of_straight(rows: &[&SlopeRow], unit: &str) -> Option<String> {
    let most = rows.iter().max_by_key(|row| per_unit(row).unsigned_abs())?;
    let verb = if rows.len() == 1 { "costs" } else { "cost" };
    let exactly = if rows.iter().any(|row| row.several_values) { "" } else { ", exactly" };
    Some(format!(
        "{} {verb} a constant plus the same number of instructions for each {unit}{exactly}; the \
         largest: {}, {} and {} per {unit}.",
        rows.len(),
        most.row,
        signed(most.constant.unwrap_or(0)),
        signed(per_unit(most))
    ))
}

/// Where the others bend; none without any.
fn of_bent(rows: &[&SlopeRow]) -> Option<String> {
    let verb = if rows.len() == 1 { "does" } else { "do" };
    let named: Vec<String> =
        rows.iter().take(NAMED).map(|row| format!("{} {}", row.row, place(row))).collect();
    let more = if rows.len() > NAMED { ", …" } else { "" };
    let text = format!("{} {verb} not: {}{more}.", rows.len(), named.join(", "));
    (!rows.is_empty()).then_some(text)
}

/// Which ones scatter; none without any.
fn of_scattered(rows: &[&SlopeRow]) -> Option<String> {
    let verb = if rows.len() == 1 { "scatters" } else { "scatter" };
    let named: Vec<&str> = rows.iter().take(NAMED).map(|row| &*row.row).collect();
    let more = if rows.len() > NAMED { ", …" } else { "" };
    let text = format!("{} {verb}, which is no function: {}{more}.", rows.len(), named.join(", "));
    (!rows.is_empty()).then_some(text)
}

/// `bends at 4`.
fn place(row: &SlopeRow) -> String {
    let bends: Vec<String> = row.bends().map(|number| number.to_string()).collect();
    match &bends[..] {
        [] => "has no whole number for each".to_owned(),
        bends => format!("bends at {}", bends.join(", ")),
    }
}

pub(crate) fn per_unit(row: &SlopeRow) -> i64 {
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
        ("remark", Align::Left),
    ])
    .with_whole_remarks();
    let kinds = Kinds::of(rows);
    let few = if shown == Rows::All { usize::MAX } else { FEW };
    let mut count = 0;
    let kinds = [kinds.straight, kinds.bent, kinds.scattered].into_iter();
    for row in kinds.flat_map(|rows| rows.into_iter().take(few)) {
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
pub(crate) fn slope(piece: &SlopePiece) -> String {
    piece.per_unit.map_or_else(
        || format!("{} in {}", signed(piece.difference), piece.to - piece.from),
        signed,
    )
}

/// `bends: from 4 +20, from 8 +18; typical values`, or `scatters: +4,307…+4,368`.
pub(crate) fn remark(row: &SlopeRow) -> String {
    let ends = row.differences.iter().min().zip(row.differences.iter().max());
    let ends = ends.filter(|_| row.scatters);
    let scatters = ends.map(|(least, most)| match (signed(*least), signed(*most)) {
        (least, most) if least == most => format!("{least} with each number, and pairs scatter"),
        (least, most) => format!("scatters: {least}…{most}"),
    });
    let pieces = row.pieces.iter().skip(1);
    let bends: Vec<String> =
        pieces.map(|piece| format!("from {} {}", piece.from, slope(piece))).collect();
    let values = row.several_values.then(|| "typical values".to_owned());
    let bends = (!bends.is_empty()).then(|| format!("bends: {}", bends.join(", ")));
    let parts = [scatters, bends, values];
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
    let rows = result.paths.rows.iter();
    let rows = rows.chain(result.program_rows.iter().flat_map(|rows| &rows.rows));
    let typical = rows.clone().any(|row| row.several_values).then_some(
        "typical values: the row has several exact values under a number; those that most windows \
         have differ so, and other windows may differ otherwise",
    );
    let typical = typical.map_or_else(String::new, |text| style.fill(text, 0) + "\n");
    style.fill(&text, 0) + "\n" + &typical
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, constant: Option<i64>, pieces: &[(u64, u64, i64, Option<i64>)]) -> SlopeRow {
        let piece =
            |&(from, to, difference, per_unit): &_| SlopePiece { from, to, difference, per_unit };
        SlopeRow {
            row: name.to_owned(),
            base: 100,
            differences: vec![],
            several_values: pieces.len() > 1,
            scatters: false,
            constant,
            pieces: pieces.iter().map(piece).collect(),
        }
    }

    #[test]
    fn a_function_is_told_in_words_with_its_bends() {
        let straight = row("file.open", Some(500), &[(1, 8, 427, Some(61))]);
        let bent = row("fork", Some(4), &[(1, 2, 3, Some(3)), (2, 4, 5, None)]);
        let told = of_straight(&[&straight], "layer").unwrap();
        assert!(told.ends_with("the largest: file.open, +500 and +61 per layer."), "{told}");
        assert_eq!(of_bent(&[&bent]).unwrap(), "1 does not: fork bends at 2.");
        assert_eq!(remark(&bent), "bends: from 2 +5 in 2; typical values");
        assert_eq!((of_straight(&[], "layer"), of_bent(&[])), (None, None));
        assert_eq!(of_scattered(&[]), None);
        assert_eq!(slope(&straight.pieces[0]), "+61");
    }

    #[test]
    fn what_scatters_is_told_apart_and_has_no_slope() {
        let mut result: SlopeResult =
            serde_json::from_str(include_str!("slope/slope.json")).unwrap();
        let differences = vec![6_549, 5_508, 4_467, 3_000, 9_000];
        let scattered = SlopeRow { differences, scatters: true, ..row("process.fork", None, &[]) };
        result.paths.rows.push(scattered);
        result.check().unwrap();
        let told = sentence(&result, &result.paths, "path");
        assert!(told.ends_with(" 1 scatters, which is no function: process.fork."), "{told}");
        let table = slope_table(
            &result,
            Rows::All,
            Style { colour: false, width: None, table_width: None },
        );
        let line = table.lines().find(|line| line.starts_with("process.fork ")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["process.fork", "100", "scatters:", "+3,000…+9,000"]);
        let sloped = SlopeRow { constant: Some(7_590), ..result.paths.rows.pop().unwrap() };
        result.paths.rows.push(sloped);
        result.check().unwrap_err();
    }
}
