//! The table of a comparison: what is compared, a row a path, and the sum of it.

use anstyle::Style as Paint;
use pathmeter_model::{
    Comparison, ConfigurationDifference, EventComparison, PairsCompared, PathComparison, SideInfo,
    Summary, Unit, Verdict,
};

use crate::budget::budget_table;
use crate::causes::{AreaSums, areas_table, causes_table};
use crate::fold::{Alike, folded, unfolded};
use crate::headline::write_first_line;
use crate::measured_with::{self, doubt};
use crate::number::{AT_LEAST, AT_MOST, at_least, one_unit, percent, plural, signed, unit_word};
use crate::rows::Rows;
use crate::style::{PLAIN, QUIET, Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// Marks a side of a path that is not single-valued.
pub(crate) const MANY_VALUES: char = '~';
/// The words that explain [`MANY_VALUES`] to readers.
pub(crate) const SEVERAL_VALUES: &str =
    "~ marks several typical values; a row shows one pair: the same window of the same run";
/// What is judged: the same window of the same run of both kernels.
const PAIRS: &str = "pairs";
/// What the number of pairs behind a difference means.
const OF_PAIRS: &str = "in N of M pairs: N pairs of windows differ by just this number";
/// What a range behind a difference means.
const OF_RANGE: &str = "pairs: the lowest and the highest difference of a pair of windows";
/// What decided where there are no pairs.
const OF_SETS: &str = "judged as sets";
/// What a range of differences means.
pub(crate) const VARYING: &str =
    "pairs: the runs' differences, where they are no one change: it depends on the kernel's memory";
/// Characters shown of a value in which two configurations differ: a command line's are fewer.
const LONGEST_VALUE: usize = 100;
/// The column that shows how much of a path's cost its floor is.
const SHARE: &str = "share";
/// The column of functions whose entry stands elsewhere in its line of 64 bytes.
const MOVED: &str = "moved";
/// Stands where a single-valued number has no such marker, so that the digits stay aligned.
pub(crate) const ONE_VALUE: char = ' ';

/// Whether a comparison's table has a column for the functions that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It has not: a line below the table says in how many paths functions moved.
    Hidden,
    /// It has: of how many functions of each path.
    Shown,
}

/// What the comparison comes to; the two kernels; the causes, if functions are known; a row for
/// each path (base, new, difference, percent, verdict, reason), or the rows that matter; what else
/// differed between the measurements, and how many paths have each verdict.
pub(crate) fn path_comparison_table(
    comparison: &Comparison,
    shown: Placement,
    (which, sums): (Rows, AreaSums),
    style: Style,
) -> String {
    let fold = match which {
        Rows::Folded => folded(&comparison.paths),
        Rows::All => unfolded(&comparison.paths),
    };
    let (floor, is_folded) = (comparison.is_against_floor(), !fold.others.is_empty());
    [
        write_first_line(comparison, style),
        sides(&comparison.base, &comparison.new, "base".len(), style),
        "\n".to_owned(),
        causes(comparison, sums, style),
        if fold.rows.is_empty() { String::new() } else { rows(&fold.rows, floor, shown, style) },
        fold.others.iter().map(|it| style.fill(it, 0) + "\n").collect(),
        differences(&comparison.configuration_differences, style),
        if is_folded && shown == Placement::Hidden {
            String::new()
        } else {
            placement(comparison, style)
        },
        comparison
            .budget
            .as_ref()
            .map_or_else(String::new, |it| budget_table(it, comparison.gate.as_ref(), style)),
        measured_with::lines(&comparison.base, &comparison.new, style),
        tally(comparison.paths.iter(), ["path", "paths"], style),
    ]
    .concat()
}

/// The causes, after their sums if those are wanted; nothing if functions are not known.
pub(crate) fn causes(comparison: &Comparison, sums: AreaSums, style: Style) -> String {
    let Some(causes) = &comparison.causes else { return String::new() };
    let sums = match sums {
        AreaSums::Shown => areas_table(causes, style),
        AreaSums::Hidden => String::new(),
    };
    let table = sums + &causes_table(causes, style);
    let gap = if table.is_empty() { "" } else { "\n" };
    format!("{table}{gap}")
}

/// A row for each path, and what its numbers mean.
pub(crate) fn paths(paths: &[&PathComparison], style: Style) -> String {
    let all: Vec<Alike<'_>> = paths.iter().map(|first| Alike { first, others: 0 }).collect();
    rows(&all, false, Placement::Hidden, style)
}

/// A row for each path or for several that are alike, and what the numbers mean. `floor` is whether
/// new is the lab kernel beside a Linux.
fn rows(rows: &[Alike<'_>], floor: bool, shown: Placement, style: Style) -> String {
    let paths: Vec<&PathComparison> = rows.iter().map(|row| row.first).collect();
    let paths = &paths[..];
    let marked = paths.iter().any(|path| path.is_many_valued());
    let several = several_units(paths);
    let mut table = Table::new(&[
        ("path", Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("difference", Align::Right),
        ("unit", Align::Left),
        (if floor { SHARE } else { "percent" }, Align::Right),
        (MOVED, Align::Right),
        ("verdict", Align::Left),
        ("other events, reason", Align::Left),
    ])
    .sparing(&["percent", SHARE, MOVED])
    .with_whole_remarks();
    for Alike { first: path, others } in rows {
        let [mut before @ .., percent, moved, verdict, remark] = row(path, marked, floor, shown);
        if *others > 0 {
            before[0] = format!("{} and {others} alike", path.path).into();
        }
        let is_named = several && path.unit != Unit::Instructions;
        let unit = path.base.or(path.new).filter(|_| is_named);
        let unit = unit.map_or("", |_| unit_word(path.unit)).into();
        table.row(before.into_iter().chain([unit, percent, moved, verdict, remark]));
    }
    table.render(style) + "\n" + &legend(paths, floor, marked, style)
}

/// Which two kernels are compared, after headings of this width.
pub(crate) fn sides(base: &SideInfo, new: &SideInfo, width: usize, style: Style) -> String {
    let side = |heading: &str, side: &SideInfo| {
        let release = side.release.as_deref().unwrap_or("release unknown");
        let named = format!("{}, {release}", side.name);
        let named = fact(&format!("{heading:width$}"), &named, PLAIN, style);
        let doubt = side.measured_with.as_ref().and_then(doubt);
        let note = format!("{:width$}", "");
        named + &doubt.map_or_else(String::new, |it| fact(&note, &it, PLAIN, style))
    };
    side("base", base) + &side("new", new)
}

/// A line with a heading.
pub(crate) fn fact(heading: &str, text: &str, paint: Paint, style: Style) -> String {
    let about = style.paint(&style.fill(text, heading.len() + 2), paint);
    format!("{}  {about}\n", style.paint(heading, QUIET))
}

/// Path, base, new, difference, percent, functions that moved, verdict, remark.
pub(crate) fn row(path: &PathComparison, marked: bool, floor: bool, shown: Placement) -> [Cell; 8] {
    let paint = of_verdict(path.verdict);
    let value = |value: Option<u64>, bound: bool, values: usize| match value {
        Some(value) if marked => {
            let marker = if values > 1 { MANY_VALUES } else { ONE_VALUE };
            format!("{}{marker}", at_least(value, bound))
        }
        value => value.map_or_else(String::new, |value| at_least(value, bound)),
    };
    let difference = path.difference.map_or_else(String::new, signed);
    let share = match (floor, path.percent) {
        (true, Some(percent)) => format!("{:.0} %", 100.0 + percent),
        (_, more) => more.map_or_else(String::new, percent),
    };
    let moved = match (shown, path.moved) {
        (Placement::Shown, Some(moved)) => format!("{} of {}", moved.functions, moved.of),
        _ => String::new(),
    };
    [
        path.path.as_str().into(),
        value(path.base, path.base_at_least, path.base_values).into(),
        value(path.new, path.new_at_least, path.new_values).into(),
        Cell::painted(&change(path, &difference), paint),
        Cell::painted(&if floor { share } else { change(path, &share) }, paint),
        moved.as_str().into(),
        Cell::painted(&path.verdict.to_string(), paint),
        remark(path).as_str().into(),
    ]
}

/// A difference, or its percentage, as the bound that it is.
pub(crate) fn change(path: &PathComparison, text: &str) -> String {
    match (path.base_at_least, path.new_at_least) {
        _ if text.is_empty() || path.difference == Some(0) => text.to_owned(),
        (false, false) => text.to_owned(),
        (false, true) => AT_LEAST.to_owned() + text,
        (true, false) => AT_MOST.to_owned() + text,
        // Nothing is known.
        (true, true) => String::new(),
    }
}

/// Why there is no verdict on the instructions, or else which other events differ:
/// `lfence +1, data-lines +3`.
fn remark(path: &PathComparison) -> String {
    if let Some(reason) = &path.reason {
        return reason.clone();
    }
    let text = |event: &EventComparison| format!("{} {}", event.event, signed(event.difference));
    path.shown_events().map(text).chain(evidence(path)).collect::<Vec<_>>().join(", ")
}

/// How many pairs have the difference of a row that changed, unless all have it: `in 42 of 66
/// pairs`; if most have another one, how far the runs differ, if they do. Or that the sets of
/// values decided. A row of a program says how far its runs differ where they have no one change.
fn evidence(path: &PathComparison) -> Option<String> {
    let changed = [Verdict::Higher, Verdict::Lower, Verdict::ModeAppeared].contains(&path.verdict);
    match path.pairs {
        Some(_) if path.work.is_some() => varying(path.pairs, path.verdict),
        Some(pairs) if changed && !pairs.are_most() && pairs.varies() => Some(range(pairs)),
        Some(pairs) if changed && !pairs.is_unanimous() => {
            Some(format!("in {} of {} {PAIRS}", pairs.agreeing, pairs.of))
        }
        None if changed && path.is_many_valued() => Some(OF_SETS.to_owned()),
        _ => None,
    }
}

/// How far pairs of runs differ where that is no one change: `pairs -36,775…+200`.
pub(crate) fn varying(pairs: Option<PairsCompared>, verdict: Verdict) -> Option<String> {
    let is_one_change = matches!(verdict, Verdict::Higher | Verdict::Lower);
    pairs.filter(|pairs| pairs.varies() && !is_one_change).map(range)
}

/// How far the runs differ: `pairs -36,775…+200`.
fn range(pairs: PairsCompared) -> String {
    format!("{PAIRS} {}…{}", signed(pairs.least), signed(pairs.most))
}

/// Whether rows count different things, so that each must say what.
fn several_units(paths: &[&PathComparison]) -> bool {
    let mut units = paths.iter().map(|path| path.unit);
    units.clone().any(|unit| unit != Unit::Check) && one_unit(units.by_ref()).is_none()
}

/// What the numbers count, if it is one thing, and what the marker means if it is there.
pub(crate) fn legend(paths: &[&PathComparison], floor: bool, marked: bool, style: Style) -> String {
    let unit = one_unit(paths.iter().map(|path| path.unit));
    let unit = match unit {
        Some(unit) => Some(format!("numbers are {}", unit_word(unit))),
        None if paths.iter().any(|path| path.unit == Unit::Instructions) => {
            Some("numbers without a unit are instructions".to_owned())
        }
        None => None,
    };
    let marker = marked.then(|| SEVERAL_VALUES.to_owned());
    let bounds = paths.iter().any(|path| path.base_at_least || path.new_at_least);
    let bounds = bounds.then(|| AT_LEAST.to_owned() + "is a lower bound: no end was seen");
    let floor = floor.then(|| {
        format!("{SHARE} is what the lab kernel's bare mechanism needs of base's instructions")
    });
    let varies =
        paths.iter().any(|path| path.work.is_some() && varying(path.pairs, path.verdict).is_some());
    let varies = varies.then(|| VARYING.to_owned());
    let pairs = paths.iter().any(|path| evidence(path).is_some_and(|it| it.ends_with(PAIRS)));
    let pairs = pairs.then(|| OF_PAIRS.to_owned());
    let ranges = paths
        .iter()
        .any(|path| path.work.is_none() && evidence(path).is_some_and(|it| it.starts_with(PAIRS)));
    let ranges = ranges.then(|| OF_RANGE.to_owned());
    let lines = unit.into_iter().chain(floor).chain(marker).chain(bounds).chain(varies);
    let lines = lines.chain(pairs).chain(ranges);
    lines.map(|line| style.quiet(&line)).collect()
}

/// A line for each thing other than the kernel in which the two measurements differ.
pub(crate) fn differences(differences: &[ConfigurationDifference], style: Style) -> String {
    let paint = of_verdict(Verdict::ModeAppeared);
    let warning = |difference: &ConfigurationDifference| {
        let ConfigurationDifference { field, base, new } = difference;
        let (field, base, new) = (field.clone(), shortened(base), shortened(new));
        format!("measured differently: {}", ConfigurationDifference { field, base, new })
    };
    let lines = differences.iter().map(warning);
    lines.map(|line| style.paint(&style.fill(&line, 0), paint) + "\n").collect()
}

/// What the verdicts don't show: how many paths are identical, and how many only stand elsewhere.
fn placement(comparison: &Comparison, style: Style) -> String {
    let same = |path: &&PathComparison| path.verdict == Verdict::Same;
    let moved = comparison.paths.iter().filter(same).filter_map(|path| path.moved);
    let moved = moved.filter(|moved| moved.functions > 0).count();
    let counted = comparison.paths.iter().any(|path| path.moved.is_some());
    if !counted {
        return String::new();
    }
    let Summary { same, identical, .. } = comparison.summary;
    let have = if identical == 1 { "has" } else { "have" };
    let of = plural(same, "path");
    let identical = format!("of {of} with verdict same, {identical} {have} every count equal");
    let line = match moved {
        _ if same == 0 => return String::new(),
        0 => identical,
        moved => format!("{identical}; in {moved}, functions moved within their cache lines"),
    };
    style.quiet(&line)
}

/// The beginning of a long value; the document has all of it.
pub(crate) fn shortened(value: &str) -> String {
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// `43 paths: 30 same, 8 higher, 5 lower`, leaving out what there is none of: how many of them
/// there are, called by one of `names`, singular and plural, and how many have each verdict.
pub(crate) fn tally<'a>(
    paths: impl Iterator<Item = &'a PathComparison>,
    names: [&str; 2],
    style: Style,
) -> String {
    let summary = Summary::of(paths);
    let counts = Verdict::ALL.map(|verdict| (verdict, summary.count(verdict)));
    let some = counts.iter().filter(|&&(_, count)| count > 0);
    let counts: Vec<String> = some
        .map(|&(verdict, count)| style.paint(&format!("{count} {verdict}"), of_verdict(verdict)))
        .collect();
    let name = names[usize::from(summary.paths != 1)];
    let colon = if counts.is_empty() { "" } else { ": " };
    let compared = match summary.count(Verdict::Unsupported) {
        0 => String::new(),
        without => format!(", {} compared", summary.paths - without),
    };
    let line = format!("{} {name}{compared}{colon}{}", summary.paths, counts.join(", "));
    // What is painted can't be broken.
    if style.colour { line + "\n" } else { style.fill(&line, 0) + "\n" }
}
