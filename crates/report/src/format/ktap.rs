//! KTAP version 1, as the kernel's Documentation/dev-tools/ktap.rst has it.

use super::{Format, Judged, Line, Outcome, describe_measured_with, title, verdict};
use pathmeter_model::clean;

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "ktap",
    about: "for the kernel's own tools: a test a path",
    ending: "tap",
    is_of_gate: true,
    rows: ktap,
    page: None,
};

/// A test a path, the numbers of each in a diagnostic line after it, and why it fails in another.
/// What else fails the gate is a test, too.
fn ktap(judged: Judged<'_>) -> String {
    let head = format!(
        "KTAP version 1\n# {}\n1..{}\n",
        clean(&title(judged)),
        judged.outcomes.len() + judged.beside_paths().count()
    );
    let paths = judged.lines().enumerate().map(|(index, line)| test(index + 1, &line));
    let beside = judged.beside_paths().enumerate().map(|(index, reason)| {
        let (number, name) = (judged.outcomes.len() + index + 1, description(&reason.row));
        format!("not ok {number} {name}\n{}", fails(&name, &clean(&reason.why)))
    });
    let lines: String = paths.chain(beside).collect();
    let about = describe_measured_with(judged).into_iter().chain([verdict(judged)]);
    let about: Vec<String> = about.map(|line| format!("# {line}\n")).collect();
    head + &lines + &about.concat()
}

fn test(number: usize, line: &Line<'_>) -> String {
    let name = description(&line.row.path);
    let sentence = line.sentence();
    match line.outcome {
        Outcome::Passed | Outcome::Unasked => {
            format!("ok {number} {name}\n# {name}: {sentence}\n")
        }
        Outcome::Worse => {
            let why = fails(&name, &line.why());
            format!("not ok {number} {name}\n# {name}: {sentence}\n{why}")
        }
        Outcome::Missing => {
            format!("not ok {number} {name} # ERROR not compared\n# {name}: {sentence}\n")
        }
        Outcome::Skipped => format!("ok {number} {name} # SKIP {sentence}\n"),
    }
}

/// A diagnostic line that says why a test fails.
fn fails(name: &str, why: &str) -> String {
    format!("# {name}: fails: {why}\n")
}

/// A test's name: `#` begins a directive, and what begins with a dash or a digit may be taken for
/// another field.
fn description(name: &str) -> String {
    let name = clean(name).replace('#', "_");
    if name.starts_with(|c: char| c == '-' || c.is_ascii_digit() || c.is_whitespace()) {
        format!("_{name}")
    } else {
        name
    }
}
