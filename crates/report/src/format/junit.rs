//! `JUnit`'s XML, by the schema that Jenkins' xunit plugin and GitLab read.

use pathmeter_model::GateReason;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Format, Judged, Line, Outcome, RowsOf, describe_measured_with, title, verdict};
use crate::xml::characters;

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "junit",
    about: "for GitLab and Jenkins: a test case a path",
    ending: "xml",
    is_of_gate: true,
    rows: junit,
    page: None,
};

/// A test case a path: a failure is worse, an error is one that could not be compared. What else
/// fails the gate is a test case, too.
fn junit(judged: Judged<'_>) -> String {
    let mut suite = TestSuite::new(characters(&title(judged)));
    suite.add_test_cases(judged.lines().map(|line| case(&line)));
    suite.add_test_cases(judged.beside_paths().map(case_beside));
    let told: Vec<String> =
        std::iter::once(verdict(judged)).chain(describe_measured_with(judged)).collect();
    suite.set_system_out(characters(&told.join("; ")));
    let mut report = Report::new("pathmeter");
    report.add_test_suite(suite);
    // Writing to memory can't fail.
    report.to_string().unwrap_or_default()
}

fn case(line: &Line<'_>) -> TestCase {
    let name = &line.row.path;
    let parts =
        if line.of == RowsOf::Settings { name.rsplit_once(": ") } else { name.split_once('.') };
    let group = parts.map_or(&**name, |(group, _)| group);
    let text = characters(&line.sentence());
    let status = match line.outcome {
        Outcome::Worse => {
            let word = line.row.verdict.to_string();
            unsuccessful(NonSuccessKind::Failure, &word, &line.why(), &text)
        }
        Outcome::Missing => unsuccessful(NonSuccessKind::Error, "not-compared", &text, &text),
        Outcome::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(text.as_str());
            status
        }
        Outcome::Passed | Outcome::Unasked => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(characters(name), status);
    case.set_classname(format!("pathmeter.{}", characters(group)));
    if line.outcome == Outcome::Passed {
        case.set_system_out(text);
    }
    case
}

fn case_beside(reason: &GateReason) -> TestCase {
    let status = unsuccessful(NonSuccessKind::Failure, "differs", &reason.why, &reason.why);
    let mut case = TestCase::new(characters(&reason.row), status);
    case.set_classname("pathmeter");
    case
}

fn unsuccessful(kind: NonSuccessKind, word: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word).set_message(characters(message)).set_description(characters(text));
    status
}
