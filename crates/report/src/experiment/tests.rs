//! Pages of experiments that are made up.

use super::*;
use pathmeter_experiment::{ElapsedCell, ExactCell, Observed as All, ObservedCheck};
use pathmeter_trace::MeasuredWith;

const TEXT: &str = r#"
name = "test-2026"
title = "t"
source = "s"
symptom = "s"
cause = "c"
cure = "c"
perturb = 1
metrics = ["instructions", "worst"]
checks_of = "ioctl.native+2cpu"
checks = ["lock taken"]
caveats = ["c"]
subject = [
    { label = "one", subject = "lab:a=b", role = "before" },
    { label = "two", subject = "lab:cpus=2", role = "after" },
]
path = [
    { label = "native", path = "ioctl.native" },
    { label = "2x", path = "ioctl.native+2cpu", subjects = ["two"] },
]
elapsed = [{ label = "native", path = "ioctl.native+2cpu", subjects = ["two"] }]
published = { unit = "s", columns = [], row = [] }
[[expect]]
statement = "twice as slow"
rule = "elapsed-ratio"
left = { subject = "two", path = "native" }
right = { subject = "two", path = "native" }
at_least_percent = 140
counter_example = { two = "lab:a=b" }
"#;

fn page(two: ExactCell, elapsed: ElapsedCell) -> String {
    experiment_page(&report(two, elapsed), Style::default())
}

fn with() -> MeasuredWith {
    MeasuredWith {
        qemu: "7.2.22".into(),
        machine: "microvm,acpi=off".into(),
        cpu: "plain: model 6".into(),
        cpus: 1,
        portable: true,
        memory_mib: 128,
        runs: 6,
        command_line: String::new(),
        condition: String::new(),
        proofs: vec![],
        program: None,
    }
}

#[test]
fn subjects_that_were_measured_alike_have_one_line_of_it() {
    let page = page(ObservedCell::NotAsked, ObservedCell::NotAsked);
    let line = "QEMU 7.2.22, the fixed machine, cpu plain, 128 MiB, 6 perturbed runs";
    assert_eq!(page.matches(line).count(), 1, "{page}");
}

fn report(two: ExactCell, elapsed: ElapsedCell) -> ExperimentReport {
    let native = || ObservedCell::Measured(Measured::new(130, 4096));
    let taken = ObservedCheck { name: "lock taken".into(), value: "3799493".into() };
    let observed = All {
        cells: vec![vec![native(), ObservedCell::NotAsked], vec![native(), two]],
        elapsed: vec![vec![ObservedCell::NotAsked], vec![elapsed]],
        checks: vec![vec![], vec![taken]],
        measured_with: vec![with(), with()],
    };
    ExperimentReport::new(Experiment::parse(TEXT).unwrap(), observed)
}

/// The lines after the one that begins with `heading`, up to the next heading of the page.
fn below<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let from = page.lines().skip_while(|line| !line.starts_with(heading));
    from.skip(1).take_while(|line| !line.is_empty()).collect()
}

fn times() -> ElapsedCell {
    let (one_ns, two_ns) = (1850, 2591);
    ObservedCell::Measured(Elapsed {
        one_ns,
        two_ns,
        percent: 140,
        low_percent: 131,
        high_percent: 153,
    })
}

#[test]
fn a_path_that_a_subject_is_not_asked_for_is_a_dash() {
    let page = page(ObservedCell::Measured(Measured::new(7, 9)), times());
    assert_eq!(
        below(&page, "instructions, worst"),
        ["          one    two", "native  4,096  4,096", "2x          -      9"]
    );
    let checks = ["                  two", "lock taken  3,799,493"];
    assert_eq!(below(&page, "ioctl.native+2cpu"), checks);
}

#[test]
fn elapsed_times_are_named_as_the_hosts() {
    let page = page(ObservedCell::NotAsked, times());
    let lines = [
        "             one CPU  two CPUs  ratio  all pairs",
        "two  native    1,850     2,591   1.40  1.31 to 1.53",
    ];
    assert_eq!(below(&page, "ns a call"), lines);
    let judged = below(&page, "expected results").join(" ");
    assert!(judged.contains("NO  twice as slow (1.40 / 1.40 = 1.00; at least 1.40"), "{judged}");
    assert!(judged.contains("this host's time"), "{judged}");
}

#[test]
fn why_there_are_no_results_stands_below() {
    let page =
        page(ObservedCell::Failed("it died".into()), ObservedCell::Unsupported("one CPU".into()));
    assert_eq!(below(&page, "instructions").last(), Some(&"two: it died"));
    let elapsed = below(&page, "ns a call");
    assert_eq!(elapsed[1..], ["two  native  unsupported", "two: one CPU"]);
}

#[test]
fn what_is_long_is_wrapped_but_a_subject_stays_whole() {
    let mut report = report(ObservedCell::NotAsked, times());
    report.experiment.title = "a word and another ".repeat(5);
    let subject = "lab:compat-ioctl-collisions=256,compat-ioctl=hash-bkl,ioctl=bkl";
    report.experiment.subjects[0].subject = subject.to_owned();
    let page = experiment_page(&report, Style { width: Some(50), ..Style::default() });
    assert!(page.lines().filter(|line| line.contains("word")).all(|line| line.len() <= 50));
    assert_eq!(below(&page, "measured").len(), 2);
    assert!(page.contains(subject), "{page}");
}

#[test]
fn a_counter_example_stands_below_its_expectation() {
    let base = report(ObservedCell::NotAsked, times());
    let countered = base.experiment.countered().remove(0);
    let mut observed = base.observed.clone();
    let base = base.with_counter_examples(std::iter::once((observed.clone(), countered.clone())));
    let lines = counter_examples(&base, Style::default());
    assert!(lines.contains("\n    no  with two as lab:a=b (1.40 / 1.40 = 1.00;"), "{lines}");
    observed.elapsed[1] = vec![ObservedCell::Failed("it died".into())];
    let base = base.with_counter_examples(std::iter::once((observed, countered)));
    let lines = counter_examples(&base, Style::default());
    assert!(lines.contains("\n    ?   with two as lab:a=b (two, native: it died"), "{lines}");
}
