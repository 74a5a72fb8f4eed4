//! Each thread of a process has the rows of its own work by the order of its start, whatever its
//! number or name. In tests/programs/crew.c each asks for its parent's number as often as no other.

use pathmeter_e2e::{Run, Scene, built, debian};
use serde_json::{Value, json};

use super::{RUNS, assert_adds_up, calls_of, kernels, program, rows_in, run};

/// The options with which the program is there under the names that it executes.
fn names() -> [String; 4] {
    let file = |name| format!("{}:/bin/{name}", program("crew"));
    ["--file".to_owned(), file("alpha"), "--file".to_owned(), file("delta")]
}

fn crew(kernel: &str, words: &[&str]) -> Value {
    let (crew, names) = (program("crew"), names());
    let options: Vec<&str> = names.iter().map(String::as_str).chain(["--json"]).collect();
    let command = [&[&*crew], words].concat();
    let result = run(&Scene::warm(), &[kernel], &options, &command).json();
    assert_adds_up(&result);
    for process in result["execution"]["processes"].as_array().unwrap() {
        assert_threads_add_up(process);
    }
    result
}

/// In each run the rows of a process are those of its threads, of each name and in all numbers.
fn assert_threads_add_up(process: &Value) {
    let sums = |rows: Vec<&Value>| {
        let mut sums = std::collections::BTreeMap::<(usize, String, String), [u64; 3]>::new();
        for row in rows.into_iter().flat_map(rows_in) {
            let sum = sums.entry((row.run, row.kind, row.name)).or_default();
            for (sum, more) in sum.iter_mut().zip([row.calls, row.instructions, row.steps]) {
                *sum += more;
            }
        }
        sums
    };
    let threads = process["by_thread"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !threads.is_empty() {
        let parts = threads.iter().map(|thread| &thread["rows"]).collect();
        assert_eq!(sums(parts), sums(vec![&process["rows"]]), "{}", process["process"]);
    }
}

/// Of each thread its place, its names, and how often it made this call, in each run.
fn called<'a>(result: &'a Value, call: &str) -> Vec<(&'a str, String, Vec<u64>)> {
    let processes = result["execution"]["processes"].as_array().unwrap().iter();
    let threads = processes.filter_map(|process| process["by_thread"].as_array()).flatten();
    let of = |thread: &'a Value| {
        let names: Vec<&str> =
            thread["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let calls = calls_of(&thread["rows"], "syscall", call);
        let calls = if calls.is_empty() { vec![0; RUNS] } else { calls };
        (thread["thread"].as_str().unwrap(), names.join(", "), calls)
    };
    threads.map(of).collect()
}

fn expected<'a>(threads: &[(&'a str, &str, u64)]) -> Vec<(&'a str, String, Vec<u64>)> {
    let of = |(thread, name, times): &(&'a str, &str, u64)| {
        (*thread, (*name).to_owned(), vec![*times; RUNS])
    };
    threads.iter().map(of).collect()
}

#[test]
fn a_thread_is_one_by_the_order_of_its_start_and_its_name_is_told() {
    let all = [
        ("crew:1", "crew", 2),
        ("crew:2", "asks-3", 3),
        ("crew:3", "asks-5", 5),
        ("crew:4", "asks-7", 7),
    ];
    for kernel in [built("base"), debian("cloud")] {
        let result = crew(&kernel, &["together"]);
        assert_eq!(called(&result, "getppid"), expected(&all));
        let processes = result["execution"]["processes"].as_array().unwrap();
        assert_eq!(processes.len(), 1);
        assert_eq!(processes[0]["threads"], json!(vec![4; RUNS]));
        assert_eq!(result["notes"], json!([]));
    }
}

#[test]
fn a_process_without_other_threads_has_none() {
    let result = crew(&built("base"), &["child"]);
    let processes = result["execution"]["processes"].as_array().unwrap();
    assert_eq!(processes[0]["process"], "crew");
    assert!(processes[0].get("by_thread").is_none(), "{}", processes[0]);
    let threads: Vec<&str> = called(&result, "getppid").into_iter().map(|it| it.0).collect();
    assert_eq!(threads, [1, 2, 3, 4].map(|number| format!("crew/alpha:{number}")));
}

#[test]
fn a_thread_outlives_the_one_that_started_it() {
    for kernel in kernels() {
        let all = [("crew:1", "crew", 0), ("crew:2", "crew", 3), ("crew:3", "asks-5", 5)];
        assert_eq!(called(&crew(&kernel, &["leave"]), "getppid"), expected(&all));
    }
}

#[test]
fn a_number_that_is_used_again_makes_no_two_threads_one() {
    for kernel in kernels() {
        let result = crew(&kernel, &["again", "40"]);
        let found = called(&result, "getppid");
        assert_eq!(found.len(), 41);
        for (times, (thread, _, calls)) in found.iter().enumerate() {
            assert_eq!(*thread, format!("crew:{}", times + 1));
            assert_eq!(*calls, [times as u64; RUNS]);
        }
    }
}

#[test]
fn a_thread_that_executes_a_program_becomes_the_first_one() {
    for kernel in kernels() {
        let result = crew(&kernel, &["execute"]);
        // Two times before, by the thread that was first, and 17 times after.
        let all = [("delta:1", "delta", 19), ("delta:2", "crew", 3), ("delta:3", "asks-5", 5)];
        assert_eq!(called(&result, "getppid"), expected(&all));
        // What executed it was still the thread's call; the first one's is that of the agent.
        let calls: Vec<u64> = called(&result, "execve").iter().map(|it| it.2[0]).collect();
        assert_eq!(calls, [1, 1, 0]);
    }
}

#[test]
fn threads_beyond_the_limit_are_one_entry_which_is_said() {
    let result = crew(&built("base"), &["many", "200"]);
    let found = called(&result, "getppid");
    assert_eq!(found.len(), 194);
    assert_eq!(found[0].2, [0; RUNS]);
    assert!(found[1..193].iter().all(|(_, name, calls)| (&**name, calls[0]) == ("asks-1", 1)));
    assert_eq!(found[193], ("crew:(more threads)", String::new(), vec![8; RUNS]));
    let note = result["notes"][0].as_str().unwrap();
    assert!(note.starts_with("8 of its threads are entries (more threads)"), "{note}");
    assert_eq!(result["execution"]["processes"][0]["threads"], json!(vec![201; RUNS]));
}

/// The words of a line of a table that begins with `of`.
fn line<'a>(run: &'a Run, of: &str) -> Vec<&'a str> {
    let line = run.stdout.lines().find(|line| line.trim_start().starts_with(of));
    line.unwrap_or_else(|| panic!("{of}: {}{}", run.stdout, run.stderr))
        .split_whitespace()
        .collect()
}

#[test]
fn threads_are_shown_and_judged_alone() {
    let (scene, crew, names) = (Scene::warm(), program("crew"), names());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let measured = |sides: &[&str], options: &[&str]| {
        let words = [&["run", "--perturb", "5"], sides, &names, options, &["--", &crew, "child"]];
        scene.run(&words.concat())
    };
    let (base, new) = (built("base"), built("lock"));
    measured(&[&base], &["-o", "base.json"]).succeeded();
    let shown = |options: &[&str]| scene.run(&[&["run", "base.json"], options].concat());
    // Beneath their process, with all rows.
    let all = shown(&["--all"]);
    assert_eq!(line(&all, "crew/alpha ")[1], "4");
    assert_eq!(line(&all, ":3 ")[..2], [":3", "asks-5"]);
    let folded = shown(&[]).stdout;
    assert!(!folded.contains("asks-5") && folded.contains("--all shows the threads"), "{folded}");
    // One, by its place or its program; and all of a process.
    for (name, times) in [("crew/alpha:4", "7"), ("alpha:3", "5"), ("alpha:*", "17")] {
        let one = shown(&["--only-process", name, "--all"]);
        assert_eq!(line(&one, "getppid ")[1], times, "{name}");
        assert_eq!(line(&one, "process ")[1], name);
    }
    // A locked instruction more in each system call, in a thread of both kernels.
    let gate = ["--only-process", "crew/alpha:3", "--check", "--json"];
    let judged = measured(&["base.json", &new], &gate);
    assert_eq!(judged.code, 1, "{}", judged.stderr);
    let document: Value = serde_json::from_str(&judged.stdout).unwrap();
    assert_eq!(document["program"]["process"], "crew/alpha:3");
    let rows = document["paths"].as_array().unwrap();
    let getppid = rows.iter().find(|row| row["path"] == "getppid").unwrap();
    assert_eq!(getppid["work"]["base_calls"]["most"], 5);
    assert_eq!(getppid["verdict"], "events-differ");
    // A thread that there is not.
    let unknown = shown(&["--only-process", "alpha:9"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("its threads are: crew/alpha:1, "), "{}", unknown.stderr);
}
