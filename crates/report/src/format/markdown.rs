//! Markdown for the summary of a CI job, or a comment: GitHub's and GitLab's dialect.

use pathmeter_model::{SideInfo, clean, gate_lines};

use super::{Judged, Line, Outcome, measured, paths, verdict};
use crate::number::{grouped, percent, signed};

/// The verdict, what changed, worst first with the functions, and the rest folded away.
pub(super) fn markdown(judged: Judged<'_>) -> String {
    let lines = judged.worst_first();
    let (notable, rest): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.is_notable());
    let mark = match (judged.fails(), judged.count(Outcome::Missing)) {
        (true, _) => "❌",
        (false, 0) => "✅",
        (false, _) => "⚠️",
    };
    let mut text = format!("### {mark} pathmeter: {}\n\n", verdict(judged));
    text += &side("base", &judged.comparison.base);
    text += &side("new", &judged.comparison.new);
    text += &why(judged);
    if !notable.is_empty() {
        text += "\n";
        text += &table(&notable);
    }
    if !rest.is_empty() {
        text += &folded(&rest, if notable.is_empty() { "" } else { " more" });
    }
    let with: Vec<String> =
        measured(judged).iter().map(|line| format!("{}\\\n", code(line))).collect();
    text + "\n"
        + &with.concat()
        + "Instructions are counted exactly; an instruction count is not a time.\n"
}

/// A list of what fails the gate, with the reasons.
fn why(judged: Judged<'_>) -> String {
    let line = |line: String| format!("- {}\n", code(&line));
    let lines: String = gate_lines(&judged.gate.worse).into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nFails:\n\n{lines}") }
}

fn folded(lines: &[&Line<'_>], more: &str) -> String {
    let paths = paths(lines.len()).replace(" path", &format!("{more} path"));
    let summary = format!("{paths}: no change, or not compared");
    format!("\n<details>\n<summary>{summary}</summary>\n\n{}\n</details>\n", table(lines))
}

fn side(heading: &str, side: &SideInfo) -> String {
    let release = side.release.as_deref().unwrap_or("release unknown");
    format!("- {heading}: {}, {}\n", code(&side.name), code(release))
}

fn table(lines: &[&Line<'_>]) -> String {
    let head = "| | path | base | new | difference | unit | percent | verdict | where |\n\
                |---|---|--:|--:|--:|---|--:|---|---|\n";
    head.to_owned() + &lines.iter().map(|line| row(line)).collect::<String>()
}

fn row(line: &Line<'_>) -> String {
    let row = line.row;
    let mark = match line.outcome {
        Outcome::Worse => "❌",
        Outcome::Missing => "⚠️",
        Outcome::Passed | Outcome::Skipped => "",
    };
    let number = |value: Option<u64>, bound: bool| match (value, bound) {
        (None, _) => String::new(),
        (Some(value), false) => grouped(value),
        (Some(value), true) => format!("≥ {}", grouped(value)),
    };
    let notes = [line.functions(), line.remarks(), line.budget()].concat();
    let notes: Vec<String> = notes.iter().map(|note| code(note)).collect();
    format!(
        "| {mark} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        code(&row.path),
        number(row.base, row.base_at_least),
        number(row.new, row.new_at_least),
        row.difference.filter(|more| *more != 0).map_or_else(String::new, signed),
        row.base.or(row.new).map_or_else(String::new, |_| row.unit.to_string()),
        row.percent.map_or_else(String::new, percent),
        row.verdict,
        notes.join("<br>"),
    )
}

/// Text as a code span, in which nothing is markup, nobody is mentioned and nothing is linked. Its
/// fence is longer than any row of backticks in it; a bar would end a table's cell.
fn code(text: &str) -> String {
    let text = clean(text).replace('|', "\\|");
    let (mut longest, mut row) = (0, 0);
    for c in text.chars() {
        row = if c == '`' { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
