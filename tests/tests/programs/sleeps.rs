//! Sleeps: how often tasks slept, in which rows and regions, who woke them, and how long the CPU
//! idled meanwhile; in tests/programs/sleeps.c all of it is known.

use pathmeter_e2e::{Scene, built, debian};
use serde_json::{Value, json};

use super::{RUNS, assert_adds_up, measure_program, program, run};

/// Reads, naps and writes of the program.
const TIMES: u64 = 5;
/// Steps of a nap: the clock advances by a nanosecond a step.
const NAP: u64 = 100_000;

/// The options with which the writer is a program of its own.
fn writer() -> [String; 2] {
    ["--file".to_owned(), format!("{}:/bin/writer", program("sleeps"))]
}

fn slept(kernel: &str) -> Value {
    let [option, file] = writer();
    let sleeps = program("sleeps");
    run(&Scene::warm(), &[kernel], &[&option, &file, "--json"], &[&sleeps]).json()
}

/// The only sleeps of this process in this row or region.
fn only<'a>(result: &'a Value, process: &str, slept_in: &str) -> &'a Value {
    let sleeps = result["execution"]["sleeps"].as_array().unwrap().iter();
    let such: Vec<&Value> = sleeps
        .filter(|sleep| sleep["process"] == process && sleep["slept_in"] == slept_in)
        .collect();
    let [only] = such[..] else { panic!("{slept_in}: {such:?}") };
    only
}

fn numbers(of: &Value) -> Vec<u64> {
    of.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn a_sleep_is_told_by_where_it_was_and_who_ended_it() {
    for kernel in [built("base"), debian("cloud")] {
        let result = slept(&kernel);
        assert_adds_up(&result);
        let (reader, writer) = ("sleeps", "sleeps/writer");
        let read = only(&result, reader, "read");
        assert_eq!(read["sleeps"], json!(vec![TIMES; RUNS]));
        assert_eq!(read["woken_by"], json!({"process": writer, "work": "write"}));
        let nap = only(&result, writer, "clock_nanosleep");
        assert_eq!(nap["sleeps"], json!(vec![TIMES; RUNS]));
        assert!(nap["woken_by"].get("process").is_none());
        let by = nap["woken_by"]["work"].as_str().unwrap();
        assert!(by.starts_with("timer interrupt"), "{by}");
        let wait = only(&result, reader, "wait4");
        assert_eq!(wait["woken_by"], json!({"process": writer, "work": "exit_group"}));
        // A region has what its task does in it, and one without sleeps has none.
        let region = only(&result, reader, "user.wait");
        for field in ["woken_by", "sleeps", "steps_to_run", "idle"] {
            assert_eq!(region[field], read[field], "{field}");
        }
        let all = result["execution"]["sleeps"].as_array().unwrap();
        assert!(all.iter().all(|sleep| sleep["slept_in"] != "user.busy"), "{all:?}");
        assert_switches_are_events(&result, by);
    }
}

/// The same sleeps and wake-ups as events of rows and regions; `timer` ends the naps.
fn assert_switches_are_events(result: &Value, timer: &str) {
    let later = RUNS - 1;
    let of = |path: &str, event: &str| {
        let mut paths = result["paths"].as_array().unwrap().iter();
        numbers_of(paths.find(|row| row["path"] == path).unwrap(), event)
    };
    for (row, event) in [
        ("read", "sleeps"),
        ("clock_nanosleep", "sleeps"),
        ("write", "wake-ups"),
        (timer, "wake-ups"),
    ] {
        assert_eq!(of(row, event), vec![TIMES; later], "{event} of {row}");
    }
    assert_eq!(of("own work", "sleeps"), vec![2 * TIMES + 1; later]);
    let executions = later * usize::try_from(TIMES).unwrap();
    for (region, sleeps) in [("user.wait", 1), ("user.busy", 0)] {
        assert_eq!(of(region, "sleeps"), vec![sleeps; executions], "{region}");
        assert_eq!(of(region, "wake-ups"), vec![0; executions], "{region}");
    }
}

/// The numbers of an event, sample by sample; it must have been counted.
fn numbers_of(row: &Value, event: &str) -> Vec<u64> {
    let events = &row["events"];
    let names = events["names"].as_array().unwrap();
    let column = names.iter().position(|name| name == event).unwrap();
    let number = |at: &u64| &events["distinct"][usize::try_from(*at).unwrap()][column];
    numbers(&events["of_samples"]).iter().map(|at| number(at).as_u64().unwrap()).collect()
}

/// Two processes that never sleep while both run take turns in their own code.
#[test]
fn who_is_replaced_by_another_was_preempted_and_did_not_sleep() {
    let spin = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let script = format!("({spin}) & {spin}; wait");
    let result = measure_program(&built("base"), &["sh", "-c", &script]);
    let rows = result["paths"].as_array().unwrap();
    let user = rows.iter().find(|row| row["path"] == "user code").unwrap();
    assert!(numbers_of(user, "preemptions").iter().all(|number| *number > 0), "{user}");
    assert_eq!(numbers_of(user, "sleeps"), vec![0; RUNS - 1]);
}

/// From the wake-up to running is a part of what the region executes; and the CPU idles only while
/// both sleep, at least as long as the naps take less what is executed in them.
#[test]
fn steps_to_run_and_idle_ones_are_those_of_the_clock() {
    let result = slept(&built("base"));
    let regions = result["paths"].as_array().unwrap();
    let region = regions.iter().find(|row| row["path"] == "user.wait").unwrap();
    let of_region: u64 = numbers(&region["samples"]).iter().sum();
    let read = only(&result, "sleeps", "read");
    let to_run: u64 = numbers(&read["steps_to_run"])[1..].iter().sum();
    assert!(to_run > 0 && to_run < of_region, "{to_run} of {of_region}");
    let idle = numbers(&read["idle"]);
    for (run, idle) in result["execution"]["runs"].as_array().unwrap().iter().zip(&idle) {
        assert_eq!(run["idle"].as_u64(), Some(*idle), "all idling is in the reads");
        let clock = run["clock"].as_u64().unwrap();
        assert!(*idle < clock && clock > TIMES * NAP, "{idle} of {clock}");
    }
    assert_eq!(only(&result, "sleeps/writer", "clock_nanosleep")["idle"], read["idle"]);
    assert_eq!(only(&result, "sleeps", "wait4")["idle"], json!(vec![0; RUNS]));
}

#[test]
fn the_table_has_a_line_for_each_row_and_region_with_sleeps() {
    let (scene, sleeps) = (Scene::warm(), program("sleeps"));
    let [option, file] = writer();
    let options = [&*option, &*file, "-o", "sleeps.json"];
    let table = run(&scene, &[&built("base")], &options, &[&sleeps]);
    let table = table.succeeded().stdout.clone();
    let line = |of: &str, text: &str| {
        let lines: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with(of))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        lines
    };
    for (of, by) in [("sleeps: read", "write"), ("sleeps: user.wait", "write")] {
        let lines = line(of, &table);
        assert!(lines.len() == 1 && lines[0].ends_with(&format!("sleeps/writer: {by}")), "{table}");
        assert!(lines[0].starts_with(&format!("{of} {TIMES} ")), "{table}");
    }
    assert_eq!(line("sleeps: user.busy", &table), [""; 0]);
    // One process has its own sleeps.
    let one = scene.run(&["run", "sleeps.json", "--only-process", "writer"]).stdout;
    assert_eq!(line("sleeps/writer: clock_nanosleep", &one).len(), 1, "{one}");
    assert_eq!(line("sleeps: read", &one), [""; 0]);
}

#[test]
fn a_program_that_does_not_sleep_has_none() {
    let result = measure_program(&built("base"), &[&program("faults")]);
    assert!(result["execution"].get("sleeps").is_none(), "{result}");
    assert_eq!(result["notes"], json!([]));
}

#[test]
fn a_comparison_shows_where_sleeps_differ_and_judges_none() {
    let [option, file] = writer();
    let sleeps = program("sleeps");
    let (base, nop) = (built("base"), built("nop"));
    let words = ["run", &base, &nop, &option, &file, "--check", "--", &sleeps];
    let scene = Scene::warm();
    let document = scene.run(&[&words[..6], &["--json", "--", &sleeps]].concat());
    let document: Value = serde_json::from_str(&document.stdout).unwrap();
    let all = document["program"]["sleeps"].as_array().unwrap();
    let nap = all.iter().find(|it| it["slept_in"] == "clock_nanosleep").unwrap();
    for side in ["base", "new"] {
        assert_eq!(nap[side]["sleeps"], TIMES, "{nap}");
        assert!(nap[side]["idle"].as_u64().is_none_or(|idle| idle > TIMES * NAP / 2), "{nap}");
    }
    let table = scene.run(&words).stdout;
    let differ = all.iter().any(|it| it["base"] != it["new"]);
    assert_eq!(table.contains("base → new, and are not judged"), differ, "{table}");
}
