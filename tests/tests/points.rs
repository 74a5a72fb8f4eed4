//! `--window`: what the kernel executes between two points of its code, on real kernels; and what
//! is said to a user whose points are none.

use std::time::{Duration, Instant};

use pathmeter_e2e::{Scene, assert_identical, built, debian, path, paths};
use serde_json::Value;

/// From the wake of a task until the CPU has been switched to it.
const WAKE: &str = "wake=try_to_wake_up..finish_task_switch";
/// Paths in which one task wakes another in each execution; in others the tick does now and then.
const OF_TASKS: [&str; 3] = ["switch.pipe", "switch.futex", "unix.round-trip"];
/// So long may a measurement take whose points come millions of times.
const LIMIT: Duration = Duration::from_secs(300);

fn measure_window(scene: &Scene, kernel: &str, window: &str) -> Value {
    scene.run(&["measure", kernel, "--window", window, "--json", "--perturb", "2"]).json()
}

fn samples<'a>(result: &'a Value, name: &str) -> &'a Vec<Value> {
    path(result, name)["samples"].as_array().unwrap()
}

/// The result without its rows of windows.
fn without_windows(mut result: Value) -> Value {
    let rows = result["paths"].as_array_mut().unwrap();
    rows.retain(|row| !row["path"].as_str().unwrap().contains('/'));
    result
}

#[test]
fn a_window_that_is_explained_is_one_that_was_measured() {
    let scene = Scene::warm();
    for kernel in [built("base"), debian("cloud")] {
        let result = scene.run(&["measure", &kernel, "--window", WAKE, "--json"]).json();
        for name in ["switch.pipe/wake", "unix.round-trip/wake"] {
            let arguments = ["explain", name, &kernel, "--window", WAKE, "--json"];
            let explain = scene.run(&arguments).json();
            let total = &explain["base"]["window"]["total"];
            let samples = samples(&result, name);
            assert!(samples.contains(total), "{kernel}, {name}: {total} in {samples:?}");
        }
    }
}

#[test]
fn the_built_in_wake_is_the_window_that_a_user_writes() {
    let scene = Scene::warm();
    for kernel in [built("base"), debian("cloud")] {
        // Of two runs, one whose tasks lie elsewhere in memory would be half of all.
        let result = scene.run(&["measure", &kernel, "--window", WAKE, "--json"]).json();
        let built_in: Vec<_> = samples(&result, "wake.switch").iter().collect();
        let written = samples(&result, "switch.pipe/wake");
        assert!(!built_in.is_empty() && !written.is_empty());
        assert_eq!(path(&result, "wake.switch")["estimate"]["value"], middle(written));
    }
}

/// The one in the middle, or the lower one of the two there.
fn middle(samples: &[Value]) -> u64 {
    let mut samples: Vec<u64> = samples.iter().map(|sample| sample.as_u64().unwrap()).collect();
    samples.sort_unstable();
    samples[(samples.len() - 1) / 2]
}

#[test]
fn a_window_changes_nothing_else_and_is_the_same_again() {
    let kernel = built("base");
    let once = Scene::warm();
    let plain = once.run(&["measure", &kernel, "--json", "--perturb", "2"]).json();
    let arguments = ["measure", &kernel, "--window", WAKE, "--json", "--perturb", "2"];
    let with_window = once.run(&arguments);
    // The configuration says which windows there are.
    let configuration = plain["configuration"].clone();
    let mut others = without_windows(with_window.json());
    assert_ne!(others["configuration"], configuration);
    others["configuration"] = configuration;
    assert_identical(&others, &plain);
    let again = Scene::cold().run(&arguments);
    assert_eq!(with_window.stdout, again.stdout, "byte for byte");
}

#[test]
fn where_only_the_layout_differs_no_window_does() {
    let (base, reordered) = (built("base"), built("reordered"));
    let arguments = ["compare", &base, &reordered, "--window", WAKE, "--only", "*/wake", "--json"];
    let comparison = Scene::warm().run(&arguments).json();
    for name in OF_TASKS {
        assert_eq!(path(&comparison, &format!("{name}/wake"))["verdict"], "same", "{name}");
    }
}

/// How many system calls each sample has.
fn system_calls(row: &Value) -> Vec<u64> {
    let events = &row["events"];
    let names = events["names"].as_array().unwrap();
    let place = names.iter().position(|name| name == "syscall");
    let of_sample = |number: &Value| {
        let numbers = &events["distinct"][usize::try_from(number.as_u64().unwrap()).unwrap()];
        place.map_or(0, |place| numbers[place].as_u64().unwrap())
    };
    events["of_samples"].as_array().unwrap().iter().map(of_sample).collect()
}

/// Pair by pair, since the modes of a window depend on the build: which compiler made the kernels,
/// and of which patch release.
#[test]
fn a_nop_more_in_system_calls_is_in_a_window_as_often_as_it_has_one() {
    let scene = Scene::warm();
    let [of_base, of_nop] =
        ["base", "nop"].map(|kernel| measure_window(&scene, &built(kernel), WAKE));
    let mut seen = [false; 3];
    for name in ["switch.pipe", "switch.futex", "process.fork-exit", "unix.round-trip"] {
        let row = path(&of_base, &format!("{name}/wake"));
        let calls = system_calls(row);
        let of_nop = samples(&of_nop, &format!("{name}/wake"));
        let of_base = row["samples"].as_array().unwrap();
        assert_eq!(of_base.len(), of_nop.len(), "{name}");
        let pairs = of_base.iter().zip(of_nop).zip(&calls);
        let exact = pairs
            .filter(|((base, nop), calls)| nop.as_u64() == base.as_u64().map(|it| it + **calls));
        let (exact, all) = (exact.count(), of_nop.len());
        assert!(2 * exact > all, "{name}: {exact} of {all} pairs differ by their system calls");
        for count in &calls {
            seen[usize::try_from(*count).unwrap()] = true;
        }
    }
    assert_eq!(seen, [true; 3], "windows with none, one and two system calls");
}

#[test]
fn points_that_are_none_are_refused_and_why() {
    let scene = Scene::warm();
    let base = built("base");
    for (window, words) in [
        (
            "w=try_to_wakeup..finish_task_switch",
            &["this kernel has no function try_to_wakeup", "did you mean try_to_wake_up"][..],
        ),
        ("w=schedule..ext4_readdir:return", &["no function ext4_readdir", "modules"]),
        ("w=schedule@shedule..do_exit", &["no function shedule", "did you mean schedule"]),
        ("w=0x401000..schedule", &["0x401000 is an address of programs"]),
        ("w=schedule+0xfffff..do_exit", &["is not in schedule, which has 0x"]),
        ("w=vfs_read,from=idle..schedule", &["no two points"]),
    ] {
        let run = scene.run(&["measure", &base, "--window", window, "--perturb", "1"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{window}: {}", run.stderr);
        run.assert_printed(words);
    }
}

#[test]
fn a_window_that_begins_in_no_path_has_a_row_that_says_why() {
    let windows = [
        ("start=start_kernel..do_exit", &["began in no path", "explain"][..]),
        ("late=vfs_read..start_kernel", &["began in the warm-up", "did not end"]),
        ("idle=vfs_read..schedule,from=idle", &["began in no path", "for another reason"]),
        // The second instruction of do_syscall_64 begins after its first byte, and has three.
        ("inside=do_syscall_64+0x2..schedule", &["in the middle of an instruction"]),
        ("until=schedule..do_syscall_64+0x2", &["in the middle of an instruction"]),
        // What never returns begins nothing, ...
        ("exit=do_exit:return..schedule", &["began in no path"]),
        // ... and ends nothing.
        ("no-end=do_exit..do_exit:return", &["began in the warm-up", "did not end"]),
    ];
    let asked = windows.map(|(window, _)| ["--window", window]).concat();
    let kernel = built("base");
    let words = [&["measure", &kernel, "--perturb", "1", "--json"], &asked[..]].concat();
    let run = Scene::warm().run(&words);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let result = serde_json::from_str(&run.stdout).unwrap();
    for (window, words) in windows {
        let row = path(&result, &format!("*/{}", window.split_once('=').unwrap().0));
        assert_eq!(row["status"], "failed", "{window}: {row}");
        let reason = row["reason"].as_str().unwrap();
        assert!(words.iter().all(|word| reason.contains(word)), "{window}: {reason}");
    }
}

#[test]
fn one_window_in_no_path_costs_nothing_of_another() {
    let kernel = built("base");
    let arguments = ["measure", &kernel, "--window", "w=start_kernel..do_exit", "--window", WAKE];
    let only = ["--perturb", "1", "--only", "*/wake,switch.pipe/w,getcpu.lsl/wake,*.getppid"];
    let run = Scene::warm().run(&[&arguments[..], &only, &["--json"]].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(path(&result, "switch.pipe/wake")["status"], "ok");
    assert_eq!(path(&result, "syscall.getppid")["status"], "ok");
    // Nothing that was asked for is left out.
    for (name, why) in [("*/w", "began in no path"), ("getcpu.lsl/wake", "in this path")] {
        let row = path(&result, name);
        let reason = row["reason"].as_str().unwrap();
        assert!(row["status"] == "failed" && reason.contains(why), "{row}");
    }
    let misspelt = [&arguments[..], &["--only", "switch.pip/wake"]].concat();
    let run = Scene::warm().run(&misspelt);
    assert_eq!(run.code, 2);
    run.assert_printed(&["switch.pip/wake: no path has this name", "did you mean switch.pipe/w"]);
}

/// A number of those that a row tells beside its samples; 0 without it.
fn noticed(row: &Value, name: &str) -> u64 {
    let checks = row["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    check.map_or(0, |check| check["value"].as_str().unwrap().parse().unwrap())
}

#[test]
fn what_never_returns_is_a_lower_bound_from_its_last_call_on() {
    let window = "end=do_exit..do_exit:return,latest";
    let result = measure_window(&Scene::warm(), &built("base"), window);
    let row = path(&result, "process.fork-exit/end");
    let bounds = row["lower_bounds"].as_array().unwrap();
    assert_eq!(bounds.len(), row["samples"].as_array().unwrap().len());
    assert!(!bounds.is_empty(), "{row}");
}

#[test]
fn a_function_that_recurses_has_one_window_from_the_first_call_to_the_first_return() {
    let name = "softirqs=__local_bh_enable_ip..__local_bh_enable_ip:return";
    let result = measure_window(&Scene::warm(), &built("base"), name);
    // It runs softirqs, in which packets are sent, which enables softirqs again.
    let row = path(&result, "tcp.round-trip/softirqs");
    assert!(noticed(row, "overlapping") > 0 && noticed(row, "loose ends") > 0, "{row}");
    let alone = path(&result, "process.thread/softirqs");
    assert_eq!((noticed(alone, "overlapping"), noticed(alone, "loose ends")), (0, 0), "{alone}");
    assert!(middle(samples(&result, "tcp.round-trip/softirqs")) > 1000);
}

#[test]
fn a_second_cpu_changes_no_window() {
    let scene = Scene::warm();
    let read = "read=sys_read..sys_read:return";
    let [one, two] = ["lab", "lab:cpus=2"].map(|lab| measure_window(&scene, lab, read));
    for name in ["file.read-zero/read", "switch.pipe/read", "pipe.write-read/read"] {
        assert_eq!(samples(&one, name), samples(&two, name), "{name}");
        assert!(!samples(&one, name).is_empty());
    }
}

#[test]
fn two_windows_have_two_names() {
    let other = "wake=vfs_read..vfs_read:return";
    let arguments = ["measure", &built("base"), "--window", WAKE, "--window", other];
    let run = Scene::warm().run(&[&arguments[..], &["--perturb", "1"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    run.assert_printed(&["two windows are called wake"]);
}

#[test]
fn a_name_of_several_functions_is_refused_with_their_addresses() {
    let scene = Scene::warm();
    let cloud = debian("cloud");
    let arguments = ["measure", &cloud, "--perturb", "1", "--json", "--window"];
    let of = |window: &str| scene.run(&[&arguments[..], &[window]].concat());
    let run = of("w=dump_mapping..type_show");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    run.assert_printed(&["functions that are called type_show", "by its address, of 0xffffffff"]);
}

#[test]
fn a_page_is_cleared_in_one_string_instruction() {
    let scene = Scene::warm();
    let result =
        measure_window(&scene, &built("base"), "clear=clear_page_erms..clear_page_erms:return");
    let row = path(&result, "memory.fault-anon/clear");
    let samples = row["samples"].as_array().unwrap();
    // The tick may come in one.
    assert_eq!(middle(samples), 4);
    let names = row["events"]["names"].as_array().unwrap();
    let bytes = names.iter().position(|name| name == "string-bytes").unwrap();
    assert_eq!(row["events"]["distinct"][0][bytes], 4096);
    assert!(paths(&result).contains(&"process.fork-exit/clear"));
}

#[test]
fn points_that_come_all_the_time_end_in_time() {
    let scene = Scene::warm();
    let began = Instant::now();
    let result = measure_window(&scene, &debian("rt"), "read=__rcu_read_lock..__rcu_read_unlock");
    let took = began.elapsed();
    assert!(took < LIMIT, "{took:?}");
    let name = "process.fork-exit/read";
    let per_run = path(&result, name)["samples_per_run"].as_array().unwrap();
    assert_eq!(*per_run, [64, 64], "the first ones of each run");
    let checks = path(&result, name)["checks"].as_array().unwrap();
    let more = checks.iter().find(|check| check["name"] == "more windows").unwrap();
    assert!(more["value"].as_str().unwrap().parse::<u64>().unwrap() > 1000, "{more}");
}
