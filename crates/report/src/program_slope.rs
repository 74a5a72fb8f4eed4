//! What a program costs by a number among its arguments, as text: what one more costs in own work
//! and where that bends, then the rows that depend on the number.

mod sentence;

use std::cmp::Reverse;

use pathmeter_model::{ProgramSlopeResult, ProgramSlopeRow, RowKind, Subject, clean, command_line};

use self::sentence::{
    chords, describe_steps, each, each_of, range, ratio, remark, signed_ratio, square,
};
use crate::measurement::footer;
use crate::number::{grouped, plural};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Cell, Table};

/// Rows that a sentence names.
const NAMED: usize = 3;
/// Numbers of which each has a column; of more, the first and the last have.
const COLUMNS: usize = 4;
/// Numbers that tell a bend, and numbers that tell a square part.
const TELL_BEND: usize = 3;
const TELL_SQUARE: usize = 4;

/// The sentences, the rows that `is_shown` selects, and what was measured on which machine.
pub fn program_slope_table(
    result: &ProgramSlopeResult,
    shown: Rows,
    is_shown: impl Fn(&str) -> bool,
    style: Style,
) -> String {
    let subject = Subject::kernel_image(&result.base.name);
    let rows: Vec<&ProgramSlopeRow> = result.rows.iter().filter(|row| is_shown(&row.row)).collect();
    let sentences = format!("{} {}", describe_own_work(result), describe_rows(result, &rows));
    format!(
        "{}\n\n{}{}{}",
        style.fill(sentences.trim_end(), 0),
        table(result, rows, shown, style),
        legend(result, style),
        footer(&subject, &result.configuration, &[], style)
    )
}

/// Which rows the work that one more costs is in, and the regions.
pub(crate) fn describe_rows(result: &ProgramSlopeResult, rows: &[&ProgramSlopeRow]) -> String {
    let of = |holds: &dyn Fn(&ProgramSlopeRow) -> bool| -> Vec<&ProgramSlopeRow> {
        rows.iter().copied().filter(|row| holds(row)).collect()
    };
    let depends = |row: &ProgramSlopeRow| row.is_own_work() && row.depends();
    let is_bent = |row: &ProgramSlopeRow| !row.scatters && row.pieces.len() > 1;
    let is_flat = |row: &ProgramSlopeRow| row.function.is_some_and(|it| it.is_constant());
    let straight = of(&|row| depends(row) && row.pieces.len() == 1 && !is_flat(row));
    let stepped = of(&|row| depends(row) && !describe_steps(row).is_empty());
    let square = of(&|row| depends(row) && is_bent(row) && row.function.is_some());
    let bent = of(&|row| depends(row) && is_bent(row) && row.function.is_none());
    let scattered = of(&|row| depends(row) && row.scatters);
    let regions = of(&|row| row.kind.is_none() && row.depends());
    let idle = of(&|row| row.is_own_work() && row.scatters && !row.depends());
    let each = |row: &ProgramSlopeRow| format!("{} {}", row.row, each(result, row));
    let parts = [
        name_rows(straight, ["row costs", "rows cost"], " the same for each, exactly", each),
        name_rows(
            stepped,
            ["row also costs", "rows also cost"],
            " more or less where the number has more digits",
            |row| format!("{} {}", row.row, describe_steps(row)),
        ),
        name_rows(square, ["row has a square part", "rows have a square part"], ", exactly", each),
        name_rows(bent, ["row bends", "rows bend"], "", each),
        name_rows(
            scattered,
            ["row scatters", "rows scatter"],
            ", higher or lower in all runs",
            each,
        ),
        name_rows(regions, ["region or window differs", "regions or windows differ"], "", each),
        name_rows(idle, ["row scatters", "rows scatter"], ", which is no slope", |row| {
            row.row.clone()
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// `2 rows cost the same for each, exactly: getppid +321, user code +7.`; none without any.
fn name_rows(
    mut rows: Vec<&ProgramSlopeRow>,
    [one, several]: [&str; 2],
    how: &str,
    describe: impl Fn(&ProgramSlopeRow) -> String,
) -> Option<String> {
    rows.sort_by_key(|row| Reverse(size(row)));
    let names: Vec<String> = rows.iter().take(NAMED).map(|row| describe(row)).collect();
    let more = if rows.len() > NAMED { ", …" } else { "" };
    let (count, names) = (rows.len(), names.join(", "));
    let verb = if count == 1 { one } else { several };
    (count > 0).then(|| format!("{count} {verb}{how}: {names}{more}."))
}

/// What one more costs in all own work, and where that bends.
pub(crate) fn describe_own_work(result: &ProgramSlopeResult) -> String {
    let word = &result.word;
    let Some(row) = result.own_work() else {
        return "Nothing of the program was measured.".to_owned();
    };
    let ends = result.numbers.first().zip(result.numbers.last());
    let between = ends.map_or_else(String::new, |(from, to)| format!("from {word} {from} to {to}"));
    if !row.depends() {
        let all = range(row.range(), 1);
        return if row.scatters {
            format!(
                "The program and its system calls scatter by {all} {between}, which is no slope."
            )
        } else {
            format!("The program and its system calls cost the same for each {word}, {between}.")
        };
    }
    let costs = |each: &str| {
        let each = each.replace('+', "");
        format!("One more {word} costs {each} instructions of the program and its system calls")
    };
    let about = square(result, row).map_or_else(String::new, |it| format!(", by about {it}"));
    match (row.function, row.pieces.first(), chords(result, row)) {
        (Some(it), ..) if it.per_square.is_zero() => {
            let steps = describe_steps(row);
            let steps = Some(steps).filter(|steps| !steps.is_empty());
            let steps = steps.map(|it| format!("; where {word} has more digits, {it}"));
            let costs = costs(&ratio(it.per_unit));
            format!("{costs}, exactly, {between}{}.", steps.unwrap_or_default())
        }
        (Some(it), ..) => format!(
            "{}, and each of the {word}² pairs {}, exactly, {between}.",
            costs(&ratio(it.per_unit)),
            ratio(it.per_square)
        ),
        (None, Some(piece), _) => {
            let bends: Vec<String> = row.bends().map(|number| number.to_string()).collect();
            let (costs, bends) = (costs(&each_of(piece)), bends.join(", "));
            format!("{costs} up to {word} {}, which bends at {bends}{about}.", piece.to)
        }
        (None, None, Some(chords)) => {
            let [(near, from), (far, to)] = chords;
            let far = far.replace('+', "");
            format!("{} {from}, and {far} {to}: it bends{about}, and runs scatter.", costs(&near))
        }
        (None, None, None) => {
            format!("{} on average, {between}; runs scatter.", costs(&each(result, row)))
        }
    }
}

/// What one row costs for each of so many: its constant part, the part that each adds, that of the
/// square, and where it bends or how it scatters. Texts are empty where there is no such part.
pub(crate) fn describe_parts(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> [String; 4] {
    let [constant, unit, square] = match (row.function, row.pieces.first()) {
        (Some(it), _) => {
            let square = Some(it.per_square).filter(|it| !it.is_zero());
            let square = square.map_or_else(String::new, signed_ratio);
            [ratio(it.constant), signed_ratio(it.per_unit), square]
        }
        (None, Some(piece)) => [String::new(), each_of(piece), String::new()],
        (None, None) => Default::default(),
    };
    [constant, unit, square, remark(result, row)]
}

/// Whether a row is shown without being asked for: all own work, and own work, regions and windows
/// that depend on the number.
pub(crate) fn is_telling(row: &ProgramSlopeRow) -> bool {
    match row.kind {
        Some(RowKind::OwnWork) => true,
        None => row.depends(),
        Some(_) => row.is_own_work() && row.depends(),
    }
}

/// Sorts all own work first, then the rows with the largest difference, then regions and windows.
pub(crate) fn sort_rows(rows: &mut [&ProgramSlopeRow]) {
    let group = |row: &ProgramSlopeRow| match row.kind {
        Some(RowKind::OwnWork) => 0,
        Some(_) => 1,
        None => 2,
    };
    rows.sort_by_key(|row| (group(row), Reverse(size(row))));
}

/// By how much a row differs between the first number and the last.
fn size(row: &ProgramSlopeRow) -> u64 {
    let ends = row.values.first().zip(row.values.last());
    ends.map_or(0, |(first, last)| first.abs_diff(*last))
}

/// The totals, then the rows, those with the largest difference first, then regions and windows.
/// Unless all are asked for, only own work that depends on the number, and regions that do.
fn table(
    result: &ProgramSlopeResult,
    mut rows: Vec<&ProgramSlopeRow>,
    shown: Rows,
    style: Style,
) -> String {
    let word = &result.word;
    let places = places(result.numbers.len());
    let numbers: Vec<String> =
        places.iter().map(|at| format!("{word}={}", result.numbers[*at])).collect();
    let (unit, square) = (format!("per {word}"), format!("per {word}²"));
    let own = ["constant", &*unit, &*square].map(|it| (it, Align::Right));
    let numbers = numbers.iter().map(|it| (&**it, Align::Right));
    let columns = [("what", Align::Left)].into_iter().chain(numbers).chain(own);
    let columns: Vec<(&str, Align)> = columns.chain([("bends, steps", Align::Left)]).collect();
    let mut table = Table::new(&columns).with_whole_remarks();
    let all = rows.len();
    rows.retain(|row| shown == Rows::All || is_telling(row));
    sort_rows(&mut rows);
    for row in &rows {
        table.row(cells(result, row, &places));
    }
    let more = match all - rows.len() {
        0 => String::new(),
        more => format!("{} more: --all\n", plural(more, "row")),
    };
    format!("{}{more}", table.render(style))
}

/// The places of the numbers that have columns.
fn places(numbers: usize) -> Vec<usize> {
    if numbers > COLUMNS { vec![0, numbers - 1] } else { (0..numbers).collect() }
}

fn cells(result: &ProgramSlopeResult, row: &ProgramSlopeRow, places: &[usize]) -> Vec<Cell> {
    let values = places.iter().map(|at| grouped(row.values[*at]));
    let texts = [row.row.clone()].into_iter().chain(values).chain(describe_parts(result, row));
    texts.map(Cell::from).collect()
}

fn legend(result: &ProgramSlopeResult, style: Style) -> String {
    let word = &result.word;
    let mut lines: Vec<String> = vec![format!(
        "{}, {word} = {}; values are medians of the later runs, of a region of one execution",
        clean(&command_line(&result.command)),
        result.digits.join(", ")
    )];
    lines.push(format!(
        "constant + {word} · per {word} + {word}² · per {word}² is the value for every {word} that \
         was measured; where that holds for none, the slope up to the first bend is shown"
    ));
    lines.push("a row scatters if not most pairs of runs have the difference of its values".into());
    let count = result.numbers.len();
    if count < TELL_BEND {
        lines.push("two numbers tell no bend: name three or more".to_owned());
    } else if count < TELL_SQUARE {
        lines.push(format!("three numbers tell a bend, but no {word}²: name four or more"));
    }
    if result.rows.iter().any(|row| !describe_steps(row).is_empty()) {
        lines.push(format!(
            "a step, such as +39 from 100, comes to the value from that {word} on, and is not in \
             per {word}"
        ));
    }
    let lengths = |least: usize| result.digits.iter().any(|digits| digits.len() != least);
    if result.digits.first().is_some_and(|first| lengths(first.len())) {
        lines.push(
            "a number with more digits is a longer argument, which the kernel copies and the \
             program reads: what that costs is no part of a slope, if the numbers tell it apart; \
             choose numbers of one length, or name more of each"
                .to_owned(),
        );
    }
    lines.extend(describe_faults_of_qemu(result));
    if !result.unmeasured.is_empty() {
        let names = result.unmeasured.join(", ");
        lines.push(format!("not measured with every {word}: {names}"));
    }
    lines.iter().map(|line| style.fill(line, 0) + "\n").collect()
}

/// What page faults cost that no processor takes; None without any.
fn describe_faults_of_qemu(result: &ProgramSlopeResult) -> Option<String> {
    let of_qemu = result.rows.iter().filter(|row| row.kind == Some(RowKind::InterpreterFault));
    let of_qemu: Vec<&ProgramSlopeRow> = of_qemu.collect();
    let sum = |at: usize| of_qemu.iter().map(|row| row.values[at]).fold(0, u64::saturating_add);
    let last = result.numbers.len().checked_sub(1)?;
    (!of_qemu.is_empty()).then(|| {
        format!(
            "page faults that QEMU alone takes execute {} instructions with {} and {} with {}: own \
             work has none of them, and regions contain them",
            grouped(sum(0)),
            result.digits[0],
            grouped(sum(last)),
            result.digits[last]
        )
    })
}
