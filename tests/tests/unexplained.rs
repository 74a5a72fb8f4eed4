//! `explain` where something is missing, wrong or dies: what is known is printed, and the rest is
//! an error that names the kernel and the path.

use std::path::{Path, PathBuf};

use pathmeter_e2e::{Run, Scene, built, path};
use serde_json::Value;

fn explain(path: &str, kernel: &str, more: &[&str]) -> Run {
    Scene::warm().run(&[&["explain", path, kernel], more].concat())
}

/// Instructions by function of the one window in the document, in the document's order.
fn functions(explain: &Value) -> Vec<(&str, u64)> {
    let functions = explain["base"]["window"]["functions"].as_array().unwrap();
    let of = |function: &'_ Value| function["counts"]["instructions"].as_u64().unwrap();
    functions.iter().map(|function| (function["name"].as_str().unwrap(), of(function))).collect()
}

#[test]
fn the_recorder_changes_no_count() {
    let base = built("base");
    let measured = Scene::warm().run(&["measure", &base, "--json"]).json();
    for name in
        ["syscall.getppid", "file.stat", "switch.yield", "signal.deliver", "pipe.write-read"]
    {
        let explain = explain(name, &base, &["--json"]).json();
        let count = |field: &str| explain["base"]["windows"][field].as_u64().unwrap();
        let row = path(&measured, name);
        let shown = &explain["base"]["window"]["total"];
        // An interrupted window is set aside, even if it has the same total.
        let (least, most) = (count("alike"), count("alike") + count("interrupted"));
        let mut samples = &row["samples"].as_array().unwrap()[..];
        let mut runs = row["samples_per_run"].as_array().unwrap().iter();
        // The recorded run is one of those that have the row's value.
        let is_recorded = |of_run: &Value| {
            let of_run = usize::try_from(of_run.as_u64().unwrap()).unwrap();
            let (run, rest) = samples.split_at(of_run);
            samples = rest;
            let alike = run.iter().filter(|sample| *sample == shown).count() as u64;
            count("recorded") == run.len() as u64 && (least.max(1)..=most).contains(&alike)
        };
        assert!(runs.any(is_recorded), "{name}: {shown}, {least} to {most} windows, {row}");
    }
}

#[test]
fn without_symbols_addresses_are_shown_and_add_up() {
    let hidden = ["--append", "sysctl.kernel.kptr_restrict=2", "--json"];
    for (kernel, more, words) in [
        (built("bare"), &["--json"][..], "CONFIG_KALLSYMS"),
        (built("base"), &hidden, "kernel.kptr_restrict=0"),
    ] {
        let run = explain("syscall.getppid", &kernel, more);
        run.assert_printed(&["note: ", "no symbols: ", words, "addresses are shown instead"]);
        let explain = run.json();
        let functions = functions(&explain);
        let addresses = functions.iter().filter(|(name, _)| name.starts_with("0xffffffff8"));
        assert!(addresses.count() > 1, "{functions:?}");
        let sum: u64 = functions.iter().map(|(_, count)| count).sum();
        assert_eq!(explain["base"]["window"]["total"], sum);
    }
}

#[test]
fn a_path_that_hangs_is_named() {
    let kernel = built("hangs-in-stat");
    let run = explain("file.stat", &kernel, &["--timeout", "15"]);
    run.assert_unmeasured(&["hangs-in-stat.bzImage: running file.stat: not done after 15 s"]);
    run.assert_printed(&["--timeout SECONDS"]);
}

#[test]
fn a_path_in_which_the_kernel_panics_is_named() {
    let run = explain("file.stat", &built("panics-in-stat"), &[]);
    run.assert_unmeasured(&["panics-in-stat.bzImage: running file.stat: Kernel panic"]);
    run.assert_printed(&["the end of the guest's console:"]);
}

#[test]
fn a_kernel_that_dies_in_one_path_is_explained_in_the_others() {
    // The path that kills it is in the group of the last one only, and before it. The note is the
    // measurement's or, where its result was at hand, the recording's.
    for (name, noted) in
        [("syscall.getppid", false), ("flags.popf", false), ("file.getdents", true)]
    {
        let run = explain(name, &built("panics-in-stat"), &["--json"]);
        assert_eq!(run.stderr.contains("without it"), noted, "{name}: {}", run.stderr);
        let base = explain(name, &built("base"), &["--json"]).json();
        assert_eq!(run.json()["base"]["window"]["total"], base["base"]["window"]["total"]);
    }
}

#[test]
fn an_unsupported_path_is_an_error_with_the_reason() {
    let run = explain("getcpu.rdpid", &built("base"), &[]);
    run.assert_unmeasured(&["base.bzImage: getcpu.rdpid: this CPU has no rdpid"]);
}

#[test]
fn a_result_is_no_kernel_to_explain() {
    let scene = Scene::warm();
    let base = built("base");
    scene.run(&["measure", &base, "-o", "base.json"]).succeeded();
    let refused = |arguments: &[&str]| {
        let run = scene.run(arguments);
        assert_eq!(run.code, 2, "{}", run.stderr);
        run.assert_printed(&["base.json", "does not hold a kernel", "name the kernel"]);
    };
    refused(&["explain", "file.stat", "base.json"]);
    refused(&["explain", "file.stat", &base, "base.json"]);
    refused(&["compare", "base.json", &base, "--explain"]);
}

/// A file of debug information that is not the kernel's.
fn debug_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/debuginfo/tests/fixtures").join(name)
}

#[test]
fn a_vmlinux_that_does_not_fit_is_refused_and_says_why() {
    let base = built("base");
    for (name, words) in [
        ("vmlinux.elf", &["made for another kernel", "6.1.0-fixture", "-pathmeter"][..]),
        ("vmlinux.stripped", &["has no debug information", "CONFIG_DEBUG_INFO"]),
        ("main.c", &["not an ELF file", "give the vmlinux"]),
        ("missing", &["cannot open", "check the path"]),
    ] {
        let file = debug_file(name);
        let file = file.to_str().unwrap();
        let words = [&[file][..], words].concat();
        explain("file.stat", &base, &["--vmlinux", file]).assert_unmeasured(&words);
        explain("file.stat", &base, &[&built("nop"), "--new-vmlinux", file])
            .assert_unmeasured(&words);
    }
}
