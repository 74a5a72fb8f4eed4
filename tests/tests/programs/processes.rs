//! Each process of a program has the rows of its own work, and its own name, whatever it does to be
//! taken for another.

use pathmeter_e2e::{Scene, built, debian};
use serde_json::Value;

use super::{
    RUNS, assert_adds_up, assert_adds_up_in, calls_of, kernels, measure_program, program, run,
};

/// Of each process how often it asked for its parent's number, in each run.
fn asked(result: &Value) -> Vec<(&str, Vec<u64>)> {
    let of = |process: &'_ Value| calls_of(&process["rows"], "syscall", "getppid");
    let mut asked = Vec::new();
    for process in result["execution"]["processes"].as_array().unwrap() {
        asked.push((process["process"].as_str().unwrap(), of(process)));
    }
    asked
}

/// tests/programs/family.c, under the names of the programs that it executes.
fn family(kernel: &str, words: &[&str]) -> Value {
    let family = program("family");
    let files = ["alpha", "beta", "gamma", "delta"].map(|name| format!("{family}:/bin/{name}"));
    let files: Vec<&str> = files.iter().flat_map(|file| ["--file", file]).collect();
    let options = [&files[..], &["--json"]].concat();
    let command = [&[&*family], words].concat();
    let result = run(&Scene::warm(), &[kernel], &options, &command).json();
    assert_adds_up(&result);
    result
}

#[test]
fn a_process_is_named_by_its_program_and_whoever_started_it() {
    for kernel in [built("base"), debian("cloud")] {
        let expected = [
            ("family", 0),
            ("family/alpha", 5),
            ("family/beta", 11),
            ("family/alpha[2]", 7),
            ("family/family", 3),
            ("family/family[2]", 0),
            ("family/family[2]/gamma", 13),
            // It has given itself a name, and could not execute a program.
            ("family/family[3]", 2),
            // A thread of it did, and took its place.
            ("family/delta", 17),
        ];
        let expected = expected.map(|(name, times)| (name, vec![times; RUNS]));
        let result = family(&kernel, &[]);
        let found = asked(&result).into_iter();
        let found: Vec<_> = found
            .map(|(name, calls)| (name, if calls.is_empty() { vec![0; RUNS] } else { calls }))
            .collect();
        assert_eq!(found, expected);
        let threads = |process: &Value| process["threads"][0].as_u64().unwrap();
        let threads: Vec<u64> =
            result["execution"]["processes"].as_array().unwrap().iter().map(threads).collect();
        assert_eq!(threads, [1, 1, 1, 1, 1, 1, 1, 1, 2]);
        assert_eq!(result["notes"], serde_json::json!([]));
    }
}

#[test]
fn numbers_that_are_used_again_make_no_two_processes_one() {
    for kernel in kernels() {
        let result = family(&kernel, &["many", "60"]);
        let found = asked(&result);
        assert_eq!(found.len(), 61);
        for (number, (name, calls)) in found.iter().enumerate().skip(1) {
            let expected = match number {
                1 => "family/family".to_owned(),
                number => format!("family/family[{number}]"),
            };
            assert_eq!((*name, calls), (&*expected, &vec![1; RUNS]));
        }
    }
}

#[test]
fn processes_beyond_the_limit_are_one_entry_which_is_said() {
    let result = family(&built("base"), &["many", "600"]);
    let found = asked(&result);
    assert_eq!(found.len(), 65);
    assert_eq!(found.last(), Some(&("(more processes)", vec![600 - 63; RUNS])));
    let note = result["notes"][0].as_str().unwrap();
    assert!(note.starts_with("537 of its processes are one entry"), "{note}");
}

#[test]
fn a_program_of_one_process_has_no_rows_of_processes() {
    let result = measure_program(&built("base"), &[&program("faults")]);
    assert!(result["execution"].get("processes").is_none());
    let (scene, faults) = (Scene::warm(), program("faults"));
    let options = ["--only-process", "faults"];
    let refused = run(&scene, &[&built("base")], &options, &[&faults]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("has no rows of single processes"), "{}", refused.stderr);
}

#[test]
fn one_process_is_shown_and_judged_alone() {
    let (scene, family) = (Scene::warm(), program("family"));
    let files = ["alpha", "beta", "gamma", "delta"].map(|name| format!("{family}:/bin/{name}"));
    let files: Vec<&str> = files.iter().flat_map(|file| ["--file", file]).collect();
    let files = [&files[..], &["--perturb", "5"]].concat();
    let measured = |sides: &[&str], options: &[&str]| {
        scene.run(&[&["run"], sides, &files, options, &["--", &family]].concat())
    };
    let (base, new) = (built("base"), built("lock"));
    measured(&[&base], &["-o", "base.json"]).succeeded();
    // All processes of the program, added up; the document has all rows all the same.
    let only = ["--only-process", "alpha", "--json"];
    let result = scene.run(&[&["run", "base.json"], &only[..]].concat()).json();
    assert_adds_up_in(&result, 6);
    let table = scene.run(&["run", "base.json", "--only-process", "alpha", "--all"]).stdout;
    let line = table.lines().find(|line| line.starts_with("getppid ")).unwrap();
    assert!(line.split_whitespace().nth(1) == Some("12"), "{table}");
    assert!(table.contains("process  alpha\n") && !table.contains("softirqs"), "{table}");
    // A locked instruction more in each system call.
    let gate = ["--only-process", "family/beta", "--check", "--json"];
    let judged = measured(&["base.json", &new], &gate);
    assert_eq!(judged.code, 1, "{}", judged.stderr);
    let document: Value = serde_json::from_str(&judged.stdout).unwrap();
    assert_eq!(document["program"]["process"], "family/beta");
    let rows = document["paths"].as_array().unwrap();
    let getppid = rows.iter().find(|row| row["path"] == "getppid").unwrap();
    assert_eq!(getppid["work"]["base_calls"]["most"], 11);
    assert_eq!(getppid["verdict"], "events-differ");
    // A name that no process has.
    let unknown = scene.run(&["run", "base.json", "--only-process", "alfa"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("family/alpha, family/beta"), "{}", unknown.stderr);
}
