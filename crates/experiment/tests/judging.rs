//! Reading experiments, and judging what was measured by what they expect.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::collections::BTreeMap;

use pathmeter_experiment::{
    Cell, Experiment, ExperimentError, Measured, Observed, ObservedCheck, Outcome, Report,
};

const TEXT: &str = r#"
name = "test-2026"
title = "t"
source = "s"
symptom = "s"
cause = "c"
cure = "c"
metrics = ["instructions"]
checks_of = "flags.isolation"
caveats = []
subject = [
    { label = "old", subject = "lab:a=b", role = "before" },
    { label = "new", subject = "lab:a=c", role = "after" },
]
path = [{ label = "yield", path = "switch.yield" }]
[published]
unit = "cycles"
columns = ["before"]
row = [{ label = "P4", figures = ["1"] }]
"#;

fn with(expectation: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(&format!("{TEXT}\n[[expect]]\nsays = \"it\"\n{expectation}\n"))
}

fn cell(instructions: u64) -> Cell {
    Cell::Measured(Measured { instructions, ..Measured::default() })
}

fn judge(expectation: &str, old: Cell, new: Cell) -> (Outcome, String) {
    let checks = vec![vec![ObservedCheck { name: "NT".into(), value: "leaks".into() }], Vec::new()];
    let observed = Observed { cells: vec![vec![old], vec![new]], checks };
    let report = Report::new(with(expectation).unwrap(), observed);
    assert_eq!(report.holds(), report.judged[0].outcome == Outcome::Holds);
    (report.judged[0].outcome, report.judged[0].seen.clone())
}

const BOUNDED: &str = r#"
rule = "difference"
left = { subject = "new", path = "yield" }
right = { subject = "old", path = "yield" }
at_least = -5
at_most = 10
"#;

#[test]
fn a_difference_holds_within_its_bounds_ends_included() {
    for (new, outcome) in
        [(94, Outcome::Fails), (95, Outcome::Holds), (110, Outcome::Holds), (111, Outcome::Fails)]
    {
        assert_eq!(judge(BOUNDED, cell(100), cell(new)).0, outcome, "{new}");
    }
    assert_eq!(judge(BOUNDED, cell(100), cell(103)).1, "103 - 100 = 3; -5 to 10 expected");
}

#[test]
fn what_was_not_measured_tells_nothing() {
    let (outcome, seen) = judge(BOUNDED, cell(100), Cell::Failed("it died".into()));
    assert_eq!((outcome, &seen[..]), (Outcome::Untold, "new, yield: it died"));
}

#[test]
fn the_largest_counts_do_not_wrap() {
    assert_eq!(judge(BOUNDED, cell(u64::MAX), cell(0)).0, Outcome::Fails);
}

#[test]
fn a_check_holds_with_its_value() {
    let check = |subject: &str, value: &str| {
        let text = format!(
            "rule = \"check\"\nsubject = \"{subject}\"\ncheck = \"NT\"\nvalue = \"{value}\""
        );
        judge(&text, cell(1), cell(1)).0
    };
    assert_eq!(check("old", "leaks"), Outcome::Holds);
    assert_eq!(check("old", "kept out"), Outcome::Fails);
    assert_eq!(check("new", "leaks"), Outcome::Untold);
}

#[test]
fn unsupported_means_all_of_its_paths() {
    let rule = "rule = \"unsupported\"\nsubject = \"new\"";
    let unsupported = Cell::Unsupported("no rdpid".into());
    assert_eq!(judge(rule, cell(1), unsupported), (Outcome::Holds, "no rdpid".into()));
    assert_eq!(judge(rule, cell(1), cell(1)).0, Outcome::Fails);
}

#[test]
fn an_expectation_that_cannot_fail_is_refused() {
    let text = "rule = \"difference\"\nleft = { subject = \"old\", path = \"yield\" }";
    assert_eq!(with(text), Err(ExperimentError::Unbounded("it".into())));
}

#[test]
fn names_that_are_not_there_are_refused() {
    let place = "left = { subject = \"odl\", path = \"yield\" }";
    let error = with(&format!("rule = \"difference\"\n{place}\nat_most = 1")).unwrap_err();
    assert!(error.to_string().contains("\"odl\", which the experiment does not have"), "{error}");
    assert!(with("rule = \"unsupported\"\nsubject = \"x\"").is_err());
    assert!(with("rule = \"unsupported\"\nsubject = \"old\"\nat_most = 3").is_err());
    assert!(Experiment::parse(&TEXT.replace("label = \"new\"", "label = \"old\"")).is_err());
    assert!(Experiment::parse(&TEXT.replace("[\"1\"]", "[]")).is_err());
}

#[test]
fn a_census_counts_all_slow_instructions() {
    let census = BTreeMap::from([("popf".to_owned(), 2), ("cli".to_owned(), 1)]);
    let measured = Measured { census, ..Measured::default() };
    assert_eq!(measured.value(pathmeter_experiment::Metric::Census), 3);
}

#[test]
fn the_experiments_that_come_along_are_well_formed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let experiment = Experiment::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(path.file_stem().unwrap(), &experiment.name[..]);
        count += 1;
    }
    assert!(count >= 3, "{count}");
}

#[test]
fn the_schema_is_published() {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas/pathmeter.experiment-1.json");
    let schema = pathmeter_experiment::report_schema();
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        std::fs::write(file, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let published = std::fs::read_to_string(file).unwrap_or_default();
    let published: serde_json::Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "the schema is stale: run with PATHMETER_BLESS=1");
}
