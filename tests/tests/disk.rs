//! A full disk: the folder or file is named, and nothing half-written stays. If it is the cache's,
//! that is all; if it is an output's, the exit code is 3.
//!
//! The disk is a file system in memory, mounted in a name space of the run's own; a user other than
//! root gets one by a user name space.

use std::process::Command;

use pathmeter_e2e::{Run, Scene, assert_identical, built};
use rustix::process::geteuid;

/// Arguments: options, mount point, command. What is in the mount point afterwards is listed.
const ON_SMALL_DISK: &str = r#"
    mkdir -p "$2" && mount -t tmpfs -o "$1" none "$2" || exit 99
    disk=$2; shift 2; "$@"; code=$?
    find "$disk" -type f >&2; exit $code"#;

/// What runs the program that is added to it with a disk mounted, with these `options`, on the
/// scene's folder `disk`; exit code 99 if there can be none.
pub(crate) fn on_disk(scene: &Scene, disk: &str, options: &str) -> Command {
    let mut command = scene.marked("unshare", &["--mount"]);
    if !geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", ON_SMALL_DISK, "sh", options, disk]);
    command
}

/// Runs the command with a disk of `size` mounted on the scene's folder `disk`.
fn run_with_disk(scene: &Scene, disk: &str, size: &str, arguments: &[&str]) -> Run {
    run_with_mount(scene, disk, &format!("size={size}"), arguments)
}

/// The same with a disk mounted with these options.
fn run_with_mount(scene: &Scene, disk: &str, options: &str, arguments: &[&str]) -> Run {
    let mut command = on_disk(scene, disk, options);
    command.arg(pathmeter_e2e::pathmeter()).args(arguments);
    let run = scene.run_command(command);
    assert_ne!(run.code, 99, "no file system can be mounted: {}", run.stderr);
    run
}

/// The run went well, with one note, which names the cache's folder and `cause`. It left no file
/// there but those whose names end with one of `kept`.
fn assert_went_on(scene: &Scene, run: &Run, cause: &str, kept: &[&str]) {
    let folder = scene.path("cache/pathmeter").display().to_string();
    let notes: Vec<_> = run.stderr.lines().filter(|line| line.contains(": note: ")).collect();
    assert!(run.code == 0 && notes.len() == 1, "{}", run.stderr);
    assert!(notes[0].contains(&format!("{folder}: {cause}")), "{}", run.stderr);
    let mut left = run.stderr.lines().filter(|line| line.starts_with(&folder));
    let whole = |file: &str| !file.contains("/.new-") && kept.iter().any(|it| file.ends_with(it));
    assert!(left.all(whole), "left: {}", run.stderr);
}

const FULL: &str = "No space left on device";

#[test]
fn a_cache_that_is_full_is_named_and_costs_no_result() {
    for (size, kept) in [("16k", &[][..]), ("1m", &[".result"])] {
        let scene = Scene::cold();
        let measure = ["measure", "lab", "--perturb", "2", "--json"];
        let run = run_with_disk(&scene, "cache", size, &measure);
        assert_went_on(&scene, &run, FULL, kept);
        let expected = Scene::cold().run(&measure);
        assert_identical(&run.json(), &expected.json());
    }
}

#[test]
fn a_cache_that_is_full_costs_no_comparison_and_is_named_once() {
    let scene = Scene::cold();
    let compare = ["compare", "lab", "lab:iobitmap=lazy", "--perturb", "2"];
    let run = run_with_disk(&scene, "cache", "16k", &compare);
    assert_went_on(&scene, &run, FULL, &[]);
    assert!(run.stdout.contains(" paths, "), "{}", run.stdout);
}

#[test]
fn what_is_kept_for_an_explanation_and_does_not_fit_costs_nothing() {
    // Neither has room for the snapshot, and the first none for the symbols.
    for (size, kept) in [("256k", &[][..]), ("8m", &[".symbols"])] {
        let scene = Scene::cold();
        let run = run_with_disk(&scene, "cache", size, &["explain", "file.stat", &built("base")]);
        assert_went_on(&scene, &run, FULL, kept);
        assert!(run.stdout.contains("path      file.stat"), "{}", run.stdout);
    }
}

#[test]
fn a_cache_that_cannot_be_written_costs_nothing() {
    let scene = Scene::cold();
    let run = run_with_mount(&scene, "cache", "ro", &["measure", "lab", "--perturb", "2"]);
    // Not even its folder can be made.
    assert_went_on(&scene, &run, "Read-only file system", &[]);
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
    run.assert_unmeasured(&[
        "writing small/missing/stat.callgrind: there is no folder small/missing",
    ]);
}

#[test]
fn an_output_that_does_not_fit_is_named() {
    let scene = Scene::warm();
    let arguments = ["measure", &built("base"), "--json", "-o", "small/out.json"];
    let run = run_with_disk(&scene, "small", "16k", &arguments);
    run.assert_unmeasured(&["writing small/out.json: No space left on device", "make room there"]);
    assert!(!run.stderr.contains("\nsmall/"), "left: {}", run.stderr);
}
