//! `run --window`: what the kernel executes between two of its points while a program runs.

use pathmeter_e2e::{Run, Scene, built, debian, path};
use serde_json::Value;

use super::{assert_adds_up, calls, compare_program, program, rows, run};

/// Measures a program on `base` with these windows.
fn measure_windows(windows: &[&str], options: &[&str], command: &[&str]) -> Value {
    asked(windows, options, command).json()
}

fn asked(windows: &[&str], options: &[&str], command: &[&str]) -> Run {
    let windows = windows.iter().flat_map(|window| ["--window", window]);
    let options: Vec<&str> = options.iter().copied().chain(windows).collect();
    run(&Scene::warm(), &[&built("base")], &options, command)
}

fn window(result: &Value, name: &str) -> Value {
    path(result, name).clone()
}

fn samples(window: &Value) -> Vec<u64> {
    window["samples"].as_array().unwrap().iter().map(|sample| sample.as_u64().unwrap()).collect()
}

/// The check of this name; 0 without one.
fn check(window: &Value, name: &str) -> u64 {
    let checks = window["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.map_or(0, |check| check["value"].as_str().unwrap().parse().unwrap())
}

#[test]
fn windows_come_as_often_as_what_they_are_about_and_their_parts_add_up() {
    let processes = program("processes");
    let result = measure_windows(
        &[
            "asked=__x64_sys_getppid..__x64_sys_getppid:return",
            "rest=__x64_sys_getppid:return..user",
            "whole=__x64_sys_getppid..user",
            "fault=asm_exc_page_fault..exc_page_fault",
            "wake=try_to_wake_up..finish_task_switch",
        ],
        &["--json", "--explain"],
        &[&processes],
    );
    assert_adds_up(&result);
    let of_runs = calls(&result, "syscall", "getppid");
    let [asked, rest, whole] = ["asked", "rest", "whole"].map(|name| window(&result, name));
    assert_eq!(check(&asked, "executions"), of_runs.iter().sum::<u64>());
    assert_eq!(asked["samples_per_run"], serde_json::json!(of_runs[1..]));
    let parts = samples(&asked).into_iter().zip(samples(&rest));
    assert_eq!(samples(&whole), parts.map(|(one, other)| one + other).collect::<Vec<_>>());
    // Entries from a program and from the kernel differ, by `swapgs` and what belongs to it. That
    // the instruction that faults is not executed changes nothing.
    let faults = window(&result, "fault");
    let of_kernel = samples(&faults).into_iter().min().unwrap();
    let (shorter, longer): (Vec<u64>, Vec<u64>) =
        samples(&faults).into_iter().partition(|sample| *sample == of_kernel);
    assert!(longer.iter().all(|sample| *sample == longer[0]), "{faults}");
    let rows = rows(&result);
    let faults_of_kernel =
        rows.iter().filter(|row| row.run > 0 && row.name.ends_with("from the kernel"));
    assert_eq!(shorter.len() as u64, faults_of_kernel.map(|row| row.calls).sum::<u64>());
    assert!(check(&window(&result, "wake"), "executions") > 10);
    // Its functions have all of it.
    let functions = asked["functions"].as_array().unwrap();
    let sum: u64 =
        functions.iter().map(|function| function["instructions"].as_u64().unwrap()).sum();
    assert_eq!(sum, samples(&asked).iter().sum::<u64>() / 2, "{asked}");
}

#[test]
fn a_window_may_have_to_begin_inside_a_region() {
    let of = |condition: &str| {
        let asked = format!("asked=__x64_sys_getppid..__x64_sys_getppid:return{condition}");
        let result = measure_windows(&[&asked], &["--json"], &[&program("regions"), "good"]);
        assert_eq!(result["configuration"]["program"]["windows"], serde_json::json!([asked]));
        let asked = window(&result, "asked");
        (check(&asked, "executions"), check(&asked, "outside the region"))
    };
    // Three runs of ten times two calls, one of them in the inner region.
    assert_eq!(of(""), (60, 0));
    assert_eq!(of(",inside=outer"), (60, 0));
    assert_eq!(of(",inside=inner"), (30, 30));
    // The first of each run comes before the region; then counting begins with each region.
    assert_eq!(of(",nth=1,inside=inner"), (30, 3));
}

#[test]
fn a_window_that_the_run_ends_in_is_a_lower_bound() {
    let result = measure_windows(
        &["open=__x64_sys_getppid..__x64_sys_getppid:return,nth=3", "late=do_exit..panic"],
        &["--json"],
        &[&program("processes")],
    );
    assert_eq!(window(&result, "open")["samples_per_run"], serde_json::json!([1, 1]));
    let late = window(&result, "late");
    assert_eq!(late["lower_bounds"], serde_json::json!([0, 1]));
    assert_eq!(check(&late, "no end"), 3);
    assert!(check(&late, "overlapping") > 3, "{late}");
}

#[test]
fn a_function_that_is_patched_is_seen_as_often_as_before() {
    let window = "number=__task_pid_nr_ns..__task_pid_nr_ns:return";
    let options = ["--json", "--window", window];
    let result = run(&Scene::warm(), &[&debian("cloud")], &options, &[&program("patched"), "5"]);
    let row = path(&result.json(), "number").clone();
    for trouble in ["overlapping", "loose ends", "hidden", "no end"] {
        assert_eq!(check(&row, trouble), 0, "{row}");
    }
    // Ten calls while it is traced, and while it is probed in three places.
    let samples = samples(&row);
    for of_run in samples.chunks(samples.len() / 2) {
        let patched: Vec<u64> = of_run.iter().copied().filter(|sample| *sample > 100).collect();
        assert_eq!(patched.len(), 40, "{row}");
        let first = of_run.iter().position(|sample| *sample > 100).unwrap();
        assert_eq!(patched, of_run[first..first + 40], "and as it was built before and after");
        assert!(first >= 10 && of_run.len() >= first + 50, "{row}");
    }
}

#[test]
fn what_is_no_window_of_this_kernel_is_refused() {
    let program = program("faults");
    let refused = |windows: &[&str], words: &[&str]| {
        let run = asked(windows, &[], &[&program]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        run.assert_printed(words);
    };
    refused(&["a=ksys_raed..user"], &["no function ksys_raed", "did you mean ksys_read"]);
    refused(&["a=ksys_read..user", "a=ksys_write..user"], &["two windows a"]);
    refused(&["a=ksys_read"], &["no two points"]);
    let never = measure_windows(&["a=panic..user"], &["--json"], &[&program]);
    assert_eq!(window(&never, "a")["reason"], "it never began");
}

#[test]
fn one_nop_more_a_system_call_is_in_each_of_its_windows() {
    let options = ["--window", "call=entry_SYSCALL_64..__x64_sys_getppid,inside=inner"];
    let (code, comparison) =
        compare_program(&built("base"), &built("nop"), &options, &[&program("regions"), "good"]);
    let call = window(&comparison, "call");
    assert_eq!((code, call["verdict"].as_str()), (1, Some("higher")), "{call}");
    assert_eq!(call["difference"], 1, "{call}");
    assert_eq!((&call["pairs"]["agreeing"], &call["pairs"]["of"]), (&60.into(), &60.into()));
}
