//! Results and comparisons as documents, and what is done with them.

use std::fs;

use pathmeter_e2e::{NOT_ON_BUILT, NOT_ON_LINUX, Scene, built, debian, rows, with_status};
use serde_json::Value;

const FEW: &[&str] = &["--perturb", "2"];

/// `document` must be what the published schema says.
pub(crate) fn assert_valid(document: &Value, schema: &str) {
    let file = format!("{}/../docs/schemas/{schema}.json", env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
}

/// Measures `kernel` into the scene's file `name`.
fn keep(scene: &Scene, kernel: &str, name: &str, more: &[&str]) {
    let kernel = built(kernel);
    scene.run(&[&["measure", &kernel, "-o", name], more].concat()).succeeded();
}

/// The exit code of `compare --check` of two kernels.
fn checked(base: &str, new: &str, more: &[&str]) -> i32 {
    let kernels = [built(base), built(new)];
    let arguments = [&["compare", &kernels[0], &kernels[1], "--check"], more].concat();
    Scene::warm().run(&arguments).code
}

#[test]
fn two_debian_kernels_are_compared() {
    let scene = Scene::warm();
    let kernels = [debian("cloud"), debian("rt")];
    let run = scene.run(&["compare", &kernels[0], &kernels[1], "--json"]);
    let comparison = run.json();
    assert_valid(&comparison, "pathmeter.comparison-1");
    assert!(comparison["base"]["release"].as_str().unwrap().ends_with("-cloud-amd64"));
    assert!(comparison["new"]["release"].as_str().unwrap().ends_with("-rt-amd64"));
    for row in rows(&comparison) {
        let unsupported = row["verdict"] == "unsupported";
        let not_on_linux = NOT_ON_LINUX.iter().any(|name| row["path"] == *name);
        assert_eq!(unsupported, not_on_linux, "{row}");
        assert_ne!(row["verdict"], "broken", "{row}");
    }
    assert!(rows(&comparison).iter().any(|row| row["verdict"] == "higher"));
}

#[test]
fn documents_are_what_the_schemas_say() {
    let scene = Scene::warm();
    // The lab kernel lacks some paths.
    let kernels = [built("base"), built("nop"), "lab".to_owned()];
    for kernel in &kernels {
        let result = scene.run(&[&["measure", kernel, "--json"], FEW].concat()).json();
        assert_valid(&result, "pathmeter.result-1");
        let arguments = ["compare", &kernels[0], kernel, "--json"];
        let comparison = scene.run(&[&arguments, FEW].concat()).json();
        assert_valid(&comparison, "pathmeter.comparison-1");
    }
}

#[test]
fn results_compare_as_their_kernels_do() {
    let scene = Scene::warm();
    keep(&scene, "base", "base.json", FEW);
    keep(&scene, "nop", "nop.json", FEW);
    let kernels = [built("base"), built("nop")];
    let arguments = ["compare", &kernels[0], &kernels[1], "--json"];
    let mut of_kernels = scene.run(&[&arguments, FEW].concat()).json();
    // A result does not hold how its kernel was built, and so has another seal.
    for field in ["options", "compilers", "seal"] {
        assert!(of_kernels.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    let of_results = scene.run(&["compare", "base.json", "nop.json", "--json"]);
    let of_both = scene.run(&[&["compare", "base.json", &kernels[1], "--json"], FEW].concat());
    for run in [of_results, of_both] {
        let mut comparison = run.json();
        assert!(comparison.as_object_mut().unwrap().remove("seal").is_some());
        assert_eq!(comparison, of_kernels);
    }
}

#[test]
fn results_measured_otherwise_are_refused_with_the_difference_named() {
    let scene = Scene::warm();
    keep(&scene, "base", "fixed.json", FEW);
    keep(&scene, "base", "qemu64.json", &[FEW, &["--cpu", "qemu64"]].concat());
    let refused = scene.run(&["compare", "fixed.json", "qemu64.json"]);
    assert_eq!((refused.code, &refused.stdout[..]), (2, ""));
    refused.assert_printed(&["cpu: \"skylake: base,", "qemu64", "--across"]);
    let across = scene.run(&["compare", "fixed.json", "qemu64.json", "--across", "--json"]).json();
    assert_valid(&across, "pathmeter.comparison-1");
    assert_eq!(across["base"]["image_sha256"], across["new"]["image_sha256"]);
}

#[test]
fn check_is_1_if_a_path_became_more_expensive_and_0_if_cheaper_or_same() {
    assert_eq!(checked("base", "nop", &[]), 1);
    assert_eq!(checked("nop", "base", &[]), 0);
    assert_eq!(checked("base", "reordered", &[]), 0);
}

#[test]
fn check_looks_only_at_what_is_shown_and_beyond_the_threshold() {
    assert_eq!(checked("base", "nop", &["--only", "flags.*,getcpu.vdso"]), 0);
    assert_eq!(checked("base", "nop", &["--only", "file.stat"]), 1);
    assert_eq!(checked("base", "nop", &["--threshold", "0.01", "--only", "syscall.*"]), 1);
    assert_eq!(checked("base", "nop", &["--threshold", "1"]), 0);
}

#[test]
fn a_result_says_what_it_was_measured_with() {
    let scene = Scene::warm();
    let result = scene.run(&["measure", &built("base"), "--json"]).json();
    let configuration = &result["configuration"];
    assert_eq!(configuration["clock"], "instructions");
    for part in ["image_sha256", "agent_sha256", "initramfs_sha256"] {
        assert_eq!(configuration[part].as_str().unwrap().len(), 64, "{part}");
    }
    for part in ["release", "command_line", "cpu", "machine", "qemu"] {
        assert!(!configuration[part].as_str().unwrap().is_empty(), "{part}");
    }
    let lacking = NOT_ON_LINUX.len() + NOT_ON_BUILT.len();
    assert_eq!(with_status(&result, "ok").len(), rows(&result).len() - lacking);
}
