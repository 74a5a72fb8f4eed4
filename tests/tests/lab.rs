//! The lab kernel as a subject, and the experiments on it.

use pathmeter_e2e::{Run, Scene};
use serde_json::Value;

/// The row of `path` in a result.
fn row<'a>(result: &'a Value, path: &str) -> &'a Value {
    let rows = result["paths"].as_array().unwrap();
    rows.iter().find(|row| row["path"] == path).unwrap_or_else(|| panic!("no row of {path}"))
}

fn median(result: &Value, path: &str) -> u64 {
    row(result, path)["estimate"]["median"].as_u64().unwrap_or_else(|| panic!("{path}"))
}

fn measured(scene: &Scene, subject: &str) -> Value {
    let run: Run = scene.run(&["measure", subject, "--json", "--perturb", "2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.json()
}

#[test]
fn every_path_works_on_the_lab_or_says_why_not() {
    let result = measured(&Scene::warm(), "lab");
    for row in result["paths"].as_array().unwrap() {
        match row["status"].as_str().unwrap() {
            "ok" => {}
            "unsupported" => assert!(!row["reason"].as_str().unwrap().is_empty(), "{row}"),
            status => panic!("{}: {status}: {}", row["path"], row["reason"]),
        }
    }
    assert_eq!(result["subject"]["kind"], "lab");
}

#[test]
fn the_lab_is_the_floor() {
    let result = measured(&Scene::warm(), "lab");
    assert!(median(&result, "syscall.getppid") <= 70);
    assert!(median(&result, "switch.yield") <= 400);
}

#[test]
fn two_policies_are_compared_as_two_kernels_are() {
    let scene = Scene::warm();
    let (base, new) = ("lab:iobitmap=full-copy", "lab:iobitmap=lazy");
    let comparison = scene.run(&["compare", base, new, "--json"]).json();
    let verdict = |path: &str| row(&comparison, path)["verdict"].as_str().unwrap().to_owned();
    assert_eq!(verdict("switch.yield+ioport-0x80"), "lower");
    assert_eq!(verdict("syscall.getppid"), "same");
}

#[test]
fn the_labs_own_functions_are_named() {
    let scene = Scene::warm();
    let explain = scene.run(&["explain", "switch.yield", "lab", "--json"]).json();
    let functions = explain["base"]["window"]["functions"].as_array().unwrap();
    assert!(functions.iter().any(|function| function["name"] == "sched_yield"));
}

#[test]
fn a_leak_is_a_failed_check() {
    let scene = Scene::warm();
    let run = scene.run(&["measure", "lab:flags=iopl-only", "--json", "--only", "flags.isolation"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    let isolation = row(&result, "flags.isolation");
    assert_eq!(isolation["status"], "failed");
    assert!(isolation["reason"].as_str().unwrap().starts_with("NT of another task"));
}

#[test]
fn a_wrong_policy_is_answered_with_the_right_ones() {
    let scene = Scene::cold();
    let run = scene.run(&["measure", "lab:iobitmap=eager"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    run.assert_said(&["iobitmap", "full-copy", "tracked", "lazy"]);
    let run = scene.run(&["measure", "lab:iobitmp=lazy"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    run.assert_said(&["iobitmp", "iobitmap", "getcpu"]);
}

#[test]
fn what_the_cpu_lacks_is_unsupported_here() {
    let scene = Scene::cold();
    let run = scene.run(&["measure", "lab:getcpu=rdpid"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    run.assert_said(&["lab:getcpu=rdpid", "unsupported here", "rdpid"]);
    run.assert_said(&["rdpid"]);
}

#[test]
fn the_experiments_come_out_as_they_must() {
    let scene = Scene::warm();
    for name in ["ioperm-2004", "eflags-2006", "vgetcpu-2007"] {
        let run = scene.run(&["experiment", name, "--json"]);
        assert_eq!(run.code, 0, "{name}: {}\n{}", run.stderr, run.stdout);
        let reports = run.json();
        let judged = reports[0]["judged"].as_array().unwrap();
        assert!(judged.len() >= 5, "{name}");
        assert!(judged.iter().all(|one| one["outcome"] == "holds"), "{judged:?}");
    }
}

#[test]
fn an_experiment_is_a_page_with_the_sources_figures_beside_ours() {
    let scene = Scene::warm();
    let run = scene.run(&["experiment", "ioperm-2004"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for said in ["symptom", "10563", "2503", "full-copy", "what must come out", "yes ", "cycles"] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let run = scene.run(&["experiment", "ioperm"]);
    assert_eq!(run.code, 2);
    run.assert_said(&["ioperm-2004"]);
}
