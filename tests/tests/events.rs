//! Kernels that cost more by as many instructions: `compare` says which event differs, on exactly
//! the paths that execute it, and no other.

use pathmeter_e2e::{Scene, built, debian, path, rows, soak};
use serde_json::{Value, json};

/// Each test kernel with what one system call of it has more than base's (docs/evidence/tests.md):
/// the event, how often a call, and how often a window, whatever its calls. The last [`LONG`], told
/// by their instruction as others are, are compared in the long form; `explain` finds each of them.
const HIDDEN_COSTS: [(&str, &str, i64, i64); 11] = [
    ("lfence", "lfence", 1, 0),
    ("popf", "popf", 1, 0),
    ("four-lines", "data-lines", 0, 3),
    ("div", "div-64", 1, 0),
    ("split-line", "split-accesses", 2, 0),
    ("indirect-call", "indirect-branches", 1, 0),
    ("two-pages", "data-pages", 0, 1),
    ("lock", "locked", 1, 0),
    ("segment-load", "load-segment", 1, 0),
    ("wrmsr", "wrmsr", 1, 0),
    ("clflush", "clflush", 1, 0),
];
const LONG: usize = 4;
/// Paths with one call a window, with two, and with four.
const CALLS: [(&str, i64); 3] = [("syscall.getppid", 1), ("switch.yield", 2), ("switch.pipe", 4)];

/// Few runs: what is looked at has one value.
const FEW: [&str; 2] = ["--perturb", "2"];

fn compare_with_base(scene: &Scene, new: &str) -> Value {
    let (base, new) = (built("base"), built(new));
    scene.run(&[&["compare", &base, &new, "--json"], &FEW[..]].concat()).json()
}

fn event<'a>(row: &'a Value, name: &str) -> Option<&'a Value> {
    row["events"].as_array().unwrap().iter().find(|event| event["event"] == name)
}

#[test]
fn what_costs_without_an_instruction_more_is_told() {
    let scene = Scene::warm();
    let some = if soak() { HIDDEN_COSTS.len() } else { HIDDEN_COSTS.len() - LONG };
    for (variant, name, a_call, a_window) in HIDDEN_COSTS.into_iter().take(some) {
        let comparison = compare_with_base(&scene, variant);
        for (path_name, calls) in CALLS {
            let row = path(&comparison, path_name);
            assert_eq!(row["difference"], 0, "{variant}: {row}");
            let more = event(row, name).unwrap_or_else(|| panic!("{variant}: {row}"));
            assert_eq!(more["difference"], a_call * calls + a_window, "{variant}: {row}");
            // A page more may be layout: it is shown, and is no verdict.
            let verdict = if name == "data-pages" { "same" } else { "events-differ" };
            assert_eq!(row["verdict"], verdict, "{variant}: {row}");
        }
        let untouched = path(&comparison, "flags.popf");
        assert_eq!((&untouched["verdict"], &untouched["events"]), (&json!("same"), &json!([])));
    }
}

#[test]
fn an_entry_that_moved_is_told_and_is_no_verdict() {
    let scene = Scene::warm();
    let comparison = compare_with_base(&scene, "moved-entry");
    assert_eq!(comparison["summary"]["events-differ"], 0);
    assert_eq!(path(&comparison, "syscall.getppid")["moved"]["functions"], 1);
    assert_eq!(path(&comparison, "flags.popf")["moved"]["functions"], 0);
    let (base, moved) = (built("base"), built("moved-entry"));
    let table = scene.run(&[&["compare", &base, &moved, "--all"], &FEW[..]].concat()).stdout;
    assert!(table.contains("functions moved within their cache lines"), "{table}");
}

#[test]
fn a_gate_fails_by_the_events_that_it_takes() {
    let scene = Scene::warm();
    let (base, lfence, indirect) = (built("base"), built("lfence"), built("indirect-call"));
    let code = |new: &str, check: &str| {
        scene.run(&[&["compare", &base, new, check], &FEW[..]].concat()).code
    };
    assert_eq!(code(&lfence, "--check"), 1);
    assert_eq!(code(&lfence, "--check=instructions"), 0);
    // A ring of 16 tasks makes 32 calls in a window.
    assert_eq!([31, 32].map(|slack| code(&lfence, &format!("--check=lfence:{slack}"))), [1, 0]);
    assert_eq!([code(&indirect, "--check"), code(&indirect, "--check=all")], [0, 1]);
    let run = scene.run(&["compare", &base, &lfence, "--check=lfences"]);
    assert_eq!(run.code, 2);
    run.assert_printed(&["lfences is no event", "locked"]);
}

/// The numbers of an event that a path's windows have.
fn numbers(result: &Value, name: &str, event: &str) -> Vec<u64> {
    let events = &path(result, name)["events"];
    let place = events["names"].as_array().unwrap().iter().position(|one| one == event);
    let windows = events["distinct"].as_array().unwrap().iter();
    windows.map(|window| place.map_or(0, |place| window[place].as_u64().unwrap())).collect()
}

/// With SRSO's mitigation each return of the kernel follows a call that never returns.
#[test]
fn a_mitigation_that_mispredicts_each_return_shows() {
    let scene = Scene::warm();
    let zen = |more: &[&str]| {
        let measure = ["measure", &built("base"), "--cpu", "zen2", "--json"];
        scene.run(&[&measure, &FEW[..], more].concat()).json()
    };
    let (with, without) = (zen(&[]), zen(&["--append", "spec_rstack_overflow=off"]));
    for call in ["syscall.getppid", "file.stat"] {
        let returns = numbers(&with, call, "returns");
        assert!(returns.iter().all(|number| *number > 0), "{returns:?}");
        assert_eq!(numbers(&with, call, "mispredicted-returns"), returns, "{call}");
    }
    // With the rest of the mitigations, a plain call of the kernel has none.
    let all = |call: &str, is: fn(&u64) -> bool| {
        numbers(&without, call, "mispredicted-returns").iter().all(is)
    };
    assert!(all("syscall.getppid", |number| *number == 0));
    // Two switches, each of which fills the return stack.
    assert!(all("switch.yield", |number| *number > 0));
}

/// As a processor's counter would: neither the number of iterations nor a fault is an instruction.
#[test]
fn instructions_are_those_retired_and_the_clock_is_told_beside_them() {
    let result = Scene::warm().run(&["measure", &debian("cloud"), "--json"]).json();
    let counted = rows(&result).iter().filter(|row| !row["events"].is_null());
    assert!(counted.clone().count() > 30);
    for row in counted {
        let events = &row["events"];
        let names: Vec<&str> =
            events["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let samples = row["samples"].as_array().unwrap();
        for (sample, which) in samples.iter().zip(events["of_samples"].as_array().unwrap()) {
            let numbers = events["distinct"][usize::try_from(which.as_u64().unwrap()).unwrap()]
                .as_array()
                .unwrap();
            let of = |name: &str| {
                let place = names.iter().position(|one| *one == name);
                place.map_or(0, |place| numbers[place].as_u64().unwrap())
            };
            assert_eq!(of("user") + of("kernel"), sample.as_u64().unwrap(), "{row}");
            let clock = sample.as_u64().unwrap() + of("string-steps") - of("rep");
            assert_eq!(of("clock"), clock, "{row}");
        }
    }
}
