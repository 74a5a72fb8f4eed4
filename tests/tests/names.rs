//! The functions' names in call trees, and the trees' shape: on every path that enters the kernel,
//! of every kernel at hand.
//!
//! `PATHMETER_MORE_KERNELS` names a folder; all its files are taken for kernels, and are looked at
//! too. `make names` sets it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;

use pathmeter_e2e::{Scene, built, debian};
use serde_json::Value;

/// What no function is called, by what the name begins and ends with. Functions have such ends as
/// `_start` too, those of sections have more.
const NO_FUNCTION: &[(&str, &str)] = &[
    ("_text", "_text"),
    ("_stext", "_stext"),
    ("_etext", "_etext"),
    ("_sinittext", "_sinittext"),
    ("_einittext", "_einittext"),
    ("__", "_text_start"),
    ("__", "_text_end"),
    ("__", "_thunk_start"),
    ("__", "_thunk_end"),
    ("__", "_thunk_array"),
    ("__pfx_", ""),
    ("__pi_", ""),
    (".", ""),
    // An address: there is no name for it.
    ("0x", ""),
];
/// What link-time optimizers append to names of functions.
const BY_FILE: [&str; 3] = [".llvm.", ".__uniq.", ".lto_priv."];
const THUNK: &str = "__x86_indirect_";
/// How many paths two kernels differ in at least.
const MANY: usize = 20;
/// What depends on where code and data stand, or whether a path's code does.
const PLACES: [&str; 4] = ["code-lines", "code-pages", "data-lines", "data-pages"];

/// One run is enough for a tree.
const FEW: &[&str] = &["--perturb", "1"];

/// One path of one kernel.
struct Tree {
    /// The kernel and the path, with a colon between.
    title: String,
    /// What was counted, but for [`PLACES`].
    events: BTreeMap<String, u64>,
    /// The call chains, of names without compilers' suffixes.
    shape: BTreeSet<String>,
}

/// The trees of a kernel, by path.
type Trees = BTreeMap<String, Tree>;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// The name of a node's function.
fn name<'a>(window: &'a Value, node: &Value) -> &'a str {
    let function = usize::try_from(number(&node["function"])).unwrap();
    window["functions"][function]["name"].as_str().unwrap()
}

/// Both kernels' trees of all paths in which they differ. Each tree is looked at.
fn trees(scene: &Scene, base: &str, new: &str, more: &[&str]) -> [Trees; 2] {
    let run = scene.run(&[&["compare", base, new, "--explain", "--json"], more].concat());
    let explanations = &run.json()["explanations"];
    ["base", "new"].map(|side| {
        let one = |explain: &Value| {
            let path = explain["path"].as_str().unwrap().to_owned();
            let kernel = explain[side]["name"].as_str().unwrap();
            let tree = tree(format!("{kernel}: {path}"), &explain[side]["window"]);
            (path, tree)
        };
        array(explanations).iter().map(one).collect()
    })
}

/// The tree of a window, whose names and whose returns must be good.
fn tree(title: String, window: &Value) -> Tree {
    let lost = ["unmatched_returns", "unattributed"].map(|field| number(&window[field]));
    // The handler of a fault has the interrupted function return, without a return of its own.
    let handled = u64::from(title.ends_with(": signal.fault"));
    let good = lost[0] <= handled && lost[1] == 0;
    assert!(good, "{title}: returns without a call, instructions without a place: {lost:?}");
    for function in array(&window["functions"]) {
        let name = function["name"].as_str().unwrap();
        let is_no = |(begin, end): &&(&str, &str)| name.starts_with(begin) && name.ends_with(end);
        assert!(!NO_FUNCTION.iter().any(|no| is_no(&no)), "{title}: {name} is no function");
        assert!(
            !BY_FILE.iter().any(|by| name.contains(by)),
            "{title}: {name} differs from build to build"
        );
    }
    assert_thunks(&title, window);
    let events = window["events"].as_object().unwrap().iter();
    let kept = events.filter(|(event, _)| !PLACES.contains(&event.as_str()));
    let events = kept.map(|(event, count)| (event.clone(), number(count))).collect();
    Tree { title, events, shape: shape(window) }
}

/// A thunk has no children: what it jumps to stands beside it. And what does what a thunk does, a
/// call that overwrites its return address, is called one.
fn assert_thunks(title: &str, window: &Value) {
    let nodes = array(&window["nodes"]);
    for (index, node) in nodes.iter().enumerate() {
        let name = name(window, node);
        let mut children = nodes.iter().filter(|child| child["parent"] == index);
        if name.starts_with(THUNK) {
            assert!(children.next().is_none(), "{title}: {name} has a child");
            continue;
        }
        let count = |field: &str| number(&node["counts"][field]);
        let times = count("returns");
        let does = [count("instructions"), count("taken_branches"), count("stores")];
        let is_thunk = times > 0 && does == [3 * times, 2 * times, 2 * times];
        let jumps =
            || nodes.iter().any(|child| child["parent"] == index && child["kind"] == "tail-call");
        assert!(!(is_thunk && jumps()), "{title}: {name} is a thunk");
    }
}

fn shape(window: &Value) -> BTreeSet<String> {
    let mut chains: Vec<String> = Vec::new();
    for node in array(&window["nodes"]) {
        let parent = node["parent"].as_u64().map(|parent| usize::try_from(parent).unwrap());
        let before = parent.map_or("", |parent| &chains[parent]);
        let name = name(window, node).split('.').next().unwrap();
        chains.push(format!("{before}/{name} {}", node["kind"].as_str().unwrap()));
    }
    chains.into_iter().collect()
}

/// Where two kernels' counts agree in every event, their code does, and their trees must have the
/// same nodes; how many such paths there are. The nodes' counts may differ: two tasks that do the
/// same may each take the other's way through a branch, as time has it.
fn assert_alike(one: &Trees, other: &Trees) -> usize {
    let both = one.iter().filter_map(|(path, tree)| Some((tree, other.get(path)?)));
    let mut alike = 0;
    for (one, other) in both.filter(|(one, other)| one.events == other.events) {
        let differing: Vec<_> = one.shape.symmetric_difference(&other.shape).collect();
        assert!(differing.is_empty(), "{} and {}: {differing:#?}", one.title, other.title);
        alike += 1;
    }
    alike
}

#[test]
fn functions_have_their_names_and_trees_their_shape() {
    let scene = Scene::warm();
    // With as many runs as other tests compare these with.
    let of_debian = trees(&scene, &debian("cloud"), &debian("rt"), &[]);
    let [of_base, of_lab] = trees(&scene, &built("base"), "lab", FEW);
    let [of_reordered, _] = trees(&scene, &built("reordered"), "lab", FEW);
    for trees in of_debian.iter().chain([&of_lab]) {
        assert!(trees.len() >= MANY, "{} paths", trees.len());
    }
    let alike = assert_alike(&of_base, &of_reordered);
    assert!(alike >= MANY, "only {alike} paths of base and reordered are the same code");
}

#[test]
fn names_and_shapes_are_good_on_more_kernels() {
    let Some(folder) = env::var_os("PATHMETER_MORE_KERNELS") else {
        println!("left out: PATHMETER_MORE_KERNELS names no folder of kernels (make names)");
        return;
    };
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no kernels");
    let (scene, base) = (Scene::warm(), built("base"));
    let mut before: Vec<Trees> = Vec::new();
    let mut alike = 0;
    for file in files.iter().filter_map(|file| file.to_str()) {
        let [_, of_file] = trees(&scene, &base, file, FEW);
        let title = Path::new(file).file_name().unwrap();
        assert!(of_file.len() >= MANY, "{file}: {} paths", of_file.len());
        let pairs: usize = before.iter().map(|other| assert_alike(other, &of_file)).sum();
        println!("{}: {} paths, {pairs} the same as before", title.display(), of_file.len());
        alike += pairs;
        before.push(of_file);
    }
    println!("{} kernels, {alike} pairs of paths with the same code", before.len());
}
