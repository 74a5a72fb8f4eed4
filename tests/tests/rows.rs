//! The rows of a program's run: the same whatever else is counted with them.

use pathmeter_e2e::{Scene, built, debian};
use serde_json::Value;

/// A program that has new processes, which the kernel begins in a way of its own.
const PIPELINE: [&str; 4] = ["--", "/bin/sh", "-c", "(exit 0) | (exit 0); exit 0"];

#[test]
fn counting_functions_leaves_the_rows_alone() {
    let scene = Scene::warm();
    let base = built("base");
    let runs = |options: &[&str]| -> Value {
        let words = [&["run", &base, "--json"][..], options, &PIPELINE].concat();
        let mut paths = scene.run(&words).json()["paths"].take();
        let rows = paths.as_array_mut().unwrap().iter_mut().filter_map(Value::as_object_mut);
        rows.for_each(|row| drop(row.remove("functions")));
        paths
    };
    let of_both = [runs(&[]), runs(&["--explain"])];
    let mut rows = of_both[0].as_array().unwrap().iter();
    let new_tasks = rows.find(|row| row["work"]["kind"] == "new-task").unwrap();
    assert_eq!(new_tasks["work"]["calls"][0], 2, "{new_tasks}");
    assert_eq!(of_both[0], of_both[1]);
}

#[test]
fn functions_are_counted_where_a_copy_to_the_program_faults_as_it_begins() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    // Into memory that was not touched before, by one string instruction: so on this CPU.
    let guest = ["--cpu", "skylake", "--perturb", "1", "--explain", "--json"];
    let program = ["--", "/bin/dd", "if=/bin/dd", "of=/dev/null", "bs=64k"];
    let result = scene.run(&[&["run", &cloud][..], &guest, &program].concat()).json();
    let rows = result["paths"].as_array().unwrap().iter();
    let counted = rows.filter_map(|row| Some((row, row.get("functions")?.as_array()?)));
    let mut names = Vec::new();
    for (row, functions) in counted {
        let sum: u64 = functions.iter().map(|it| it["instructions"].as_u64().unwrap()).sum();
        assert_eq!(row["samples"][0], sum, "{}", row["path"]);
        names.push(row["path"].as_str().unwrap());
    }
    assert!(names.contains(&"read"), "{names:?}");
}
