//! Two folders of results, cell by cell: the answer of all, and a line for each cell with its own.

use std::collections::BTreeSet;

use pathmeter_model::{Comparison, FolderComparison, SideInfo, clean};
use pathmeter_trace::MeasuredWith;
use unicode_width::UnicodeWidthStr;

use crate::comparison::fact;
use crate::document_table::{Shown, comparison_table};
use crate::headline::{describe, describe_folders};
use crate::measured_with::{USUAL_COMMAND_LINE, cpu_name, strip_condition};
use crate::style::{PLAIN, QUIET, Style};

/// Columns of the longest name of a cell that its line begins with; above a longer one's line it
/// has a line of its own.
const LONGEST_NAME: usize = 32;
/// Before what stands below the name of a cell.
const INDENT: usize = 4;

/// What may tell cells apart beside their kernels, as text.
const PARTS: [fn(&MeasuredWith) -> String; 7] = [
    |it| cpu_name(&it.cpu),
    |it| if it.condition.is_empty() { "default".to_owned() } else { it.condition.clone() },
    |it| it.program.clone().unwrap_or_else(|| "paths".to_owned()),
    |it| format!("{} CPUs", it.cpus),
    |it| format!("{} MiB", it.memory_mib),
    |it| format!("{} runs", it.runs),
    |it| it.command_line.strip_prefix(USUAL_COMMAND_LINE).unwrap_or(&it.command_line).to_owned(),
];

/// A cell of either folder: what it was measured with, and its kernels.
struct Cell<'a> {
    with: Option<&'a MeasuredWith>,
    /// The kernels of base and new; one of a cell that only one folder has.
    kernels: Vec<&'a str>,
}

impl<'a> Cell<'a> {
    /// A cell with these sides, of which there is at least one.
    fn of(sides: &[&'a SideInfo]) -> Self {
        let mut kernels: Vec<&str> = sides.iter().map(|side| name_kernel(side)).collect();
        kernels.dedup();
        Self { with: sides.first().and_then(|side| side.measured_with.as_ref()), kernels }
    }
}

/// The kernel's name, without the condition that its cell has.
fn name_kernel(side: &SideInfo) -> &str {
    let condition = side.measured_with.as_ref().map_or("", |with| &*with.condition);
    strip_condition(&side.name, condition)
}

/// All cells: those of the comparisons, then what only base's folder and only new's has.
fn list_cells(document: &FolderComparison) -> Vec<Cell<'_>> {
    let pairs = document.comparisons.iter().map(|it| Cell::of(&[&it.base, &it.new]));
    let alone = document.only_base.iter().chain(&document.only_new).map(|it| Cell::of(&[it]));
    pairs.chain(alone).collect()
}

/// The two sides of a comparison, if all are of the same two kernels.
fn find_only_kernels(document: &FolderComparison) -> Option<[&SideInfo; 2]> {
    let first = document.comparisons.first()?;
    let base = document.comparisons.iter().map(|it| &it.base).chain(&document.only_base);
    let new = document.comparisons.iter().map(|it| &it.new).chain(&document.only_new);
    let is_one = |kernels: BTreeSet<&str>| kernels.len() == 1;
    let all_one = is_one(base.map(name_kernel).collect()) && is_one(new.map(name_kernel).collect());
    all_one.then_some([&first.base, &first.new])
}

/// The names of all cells, first those of the comparisons: what differs among them, and the CPU if
/// nothing does.
///
/// ```text
/// skylake, boot:nopti
/// ```
pub fn name_cells(document: &FolderComparison) -> Vec<String> {
    let cells = list_cells(document);
    let of = |part: &fn(&MeasuredWith) -> String| -> Vec<String> {
        cells.iter().map(|cell| cell.with.map(part).unwrap_or_default()).collect()
    };
    let differ = |values: &Vec<String>| values.iter().any(|value| *value != values[0]);
    let mut parts: Vec<Vec<String>> = PARTS.iter().map(of).filter(differ).collect();
    if find_only_kernels(document).is_none() {
        parts.insert(0, cells.iter().map(|cell| cell.kernels.join(" → ")).collect());
    }
    if parts.is_empty() {
        parts.push(of(&PARTS[0]));
    }
    let name = |at: usize| {
        let parts = parts.iter().map(|values| values[at].trim()).filter(|part| !part.is_empty());
        clean(&parts.collect::<Vec<_>>().join(", "))
    };
    (0..cells.len()).map(name).collect()
}

/// The answer, the two kernels if they are the same in all cells, and a line for each cell; then,
/// if they are `shown`, the tables of all comparisons.
pub fn folder_comparison_table(
    document: &FolderComparison,
    shown: Option<Shown>,
    style: Style,
) -> String {
    let names = name_cells(document);
    let (compared, others) = names.split_at(document.comparisons.len());
    let answers = document.comparisons.iter().map(describe_cell).map(|text| (text, PLAIN));
    let alone = others.iter().enumerate().map(|(at, _)| {
        let side = if at < document.only_base.len() { "BASE" } else { "NEW" };
        (format!("only in {side}"), QUIET)
    });
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let line = |(name, (answer, paint)): (&String, (String, anstyle::Style))| {
        if width > LONGEST_NAME {
            let answer = style.paint(&style.fill(&answer, INDENT), paint);
            return format!("{name}\n{:INDENT$}{answer}\n", "");
        }
        let answer = style.paint(&style.fill(&answer, width + 2), paint);
        format!("{name}{:1$}  {answer}\n", "", width - name.width())
    };
    let lines: String = names.iter().zip(answers.chain(alone)).map(line).collect();
    let tables = match shown {
        Some(shown) => list_tables(document, compared, shown, style),
        None => "\n".to_owned() + &style.quiet("--all shows the rows of each cell"),
    };
    let answer = style.fill(&describe_folders(document, compared), 0);
    answer + "\n" + &list_kernels(document, style) + "\n" + &lines + &tables
}

/// The two kernels, if they are the same in all cells.
fn list_kernels(document: &FolderComparison, style: Style) -> String {
    let Some(sides) = find_only_kernels(document) else { return String::new() };
    let line = |(heading, side): (&str, &SideInfo)| {
        let release = side.release.as_deref().unwrap_or("release unknown");
        fact(heading, &format!("{}, {release}", name_kernel(side)), PLAIN, style)
    };
    ["base", "new "].into_iter().zip(sides).map(line).collect()
}

/// What one comparison comes to, and what else than the kernel differed.
fn describe_cell(comparison: &Comparison) -> String {
    let differences = &comparison.configuration_differences;
    let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let answer = describe(comparison, &[]);
    if differences.is_empty() {
        return answer;
    }
    format!("{answer} Measured differently: {}.", differences.join("; "))
}

/// The table of each comparison below its cell's name.
fn list_tables(
    document: &FolderComparison,
    names: &[String],
    shown: Shown,
    style: Style,
) -> String {
    let table = |(name, comparison): (&String, &Comparison)| {
        format!("\n{name}\n{}", comparison_table(comparison, shown, style))
    };
    names.iter().zip(&document.comparisons).map(table).collect()
}
