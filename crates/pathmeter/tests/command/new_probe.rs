//! `pathmeter run --new-probe`: what it writes compiles, runs, and is not written twice.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::scene::{Scene, soak};

#[test]
fn what_is_written_compiles_and_ends_with_0_outside_the_guest() {
    let scene = Scene::new();
    let ran = scene.run(&["run", "--new-probe", "my-ioctl.v2"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.contains("make run KERNEL="), "{}", ran.stdout);
    let mut files = scene.files("my-ioctl.v2");
    files.sort();
    assert_eq!(files, ["Makefile", "README.md", "my-ioctl.v2.c", "pathmeter.h"]);

    let folder = scene.path("my-ioctl.v2");
    let mut make = Command::new("make");
    let made = make.arg("-C").arg(&folder).arg("CFLAGS=-Wall -Wextra -Werror").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let program = folder.join("my-ioctl.v2");
    assert_eq!(Command::new(&program).status().unwrap().code(), Some(0));
    let bytes = std::fs::read(program).unwrap();
    let region = b"my-ioctl.v2\0";
    assert!(bytes.windows(region.len()).any(|at| at == region));
}

#[test]
fn its_targets_run_pathmeter_on_the_kernels_that_are_named() {
    let scene = Scene::new();
    assert_eq!(scene.run(&["run", "--new-probe", "it"]).code, Some(0));
    let make = |words: &[&str]| {
        let mut make = Command::new("make");
        make.arg("-s").arg("-C").arg(scene.path("it")).arg("PATHMETER=echo").args(words);
        let output = make.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(make(&["run", "KERNEL=k"]).1, "run k -- ./it\n");
    assert_eq!(make(&["compare", "KERNEL=k", "NEW=n"]).1, "run k n -- ./it\n");
    for (words, missing) in [(&["run"][..], "KERNEL="), (&["compare", "KERNEL=k"], "NEW=")] {
        let (good, _, errors) = make(words);
        assert!(!good && errors.contains(missing), "{words:?}: {errors}");
    }
}

#[test]
fn an_existing_folder_is_named_and_left_alone() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("mine")).unwrap();
    scene.write("mine/Makefile", "precious");
    let ran = scene.run(&["run", "--new-probe", "mine"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert!(ran.stderr.contains("mine exists already"), "{}", ran.stderr);
    assert_eq!(
        (scene.files("mine"), scene.read("mine/Makefile")),
        (vec!["Makefile".to_owned()], "precious".to_owned())
    );
}

#[test]
fn a_name_that_no_region_can_have_is_a_usage_error() {
    let scene = Scene::new();
    for name in ["a/b", "a b", "", "Makefile", "--", ".."] {
        let ran = scene.run(&["run", "--new-probe", name]);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{name:?}");
    }
    assert!(scene.files(".").is_empty());
}

#[test]
fn killed_at_any_instant_the_folder_is_whole_or_not_there() {
    let scene = Scene::new();
    let rounds = if soak() { 1000 } else { 25 };
    let mut whole = 0;
    for round in 0..rounds {
        let name = format!("it{round}");
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"))
            .args(["run", "--new-probe", &name])
            .current_dir(scene.path("."))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(round * 997 % 8000));
        // It may have ended.
        let _ = child.kill();
        child.wait().unwrap();
        let files = scene.files(&name).len();
        assert_eq!(scene.path(&name).exists(), files > 0, "{name}");
        assert!(files == 0 || files == 4, "{name}: {files}");
        whole += u64::from(files == 4);
    }
    println!("killed {rounds} times: {whole} folders were whole, the others not there");
}
