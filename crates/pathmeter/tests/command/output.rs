//! Where results go: files appear whole or not at all, closed pipes are no error.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::results::{base, more_expensive};
use crate::scene::Scene;

const COMPARE: &[&str] = &["compare", "base.json", "new.json"];

#[test]
fn the_file_gets_the_document_and_stdout_the_table() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["-o", "out.json"]].concat());
    assert!(ran.stdout.starts_with("base  "));
    assert!(scene.read("out.json").starts_with(r#"{"schema":"pathmeter.comparison/1""#));
    assert_eq!(scene.files(".").len(), 3, "a temporary file was left");
}

#[test]
fn with_json_the_file_gets_all_there_is() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["--json", "-o", "out.json"]].concat());
    assert_eq!(ran.stdout, "");
    assert_eq!(scene.run(&[COMPARE, &["--json"]].concat()).stdout, scene.read("out.json"));
}

#[test]
fn a_written_result_is_a_subject_again() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.run(&["measure", "new.json", "-o", "again.json", "--only", "switch.*"]);
    let ran = scene.run(&["compare", "again.json", "new.json", "--only", "switch.*"]);
    assert!(ran.stdout.ends_with("2 paths: 2 same\n"), "{}", ran.stdout);
}

#[test]
fn a_full_disk_is_exit_code_3_and_named() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["-o", "/dev/full"]].concat());
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("writing /dev/full: No space left on device"), "{}", ran.stderr);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter");
    let output = Command::new(pathmeter).arg("paths").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().contains("writing standard output"));
}

#[test]
fn a_folder_that_is_not_there_is_told_before_anything_is_measured() {
    let scene = Scene::new();
    let ran = scene.run(&["measure", "kernel", "-o", "missing/out.json"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("writing missing/out.json: "), "{}", ran.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}
