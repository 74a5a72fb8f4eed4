//! The events of a program's rows and regions, the functions of its rows, and its first
//! instruction.

use pathmeter_e2e::{Scene, built, debian, soak};
use serde_json::Value;

use super::{compare_program, kernels, measure_program, program, rows, run};

/// Test kernels of which each system call by `syscall` has other instructions than base's, and as
/// many (docs/evidence/tests.md): all events in which a call differs, in the order of documents.
/// The first [`FEW`] have two events, one of them less often, and an event of the kernel alone.
const HIDDEN_COSTS: [(&str, &[(&str, i64)]); 8] = [
    ("popf", &[("popf", 1), ("pushf", 1)]),
    ("div", &[("div-64", 1), ("mul-64", -1)]),
    ("wrmsr", &[("wrmsr", 1)]),
    ("lfence", &[("lfence", 1)]),
    ("lock", &[("locked", 1)]),
    ("segment-load", &[("load-segment", 1)]),
    ("indirect-call", &[("indirect-branches", 1)]),
    ("clflush", &[("clflush", 1)]),
];
/// So many of them are compared in the short form: each is seen in paths as well.
const FEW: usize = 3;
/// Calls of getppid in tests/programs/processes.c.
const CALLS: i64 = 28;
/// Of each of its children.
const CALLS_OF_A_CHILD: u64 = 7;

fn row<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let mut rows = comparison["paths"].as_array().unwrap().iter();
    rows.find(|row| row["path"] == name).unwrap_or_else(|| panic!("{name}: {comparison}"))
}

/// The difference in an event; 0 if there is none.
fn difference(events: &Value, name: &str) -> i64 {
    let mut events = events.as_array().unwrap().iter();
    let event = events.find(|event| event["event"] == name);
    event.map_or(0, |event| event["difference"].as_i64().unwrap())
}

#[test]
fn what_costs_a_row_without_an_instruction_more_is_told() {
    let some = if soak() { HIDDEN_COSTS.len() } else { FEW };
    for (variant, a_call) in &HIDDEN_COSTS[..some] {
        let (base, new) = (built("base"), built(variant));
        let (_, comparison) = compare_program(&base, &new, &[], &[&program("processes")]);
        let cost = row(&comparison, "getppid");
        assert_eq!(cost["difference"], 0, "{variant}: {cost}");
        assert_eq!(cost["verdict"], "events-differ", "{variant}: {cost}");
        let told =
            cost["events"].as_array().unwrap().iter().map(|event| {
                (event["event"].as_str().unwrap(), event["difference"].as_i64().unwrap())
            });
        let expected = a_call.iter().map(|(name, number)| (*name, number * CALLS));
        assert!(told.eq(expected), "{variant}: {cost}");
    }
}

/// The one `lfence` that each system call has more is in one function, which has nothing else.
#[test]
fn a_slow_instruction_more_is_in_the_function_that_executes_it() {
    let (base, new) = (built("base"), built("lfence"));
    let (_, comparison) = compare_program(&base, &new, &["--explain"], &[&program("processes")]);
    let cost = row(&comparison, "getppid");
    assert_eq!(cost["verdict"], "events-differ", "{cost}");
    let functions = cost["functions"].as_array().unwrap().iter();
    let fences = functions.filter(|one| !one["events"]["lfence"].is_null());
    let fences: Vec<_> = fences.map(|one| (one["function"].as_str(), &one["events"])).collect();
    let events = serde_json::json!({ "lfence": CALLS });
    assert_eq!(fences, [(Some("pathmeter_fixture"), &events)], "{cost}");
}

#[test]
fn what_mitigations_cost_is_in_rows_and_regions() {
    let options = ["--under", "default", "--under", "boot:mitigations=off", "--json"];
    let command = [&*program("regions"), "good"];
    let comparison = run(&Scene::warm(), &[&debian("cloud")], &options, &command).json();
    let cost = row(&comparison, "getppid");
    let calls = cost["work"]["base_calls"]["least"].as_i64().unwrap();
    for (name, a_call) in [("mov-cr3", -2), ("wrmsr", -2), ("verw", -1)] {
        assert_eq!(difference(&cost["events"], name), a_call * calls, "{name}: {cost}");
        let inner = row(&comparison, "user.inner");
        assert_eq!(difference(&inner["events"], name), a_call, "{name}: {inner}");
    }
}

/// As many as the same call has as a path: with SRSO's mitigation, each of the kernel's returns.
#[test]
fn mispredicted_returns_of_a_row_are_those_of_the_path() {
    let scene = Scene::warm();
    let kernel = built("base");
    let zen = ["--cpu", "zen2", "--json"];
    let off = ["--append", "spec_rstack_overflow=off"];
    for more in [&[][..], &off] {
        let path = scene.run(&[&["measure", &kernel], &zen[..], more].concat()).json();
        let expected = of_each_sample(&path, "syscall.getppid");
        let options = [&["--returns"], &zen[..], more].concat();
        let result = run(&scene, &[&kernel], &options, &[&program("processes")]).json();
        // Three children call it without anything between the calls; the others are stepped
        // through, or wait for one another.
        let processes = result["execution"]["processes"].as_array().unwrap();
        let rows = processes.iter().flat_map(|process| process["rows"].as_array().unwrap());
        let of_children = rows.filter(|row| row["path"] == "getppid").map(numbers);
        let alike = of_children.filter(|numbers| *numbers == [expected[0] * CALLS_OF_A_CHILD]);
        assert!(alike.count() >= 3, "{more:?} {expected:?}: {processes:?}");
        assert_eq!(expected[0] == 0, !more.is_empty(), "{more:?}");
    }
}

/// 42 calls deep, of which a return stack forgets ten.
#[test]
fn returns_of_a_deep_recursion_are_mispredicted_where_its_calls_are_forgotten() {
    let kernel = built("base");
    let options = ["--returns", "--json"];
    let result = run(&Scene::warm(), &[&kernel], &options, &[&program("calls")]).json();
    assert_eq!(of_each_sample(&result, "user.recursion"), [10]);
    assert_eq!(of_each_sample(&result, "user.leap"), [0]);
    // They are not counted unless that is asked for, and then they are not none.
    let usual = run(&Scene::warm(), &[&kernel], &options[1..], &[&program("calls")]).json();
    assert!(!row(&usual, "read")["events"]["names"].to_string().contains("mispredicted"));
}

/// The different numbers of mispredicted returns in the samples of a path or row.
fn of_each_sample(result: &Value, name: &str) -> Vec<u64> {
    numbers(row(result, name))
}

fn numbers(row: &Value) -> Vec<u64> {
    let events = &row["events"];
    let names = events["names"].as_array().unwrap();
    let place = names.iter().position(|one| one == "mispredicted-returns");
    let number = |counts: &Value| place.map_or(0, |place| counts[place].as_u64().unwrap());
    let mut all: Vec<u64> = events["distinct"].as_array().unwrap().iter().map(number).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn a_program_has_its_own_instructions_and_no_other() {
    for kernel in kernels() {
        let result = measure_program(&kernel, &[&program("loop")]);
        let own = rows(&result).into_iter().filter(|row| row.kind == "user");
        let own: Vec<u64> = own.map(|row| row.instructions).collect();
        assert_eq!(own, [4004; super::RUNS]);
    }
}

/// What is executed before a call is known is in it as well: audit and filters execute much.
#[test]
fn functions_of_a_row_are_all_that_it_executed() {
    let (cloud, program) = (debian("cloud"), program("processes"));
    let condition = ["--under", "boot:audit=1 seccomp:podman", "--perturb", "1"];
    let command = ["--explain", "--json", "--", &program];
    let words = [&["run", &cloud], &condition[..], &command].concat();
    let result = Scene::warm().run(&words).json();
    let of_kernel = rows(&result).into_iter().filter(|row| row.run == 1 && row.kind != "user");
    for one in of_kernel {
        let costs = row(&result, &one.name)["functions"].as_array().unwrap().iter();
        let sum: u64 = costs.map(|cost| cost["instructions"].as_u64().unwrap()).sum();
        assert_eq!(sum, one.instructions, "{}", one.name);
    }
}

#[test]
fn a_list_that_is_followed_twice_has_twice_its_lines_in_visits() {
    // Of tests/programs/chase.c: a thousand nodes, each in a line of its own.
    let run = run(&Scene::warm(), &[&built("base")], &["--json", "--lines"], &[&program("chase")]);
    let result = run.json();
    let region = row(&result, "user.chase");
    let check = |name: &str| {
        let mut checks = region["checks"].as_array().unwrap().iter();
        checks.find(|check| check["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
    };
    assert_eq!((check("visits of lines"), check("lines")), ("2000".into(), "0".into()));
}
