//! `JUnit`'s XML, by the schema that Jenkins' xunit plugin and GitLab read.

use pathmeter_model::GateReason;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Judged, Line, Outcome, measured, verdict};
use crate::xml::characters;

/// A test case a path: a failure is worse, an error is one that could not be compared. What else
/// fails the gate is a test case, too.
pub(super) fn junit(judged: Judged<'_>) -> String {
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    let name = format!("pathmeter compare {} {}", base.name, new.name);
    let mut suite = TestSuite::new(characters(&name));
    suite.add_test_cases(judged.lines().map(|line| case(&line)));
    suite.add_test_cases(judged.beside_paths().map(case_beside));
    let told: Vec<String> = std::iter::once(verdict(judged)).chain(measured(judged)).collect();
    suite.set_system_out(characters(&told.join("; ")));
    let mut report = Report::new("pathmeter");
    report.add_test_suite(suite);
    // Writing to memory can't fail.
    report.to_string().unwrap_or_default()
}

fn case(line: &Line<'_>) -> TestCase {
    let name = &line.row.path;
    let group = name.split_once('.').map_or(&**name, |(group, _)| group);
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
        Outcome::Passed => TestCaseStatus::success(),
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
