//! Limits on processes and threads: an error that says so, never a panic.

use std::process::{Command, Output};

use crate::results::{base, more_expensive};
use crate::scene::{Scene, kernel};

/// The command under a limit; root is not bound by that on processes, so it becomes nobody.
fn limited(scene: &Scene, limit: &str, arguments: &[&str]) -> Output {
    let pathmeter = scene.path("pathmeter");
    std::fs::copy(assert_cmd::cargo::cargo_bin!("pathmeter"), &pathmeter).unwrap();
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit"]);
        command
    } else {
        Command::new("prlimit")
    };
    command.arg(limit).arg(pathmeter).args(arguments);
    command.current_dir(scene.path(".")).env("XDG_CACHE_HOME", scene.path("missing/cache"));
    command.output().unwrap()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    id == b"0\n"
}

/// A scene that others may look at.
fn open_scene() -> Scene {
    let scene = Scene::with(&base(), &more_expensive());
    let status = Command::new("chmod").args(["-R", "a+rX"]).arg(scene.path(".")).status();
    assert!(status.unwrap().success());
    scene
}

#[test]
fn without_a_thread_to_be_had_the_kernels_are_opened_one_after_the_other() {
    let scene = open_scene();
    scene.write("one", std::fs::read(kernel("vmlinux.elf")).unwrap());
    let ran = limited(&scene, "--nproc=1", &["compare", "one", "missing", "--qemu", "/bin/true"]);
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(3), "{stderr}");
    assert!(!stderr.contains("panicked") && stderr.contains("missing: cannot open"), "{stderr}");
}
