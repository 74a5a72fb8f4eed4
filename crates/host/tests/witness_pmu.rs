//! The command, on this machine: with the clock in place of the counter, and without a counter.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for such")]

use std::path::PathBuf;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use pathmeter_model::{Configuration, example};
use tempfile::TempDir;

/// An exact result of one path: 14 instructions in user mode and 102 in the kernel.
fn exact(folder: &TempDir) -> PathBuf {
    let getppid = example::in_runs("syscall.getppid", &[&[116; 51]]);
    let getppid = example::counting(getppid, &[("user", 14), ("kernel", 102)], &[]);
    let configuration = Configuration { cpu: "zen2".into(), ..example::configuration("6.1.0", 1) };
    let measurement = example::measurement("vmlinuz", configuration, vec![getppid]);
    let path = folder.path().join("exact.json");
    std::fs::write(&path, pathmeter_seal::to_document(&measurement).unwrap()).unwrap();
    path
}

fn run(arguments: &[&str]) -> Output {
    Command::new(cargo_bin("pathmeter-witness-pmu")).args(arguments).output().unwrap()
}

/// Whether this process may make the namespaces that a pass needs.
fn may_prepare() -> bool {
    let tried = Command::new("unshare").args(["--mount", "--net", "true"]).output();
    rustix::process::geteuid().is_root() && tried.is_ok_and(|output| output.status.success())
}

fn error(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn with_the_clock_every_path_is_executed_or_has_a_reason() {
    let folder = TempDir::new().unwrap();
    let (exact, json) = (exact(&folder), folder.path().join("witness.json"));
    let (exact, json) = (exact.to_str().unwrap(), json.to_str().unwrap());
    let output = run(&[exact, "--fake", "--runs", "2", "-o", json]);
    if !may_prepare() {
        let error = error(&output);
        assert!(error.contains("only root") || error.contains("container"), "{error}");
        return;
    }
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(table.starts_with("A TEST OF THE PROGRAM"), "{table}");
    assert!(table.contains("1 paths compared"), "{table}");
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(document["schema"], "pathmeter.witness-pmu/1");
    let paths = document["paths"].as_array().unwrap();
    assert_eq!(paths.len(), pathmeter_probes::Suite::Exact.paths().len());
    let counted = |path: &serde_json::Value| path["counted"]["ok"][0]["values"].is_array();
    // Which of them a kernel can execute differs; these need nothing.
    for name in ["syscall.getppid", "file.stat", "switch.yield", "flags.popf-ac", "signal.deliver"]
    {
        let path = paths.iter().find(|path| path["path"] == name).unwrap();
        assert!(counted(path), "{path}");
        let values = path["counted"]["ok"][0]["values"].as_array().unwrap();
        let samples: u64 = values.iter().map(|value| value["count"].as_u64().unwrap()).sum();
        assert!(samples >= 62, "{name}: {samples}");
    }
    for path in paths.iter().filter(|path| !counted(path)) {
        let reasons = ["unsupported", "failed", "left-out"].map(|word| &path["counted"][word]);
        assert!(reasons.iter().any(|reason| reason.is_string()), "{path}");
    }
}

#[test]
fn a_pass_leaves_nothing_in_the_file_system() {
    let folder = TempDir::new().unwrap();
    let exact = exact(&folder);
    run(&[exact.to_str().unwrap(), "--fake", "--runs", "1"]);
    for place in ["/pathmeter-file", "/tmp/pathmeter-file", "/tmp/dev"] {
        assert!(!std::path::Path::new(place).exists(), "{place}");
    }
    assert!(exact.exists());
}

#[test]
fn without_a_counter_the_error_says_what_to_do() {
    let folder = TempDir::new().unwrap();
    let output = run(&[exact(&folder).to_str().unwrap(), "--runs", "1"]);
    if output.status.success() {
        // A machine that has one.
        assert!(String::from_utf8(output.stdout).unwrap().contains("Subtracted from each sample"));
        return;
    }
    let error = error(&output);
    let reasons = ["Linux knows no counter of retired instructions", "only root", "container"];
    assert!(reasons.iter().any(|reason| error.contains(reason)), "{error}");
}

#[test]
fn what_is_no_counted_result_is_refused_before_anything_is_run() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("wrong.json");
    let name = file.to_str().unwrap();
    assert!(error(&run(&[name, "--fake"])).contains("wrong.json"));
    std::fs::write(&file, "{}").unwrap();
    assert!(error(&run(&[name, "--fake"])).contains("pathmeter measure KERNEL -o FILE"));
    let mut result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(exact(&folder)).unwrap()).unwrap();
    result["paths"][0]["events"].take();
    std::fs::write(&file, pathmeter_seal::to_document(&result).unwrap()).unwrap();
    assert!(error(&run(&[name, "--fake"])).contains("no events"));
}
