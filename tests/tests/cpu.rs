//! CPU profiles: a kernel patches itself as on the machine that `--cpu` names.

use pathmeter_e2e::{Run, Scene, assert_identical, built, debian, path};
use serde_json::Value;

/// Few runs: what is looked at has one value.
const FEW: &[&str] = &["--perturb", "2", "--json"];

fn compared(scene: &Scene, kernel: &str, cpus: [&str; 2], more: &[&str]) -> Run {
    let cpus = ["--cpu", cpus[0], "--cpu", cpus[1]];
    scene.run(&[&["compare", kernel][..], &cpus, FEW, more].concat())
}

fn base_and_new(row: &Value) -> (u64, u64) {
    (row["base"].as_u64().unwrap(), row["new"].as_u64().unwrap())
}

#[test]
fn a_system_call_costs_what_the_machines_mitigations_add() {
    let scene = Scene::warm();
    let kernel = debian("cloud");
    // Page table isolation and IBRS at each entry, against retpolines alone.
    let skylake = compared(&scene, &kernel, ["plain", "skylake"], &[]).json();
    let (plain, with_pti) = base_and_new(path(&skylake, "syscall.getppid"));
    // The loop that clears the branch history, which a kernel has only if MSR 0x10a says that the
    // CPU's IBRS is the enhanced one.
    let icelake = compared(&scene, &kernel, ["skylake", "icelake"], &[]).json();
    let (again, with_loop) = base_and_new(path(&icelake, "syscall.getppid"));
    assert_eq!(with_pti, again);
    assert!(plain < with_pti && with_pti < with_loop, "{plain}, {with_pti}, {with_loop}");
    assert!(with_loop - with_pti > 50, "{with_pti}, {with_loop}");
}

#[test]
fn one_kernel_on_two_cpus_is_compared_without_being_told_that_they_differ() {
    let scene = Scene::warm();
    let compared = compared(&scene, &built("base"), ["plain", "zen2"], &[]).json();
    for (side, cpu) in [("base", "plain"), ("new", "zen2")] {
        let name = compared[side]["name"].as_str().unwrap();
        assert!(name.ends_with(&format!("base.bzImage on {cpu}")), "{name}");
    }
    assert_eq!(compared["base"]["image_sha256"], compared["new"]["image_sha256"]);
    let differences = compared["configuration_differences"].as_array().unwrap();
    let fields: Vec<_> = differences.iter().map(|one| one["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["command_line", "cpu"]);
    assert!(differences[1]["new"].as_str().unwrap().starts_with("zen2: base,"));
    let getppid = path(&compared, "syscall.getppid");
    let (base, new) = base_and_new(getppid);
    assert!(getppid["verdict"] == "higher" && base < new, "{getppid}");
}

#[test]
fn what_differs_between_two_cpus_is_explained() {
    let scene = Scene::warm();
    let arguments = ["explain", "syscall.getppid", &built("base")];
    let cpus = ["--cpu", "skylake", "--cpu", "icelake"];
    let explained = scene.run(&[&arguments[..], &cpus, FEW].concat()).json();
    let functions = explained["new"]["window"]["functions"].as_array().unwrap();
    let names: Vec<_> = functions.iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"clear_bhb_loop"), "{names:?}");
    let functions = explained["base"]["window"]["functions"].as_array().unwrap();
    assert!(functions.iter().all(|one| one["name"] != "clear_bhb_loop"));
}

#[test]
fn a_profile_gives_the_same_twice() {
    let kernel = built("base");
    let measured = |scene: &Scene| {
        let arguments = ["measure", &kernel, "--cpu", "icelake", "--no-cache"];
        scene.run(&[&arguments[..], FEW].concat()).json()
    };
    let (one, other) = (measured(&Scene::cold()), measured(&Scene::cold()));
    assert_identical(&one, &other);
    assert_eq!(one["configuration"]["portable"], true);
    let cpu = one["configuration"]["cpu"].as_str().unwrap();
    assert!(cpu.starts_with("icelake: base,") && cpu.ends_with("msr-0x10a=0x202016b"), "{cpu}");
    let same = compared(&Scene::warm(), &kernel, ["icelake", "icelake"], &["--check"]);
    assert_eq!(same.json()["configuration_differences"], serde_json::json!([]));
}

#[test]
fn the_default_can_be_said() {
    let scene = Scene::warm();
    let kernel = built("base");
    let measured =
        |more: &[&str]| scene.run(&[&["measure", &kernel][..], FEW, more].concat()).json();
    assert_eq!(measured(&["--cpu", "plain"]), measured(&[]));
}

#[test]
fn what_the_machine_has_and_the_interpreter_has_not_is_said() {
    let arguments = ["measure", &built("base"), "--cpu", "icelake"];
    let result = Scene::warm().run(&[&arguments[..], FEW].concat()).json();
    let rdpid = path(&result, "getcpu.rdpid");
    assert_eq!(rdpid["status"], "unsupported");
    let reason = rdpid["reason"].as_str().unwrap();
    assert!(reason.contains("the machine has it") && reason.contains("interpreter"), "{reason}");
}

#[test]
fn an_unknown_name_brings_up_the_profiles() {
    let run = Scene::warm().run(&["measure", &built("base"), "--cpu", "skylakee"]);
    run.assert_unmeasured(&["skylakee", "plain, haswell, skylake, cascadelake, icelake, zen1"]);
}

#[test]
fn a_kernel_that_cannot_be_told_what_the_cpu_is_not_vulnerable_to_is_refused() {
    let run = Scene::warm().run(&["measure", &built("no-pvh"), "--cpu", "icelake"]);
    run.assert_unmeasured(&["no-pvh.bzImage", "PVH", "skylake"]);
}

#[test]
fn two_cpus_are_for_one_kernel() {
    let scene = Scene::warm();
    let (base, nop) = (built("base"), built("nop"));
    let two = ["--cpu", "zen1", "--cpu", "zen2"];
    for (arguments, word) in [
        (vec!["compare", &base, &nop], "two kernels"),
        (vec!["explain", "file.stat", &base, &nop], "no room"),
        (vec!["explain", "file.stat", &base, "--against", "file.read-zero"], "no room"),
        (vec!["measure", &base], "more than once"),
        (vec!["compare", &base, "--cpu", "plain"], "more than twice"),
    ] {
        let run = scene.run(&[&arguments[..], &two].concat());
        assert_eq!((run.code, &run.stdout[..]), (2, ""), "{arguments:?}: {}", run.stderr);
        run.assert_printed(&[word]);
    }
    let alone = scene.run(&["compare", &base]);
    assert_eq!(alone.code, 2);
    alone.assert_printed(&["NEW", "--cpu A --cpu B"]);
}

#[test]
fn doctor_lists_the_profiles_and_what_they_lack() {
    let doctor = Scene::warm().run(&["doctor", "--json"]).json();
    let profiles = doctor["profiles"].as_array().unwrap();
    let named = |name: &str| profiles.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(named("icelake")["available"], true);
    let lacks = named("icelake")["lacks"].as_array().unwrap();
    assert!(lacks.iter().any(|lack| lack["name"] == "rdpid"), "{lacks:?}");
    for profile in profiles {
        let missing = profile["missing"].as_array().unwrap();
        assert_eq!(profile["available"], missing.is_empty(), "{profile}");
    }
}
