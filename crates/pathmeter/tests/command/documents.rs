//! The JSON that others read: valid by the published schemas, and the same in files and on stdout.

use std::path::Path;

use serde_json::Value;

use crate::results::{base, bimodal, leaking, measured_otherwise};
use crate::scene::Scene;

/// What is wrong with `document` by the schema in `docs/schemas/`.
pub(crate) fn faults(schema: &str, document: &Value) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(schema);
    let schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(document).map(|error| error.to_string()).collect()
}

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_result_is_valid_by_its_schema_and_by_itself() {
    let scene = Scene::with(&base(), &leaking());
    for name in ["base.json", "new.json"] {
        let ran = scene.run(&["measure", name, "--json"]);
        assert_eq!(faults("pathmeter.result-1.json", &parse_json(&ran.stdout)), [""; 0]);
        assert_eq!(parse_json(&ran.stdout), parse_json(&scene.read(name)));
    }
}

#[test]
fn a_comparison_is_valid_by_its_schema() {
    for new in [bimodal(), leaking(), measured_otherwise()] {
        let scene = Scene::with(&base(), &new);
        let ran = scene.run(&["compare", "base.json", "new.json", "--across", "--json"]);
        assert_eq!(faults("pathmeter.comparison-1.json", &parse_json(&ran.stdout)), [""; 0]);
    }
}

#[test]
fn the_schemas_refuse_what_lacks_a_field() {
    let scene = Scene::with(&base(), &base());
    let mut document = parse_json(&scene.read("base.json"));
    document.as_object_mut().unwrap().remove("configuration");
    assert!(!faults("pathmeter.result-1.json", &document).is_empty());
}

#[test]
fn paths_lists_every_path_with_its_unit() {
    let document = parse_json(&Scene::new().run(&["list", "paths", "--json"]).stdout);
    assert_eq!(document["schema"], "pathmeter.paths/1");
    let paths = document["paths"].as_array().unwrap();
    let find = |name: &str| paths.iter().find(|path| path["path"] == name).unwrap();
    assert_eq!(find("syscall.getppid")["unit"], "instructions");
    assert!(find("syscall.getppid")["windows"].as_u64() > Some(0));
    assert_eq!(find("flags.isolation")["unit"], "check");
    assert!(paths.iter().all(|path| path["about"].as_str().is_some_and(|about| !about.is_empty())));
}

#[test]
fn doctor_warns_of_a_cache_that_cannot_be() {
    let scene = Scene::new();
    scene.write("cache", "a file where the folder should be");
    let ran = scene.command(&["doctor", "--json"]).env("PATH", "").output().unwrap();
    let report = parse_json(&String::from_utf8(ran.stdout).unwrap());
    let checks = report["checks"].as_array().unwrap();
    let cache = checks.iter().find(|check| check["name"] == "cache").unwrap();
    assert_eq!(cache["status"], "warn");
    assert!(cache["found"].as_str().unwrap().contains("cache/pathmeter: "));
    assert!(cache["advice"].as_str().unwrap().contains("every run boots the kernels anew"));
}

#[test]
fn doctor_says_what_it_found_and_whether_exact_runs_work() {
    let scene = Scene::new();
    let ran = scene.command(&["doctor", "--json"]).env("PATH", "").output().unwrap();
    let document = parse_json(&String::from_utf8(ran.stdout).unwrap());
    assert_eq!((ran.status.code(), &document["exact"]), (Some(3), &Value::Bool(false)));
    let checks = document["checks"].as_array().unwrap();
    assert_eq!((&checks[0]["name"], &checks[0]["status"]), (&"qemu".into(), &"fail".into()));
    assert!(checks[0]["advice"].as_str().unwrap().contains("apt-get install qemu-system-x86"));
}
