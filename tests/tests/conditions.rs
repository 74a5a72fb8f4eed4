//! What a kernel is measured under: limits of control groups, filters, CPUs. One Debian kernel.

use pathmeter_e2e::{Scene, assert_identical, debian, path};
use serde_json::Value;

fn run(scene: &Scene, arguments: &[&str]) -> Value {
    scene.run(&[arguments, &["--perturb", "2", "--json"]].concat()).json()
}

fn median(result: &Value, name: &str) -> u64 {
    let mut samples: Vec<u64> = path(result, name)["samples"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    samples.sort_unstable();
    samples[samples.len() / 2]
}

#[test]
fn a_limit_without_effect_still_shows_what_a_group_costs() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let measure =
        |under: &str| run(&scene, &["measure", &cloud, "--cpu", "skylake", "--under", under]);
    let (default, limited) = (measure("default"), measure("cgroup:memory.max=max"));
    let getppid = |result| median(result, "syscall.getppid");
    assert_eq!(getppid(&default), getppid(&limited));
    let fork = |result| median(result, "process.fork-exit");
    assert!(fork(&default) < fork(&limited), "{} {}", fork(&default), fork(&limited));
}

#[test]
fn a_limit_that_the_kernel_does_not_have_is_named() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    for (under, why) in [
        ("cgroup:nosuch.max=1", "this kernel has no such controller of control groups"),
        ("cgroup:pids.nosuch=1", "a control group of this kernel has no such file"),
        ("cgroup:memory.max=lots", "the kernel does not take this value (error 22)"),
    ] {
        let failed = scene.run(&["measure", &cloud, "--cpu", "skylake", "--under", under]);
        failed.assert_unmeasured(&[&format!("{under}: {why}")]);
    }
}

#[test]
fn a_cpu_is_a_condition_as_the_option_is() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let by_option = run(&scene, &["measure", &cloud, "--cpu", "skylake"]);
    let by_condition = run(&scene, &["measure", &cloud, "--under", "cpu:skylake"]);
    assert_identical(&by_option, &by_condition);
}

#[test]
fn a_filter_costs_a_program_something_in_each_call() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let under = ["--under", "cpu:skylake", "--under", "cpu:skylake seccomp:docker"];
    let end = ["--perturb", "5", "--json", "--", "/bin/true"];
    let compared = scene.run(&[&["run", &cloud][..], &under, &end].concat()).json();
    let name = compared["new"]["name"].as_str().unwrap();
    assert!(name.ends_with("on skylake under seccomp:docker"), "{name}");
    let rows = compared["rows"].as_array().unwrap();
    // The C library makes this call once, and it has one value.
    let call = rows.iter().find(|row| row["name"] == "set_tid_address").unwrap();
    assert_eq!(call["cost"]["verdict"], "higher", "{call}");
}
