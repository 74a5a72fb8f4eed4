//! Two versions of a program on one kernel: `run KERNEL --against OLD -- NEW`.

use std::fs;

use pathmeter_e2e::{Run, Scene, built};
use serde_json::Value;

use super::{kernels, program, run};

/// A program that was built twice: it calls getppid this often in the second version.
fn versions(scene: &Scene, times: [&str; 2]) -> [String; 2] {
    let build = |(folder, times): (&str, &str)| {
        fs::create_dir_all(scene.path(folder)).unwrap();
        let path = scene.path(folder).join("ask");
        fs::copy(program("family"), &path).unwrap();
        format!("{} ask {times}", path.display())
    };
    [("old", times[0]), ("new", times[1])].map(build)
}

/// `run` of the second version against the first one.
fn against(scene: &Scene, kernel: &str, times: [&str; 2], options: &[&str]) -> Run {
    let [old, new] = versions(scene, times);
    let new: Vec<&str> = new.split(' ').collect();
    let options = [&["--against", &*old, "--perturb", "5"], options].concat();
    scene.run(&[&["run", kernel], &options[..], &["--"], &new].concat())
}

#[test]
fn a_call_more_in_the_new_version_fails_its_gate_by_as_much() {
    for kernel in kernels() {
        let scene = Scene::warm();
        let run = against(&scene, &kernel, ["11", "12"], &["--check", "--json"]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(!run.stderr.contains("a program's path is part"), "{}", run.stderr);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let differing = document["configuration_differences"].as_array().unwrap();
        let fields: Vec<_> = differing.iter().map(|it| it["field"].as_str().unwrap()).collect();
        assert_eq!(fields, ["program.command", "program.packed_sha256"]);
        assert_eq!(document["base"]["image_sha256"], document["new"]["image_sha256"]);
        let rows = document["paths"].as_array().unwrap();
        let getppid = rows.iter().find(|row| row["path"] == "getppid").unwrap();
        let (base, new) = (getppid["base"].as_u64().unwrap(), getppid["new"].as_u64().unwrap());
        assert_eq!((getppid["verdict"].as_str(), new * 11), (Some("higher"), base * 12));
        let changed = rows.iter().filter(|row| row["verdict"] != "same" && !row["work"].is_null());
        let changed: Vec<_> = changed.map(|row| row["path"].as_str().unwrap()).collect();
        assert!(changed.contains(&"getppid") && changed.len() < 8, "{changed:?}");
    }
}

#[test]
fn a_version_is_the_same_as_itself_and_the_other_way_round_lower() {
    let scene = Scene::warm();
    let same = against(&scene, &built("base"), ["11", "11"], &["--check"]);
    assert_eq!(same.code, 0, "{}{}", same.stdout, same.stderr);
    let lower = against(
        &scene,
        &built("base"),
        ["12", "11"],
        &["--check", "--only", "getppid", "--threshold", "1"],
    );
    assert_eq!(lower.code, 0, "{}", lower.stderr);
    assert!(lower.stdout.contains("lower"), "{}", lower.stdout);
    let head = lower.stdout.lines().find(|line| line.starts_with("program ")).unwrap();
    assert!(head.contains("old/ask ask 12 → "), "{head}");
}

#[test]
fn what_is_no_comparison_of_two_programs_on_one_kernel_is_refused() {
    let (scene, base, faults) = (Scene::warm(), built("base"), program("faults"));
    let refused = |words: &[&str], why: &str| {
        let run = scene.run(&[&["run"], words].concat());
        assert_eq!(run.code, 2, "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
    };
    let refused_with = |more: &[&str], why: &str| {
        let words = [&[&*base, "--against", &faults], more, &["--", &faults]].concat();
        refused(&words, why);
    };
    refused_with(&[&base], "leave out NEW");
    refused_with(&["--under", "default", "--under", "boot:nopti"], "leave out one --cpu");
    refused_with(&["--stdin", "-"], "leave out --stdin -");
    refused_with(&["--perturb", "2"], "by 2 later runs");
    refused(&[&base, "--against", "'", "--", &faults], "a quote has no end");
    refused(&[&base, "--against", &faults], "no program is named");
    run(&scene, &[&base], &["-o", "one.json"], &[&faults]).succeeded();
    refused(&["one.json", "--against", &faults, "--", &faults], "so nothing is run");
}
