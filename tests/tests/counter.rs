//! The experiments' expectations: each holds, and fails under its counter-example. The tables of
//! `docs/evidence/counter-examples.md` are made here: `make examples` (`PATHMETER_BLESS=1`) writes
//! them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pathmeter_e2e::Scene;
use serde_json::Value;

use crate::examples::{is_agent_of_examples, words};
use crate::results::assert_valid;

/// The document, from the repository's root: a section for each experiment.
const DOCUMENT: &str = "docs/evidence/counter-examples.md";

const EXPERIMENTS: [&str; 5] =
    ["softirq-2001", "ioperm-2004", "compat-ioctl-2004", "eflags-2006", "vgetcpu-2007"];

#[test]
fn every_experiment_has_a_test_here() {
    let listed = Scene::warm().run(&["experiment", "--list"]).stdout;
    let listed = listed.lines().filter_map(|line| line.split_whitespace().next());
    assert_eq!(listed.collect::<Vec<_>>(), EXPERIMENTS);
}

#[test]
fn expectations_of_softirq_2001_fail_under_their_counter_examples() {
    assert_expectations("softirq-2001");
}

#[test]
fn expectations_of_ioperm_2004_fail_under_their_counter_examples() {
    assert_expectations("ioperm-2004");
}

#[test]
fn expectations_of_compat_ioctl_2004_fail_under_their_counter_examples() {
    assert_expectations("compat-ioctl-2004");
}

#[test]
fn expectations_of_eflags_2006_fail_under_their_counter_examples() {
    assert_expectations("eflags-2006");
}

#[test]
fn expectations_of_vgetcpu_2007_fail_under_their_counter_examples() {
    assert_expectations("vgetcpu-2007");
}

/// Each expectation of the experiment holds, and fails under its counter-example.
fn assert_expectations(name: &str) {
    let scene = Scene::warm();
    let run = scene.run(&["experiment", "--counter-examples", "--json", name]);
    let page = || scene.run(&["experiment", "--counter-examples", name]).stdout;
    assert_eq!(run.code, 0, "{}", page());
    let report = &run.json()[0];
    assert_valid(report, "pathmeter.experiment-1");
    assert_eq!(report["experiment"]["name"], name);
    let runs = &report["observed"]["measured_with"][0]["runs"];
    assert_eq!(*runs, report["experiment"]["perturb"]);
    let expectations = report["experiment"]["expect"].as_array().unwrap();
    let judged = report["judged"].as_array().unwrap();
    assert_eq!(expectations.len(), judged.len());
    assert!(judged.iter().filter(|one| one["exact"] == true).count() >= 5, "{judged:?}");
    let rows: String =
        expectations.iter().zip(judged).map(|(expected, judged)| row(expected, judged)).collect();
    let head = "| expectation | measured | counter-example | measured |\n|---|---|---|---|\n";
    assert_current(&scene, name, &format!("{head}{rows}"));
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

/// The document's section of this experiment must have this table; with another agent, and so
/// another compiler, only its words.
fn assert_current(scene: &Scene, name: &str, table: &str) {
    // Another test may be writing its own section.
    static FILE: Mutex<()> = Mutex::new(());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(DOCUMENT);
    let title = format!("\n## {name}\n\n");
    let file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = fs::read_to_string(&path).unwrap();
    let begin = text.find(&title).unwrap_or_else(|| panic!("{DOCUMENT} has no {name}"));
    let begin = begin + title.len();
    let end = text[begin..].find("\n## ").map_or(text.len(), |at| begin + at);
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        text.replace_range(begin..end, table);
        fs::write(&path, text).unwrap();
        return;
    }
    drop(file);
    if is_agent_of_examples(scene) {
        assert_eq!(&text[begin..end], table, "{DOCUMENT} is stale: run `make examples`");
    } else {
        assert_eq!(words(&text[begin..end]), words(table), "{DOCUMENT}: run `make examples`");
    }
}
