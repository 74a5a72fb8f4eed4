//! The same kernel gives the same numbers, bit for bit, however busy the machine is.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pathmeter_e2e::{
    NOT_ON_LINUX, Scene, assert_identical, built, debian, path, paths, rows, soak, with_status,
};
use serde_json::Value;

/// Measures one of Debian's kernels anew and keeps the result in the scene's file `name`.
fn measure(scene: &Scene, flavour: &str, name: &str) -> Value {
    result(scene, flavour, name, &["--no-cache"])
}

/// The result that all tests share, kept likewise.
fn shared(scene: &Scene, flavour: &str, name: &str) -> Value {
    result(scene, flavour, name, &[])
}

fn result(scene: &Scene, flavour: &str, name: &str, more: &[&str]) -> Value {
    let kernel = debian(flavour);
    scene.run(&[&["measure", &kernel, "--json", "-o", name], more].concat()).succeeded();
    serde_json::from_slice(&std::fs::read(scene.path(name)).unwrap()).unwrap()
}

/// Runs `work` while every processor is busy with something else.
fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let busy = AtomicBool::new(true);
    let processors = thread::available_parallelism().unwrap().get();
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| while black_box(busy.load(Ordering::Relaxed)) {});
        }
        let result = work();
        busy.store(false, Ordering::Relaxed);
        result
    })
}

#[test]
fn load_changes_no_sample_and_a_kernel_is_the_same_as_itself() {
    let scene = Scene::warm();
    let (usual, loaded) = (
        shared(&scene, "cloud", "usual.json"),
        under_load(|| measure(&scene, "cloud", "loaded.json")),
    );
    assert_identical(&usual, &loaded);
    let comparison = scene.run(&["compare", "usual.json", "loaded.json", "--json"]).json();
    let measured = rows(&comparison).iter().filter(|row| row["verdict"] != "unsupported");
    assert!(measured.clone().count() > 30);
    for row in measured {
        assert_eq!(row["verdict"], "same", "{row}");
        assert_eq!(row["difference"].as_i64().unwrap_or(0), 0, "{row}");
    }
}

/// What a kernel writes to its console, or queues for later, can make the paths that follow depend
/// on the host's time. One measurement alone does not show it, several at once do, beside the one
/// that all tests share.
#[test]
fn several_measurements_at_once_agree() {
    const AT_ONCE: usize = 2;
    let results: Vec<_> = thread::scope(|scope| {
        // Each in a scene of its own, which looks that nothing is left running in it.
        let one = || measure(&Scene::cold(), "rt", "result.json");
        let started: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(one)).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let usual = shared(&Scene::warm(), "rt", "usual.json");
    for result in &results {
        assert_identical(result, &usual);
    }
}

/// QEMU's two threads at the moment in which they may disagree on the guest's clock, made long:
/// the one that executes the guest is late after `hlt` (`tests/programs/late_halt.c`).
#[test]
fn a_clock_that_is_moved_on_right_after_a_halt_changes_no_sample() {
    let scene = Scene::cold();
    let shim = scene.path("late_halt.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/late_halt.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(&shim);
    assert!(compiler.arg(source).arg("-ldl").status().unwrap().success());

    let kernel = built("base");
    let measured = |name: &str, qemu: &str| {
        let only = "timer.expire,softirq.timer+idle,irq.softirq,wake.switch";
        let guest = ["--qemu", qemu, "--perturb", "3", "--no-cache"];
        let arguments = [&["measure", &kernel, "--only", only], &guest[..]].concat();
        scene.run(&[&arguments[..], &["--json", "-o", name]].concat()).succeeded();
        serde_json::from_slice(&std::fs::read(scene.path(name)).unwrap()).unwrap()
    };
    let qemu = "qemu-system-x86_64";
    let text = format!("#!/bin/sh\nLD_PRELOAD={} exec {qemu} \"$@\"\n", shim.display());
    let late = scene.executable("late-qemu", &text);
    let (late, prompt): (Value, Value) =
        (measured("late.json", &late), measured("prompt.json", qemu));
    assert_identical(&late, &prompt);
}

/// A question executes the groups of its paths, each in a guest of its own: what a path counts does
/// not depend on the other paths that are asked for.
#[test]
fn a_path_counts_the_same_alone_and_among_all() {
    let scene = Scene::cold();
    let kernel = built("base");
    let measure = ["measure", &kernel, "--perturb", "2", "--json"];
    let in_each_group =
        ["syscall.getppid", "file.stat", "tcp.round-trip", "process.thread", "timer.expire"];
    let alone =
        in_each_group.map(|name| scene.run(&[&measure[..], &["--only", name]].concat()).json());
    // Anew, since each group's result is in the cache by now.
    let all = scene.run(&[&measure[..], &["--no-cache"]].concat()).json();
    for (name, alone) in in_each_group.iter().zip(&alone) {
        let [only] = rows(alone) else { panic!("{name}: {alone}") };
        let among = rows(&all).iter().find(|row| row["path"] == *name);
        assert_eq!(Some(only), among, "{name}");
    }
}

#[test]
fn every_path_of_the_list_is_there_and_those_that_are_ok_have_samples() {
    let scene = Scene::warm();
    let list = scene.run(&["list", "paths", "--json"]).json();
    let result = scene.run(&["measure", &debian("cloud"), "--json"]).json();
    assert_eq!(paths(&result), paths(&list));
    for (name, _) in with_status(&result, "ok") {
        let row = path(&result, name);
        let samples = row["samples"].as_array().unwrap();
        assert_eq!(samples.is_empty(), row["unit"] == "check", "{name}");
    }
    assert_eq!(with_status(&result, "failed"), []);
    let unsupported = with_status(&result, "unsupported");
    assert!(unsupported.iter().all(|(_, reason)| !reason.is_empty()), "{unsupported:?}");
    assert_eq!(unsupported.iter().map(|(name, _)| *name).collect::<Vec<_>>(), NOT_ON_LINUX);
}

#[test]
fn twenty_runs_half_of_them_under_load_are_bit_identical() {
    if !soak() {
        return;
    }
    let scene = Scene::cold();
    let first = measure(&scene, "cloud", "first.json");
    for round in 1..20 {
        let again = match round % 2 {
            0 => measure(&scene, "cloud", "again.json"),
            _ => under_load(|| measure(&scene, "cloud", "again.json")),
        };
        assert_identical(&again, &first);
    }
}
