//! Markdown for the summary of a CI job, or a comment: GitHub's and GitLab's dialect.

use pathmeter_model::{Causes, SideInfo, clean, gate_lines};

use super::{Format, Judged, Line, Outcome, RowsOf, describe_measured_with, verdict};
use crate::causes::{AreaLine, AreaSums, CauseLine, CauseLines, HEADS, area_lines, lines, origin};
use crate::number::{grouped, percent, signed};

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "markdown",
    about: "for the summary of a CI job, or a comment",
    ending: "md",
    is_of_gate: false,
    rows: markdown,
    page: Some(page),
};

/// The verdict, what changed, worst first with the functions, and the rest folded away.
fn markdown(judged: Judged<'_>) -> String {
    let lines = judged.worst_first();
    let (notable, rest): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.is_notable());
    let mark = match (judged.fails(), judged.count(Outcome::Missing)) {
        (true, _) => "❌ ",
        (false, 0) if judged.is_gated() => "✅ ",
        (false, 0) => "",
        (false, _) => "⚠️ ",
    };
    let mut text = format!("### {mark}pathmeter: {}\n\n", verdict(judged));
    text += &match judged.of {
        RowsOf::One => side("kernel", &judged.comparison.new),
        _ => side("base", &judged.comparison.base) + &side("new", &judged.comparison.new),
    };
    text += &causes(judged);
    text += &why(judged);
    if !notable.is_empty() {
        text += "\n";
        text += &table(judged.of, &notable);
    }
    if !rest.is_empty() {
        text += &folded(judged, &rest, if notable.is_empty() { "" } else { " more" });
    }
    let with: Vec<String> =
        describe_measured_with(judged).iter().map(|line| format!("{}\\\n", code(line))).collect();
    text + "\n"
        + &with.concat()
        + "Instructions are counted exactly; an instruction count is not a time.\n"
}

/// What the differences come from, if that is known: a sentence and a table.
fn causes(judged: Judged<'_>) -> String {
    let Some(causes) = judged.comparison.causes.as_ref().filter(|it| !it.causes.is_empty()) else {
        return String::new();
    };
    let CauseLines { shown, notes } = lines(causes);
    let origin = origin(judged.comparison).unwrap_or_default();
    let head = "| share | rows | instructions | each | kind of work | functions, other events |\n\
                |--:|--:|--:|---|---|---|\n";
    let row = |line: CauseLine| {
        let CauseLine { share, rows, in_all, each, area, functions } = line;
        format!("| {share} | {rows} | {in_all} | {each} | {area} | {} |\n", code(&functions))
    };
    let rows: String = shown.into_iter().map(row).collect();
    let notes = notes.iter().map(|note| code(note)).collect::<Vec<_>>().join("\\\n");
    let sums = match judged.sums {
        AreaSums::Shown => areas(causes),
        AreaSums::Hidden => String::new(),
    };
    format!("\n{}\n\n{sums}{head}{rows}\n{notes}", code(&origin))
}

/// The causes' sums of each kind of work.
fn areas(causes: &Causes) -> String {
    let names: Vec<&str> = HEADS.iter().map(|(name, _)| *name).collect();
    let head = format!("| {} |\n|--:|--:|--:|---|---|\n", names.join(" | "));
    let row = |[share, in_all, causes, area, largest]: AreaLine| {
        format!("| {share} | {in_all} | {causes} | {area} | {} |\n", code(&largest))
    };
    head + &area_lines(causes).into_iter().map(row).collect::<String>() + "\n"
}

/// A list of what fails the gate, with the reasons.
fn why(judged: Judged<'_>) -> String {
    let line = |line: String| format!("- {}\n", code(&line));
    let lines: String = gate_lines(&judged.gate.worse).into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nFails:\n\n{lines}") }
}

fn folded(judged: Judged<'_>, lines: &[&Line<'_>], more: &str) -> String {
    let paths = judged.paths(lines.len()).replace(' ', &format!("{more} "));
    let why = match judged.of {
        RowsOf::One => "without a number",
        _ => "no change, or not compared",
    };
    let table = table(judged.of, lines);
    format!("\n<details>\n<summary>{paths}: {why}</summary>\n\n{table}\n</details>\n")
}

/// A text that is no table: as it is.
fn page(text: &str) -> String {
    let fence = "`".repeat(longest_fence(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_matches('\n'))
}

fn side(heading: &str, side: &SideInfo) -> String {
    let release = side.release.as_deref().unwrap_or("release unknown");
    format!("- {heading}: {}, {}\n", code(&side.name), code(release))
}

/// What each column has, and on which side.
const COLUMNS: [(&str, &str); 9] = [
    ("", "---"),
    ("path", "---"),
    ("base", "--:"),
    ("new", "--:"),
    ("difference", "--:"),
    ("unit", "---"),
    ("percent", "--:"),
    ("verdict", "---"),
    ("where", "---"),
];

fn table(of: RowsOf, lines: &[&Line<'_>]) -> String {
    let is_shown = |(heading, _): &(&str, &str)| {
        of != RowsOf::One || !["base", "difference", "percent"].contains(heading)
    };
    let row = |cells: [String; 9]| {
        let shown = COLUMNS.iter().zip(cells).filter(|(column, _)| is_shown(column));
        let cells: Vec<String> = shown.map(|(_, cell)| cell).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rules = COLUMNS.iter().filter(|column| is_shown(column)).map(|(_, rule)| *rule);
    let rules: Vec<&str> = rules.collect();
    let number = if of == RowsOf::One { "number" } else { "new" };
    row(COLUMNS.map(|(heading, _)| heading.replace("new", number)))
        + &format!("|{}|\n", rules.join("|"))
        + &lines.iter().map(|line| row(cells(line))).collect::<String>()
}

fn cells(line: &Line<'_>) -> [String; 9] {
    let row = line.row;
    let mark = match line.outcome {
        Outcome::Worse => "❌",
        Outcome::Missing => "⚠️",
        Outcome::Passed | Outcome::Skipped | Outcome::Unasked => "",
    };
    let number = |value: Option<u64>, bound: bool| match (value, bound) {
        (None, _) => String::new(),
        (Some(value), false) => grouped(value),
        (Some(value), true) => format!("≥ {}", grouped(value)),
    };
    let notes = [line.functions(), line.remarks(), line.budget()].concat();
    let notes: Vec<String> = notes.iter().map(|note| code(note)).collect();
    [
        mark.to_owned(),
        code(&row.path),
        number(row.base, row.base_at_least),
        number(row.new, row.new_at_least),
        row.difference.filter(|more| *more != 0).map_or_else(String::new, signed),
        row.base.or(row.new).map_or_else(String::new, |_| row.unit.to_string()),
        row.percent.map_or_else(String::new, percent),
        line.verdict(),
        notes.join("<br>"),
    ]
}

/// Text as a code span, in which nothing is markup, nobody is mentioned and nothing is linked. Its
/// fence is longer than any row of backticks in it; a bar would end a table's cell.
fn code(text: &str) -> String {
    let text = clean(text).replace('|', "\\|");
    let longest = longest_fence(&text);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// The longest row of backticks in a text.
fn longest_fence(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
