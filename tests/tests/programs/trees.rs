//! Call trees of a program's rows and regions: `explain ROW KERNEL -- PROGRAM`. The program is one
//! whose calls are known (`tests/programs/calls.c`).

use pathmeter_e2e::{Run, Scene, built, debian};
use serde_json::{Value, json};

use super::{kernels, program};
use crate::against::{assert_adds_up, function};
use crate::results::assert_valid;

fn explain(row: &str, kernels: &[&str], options: &[&str]) -> Run {
    let program = program("calls");
    let is_few = kernels.len() == 1 && !options.contains(&"--perturb");
    let perturb: &[&str] = if is_few { &["--perturb", "2"] } else { &[] };
    let words = [&["explain", row], kernels, perturb, options, &["--", &program]].concat();
    Scene::warm().run(&words)
}

/// The window of the only kernel, whose document must be valid and add up.
fn window(row: &str, kernel: &str, options: &[&str]) -> Value {
    let document = explain(row, &[kernel], &[options, &["--json"]].concat()).json();
    assert_valid(&document, "pathmeter.explain-1");
    let window = document["base"]["window"].clone();
    let own = |node: &Value| node["counts"]["instructions"].as_u64().unwrap();
    let sum: u64 = window["nodes"].as_array().unwrap().iter().map(own).sum();
    assert_eq!(window["total"], sum);
    window
}

/// All nodes, each as the names of the functions down to it, with its own instructions.
fn paths(window: &Value) -> Vec<(Vec<String>, u64)> {
    let mut all: Vec<(Vec<String>, u64)> = Vec::new();
    for node in window["nodes"].as_array().unwrap() {
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let above = node["parent"].as_u64().map(|at| all[usize::try_from(at).unwrap()].0.clone());
        let name = &window["functions"][number(&node["function"])]["name"];
        let mut path = above.unwrap_or_default();
        path.push(name.as_str().unwrap().to_owned());
        all.push((path, node["counts"]["instructions"].as_u64().unwrap()));
    }
    all
}

/// The own instructions of all nodes below these functions, the first of which may be anywhere.
fn below(window: &Value, functions: &[&str]) -> u64 {
    let has = |path: &[String]| path.windows(functions.len()).any(|part| part == functions);
    paths(window).iter().filter(|(path, _)| has(path)).map(|(_, own)| own).sum()
}

/// How often a function is in the longest path.
fn depth(window: &Value, function: &str) -> usize {
    let count = |path: &[String]| path.iter().filter(|name| *name == function).count();
    paths(window).iter().map(|(path, _)| count(path)).max().unwrap()
}

/// What `run` says of a row, or of the executions of a region in the run that is shown.
fn instructions(row: &str, kernel: &str) -> u64 {
    let words = ["run", kernel, "--perturb", "2", "--json", "--", &program("calls")];
    let result = Scene::warm().run(&words).json();
    let mut paths = result["paths"].as_array().unwrap().iter();
    let path = paths.find(|path| path["path"] == row).unwrap_or_else(|| panic!("{row}: {result}"));
    path["estimate"]["value"].as_u64().unwrap()
}

#[test]
fn the_tree_of_a_system_call_is_its_row() {
    for kernel in [built("base"), debian("cloud")] {
        let read = window("read", &kernel, &[]);
        assert_eq!(read["total"], instructions("read", &kernel), "{kernel}");
        assert_eq!(paths(&read)[0].0, ["entry_SYSCALL_64"], "{kernel}");
        assert!(below(&read, &["vfs_read"]) > below(&read, &["pipe_read"]));
        assert!(below(&read, &["vfs_read", "pipe_read"]) > 0, "{kernel}");
        // The row has nothing of the program's own code, nor of the writes that wake the reader.
        assert_eq!(read["events"]["user"], Value::Null);
        assert_eq!(below(&read, &["pipe_write"]), 0);
    }
}

#[test]
fn the_callers_of_a_system_call_share_its_row() {
    let kernel = built("base");
    let read = window("read", &kernel, &["--callers"]);
    assert_eq!(read["total"], instructions("read", &kernel));
    let [here, there] =
        ["ask_here", "ask_there"].map(|asker| below(&read, &["main", asker, "read"]));
    // Ten bytes one at a time, or as many times 64 of them.
    assert!(here > 0 && there > 0 && here != there, "{here} {there}");
    let [own, other] = ["[calls]", "[calls/calls]"].map(|process| below(&read, &[process]));
    assert_eq!(
        own,
        below(&read, &["main", "trips"]) + here + there + below(&read, &["main", "read"])
    );
    assert_eq!(own + other, read["total"]);
}

#[test]
fn recursion_is_as_deep_in_the_tree_as_in_the_program() {
    let kernel = built("base");
    let recursion = window("user.recursion", &kernel, &[]);
    assert_eq!(recursion["total"], instructions("user.recursion", &kernel));
    // One call of 40, and one for each of these.
    assert_eq!(depth(&recursion, "descend"), 41);
    let found = paths(&recursion);
    let own = |name: &str| {
        let named = found.iter().filter(|(path, _)| path.last().is_some_and(|last| last == name));
        named.map(|(_, own)| *own).collect::<Vec<_>>()
    };
    let (all, first) = (own("descend"), own("descend")[0]);
    assert!(all[..40].iter().all(|each| *each == first), "{all:?}");
    assert_eq!(own("bottom").len(), 1);
    let users = recursion["events"]["user"].as_u64();
    assert_eq!(users, recursion["total"].as_u64());
}

#[test]
fn calls_deeper_than_a_tree_has_room_for_are_told_and_lose_nothing() {
    let kernel = built("base");
    let run = explain("user.deep", &[&kernel], &["--json"]);
    let deep = &run.json()["base"];
    assert_eq!(deep["window"]["total"], instructions("user.deep", &kernel));
    // main's three callers are calls too: of 1,001 calls 512 less those, and main's own, fit.
    let fit = depth(&deep["window"], "descend");
    assert!((500..512).contains(&fit), "{fit}");
    let deeper = deep["program"]["deeper"].as_u64().unwrap();
    assert_eq!(deeper, 1001 + 1 - fit as u64);
    // The faults of the stack that grows have trees of their own, however deep they come.
    assert!(below(&deep["window"], &["asm_exc_page_fault"]) > 0);
    assert!(below(&deep["window"], &["handle_mm_fault"]) > 0);
    let table = explain("user.deep", &[&kernel], &[]);
    let note = format!("note      {deeper} calls of the run are nested deeper than 512");
    assert!(table.stdout.contains(&note), "{}", table.stdout);
}

#[test]
fn returns_that_skip_calls_signals_and_switches_lose_nothing() {
    for kernel in kernels() {
        let leap = window("user.leap", &kernel, &[]);
        assert_eq!(leap["total"], instructions("user.leap", &kernel));
        assert_eq!(depth(&leap, "leap"), 41);
        // What is called after the jump is main's again, and not the function's that was left.
        assert!(below(&leap, &["main", "bottom"]) > 0);
        assert_eq!(below(&leap, &["leap", "bottom"]), 0);
        let signal = window("user.signal", &kernel, &[]);
        assert_eq!(signal["total"], instructions("user.signal", &kernel));
        assert!(below(&signal, &["on_signal", "bottom"]) > 0, "{kernel}");
        let trip = window("user.trip", &kernel, &[]);
        let of_both = ["[calls]", "[calls/calls]"].map(|process| below(&trip, &[process]));
        assert!(of_both.iter().all(|one| *one > 0), "{of_both:?}");
        for row in ["user code", "page fault: write, page not present", "clone", "new tasks"] {
            assert_eq!(window(row, &kernel, &[])["total"], instructions(row, &kernel), "{row}");
        }
    }
}

#[test]
fn outputs_for_other_programs_add_up_too() {
    let scene = Scene::warm();
    let (kernel, program) = (built("base"), program("calls"));
    let files = ["--folded", "f", "--callgrind", "c", "--svg", "s"];
    let words = [&["explain", "write", &kernel, "--perturb", "2"], &files[..], &["--", &program]];
    scene.run(&words.concat()).succeeded();
    let total = instructions("write", &kernel);
    let read = |name: &str| std::fs::read_to_string(scene.path(name)).unwrap();
    let folded = read("f");
    let counts =
        folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), total);
    let profile = read("c");
    assert!(profile.contains("\nevents: Ir\n"), "accesses are not counted: {profile}");
    assert!(profile.contains(&format!("\nsummary: {total}\n")));
    assert!(read("s").contains("pipe_write"));
}

#[test]
fn two_kernels_differ_where_their_code_does() {
    let (base, nop) = (built("base"), built("nop"));
    let document = explain("read", &[&base, &nop], &["--json"]).json();
    assert_valid(&document, "pathmeter.explain-1");
    // One more instruction in each call.
    let calls = document["base"]["program"]["calls"].as_u64().unwrap();
    assert_eq!(document["difference"]["total"].as_u64(), Some(calls));
    // So has its cause.
    let causes = &document["causes"];
    let row = &causes["rows"][0];
    assert_eq!((&row["path"], &row["executions"]), (&"read".into(), &json!([calls, calls])));
    assert_eq!(causes["causes"].as_array().unwrap().len(), 1);
    let part = &causes["causes"][0]["parts"][0];
    assert_eq!(part["functions"], json!(["entry_SYSCALL_64"]));
    assert_eq!(part["difference"].as_u64(), Some(calls));
    let table = explain("read", &[&base, &nop], &[]).stdout;
    let sentence = "\nInstructions: entry and exit, +1 an execution (entry_SYSCALL_64).\n\nshare";
    assert!(table.contains(sentence), "{table}");
    let functions = document["difference"]["functions"].as_array().unwrap();
    let changed: Vec<&Value> = functions.iter().filter(|it| it["difference"] != 0).collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["name"], "entry_SYSCALL_64");
}

/// How a row differs from another of the same program.
fn against(row: &str, base: &str) -> Value {
    let document = explain(row, &[&built("base")], &["--against", base, "--json"]).json();
    assert_valid(&document, "pathmeter.explain-1");
    assert_adds_up(&document);
    assert_eq!(
        [&document["path"], &document["new"]["path"], &document["base"]["path"]],
        [row, row, base]
    );
    for (side, row) in [("base", base), ("new", row)] {
        let alone = window(row, &built("base"), &[]);
        assert_eq!(document[side]["window"]["total"], alone["total"], "{row}");
    }
    assert_eq!(document["causes"], Value::Null, "the kernel is one");
    document
}

#[test]
fn a_row_set_against_another_is_the_difference_of_both_alone() {
    let document = against("user.recursion", "user.leap");
    for (side, row) in [("base", "user.leap"), ("new", "user.recursion")] {
        assert_eq!(document[side]["window"], window(row, &built("base"), &[]), "{row}");
        assert_eq!(document[side]["program"]["calls"], 1, "{row}");
        assert_eq!(document[side]["window"]["total"], instructions(row, &built("base")), "{row}");
    }
    for (name, change) in
        [("descend [calls]", "appeared"), ("leap [calls]", "vanished"), ("bottom [calls]", "same")]
    {
        assert_eq!(function(&document, name)["change"], change, "{name}");
    }
    let document = against("write", "read");
    let entry = function(&document, "entry_SYSCALL_64");
    let each = ["base", "new"].map(|side| {
        let instructions = entry[side]["counts"]["instructions"].as_u64().unwrap();
        instructions / document[side]["program"]["calls"].as_u64().unwrap()
    });
    assert_eq!(each[0], each[1], "both enter the kernel alike");
    assert_eq!(function(&document, "ksys_write")["change"], "appeared");
    // A region begins with the processes, and so does what it is set against.
    let document = against("user.trip", "read");
    let nodes = document["difference"]["tree"].as_array().unwrap().iter();
    let roots = nodes.filter(|node| node["parent"].is_null()).map(|node| &node["name"]);
    assert_eq!(roots.take(2).collect::<Vec<_>>(), ["[calls]", "[calls/calls]"]);
    let table = explain("user.recursion", &[&built("base")], &["--against", "user.leap"]).stdout;
    assert!(table.starts_with("user.leap → user.recursion on base.bzImage: "), "{table}");
    assert!(table.contains("\nbase     user.leap: "), "{table}");
}

/// The causes of the document, which must add up to the difference.
fn causes(document: &Value) -> Vec<Value> {
    assert_valid(document, "pathmeter.explain-1");
    let causes = document["causes"]["causes"].as_array().unwrap().clone();
    let sum = causes.iter().map(|cause| cause["difference"].as_i64().unwrap()).sum::<i64>();
    let total = &document["difference"]["total"];
    assert_eq!((total, &document["causes"]["rows"][0]["recorded"]), (&sum.into(), &sum.into()));
    causes
}

#[test]
fn causes_of_rows_and_regions_add_up_on_kernels_that_differ_everywhere() {
    let (base, cloud) = (built("base"), debian("cloud"));
    for row in ["user.trip", "page fault: write, page not present"] {
        let document = explain(row, &[&base, &cloud], &["--json"]).json();
        assert!(!causes(&document).is_empty(), "{row}");
        let base = &document["base"];
        assert_eq!(document["causes"]["rows"][0]["base"], base["window"]["total"], "{row}");
    }
}

#[test]
fn a_program_s_own_functions_are_causes_by_name() {
    // What glibc does at the start depends on the CPU.
    let cpus = ["--cpu", "plain", "--cpu", "skylake"];
    let kernel = built("base");
    let run = |options: &[&str]| explain("user code", &[&kernel], &[&cpus, options].concat());
    let document = run(&["--perturb", "5", "--json"]).json();
    let causes = causes(&document);
    assert!(causes.len() > 1, "{causes:?}");
    for cause in &causes {
        let [part] = &cause["parts"].as_array().unwrap()[..] else { panic!("{cause}") };
        let name = part["functions"][0].as_str().unwrap();
        assert!(name.ends_with(" [calls]"), "{name}");
        assert_eq!(
            (cause["area"].as_str(), part["moves"].as_array().map(Vec::len)),
            (Some("user"), Some(0))
        );
    }
    let note = "name [file]: a function of the program";
    assert!(run(&["--perturb", "5"]).stdout.contains(note));
}

#[test]
fn what_can_t_be_explained_is_told_with_what_can() {
    let kernel = built("base");
    explain("raed", &[&kernel], &[]).assert_printed(&["raed: a program has no such row", "read"]);
    let none = explain("user.trap", &[&kernel], &[]);
    let said = ["the program has no user.trap", "did you mean user.trip", "its rows and regions"];
    none.assert_unmeasured(&said);
    explain("user.trip", &[&kernel], &["--against", "user.trap"]).assert_unmeasured(&said);
    let both = explain("raed", &[&kernel], &["--against", "wriet"]);
    both.assert_printed(&["raed: a program has no such row", "wriet: a program has no such row"]);
    explain("read", &[&kernel], &["--exit-code", "3"]).assert_unmeasured(&["exit code 0 in run 1"]);
    let given = explain("read", &[&kernel], &["--placement"]);
    given.assert_printed(&["--placement is about paths"]);
    let scene = Scene::warm();
    scene.run(&["explain", "syscall.getppid", &kernel, "--callers"]).assert_printed(&["--callers"]);
}
