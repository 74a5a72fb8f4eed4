//! Regions that a program marks, by `include/pathmeter.h`.

use pathmeter_e2e::{Run, Scene, built, path, paths};
use serde_json::Value;

use super::{assert_adds_up, measure_program, program, run};

/// The result with its regions alone.
fn regions(result: &Value) -> Value {
    let paths = result["paths"].as_array().unwrap().iter();
    let regions: Vec<&Value> = paths.filter(|path| path["work"].is_null()).collect();
    serde_json::json!({ "paths": regions })
}

/// The check of this name of a region.
fn check<'a>(region: &'a Value, name: &str) -> &'a str {
    let checks = region["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {region}"))["value"].as_str().unwrap()
}

fn samples(region: &Value) -> Vec<u64> {
    region["samples"].as_array().unwrap().iter().map(|sample| sample.as_u64().unwrap()).collect()
}

fn marked(how: &str) -> Run {
    run(&Scene::warm(), &[&built("base")], &["--json"], &[&program("regions"), how])
}

#[test]
fn a_nested_region_is_part_of_the_one_around_it() {
    let result = measure_program(&built("base"), &[&program("regions"), "good"]);
    assert_adds_up(&result);
    let regions = regions(&result);
    let (outer, inner) = (path(&regions, "user.outer"), path(&regions, "user.inner"));
    let (more, less) = (samples(outer), samples(inner));
    assert_eq!((more.len(), less.len()), (20, 20));
    // The outer one has another call of the same, and the marks of the inner one.
    let twice = more.iter().zip(&less).filter(|(outer, inner)| **outer > 2 * **inner);
    assert_eq!(twice.count(), 20, "{more:?} {less:?}");
    assert_eq!(check(outer, "executions"), "30");
    // What is expected belongs to the region that is open then.
    assert_eq!(check(outer, "proved"), "in every execution");
    assert_eq!(check(inner, "proved"), "no: the region has no expectation");
}

#[test]
fn each_thread_has_regions_of_its_own() {
    let result = measure_program(&built("base"), &[&program("regions"), "threads"]);
    assert_adds_up(&result);
    let regions = regions(&result);
    assert_eq!(paths(&regions).len(), 4, "{regions}");
    assert_eq!(check(path(&regions, "user.inner"), "executions"), "60");
    for name in ["user.main", "user.thread"] {
        assert_eq!(check(path(&regions, name), "executions"), "3");
    }
}

#[test]
fn wrong_marks_are_an_error_that_names_the_region() {
    marked("crossed").assert_unmeasured(&["run 1: the region first ends while second is open"]);
    marked("open").assert_unmeasured(&["run 1: the region endless has no end"]);
    marked("many").assert_unmeasured(&["more than 4,096"]);
}

#[test]
fn an_expectation_that_failed_is_in_its_region() {
    let run = marked("odd");
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    let regions = regions(&result);
    let odd = path(&regions, "user.odd");
    assert_eq!(odd["status"], "failed");
    assert!(odd["reason"].as_str().unwrap().contains("i != 1"), "{odd}");
    assert_eq!(samples(odd), [0; 0]);
}
