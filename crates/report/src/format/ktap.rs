//! KTAP version 1, as the kernel's Documentation/dev-tools/ktap.rst has it.

use super::{Judged, Line, Outcome, measured, verdict};
use crate::table::clean;

/// A test a path, the numbers of each in a diagnostic line after it.
pub(super) fn ktap(judged: Judged<'_>) -> String {
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    let head = format!(
        "KTAP version 1\n# pathmeter compare {} {}\n1..{}\n",
        clean(&base.name),
        clean(&new.name),
        judged.outcomes.len()
    );
    let lines: String =
        judged.lines().enumerate().map(|(index, line)| test(index + 1, &line)).collect();
    let about = measured(judged).into_iter().chain([verdict(judged)]);
    let about: Vec<String> = about.map(|line| format!("# {line}\n")).collect();
    head + &lines + &about.concat()
}

fn test(number: usize, line: &Line<'_>) -> String {
    let name = description(&line.row.path);
    let sentence = line.sentence();
    match line.outcome {
        Outcome::Passed => format!("ok {number} {name}\n# {name}: {sentence}\n"),
        Outcome::Worse => format!("not ok {number} {name}\n# {name}: {sentence}\n"),
        Outcome::Missing => {
            format!("not ok {number} {name} # ERROR not compared\n# {name}: {sentence}\n")
        }
        Outcome::Skipped => format!("ok {number} {name} # SKIP {sentence}\n"),
    }
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
