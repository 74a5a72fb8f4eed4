//! `JUnit`'s XML, by the schema that Jenkins' xunit plugin and GitLab read.

use pathmeter_model::GateReason;

use super::{Judged, Line, Outcome, measured, verdict};
use crate::table::clean;

/// A test case a path: a failure is worse, an error is one that could not be compared. What else
/// fails the gate is a test case, too.
pub(super) fn junit(judged: Judged<'_>) -> String {
    let beside = judged.beside_paths().count();
    let counts = format!(
        r#"tests="{}" failures="{}" errors="{}" skipped="{}" time="0""#,
        judged.outcomes.len() + beside,
        judged.count(Outcome::Worse) + beside,
        judged.count(Outcome::Missing),
        judged.count(Outcome::Skipped),
    );
    // The root has no attribute `skipped` in every dialect.
    let (all, _) = counts.split_once(" skipped").unwrap_or((&counts, ""));
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    let name = escaped(&format!("pathmeter compare {} {}", base.name, new.name));
    let beside = judged.beside_paths().map(case_beside);
    let cases: String = judged.lines().map(|line| case(&line)).chain(beside).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"pathmeter\" {all}>\n\
         <testsuite name=\"{name}\" {counts}>\n{cases}\
         <system-out>{}</system-out>\n</testsuite>\n</testsuites>\n",
        escaped(
            &std::iter::once(verdict(judged))
                .chain(measured(judged))
                .collect::<Vec<_>>()
                .join("; ")
        ),
    )
}

fn case(line: &Line<'_>) -> String {
    let name = &line.row.path;
    let group = name.split_once('.').map_or(&**name, |(group, _)| group);
    let (group, name) = (escaped(group), escaped(name));
    let text = escaped(&line.sentence());
    let inside = match line.outcome {
        Outcome::Worse => {
            let why = escaped(&line.why());
            format!("<failure type=\"{}\" message=\"{why}\">{text}</failure>", line.row.verdict)
        }
        Outcome::Missing => {
            format!("<error type=\"not-compared\" message=\"{text}\">{text}</error>")
        }
        Outcome::Skipped => format!("<skipped message=\"{text}\"/>"),
        Outcome::Passed => format!("<system-out>{text}</system-out>"),
    };
    format!(
        "<testcase classname=\"pathmeter.{group}\" name=\"{name}\" time=\"0\">{inside}</testcase>\n"
    )
}

fn case_beside(reason: &GateReason) -> String {
    let (name, why) = (escaped(&reason.row), escaped(&reason.why));
    format!(
        "<testcase classname=\"pathmeter\" name=\"{name}\" time=\"0\">\
         <failure type=\"differs\" message=\"{why}\">{why}</failure></testcase>\n"
    )
}

/// Text as content or attribute: XML 1.0 has no other control characters than white space, and no
/// U+FFFE and U+FFFF.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
