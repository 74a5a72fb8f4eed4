//! The rows of a program's run: the same whatever else is counted with them.

use pathmeter_e2e::{Scene, built};
use serde_json::Value;

/// A program that has new processes, which the kernel begins in a way of its own.
const PIPELINE: [&str; 4] = ["--", "/bin/sh", "-c", "(exit 0) | (exit 0); exit 0"];

#[test]
fn counting_functions_leaves_the_rows_alone() {
    let scene = Scene::warm();
    let base = built("base");
    let runs = |options: &[&str]| -> Value {
        let words = [&["run", &base, "--json"][..], options, &PIPELINE].concat();
        scene.run(&words).json()["runs"].clone()
    };
    let runs_of_both = [runs(&[]), runs(&["--explain"])];
    let new_tasks = runs_of_both[0][0]["rows"].as_array().unwrap().iter();
    let new_tasks: u64 = new_tasks
        .filter(|row| row["kind"] == "new-task")
        .filter_map(|row| row["calls"].as_u64())
        .sum();
    assert_eq!(new_tasks, 2, "{}", runs_of_both[0]);
    assert_eq!(runs_of_both[0], runs_of_both[1]);
}
