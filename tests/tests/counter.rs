//! The experiments' expectations: each holds, and fails under its counter-example. The table of
//! `docs/evidence/counter-examples.md` is made here: `make examples` (`PATHMETER_BLESS=1`) writes
//! it anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use pathmeter_e2e::Scene;
use serde_json::Value;

use crate::examples::{is_agent_of_examples, words};
use crate::results::assert_valid;

/// The document, from the repository's root, and where its table begins.
const DOCUMENT: &str = "docs/evidence/counter-examples.md";
const BEGIN: &str = "<!-- made by the end-to-end tests -->\n";

const EXPERIMENTS: [&str; 5] =
    ["softirq-2001", "ioperm-2004", "compat-ioctl-2004", "eflags-2006", "vgetcpu-2007"];

#[test]
fn every_expectation_fails_under_its_counter_example_and_holds_without() {
    let scene = Scene::warm();
    let listed = scene.run(&["experiment", "--list"]).stdout;
    let listed = listed.lines().filter_map(|line| line.split_whitespace().next());
    assert_eq!(listed.collect::<Vec<_>>(), EXPERIMENTS);
    let mut table = String::new();
    // One after the other: all of them take some minutes, which is longer than one command may.
    for name in EXPERIMENTS {
        let run = scene.run(&["experiment", "--counter-examples", "--json", name]);
        let page = || scene.run(&["experiment", "--counter-examples", name]).stdout;
        assert_eq!(run.code, 0, "{}", page());
        let report = &run.json()[0];
        assert_valid(report, "pathmeter.experiment-1");
        assert_eq!(report["experiment"]["name"], name);
        write!(table, "\n## {name}\n\n").unwrap();
        table += "| expectation | measured | counter-example | measured |\n|---|---|---|---|\n";
        let expectations = report["experiment"]["expect"].as_array().unwrap();
        let judged = report["judged"].as_array().unwrap();
        assert_eq!(expectations.len(), judged.len());
        assert!(judged.iter().filter(|one| one["exact"] == true).count() >= 5, "{judged:?}");
        for (expectation, judged) in expectations.iter().zip(judged) {
            table += &row(expectation, judged);
        }
    }
    assert_current(&scene, &table);
}

/// One expectation. What is judged by the host's time may come out in any way.
fn row(expectation: &Value, judged: &Value) -> String {
    let counter = &judged["counter_example"];
    let exact = judged["exact"] == true;
    if exact {
        assert_eq!((&judged["outcome"], &counter["outcome"]), (&"holds".into(), &"fails".into()));
    }
    let outcome = |word: &str, judged: &Value| match judged["seen"].as_str() {
        Some(seen) if exact => format!("{word}: {}", seen.split(';').next().unwrap()),
        _ => "this host's time".to_owned(),
    };
    let replaced: BTreeMap<String, String> =
        serde_json::from_value(expectation["counter_example"].clone()).unwrap();
    let replaced: Vec<_> =
        replaced.iter().map(|(label, subject)| format!("{label} as `{subject}`")).collect();
    let statement = judged["statement"].as_str().unwrap();
    let yes = outcome("yes", judged);
    let no = if is_of_two_cpus_worst(expectation) {
        "no: more, not always by as many".to_owned()
    } else {
        outcome("no", counter)
    };
    format!("| {statement} | {yes} | {} | {no} |\n", replaced.join(", "))
}

/// Whether the counter-example shows the worst sample of two CPUs that meet: now and then another
/// of the path's values (docs/explanation/exactness.md, "Two CPUs").
fn is_of_two_cpus_worst(expectation: &Value) -> bool {
    let replaced = expectation["counter_example"].as_object().unwrap();
    let two_cpus = |subject: &Value| subject.as_str().unwrap().contains("cpus=2");
    expectation["metric"] == "worst" && replaced.values().any(two_cpus)
}

/// The document must have this table; with another agent, and so another compiler, only its words.
fn assert_current(scene: &Scene, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(DOCUMENT);
    let text = fs::read_to_string(&path).unwrap();
    let (head, written) = text.split_once(BEGIN).unwrap();
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        fs::write(&path, format!("{head}{BEGIN}{table}")).unwrap();
    } else if is_agent_of_examples(scene) {
        assert_eq!(written, table, "{DOCUMENT} is stale: run `make examples`");
    } else {
        assert_eq!(words(written), words(table), "{DOCUMENT} is stale: run `make examples`");
    }
}
