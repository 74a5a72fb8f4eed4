//! Reading experiments, and judging what was measured by what they expect.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::collections::BTreeMap;

use pathmeter_experiment::{
    Elapsed, ElapsedCell, ExactCell, ExpectationOutcome, Experiment, ExperimentError,
    ExperimentReport, Measured, Metric, Observed, ObservedCell, ObservedCheck,
};

const TEXT: &str = r#"
name = "test-2026"
title = "t"
source = "s"
symptom = "s"
cause = "c"
cure = "c"
perturb = 1
metrics = ["instructions", "worst"]
checks_of = "flags.isolation"
checks = ["NT", "spins"]
caveats = []
subject = [
    { label = "old", subject = "lab:a=b", role = "before" },
    { label = "new", subject = "lab:a=c", role = "after" },
]
path = [
    { label = "yield", path = "switch.yield" },
    { label = "pipe", path = "switch.pipe", subjects = ["old"] },
]
elapsed = [{ label = "ioctl", path = "ioctl.native+2cpu" }]
[published]
unit = "cycles"
columns = ["before"]
row = [{ label = "P4", values = ["1"] }]
"#;

fn with(expectation: &str) -> Result<Experiment, ExperimentError> {
    parse_with_expectation(TEXT, expectation)
}

/// Parses an experiment with this expectation, which gets a counter-example if it has none.
fn parse_with_expectation(text: &str, expectation: &str) -> Result<Experiment, ExperimentError> {
    let counter = if expectation.contains("counter_example") { "" } else { COUNTER };
    let expectation = format!("[[expect]]\nstatement = \"it\"\n{counter}\n{expectation}");
    Experiment::parse(&format!("{text}\n{expectation}\n"))
}

const COUNTER: &str = r#"counter_example = { old = "lab:a=d" }"#;

fn cell(instructions: u64) -> ExactCell {
    ObservedCell::Measured(Measured::new(instructions, instructions.saturating_add(9)))
}

fn elapsed(percent: u64) -> ElapsedCell {
    let (low_percent, high_percent) = (percent - 1, percent + 1);
    ObservedCell::Measured(Elapsed { one_ns: 90, two_ns: 180, percent, low_percent, high_percent })
}

/// The path that only the old kernel is asked for costs 7; by two CPUs at once the old one takes
/// thrice as long, the new one as long as by one.
fn report(expectation: &str, old: ExactCell, new: ExactCell) -> ExperimentReport {
    let observed_check =
        |name: &str, value: &str| ObservedCheck { name: name.into(), value: value.into() };
    let observed = Observed {
        cells: vec![vec![old, cell(7)], vec![new, ObservedCell::NotAsked]],
        elapsed: vec![vec![elapsed(300)], vec![elapsed(100)]],
        checks: vec![vec![observed_check("NT", "leaks"), observed_check("spins", "17")], vec![]],
        measured_with: vec![],
    };
    ExperimentReport::new(with(expectation).unwrap(), observed)
}

fn judge(expectation: &str, old: ExactCell, new: ExactCell) -> (ExpectationOutcome, String) {
    let judged = report(expectation, old, new).judged.remove(0);
    (judged.outcome, judged.seen)
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
    for (new, outcome) in [
        (94, ExpectationOutcome::Fails),
        (95, ExpectationOutcome::Holds),
        (110, ExpectationOutcome::Holds),
        (111, ExpectationOutcome::Fails),
    ] {
        assert_eq!(judge(BOUNDED, cell(100), cell(new)).0, outcome, "{new}");
    }
    assert_eq!(judge(BOUNDED, cell(100), cell(103)).1, "103 - 100 = 3; -5 to 10 expected");
}

#[test]
fn large_numbers_are_seen_in_groups_of_three_digits() {
    let seen = judge(BOUNDED, cell(1_002_879), cell(2_000)).1;
    assert_eq!(seen, "2,000 - 1,002,879 = -1,000,879; -5 to 10 expected");
}

#[test]
fn what_was_not_measured_tells_nothing() {
    let (outcome, seen) = judge(BOUNDED, cell(100), ObservedCell::Failed("it died".into()));
    assert_eq!((outcome, &seen[..]), (ExpectationOutcome::Inconclusive, "new, yield: it died"));
}

#[test]
fn the_largest_counts_do_not_wrap() {
    assert_eq!(judge(BOUNDED, cell(u64::MAX), cell(0)).0, ExpectationOutcome::Fails);
}

#[test]
fn the_worst_case_is_held_against_the_median() {
    let place = r#"{ subject = "old", path = "yield" }"#;
    let rule = format!(
        "rule = \"difference\"\nmetric = \"worst\"\nright_metric = \"instructions\"\n\
         left = {place}\nright = {place}\nat_most = 0"
    );
    assert_eq!(
        judge(&rule, cell(100), cell(1)),
        (ExpectationOutcome::Fails, "109 - 100 = 9; at most 0 expected".into())
    );
}

fn check(subject: &str, check: &str, form: &str) -> (ExpectationOutcome, String) {
    let rule = "rule = \"check\"\n";
    let text = format!("{rule}subject = \"{subject}\"\ncheck = \"{check}\"\n{form}");
    judge(&text, cell(1), cell(1))
}

#[test]
fn a_check_holds_with_its_value() {
    assert_eq!(check("old", "NT", "value = \"leaks\"").0, ExpectationOutcome::Holds);
    assert_eq!(check("old", "NT", "value = \"kept out\"").0, ExpectationOutcome::Fails);
    assert_eq!(check("new", "NT", "value = \"leaks\"").0, ExpectationOutcome::Inconclusive);
}

#[test]
fn or_within_its_bounds_if_it_is_a_number() {
    let spins = |form| check("old", "spins", form).0;
    assert_eq!(spins("at_least = 17\nat_most = 17"), ExpectationOutcome::Holds);
    assert_eq!(spins("at_least = 18"), ExpectationOutcome::Fails);
    assert_eq!(spins("at_most = 16"), ExpectationOutcome::Fails);
    let text = check("old", "NT", "at_least = 0");
    assert_eq!(text, (ExpectationOutcome::Inconclusive, "\"leaks\" is no number".into()));
}

fn ratio(left: &str, right: &str, bounds: &str) -> String {
    let place = |subject: &str| format!("{{ subject = \"{subject}\", path = \"ioctl\" }}");
    let [left, right] = [left, right].map(place);
    format!("rule = \"elapsed-ratio\"\nleft = {left}\nright = {right}\n{bounds}")
}

#[test]
fn two_cpus_against_one_are_compared_between_subjects() {
    let rule = |bounds| ratio("old", "new", bounds);
    let judged = |bounds| judge(&rule(bounds), cell(1), cell(1));
    let (outcome, seen) = judged("at_least_percent = 140");
    assert_eq!(
        (outcome, &seen[..]),
        (ExpectationOutcome::Holds, "3.00 / 1.00 = 3.00; at least 1.40 expected")
    );
    assert_eq!(judged("at_least_percent = 301").0, ExpectationOutcome::Fails);
    assert_eq!(judged("at_most_percent = 299").0, ExpectationOutcome::Fails);
    assert!(with(&rule("")).is_err());
    assert!(with(&rule("at_least_percent = 1").replace("ioctl", "yield")).is_err());
}

#[test]
fn a_control_that_two_cpus_slow_down_tells_nothing() {
    let judged = |control| {
        let rule = ratio("old", "new", "at_least_percent = 140");
        let mut observed = report(&rule, cell(1), cell(1)).observed;
        observed.elapsed[1] = vec![elapsed(control)];
        ExperimentReport::new(with(&rule).unwrap(), observed).judged.remove(0)
    };
    assert_eq!(judged(150).outcome, ExpectationOutcome::Holds);
    let busy = judged(151);
    assert_eq!(busy.outcome, ExpectationOutcome::Inconclusive);
    assert_eq!(
        busy.seen,
        "the control took 1.51 times as long: this host had not two CPUs to spare"
    );
}

#[test]
fn unsupported_means_all_of_its_paths() {
    let rule = "rule = \"unsupported\"\nsubject = \"new\"";
    let unsupported = ObservedCell::Unsupported("no rdpid".into());
    assert_eq!(judge(rule, cell(1), unsupported), (ExpectationOutcome::Holds, "no rdpid".into()));
    assert_eq!(judge(rule, cell(1), cell(1)).0, ExpectationOutcome::Fails);
    // One path that runs is enough.
    let old = rule.replace("new", "old");
    assert_eq!(
        judge(&old, ObservedCell::Unsupported("no".into()), cell(1)).0,
        ExpectationOutcome::Fails
    );
    // Unless one path is meant.
    let of = |path: &str| format!("{old}\npath = \"{path}\"");
    let judged = |path| judge(&of(path), ObservedCell::Unsupported("no".into()), cell(1)).0;
    assert_eq!(judged("yield"), ExpectationOutcome::Holds);
    assert_eq!(judged("pipe"), ExpectationOutcome::Fails);
    assert!(with(&of("ioctl")).is_err());
    // What failed might have run.
    let failed = ObservedCell::Failed("it died".into());
    assert_eq!(judge(rule, cell(1), failed), (ExpectationOutcome::Inconclusive, "it died".into()));
}

#[test]
fn the_verdict_is_the_worst_that_the_exact_clock_says() {
    let verdict = |new| report(BOUNDED, cell(100), new).verdict();
    assert_eq!(verdict(cell(100)), ExpectationOutcome::Holds);
    assert_eq!(verdict(cell(0)), ExpectationOutcome::Fails);
    assert_eq!(verdict(ObservedCell::Unsupported("no".into())), ExpectationOutcome::Inconclusive);
    // What nobody expects anything of has to be measured all the same.
    let alone =
        "rule = \"difference\"\nleft = { subject = \"old\", path = \"yield\" }\nat_most = 9";
    assert_eq!(
        report(alone, cell(1), ObservedCell::Failed("it died".into())).verdict(),
        ExpectationOutcome::Inconclusive
    );
    assert_eq!(
        report(alone, cell(10), ObservedCell::Failed("it died".into())).verdict(),
        ExpectationOutcome::Fails
    );
}

#[test]
fn what_the_host_says_decides_nothing() {
    let mut report = report(&ratio("new", "new", "at_least_percent = 101"), cell(1), cell(1));
    assert_eq!(
        (report.judged[0].outcome, report.judged[0].exact),
        (ExpectationOutcome::Fails, false)
    );
    assert_eq!(report.verdict(), ExpectationOutcome::Holds);
    report.judged[0].exact = true;
    assert_eq!(report.verdict(), ExpectationOutcome::Fails);
}

#[test]
fn an_expectation_that_cannot_fail_or_hold_is_refused() {
    let text = "rule = \"difference\"\nleft = { subject = \"old\", path = \"yield\" }";
    assert_eq!(with(text), Err(ExperimentError::Unbounded("it".into())));
    let check = "rule = \"check\"\nsubject = \"old\"\ncheck = \"NT\"";
    assert_eq!(with(check), Err(ExperimentError::Unbounded("it".into())));
    let both = format!("{check}\nvalue = \"1\"\nat_most = 1");
    assert_eq!(with(&both), Err(ExperimentError::ValueAndBounds("it".into())));
    let ratio = ratio("old", "new", "");
    for (rule, unit) in [(text, ""), (check, ""), (&ratio, "_percent")] {
        let crossed = format!("{rule}\nat_least{unit} = 3\nat_most{unit} = 2");
        assert_eq!(with(&crossed), Err(ExperimentError::EmptyRange("it".into())));
        assert!(with(&crossed.replace('3', "2")).is_ok());
    }
}

#[test]
fn what_is_not_measured_or_shown_is_not_expected() {
    let of = |subject: &str, metric: &str| {
        let left = format!("left = {{ subject = \"{subject}\", path = \"pipe\" }}");
        with(&format!("rule = \"difference\"\n{left}\nat_most = 1\n{metric}"))
    };
    assert!(of("old", "metric = \"worst\"").is_ok());
    assert!(matches!(of("new", ""), Err(ExperimentError::NotAsked { .. })));
    for metric in ["metric", "right_metric"] {
        let error = of("old", &format!("{metric} = \"rep-bytes\"")).unwrap_err();
        let metric = Metric::RepBytes;
        assert_eq!(error, ExperimentError::NotShown { statement: "it".into(), metric });
    }
}

#[test]
fn a_check_that_is_not_shown_is_not_expected() {
    let rule = "rule = \"check\"\nsubject = \"old\"\ncheck = \"NT\"\nvalue = \"leaks\"";
    let refused = |check: &str| {
        Err(ExperimentError::CheckNotShown { statement: "it".into(), check: check.into() })
    };
    assert_eq!(with(&rule.replace("NT", "AC")), refused("AC"));
    let nowhere = TEXT.replace("checks_of = \"flags.isolation\"", "");
    assert_eq!(parse_with_expectation(&nowhere, rule), refused("NT"));
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
    assert!(
        Experiment::parse(&TEXT.replace("subjects = [\"old\"]", "subjects = [\"x\"]")).is_err()
    );
}

#[test]
fn a_census_counts_all_slow_instructions() {
    let census = BTreeMap::from([("popf".to_owned(), 2), ("cli".to_owned(), 1)]);
    let measured = Measured { census: Some(census), ..Measured::default() };
    assert_eq!(measured.value(Metric::Census), Some(3));
    assert_eq!(Measured::new(1, 2).value(Metric::Census), None);
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
    let schema = pathmeter_seal::document_schema::<ExperimentReport>();
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        std::fs::write(file, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let published = std::fs::read_to_string(file).unwrap_or_default();
    let published: serde_json::Value = serde_json::from_str(&published).unwrap_or_default();
    assert!(published == *schema.as_value(), "the schema is stale: run with PATHMETER_BLESS=1");
}

const BY_CLASS: &str = r#"
rule = "difference"
metric = "census"
classes = ["pushf", "popf"]
left = { subject = "new", path = "yield" }
at_most = 0
"#;

/// The test's experiment, with the census among its metrics.
fn with_census(expectation: &str) -> Result<Experiment, ExperimentError> {
    let text = TEXT.replace(r#"["instructions", "worst"]"#, r#"["census"]"#);
    parse_with_expectation(&text, expectation)
}

#[test]
fn slow_instructions_are_counted_by_class() {
    let recorded = |class: &str| {
        let census = BTreeMap::from([("wrmsr".to_owned(), 3), (class.to_owned(), 2)]);
        ObservedCell::Measured(Measured { census: Some(census), ..Measured::new(1, 1) })
    };
    for (class, outcome) in
        [("popf", ExpectationOutcome::Fails), ("sti", ExpectationOutcome::Holds)]
    {
        let cells = vec![vec![cell(1), cell(1)], vec![recorded(class), ObservedCell::NotAsked]];
        let observed = Observed { cells, ..Observed::default() };
        let report = ExperimentReport::new(with_census(BY_CLASS).unwrap(), observed);
        assert_eq!(report.judged[0].outcome, outcome, "{class}");
    }
}

#[test]
fn a_class_that_would_count_nothing_is_refused() {
    let misspelt = with_census(&BY_CLASS.replace("\"popf\"", "\"popfs\""));
    assert!(
        matches!(misspelt, Err(ExperimentError::NoSuchClass { class, .. }) if class == "popfs")
    );
    let of_nothing = BY_CLASS.replace("census", "instructions");
    assert!(matches!(with(&of_nothing), Err(ExperimentError::NoSuchClass { .. })));
}

#[test]
fn a_counter_example_replaces_subjects_that_there_are() {
    let with_example =
        |label: &str| with(&format!("{BOUNDED}\ncounter_example = {{ {label} = \"lab:a=d\" }}"));
    let read = with_example("new").unwrap().expectations.remove(0);
    assert_eq!(read.counter_example["new"], "lab:a=d");
    assert!(matches!(with_example("gone"), Err(ExperimentError::Unknown { .. })));
}

#[test]
fn an_expectation_needs_a_counter_example_that_is_another_subject() {
    for example in ["{}", r#"{ new = "lab:a=c" }"#] {
        let refused = with(&format!("{BOUNDED}\ncounter_example = {example}"));
        assert!(matches!(refused, Err(ExperimentError::NoCounterExample(_))), "{example}");
    }
}

#[test]
fn an_expectation_that_holds_under_its_counter_example_fails() {
    for (new, countered, verdict) in [
        (100, 200, ExpectationOutcome::Holds),
        (100, 100, ExpectationOutcome::Fails),
        (200, 200, ExpectationOutcome::Fails),
    ] {
        let experiment = with(&format!("{BOUNDED}\ncounter_example = {{ new = \"lab:a=d\" }}"));
        let other = experiment.unwrap().countered().remove(0);
        assert_eq!(other.subjects[1].subject, "lab:a=d");
        let observed =
            Observed { cells: vec![vec![cell(100)], vec![cell(countered)]], ..Observed::default() };
        let report = report(BOUNDED, cell(100), cell(new));
        let report = report.with_counter_examples(std::iter::once((observed, other)));
        assert_eq!(report.verdict(), verdict, "{new}, {countered}");
    }
}
