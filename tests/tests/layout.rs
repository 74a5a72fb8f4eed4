//! Builds of the same source that differ in layout only compare `same`; one instruction more in
//! the system call path shows as exactly that, once for each system call that a window makes.

use std::collections::BTreeSet;

use pathmeter_e2e::{NOT_ON_BUILT, NOT_ON_LINUX, Scene, built, path, rows};
use serde_json::Value;

/// How often some paths go through the system call instruction's entry: a fork is one call, another
/// for waiting, and the child's exit; a round trip enters the kernel once a switch on either side,
/// and one between processes twice.
const KNOWN: [(&str, i64); 7] = [
    ("syscall.getppid", 1),
    ("file.open-close", 2),
    ("switch.yield", 2),
    ("process.fork-exit", 3),
    ("switch.pipe", 4),
    ("syscall.getppid-int80", 0),
    ("memory.fault-anon", 0),
];

/// How often the windows of a path have that instruction, by the events of its result.
fn system_calls(result: &Value, name: &str) -> BTreeSet<i64> {
    let events = &path(result, name)["events"];
    let place = |names: &Vec<Value>| names.iter().position(|event| event == "syscall");
    let Some(at) = events["names"].as_array().and_then(place) else { return [0].into() };
    let windows = events["distinct"].as_array().unwrap().iter();
    windows.map(|counts| counts[at].as_i64().unwrap()).collect()
}

fn comparison(base: &str, new: &str) -> Value {
    Scene::warm().run(&["compare", &built(base), &built(new), "--json"]).json()
}

/// The paths whose pairs differ by random numbers: TCP compares a connection's first sequence
/// number with 0 (Linux `bictcp_hystart_reset`).
const BY_CHANCE: [&str; 1] = ["tcp.connect"];

/// Two thirds of all pairs have the difference: the runs as a whole do not move, neither by what
/// another process left behind nor by a tick or by pages that are not yet counted.
fn assert_even(row: &Value) {
    let count = |name: &str| row["pairs"][name].as_i64().unwrap();
    let is_even = row["pairs"].is_null() || 3 * count("agreeing") >= 2 * count("of");
    assert!(is_even || BY_CHANCE.iter().any(|name| row["path"] == *name), "{row}");
}

/// The rows must all be `same`, but for those that no Linux has here.
fn assert_same(comparison: &Value) {
    for row in rows(comparison) {
        match row["path"].as_str().unwrap() {
            name if NOT_ON_LINUX.contains(&name) || NOT_ON_BUILT.contains(&name) => {
                assert_eq!(row["verdict"], "unsupported", "{row}");
            }
            // A check has no numbers.
            "flags.isolation" => assert_eq!(row["verdict"], "same", "{row}"),
            _ => {
                assert_eq!(row["verdict"], "same", "{row}");
                assert_eq!(row["difference"], 0, "{row}");
                assert_even(row);
            }
        }
    }
}

#[test]
fn another_localversion_is_the_same() {
    assert_same(&comparison("base", "localversion"));
}

#[test]
fn a_dead_function_more_is_the_same() {
    assert_same(&comparison("base", "dead-function"));
}

#[test]
fn functions_in_another_order_are_the_same() {
    assert_same(&comparison("base", "reordered"));
}

#[test]
fn one_nop_more_a_system_call_is_exactly_that() {
    let comparison = comparison("base", "nop");
    let result = Scene::warm().run(&["measure", &built("base"), "--json"]).json();
    for row in rows(&comparison) {
        let name = row["path"].as_str().unwrap();
        let difference = row["difference"].as_i64().unwrap_or(0);
        assert!(system_calls(&result, name).contains(&difference), "{row}");
        assert_eq!(row["verdict"] == "higher", difference > 0, "{row}");
        assert_even(row);
    }
    for (name, calls) in KNOWN {
        assert_eq!(path(&comparison, name)["difference"], calls, "{name}");
    }
}
