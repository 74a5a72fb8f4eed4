//! `explain --against`: two paths of one kernel; and `compare --explain` as JSON.

use pathmeter_e2e::{Run, Scene, built, debian, rows};
use serde_json::Value;

use crate::explain::WITHOUT_PLUGINS;
use crate::results::assert_valid;

/// How `path` in Debian's cloud kernel differs from `base`.
fn against(path: &str, base: &str) -> Value {
    let scene = Scene::warm();
    let explain = scene.run(&["explain", path, &debian("cloud"), "--against", base, "--json"]);
    let explain = explain.json();
    assert_valid(&explain, "pathmeter.explain-1");
    assert_eq!(
        [&explain["path"], &explain["new"]["path"], &explain["base"]["path"]],
        [path, path, base]
    );
    assert_adds_up(&explain);
    explain
}

/// The functions' differences, and those of the call tree, are together that of the totals.
pub(crate) fn assert_adds_up(explain: &Value) {
    let total = |side: &str| explain[side]["window"]["total"].as_i64().unwrap();
    let difference = &explain["difference"];
    let sum = |rows: &str, of: fn(&Value) -> i64| -> i64 {
        difference[rows].as_array().unwrap().iter().map(of).sum()
    };
    let by_function = sum("functions", |row| row["difference"].as_i64().unwrap());
    let by_place =
        sum("tree", |node| node["new"].as_i64().unwrap() - node["base"].as_i64().unwrap());
    let totals = total("new") - total("base");
    assert_eq!([difference["total"].as_i64().unwrap(), by_function, by_place], [totals; 3]);
    assert_ne!(totals, 0);
}

/// The function's row in the difference.
pub(crate) fn function<'a>(explain: &'a Value, name: &str) -> &'a Value {
    let functions = explain["difference"]["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name).unwrap()
}

#[test]
fn the_cost_of_two_full_bitmaps_is_their_copy() {
    let explain = against("switch.yield+ioport-both", "switch.yield");
    assert_eq!(function(&explain, "native_tss_update_io_bitmap")["change"], "appeared");
    let copy = &function(&explain, "memcpy_erms")["new"]["counts"];
    assert_eq!(copy["rep_bytes"], 2 * 8192, "8 KiB for each task");
    let lines = explain["difference"]["footprint"]["data_lines"].as_i64().unwrap();
    assert!(lines >= 100, "{lines} further lines of data");
}

#[test]
fn a_clone_by_the_compiler_counts_as_its_function() {
    let explain = against("switch.futex", "switch.yield");
    let clone = "finish_task_switch.isra.0";
    for side in ["base", "new"] {
        let functions = explain[side]["window"]["functions"].as_array().unwrap();
        assert!(functions.iter().any(|function| function["name"] == clone), "{side}");
    }
    assert_eq!(function(&explain, "finish_task_switch")["change"], "same");
    for rows in ["functions", "tree"] {
        let rows = explain["difference"][rows].as_array().unwrap();
        let suffixed = |row: &&Value| row["name"].as_str().unwrap().contains(".isra");
        assert_eq!(rows.iter().find(suffixed), None);
    }
}

#[test]
fn a_32_bit_ioctl_enters_and_is_dispatched_elsewhere() {
    let explain = against("ioctl.compat-int80", "ioctl.native");
    for (name, change) in [
        ("entry_SYSCALL_64", "vanished"),
        ("asm_int80_emulation", "appeared"),
        ("__x64_sys_ioctl", "vanished"),
        ("__ia32_compat_sys_ioctl", "appeared"),
        ("inet_ioctl", "same"),
    ] {
        assert_eq!(function(&explain, name)["change"], change, "{name}");
    }
}

#[test]
fn both_paths_are_named_wherever_the_difference_is_shown() {
    let scene = Scene::warm();
    let base = built("base");
    let arguments = ["explain", "file.stat", &base, "--against", "syscall.getppid"];
    let outputs = ["--svg", "out.svg", "--folded", "out.folded", "--callgrind", "out.callgrind"];
    let run = scene.run(&[&arguments[..], &outputs].concat());
    let words = ["subject  base.bzImage\n", "base     syscall.getppid: ", "new      file.stat: "];
    assert!(words.iter().all(|word| run.succeeded().stdout.contains(word)), "{}", run.stdout);
    let read = |name: &str| std::fs::read_to_string(scene.path(name)).unwrap();
    assert!(read("out.svg").contains("syscall.getppid → file.stat on base.bzImage"));
    assert!(read("out.callgrind").contains("\ncmd: file.stat on base.bzImage\n"));
    let counts = |line: &str| line.rsplit(' ').take_while(|it| it.parse::<u64>().is_ok()).count();
    assert!(read("out.folded").lines().all(|line| counts(line) == 2), "{}", read("out.folded"));
}

#[test]
fn a_path_against_itself_differs_in_nothing() {
    let arguments = ["explain", "file.stat", &built("base"), "--against", "file.stat", "--json"];
    let explain = Scene::warm().run(&arguments).json();
    assert_eq!(explain["base"], explain["new"]);
    assert_eq!(explain["difference"]["total"], 0);
}

#[test]
fn what_cannot_be_set_against_is_refused_before_anything_runs() {
    let scene = Scene::cold();
    let base = built("base");
    let refused = |arguments: &[&str], words: &[&str]| {
        let run = scene.run(&[&["explain", "file.stat", &base], arguments].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        run.assert_printed(words);
    };
    refused(&["--against", "flags.isolation"], &["flags.isolation has no window to record"]);
    refused(&["--against", "file.stats"], &["did you mean file.stat"]);
    refused(&[&base, "--against", "file.stat"], &["cannot be used with"]);
    assert_eq!(scene.cached(), [""; 0]);
}

/// Compares `base` and `nop` and explains the differences, of three paths of which one is the
/// same.
fn compare_explained(scene: &Scene, arguments: &[&str]) -> Run {
    let (base, nop) = (built("base"), built("nop"));
    let only = "syscall.getppid,file.stat,flags.popf";
    scene.run(&[&["compare", &base, &nop, "--only", only, "--explain"], arguments].concat())
}

#[test]
fn an_explained_comparison_is_one_document() {
    let scene = Scene::warm();
    let document = compare_explained(&scene, &["--json"]).json();
    assert_valid(&document, "pathmeter.explained-comparison-1");
    assert_eq!(document["schema"], "pathmeter.explained-comparison/1");
    assert_eq!(rows(&document["comparison"]).len(), 3);
    let explanations = document["explanations"].as_array().unwrap();
    let paths: Vec<_> = explanations.iter().map(|explain| &explain["path"]).collect();
    assert_eq!(paths, ["syscall.getppid", "file.stat"]);
    for explain in explanations {
        assert_adds_up(explain);
    }
    let run = compare_explained(&scene, &["-o", "out.json", "--full"]);
    assert!(run.succeeded().stdout.contains("path  file.stat"), "the tables, too");
    let saved: Value =
        serde_json::from_slice(&std::fs::read(scene.path("out.json")).unwrap()).unwrap();
    assert_eq!(saved, document);
}

#[test]
fn what_cannot_be_explained_costs_nothing_of_the_comparison() {
    let scene = Scene::cold();
    let qemu = scene.executable("qemu", WITHOUT_PLUGINS);
    let run = compare_explained(&scene, &["--json", "--perturb", "1", "--qemu", &qemu]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_valid(&document, "pathmeter.explained-comparison-1");
    assert_eq!(rows(&document["comparison"]).len(), 3);
    assert_eq!(document["explanations"], Value::Array(vec![]));
    let said = |line: &&str| line.contains("does not take the recorder plugin");
    let (notes, errors): (Vec<&str>, Vec<&str>) =
        run.stderr.lines().filter(said).partition(|line| line.contains("note: "));
    assert_eq!(errors.len(), 1, "it is QEMU's lack, not a path's or a kernel's: {}", run.stderr);
    assert_eq!(notes.len(), 2, "what the samples of each kernel lack: {}", run.stderr);
}

#[test]
fn a_path_before_which_the_kernel_dies_is_explained_and_the_broken_one_is_not() {
    let (base, panics) = (built("base"), built("panics-in-stat"));
    let scene = Scene::warm();
    let run = scene.run(&["explain", "file.getdents", &base, &panics, "--json"]);
    run.assert_printed(&["running file.stat: ", "recording without it"]);
    assert_eq!(run.json()["difference"]["total"], 0);
    let only = ["--only", "file.stat,file.getdents", "--explain", "--json"];
    let run = scene.run(&[&["compare", &base, &panics][..], &only].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["comparison"]["summary"]["broken"], 1);
    assert_eq!(document["explanations"], Value::Array(vec![]));
}
