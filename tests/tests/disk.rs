//! A full disk: exit code 3, the folder or file is named, and nothing half-written stays.
//!
//! The disk is a file system in memory, mounted in a name space of the run's own; a user other than
//! root gets one by a user name space.

use pathmeter_e2e::{Run, Scene, built};
use rustix::process::geteuid;

/// Arguments: size, mount point, command. What is in the mount point afterwards is listed.
const ON_SMALL_DISK: &str = r#"
    mkdir -p "$2" && mount -t tmpfs -o size="$1" none "$2" || exit 99
    disk=$2; shift 2; "$@"; code=$?
    find "$disk" -type f >&2; exit $code"#;

/// Runs the command with a disk of `size` mounted on the scene's folder `disk`.
fn run_with_disk(scene: &Scene, disk: &str, size: &str, arguments: &[&str]) -> Run {
    let mut command = scene.marked("unshare", &["--mount"]);
    if !geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", ON_SMALL_DISK, "sh", size, disk]);
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
fn an_output_that_does_not_fit_is_named() {
    let scene = Scene::warm();
    let arguments = ["measure", &built("base"), "--json", "-o", "small/out.json"];
    let run = run_with_disk(&scene, "small", "16k", &arguments);
    run.assert_unmeasured(&["writing small/out.json: No space left on device", "make room there"]);
    assert!(!run.stderr.contains("\nsmall/"), "left: {}", run.stderr);
}
