//! Code that a program makes itself, in call trees: by the names that it gives in perf maps.

use pathmeter_e2e::{Run, Scene, built};
use serde_json::Value;

use super::program;
use crate::results::assert_valid;

fn explain(scene: &Scene, mode: &str, options: &[&str]) -> Run {
    let (kernel, jit) = (built("base"), program("jit"));
    let words = [&["explain", "user code", &kernel, "--perturb", "2"], options];
    let run = scene.run(&[&words.concat()[..], &["--", &jit, mode]].concat());
    run.succeeded();
    run
}

fn document(scene: &Scene, mode: &str) -> Value {
    let document = explain(scene, mode, &["--json"]).json();
    assert_valid(&document, "pathmeter.explain-1");
    document["base"].clone()
}

/// The instructions of each function that a JIT named.
fn jit_functions(base: &Value) -> Vec<(&str, u64)> {
    let functions = base["window"]["functions"].as_array().unwrap();
    let made = functions.iter().filter(|function| function["module"] == "JIT");
    let cost_of = |function: &'_ Value| function["counts"]["instructions"].as_u64().unwrap();
    let mut named: Vec<_> = made.map(|it| (it["name"].as_str().unwrap(), cost_of(it))).collect();
    named.sort_unstable();
    named
}

/// Of a function that counts down from a number, called so often.
fn cost(from: u64, calls: u64) -> u64 {
    calls * (2 + 2 * from)
}

#[test]
fn code_that_a_program_makes_has_the_names_that_each_process_gives_it() {
    let scene = Scene::warm();
    let base = document(&scene, "named");
    // What was replaced has the name of what replaced it.
    let gamma = cost(300, 1) + cost(400, 1);
    let expected = [
        ("alpha", cost(100, 3)),
        ("beta 2", cost(200, 2)),
        ("delta", cost(500, 4)),
        ("gamma", gamma),
    ];
    assert_eq!(jit_functions(&base), expected);
    assert_eq!(base["program"]["unused_debug"], Value::Null);
    assert_eq!(base["program"]["unnamed_code"], Value::Null);
    // Nothing of a run depends on whether its maps are read.
    let (kernel, jit) = (built("base"), program("jit"));
    let run = scene.run(&["run", &kernel, "--perturb", "2", "--json", "--", &jit, "named"]).json();
    let mut rows = run["paths"].as_array().unwrap().iter();
    let row = rows.find(|row| row["path"] == "user code").unwrap();
    let shown = usize::try_from(base["program"]["run"].as_u64().unwrap()).unwrap();
    assert_eq!(row["samples"][shown - 2], base["window"]["total"]);
    let table = explain(&scene, "named", &["--depth", "12"]).stdout;
    let delta = table.lines().find(|line| line.contains("delta [JIT]"));
    assert!(delta.is_some_and(|line| line.contains(" 4,008 ")), "{table}");
}

#[test]
fn code_without_a_map_is_named_by_its_address_and_a_note_says_how_to_name_it() {
    let scene = Scene::warm();
    let [silent, named] = ["silent", "named"].map(|mode| document(&scene, mode));
    assert_eq!(jit_functions(&silent), []);
    assert_eq!(silent["program"]["unnamed_code"], true);
    let made = |base: &Value| -> u64 {
        let functions = base["window"]["functions"].as_array().unwrap();
        let at = functions.iter().filter(|it| it["name"].as_str().unwrap().starts_with("[code at"));
        at.map(|it| it["counts"]["instructions"].as_u64().unwrap()).sum()
    };
    let sum: u64 = jit_functions(&named).iter().map(|function| function.1).sum();
    assert_eq!((made(&silent), made(&named)), (sum, 0));
    let table = explain(&scene, "silent", &[]).stdout;
    assert!(table.contains("\nnote      some code is in no packed file"), "{table}");
}

#[test]
fn maps_that_are_none_do_no_harm_and_are_told() {
    let scene = Scene::warm();
    let base = document(&scene, "wrong");
    let names: Vec<&str> = jit_functions(&base).iter().map(|function| function.0).collect();
    assert_eq!(names, ["alpha", "beta 2", "delta", "gamma"]);
    let unused = base["program"]["unused_debug"].as_array().unwrap();
    let mut reasons: Vec<&str> = unused.iter().map(|it| it["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    let large = format!("of its {} bytes 0 could be read", 60 << 20);
    assert_eq!(reasons, ["3 of its lines are not START SIZE NAME", &large]);
    let table = explain(&scene, "wrong", &[]).stdout;
    let note = "note      JIT: /tmp/perf-900001.map is not used: of its ";
    assert!(table.contains(note), "{table}");
}
