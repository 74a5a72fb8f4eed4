//! A full disk: exit code 3, the folder or file is named, and nothing half-written stays.
//!
//! The disk is a file system in memory, mounted in a name space of the run's own; a user other than
//! root gets one by a user name space.

use std::process::Command;

use pathmeter_e2e::{Run, Scene, built};
use rustix::process::geteuid;

/// Arguments: size, mount point, command. What is in the mount point afterwards is listed.
const ON_SMALL_DISK: &str = r#"
    mkdir -p "$2" && mount -t tmpfs -o size="$1" none "$2" || exit 99
    disk=$2; shift 2; "$@"; code=$?
    find "$disk" -type f >&2; exit $code"#;

/// What runs the program that is added to it with a disk of `size` mounted on the scene's folder
/// `disk`; exit code 99 if there can be none.
pub(crate) fn on_small_disk(scene: &Scene, disk: &str, size: &str) -> Command {
    let mut command = scene.marked("unshare", &["--mount"]);
    if !geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", ON_SMALL_DISK, "sh", size, disk]);
    command
}

/// Runs the command with a disk of `size` mounted on the scene's folder `disk`.
fn run_with_disk(scene: &Scene, disk: &str, size: &str, arguments: &[&str]) -> Run {
    let mut command = on_small_disk(scene, disk, size);
    command.arg(pathmeter_e2e::pathmeter()).args(arguments);
    let run = scene.run_command(command);
    assert_ne!(run.code, 99, "no file system can be mounted: {}", run.stderr);
    run
}

#[test]
fn a_cache_that_is_full_is_named() {
    let scene = Scene::cold();
    let arguments = ["measure", &built("base"), "--perturb", "2"];
    let run = run_with_disk(&scene, "cache", "8m", &arguments);
    let folder = scene.path("cache/pathmeter").display().to_string();
    run.assert_unmeasured(&["base.bzImage: ", &format!("{folder}: "), "make room there"]);
    assert!(!run.stderr.contains(&format!("{folder}/")), "left: {}", run.stderr);
}

#[test]
fn what_is_kept_for_an_explanation_and_does_not_fit_is_named() {
    // Neither has room for the snapshot, and the first none for the symbols.
    for size in ["256k", "8m"] {
        let scene = Scene::cold();
        let run = run_with_disk(&scene, "cache", size, &["explain", "file.stat", &built("base")]);
        let folder = scene.path("cache/pathmeter").display().to_string();
        run.assert_unmeasured(&["base.bzImage: ", &format!("{folder}: "), "make room there"]);
        let mut left = run.stderr.lines().filter(|line| line.starts_with(&folder));
        assert!(left.all(|file| file.ends_with(".symbols")), "left: {}", run.stderr);
    }
}

#[test]
fn an_output_that_does_not_fit_costs_no_other() {
    let scene = Scene::warm();
    let arguments = ["explain", "file.stat", &built("base"), "--folded", "stat.folded"];
    let outputs = ["--svg", "small/stat.svg", "--callgrind", "small/missing/stat.callgrind"];
    let run = run_with_disk(&scene, "small", "4k", &[&arguments[..], &outputs[..2]].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    run.assert_printed(&["writing small/stat.svg: No space left on device", "make room there"]);
    assert!(!run.stderr.contains("\nsmall/"), "left: {}", run.stderr);
    assert!(run.stdout.contains("path      file.stat"), "the tables all the same");
    let folded = std::fs::read_to_string(scene.path("stat.folded")).unwrap();
    assert!(folded.lines().count() > 10, "{folded}");
    let run = run_with_disk(&scene, "small", "1m", &[&arguments[..], &outputs[2..]].concat());
    run.assert_unmeasured(&["writing small/missing/stat.callgrind: No such file or directory"]);
}

#[test]
fn an_output_that_does_not_fit_is_named() {
    let scene = Scene::warm();
    let arguments = ["measure", &built("base"), "--json", "-o", "small/out.json"];
    let run = run_with_disk(&scene, "small", "16k", &arguments);
    run.assert_unmeasured(&["writing small/out.json: No space left on device", "make room there"]);
    assert!(!run.stderr.contains("\nsmall/"), "left: {}", run.stderr);
}
