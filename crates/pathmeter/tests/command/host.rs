//! The subject `host`: this machine, in time, whatever it permits.

use pathmeter_model::example;

use crate::results::{base, more_expensive};
use crate::scene::Scene;

const QUICK: [&str; 6] = ["--only", "syscall.getppid,insn.inc", "--replicates", "3", "--seed", "1"];

#[test]
fn this_machine_is_measured_in_nanoseconds_and_its_document_is_a_subject() {
    let scene = Scene::new();
    let ran = scene.run(&[&["measure", "host", "-o", "host.json"], &QUICK[..]].concat());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{}", ran.stderr);
    let head = ran.stdout.lines().next().unwrap();
    assert!(head.starts_with("path") && head.contains("ns") && head.contains("A/A"), "{head}");
    assert!(ran.stdout.contains("\nsyscall.getppid") && ran.stdout.contains("\ninsn.inc"));
    assert!(!ran.stdout.contains("instructions"), "{}", ran.stdout);
    let again = scene.run(&["measure", "host.json", "--only", "syscall.getppid,insn.inc"]);
    assert_eq!((again.code, again.stdout), (Some(0), ran.stdout));
    let same = scene.run(&["compare", "host.json", "host.json", "--only", "syscall.getppid"]);
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    assert!(same.stdout.starts_with("Of 1 path, 1 is undecidable."), "{}", same.stdout);
}

#[test]
fn two_conditions_are_compared_in_one_session() {
    let scene = Scene::new();
    let pair = ["compare", "host", "--under", "default", "--under", "seccomp:docker"];
    let ran = scene.run(&[&pair[..], &QUICK].concat());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.starts_with("Of 2 paths, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("new: seccomp:docker"), "{}", ran.stdout);
}

#[test]
fn what_a_live_host_can_not_have_is_refused_with_the_reason() {
    let scene = Scene::new();
    for (line, told) in [
        (&["measure", "host", "--under", "boot:nopti"][..], "it would have to boot again"),
        (&["measure", "host", "--under", "sysctl:vm.swappiness=1"], "change the whole machine"),
        (&["measure", "host", "--under", "cpu:zen2"], "it has the CPU that it has"),
        (&["measure", "host", "--cpu", "zen2"], "--cpu would change nothing"),
        (&["measure", "host", "--format", "csv"], "--format would change nothing"),
        (&["measure", "host", "--pin", "9999"], "may not execute on CPU 9999"),
        (&["measure", "host", "--only", "no.path"], "no.path"),
        (&["measure", "lab", "--replicates", "3"], "--replicates would change nothing"),
        (&["compare", "host", "lab"], "lab is measured in instructions"),
        (&["compare", "host"], "nothing to compare"),
        (&["explain", "file.stat", "host"], "host"),
        (&["run", "host", "--", "/bin/true"], "host is this machine"),
        (&["bisect", "host", "host", "--path", "file.stat"], "host"),
    ] {
        let ran = scene.run(line);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{line:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{line:?}: {}", ran.stderr);
    }
}

#[test]
fn damaged_times_are_refused_by_name() {
    let scene = Scene::new();
    scene.write("bad.json", br#"{"schema":"pathmeter.times/1","conditions":[]}"#);
    let ran = scene.run(&["measure", "bad.json"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""));
    assert!(ran.stderr.contains("bad.json: not a whole pathmeter.times/1"), "{}", ran.stderr);
    let ran = scene.run(&["history", "add", "bad.json"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("pathmeter.times/1"), "{}", ran.stderr);
}

#[test]
fn a_boot_is_added_to_a_file_once() {
    let scene = Scene::new();
    let boots = [&["measure", "host", "--boots", "boots.json"], &QUICK[..]].concat();
    let first = scene.run(&boots);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("boots.json has 1 of this kernel's boots"), "{}", first.stderr);
    let kept = std::fs::read(scene.path("boots.json")).unwrap();
    let again = scene.run(&boots);
    assert_eq!((again.code, &*again.stdout), (Some(2), ""));
    assert!(again.stderr.contains("this boot is there already; boot again"), "{}", again.stderr);
    assert_eq!(std::fs::read(scene.path("boots.json")).unwrap(), kept);
}

/// 20 processes of each path, whose levels lie at and above these.
fn times(levels: [u64; 3]) -> String {
    let of = |level: u64| (0..20).map(|at| level + at % 5).collect::<Vec<u64>>();
    let [getppid, yields, pipe] = levels.map(of);
    let times = example::times(&[
        ("syscall.getppid", 1, &getppid),
        ("switch.yield", 1, &yields),
        ("switch.pipe", 1, &pipe),
    ]);
    serde_json::to_string(&times).unwrap()
}

#[test]
fn counts_and_times_are_joined_and_what_both_mean_is_told() {
    let scene = Scene::new();
    scene.write("a.json", serde_json::to_string(&base()).unwrap());
    scene.write("b.json", serde_json::to_string(&more_expensive()).unwrap());
    scene.write("a.times.json", times([10_000, 50_000, 90_000]));
    scene.write("b.times.json", times([10_500, 55_000, 90_000]));
    let sides = ["compare", "a.json", "b.json", "--times", "a.times.json"];
    let ran = scene.run(&[&sides[..], &["--times", "b.times.json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = "Of 3 paths, count and time agree on 1 (1 confirmed, 0 same); 1 is a matter of \
                placement or the cache; 1 is hidden by the processor's width.";
    assert!(ran.stdout.replace('\n', " ").starts_with(told), "{}", ran.stdout);
    assert!(ran.stdout.contains("nothing is predicted: 0 paths"), "{}", ran.stdout);
    let one = scene.run(&sides);
    assert_eq!(one.code, Some(2), "{}", one.stderr);
    assert!(one.stderr.contains("nothing to compare"), "{}", one.stderr);
}
