//! Names and source lines of a program's own functions: by its debug information, and by that of a
//! debug file to which `.gnu_debuglink` leads.

use std::path::Path;
use std::process::Command;

use pathmeter_e2e::{Run, Scene, built};
use serde_json::{Value, json};

use crate::results::assert_valid;

/// Where the source of the program is, as its debug information names it.
const SOURCE: &str = "programs/calls.c";

fn succeed(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles the program, with debug information.
fn whole(scene: &Scene) -> String {
    let program = scene.path("calls");
    let mut cc = Command::new("cc");
    cc.current_dir(tests()).args(["-g", "-O1", "-static", "-pthread", "-I", "../include"]);
    succeed(cc.arg(SOURCE).arg("-o").arg(&program));
    program.into_os_string().into_string().unwrap()
}

/// The same with its debug information in a file beside it.
fn stripped(scene: &Scene) -> String {
    let program = whole(scene);
    let objcopy = || {
        let mut objcopy = Command::new("objcopy");
        objcopy.current_dir(scene.path("."));
        objcopy
    };
    succeed(objcopy().args(["--only-keep-debug", "calls", "calls.debug"]));
    succeed(objcopy().args(["--strip-all", "--add-gnu-debuglink=calls.debug", "calls"]));
    program
}

fn explain(scene: &Scene, program: &str, options: &[&str]) -> Run {
    let kernel = built("base");
    let words = [&["explain", "user.recursion", &kernel, "--perturb", "2"], options];
    scene.run(&[&words.concat()[..], &["--", program]].concat())
}

fn document(scene: &Scene, program: &str) -> Value {
    let document = explain(scene, program, &["--json"]).json();
    assert_valid(&document, "pathmeter.explain-1");
    document["base"].clone()
}

fn function<'a>(base: &'a Value, name: &str) -> Option<&'a Value> {
    let functions = base["window"]["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name)
}

/// The line in the program's source in which this function's code begins: that of its brace.
fn line(name: &str) -> usize {
    let source = std::fs::read_to_string(tests().join(SOURCE)).unwrap();
    let mut lines = source.lines().zip(1..);
    lines.find(|(line, _)| line.contains(&format!("static void {name}("))).unwrap();
    lines.find(|(line, _)| *line == "{").unwrap().1
}

fn assert_named_with_lines(base: &Value) {
    for name in ["descend", "bottom"] {
        let found = function(base, name).unwrap_or_else(|| panic!("{name}: {base}"));
        assert_eq!(found["source"], json!({ "file": SOURCE, "line": line(name) }), "{name}");
    }
    assert_eq!(base["program"]["unused_debug"], Value::Null);
}

#[test]
fn a_program_has_the_lines_of_its_own_debug_information() {
    let scene = Scene::warm();
    assert_named_with_lines(&document(&scene, &whole(&scene)));
}

#[test]
fn a_stripped_program_has_names_and_lines_of_the_file_that_its_link_names() {
    let scene = Scene::warm();
    let program = stripped(&scene);
    let base = document(&scene, &program);
    assert_named_with_lines(&base);
    let table = explain(&scene, &program, &["--callgrind", "profile"]);
    table.succeeded();
    let descend = format!("descend [calls] at {SOURCE}:{}\n", line("descend"));
    assert!(table.stdout.contains(&descend), "{}", table.stdout);
    let profile = std::fs::read_to_string(scene.path("profile")).unwrap();
    assert!(profile.contains(&format!("\nfl={SOURCE}\nfn=descend [calls]\n")), "{profile}");
}

#[test]
fn a_debug_file_of_another_build_is_not_used_and_is_told() {
    let scene = Scene::warm();
    let program = stripped(&scene);
    let right = document(&scene, &program);
    let debug = scene.path("calls.debug");
    let mut bytes = std::fs::read(&debug).unwrap();
    bytes.push(0);
    std::fs::write(&debug, bytes).unwrap();
    // Not that of a tree that was kept while the file was right.
    let base = document(&scene, &program);
    assert_eq!(function(&base, "descend"), None);
    assert_eq!(base["program"]["without_symbols"], json!(["calls"]));
    let [unused] = &base["program"]["unused_debug"].as_array().unwrap()[..] else {
        panic!("{base}")
    };
    assert_eq!(unused["file"], "calls");
    assert_eq!(unused["debug_file"], debug.to_str().unwrap());
    let told = explain(&scene, &program, &[]);
    let note = format!("note      calls: {} is not used: its CRC-32 is ", debug.display());
    assert!(told.stdout.contains(&note), "{}", told.stdout);
    // Names change, and numbers do not.
    assert_eq!(base["window"]["total"], right["window"]["total"]);
}
