//! Nothing needs what is above it: neither a crate's modules, whose order a table here has, nor
//! crates that must not know each other.
//!
//! What a file needs is found as in `circles.rs`.

use std::collections::BTreeSet;

use crate::circles::{Crate, Needs, crate_of};
use crate::markdown::{read, root};
use crate::tables::dependencies;

/// The modules at the top of a crate, each above those before it.
type Layers = &'static [&'static str];

/// The crates whose modules have an order.
const LAYERS: &[(&str, Layers)] = &[
    (
        "vm",
        &[
            "console",
            "deadline",
            "interrupt",
            "progress",
            "stream",
            "gdb",
            "cache",
            "arch",
            "condition",
            "machine",
            "error",
            "qemu",
            "guest",
            "run",
        ],
    ),
    ("witness", &["bochs", "session", "both", "table", "paths", "program"]),
];

/// Crates, each with one that it must not depend on, by others neither, and why.
const APART: &[(&str, &str, &str)] = &[
    ("gate", "measure", "a comparison is judged by its documents, wherever they come from"),
    ("measure", "gate", "a measurement is the same whatever is made of it"),
    ("report", "measure", "tables are made of documents, and documents of nothing that runs"),
    ("measure", "report", "a measurement is the same however it is shown"),
    ("measure", "history", "a measurement is the same wherever it is kept"),
    ("report", "vm", "tables are made of documents, and documents of nothing that runs"),
    ("vm", "model", "what came of a guest is no document yet"),
    ("vm", "trace", "the plugins' streams are handed on unread"),
];

/// The module at the top to which a file belongs, by its path in the crate.
fn module_of(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The arrows of a crate's files that run up, and its modules without a layer.
fn upward(needs: &Needs, layers: &[&str]) -> Vec<String> {
    let layer = |file: &str| layers.iter().position(|module| *module == module_of(file));
    let mut found = Vec::new();
    for (file, others) in needs.iter().filter(|(file, _)| *file != "lib.rs") {
        let Some(from) = layer(file) else {
            found.push(format!("{file} has no layer"));
            continue;
        };
        let above = others.iter().filter(|other| layer(other).is_some_and(|to| to > from));
        found.extend(above.map(|other| format!("{file} -> {other}")));
    }
    found
}

#[test]
fn no_module_needs_one_of_a_layer_above() {
    for (name, layers) in LAYERS {
        let needs = Crate::read(&root().join("crates").join(name).join("src")).needs();
        let modules: BTreeSet<&str> = needs.keys().map(|file| module_of(file)).collect();
        assert!(layers.iter().all(|module| modules.contains(module)), "{name}: {modules:?}");
        let upward = upward(&needs, layers);
        assert!(upward.is_empty(), "{name} has arrows that run up:\n{}", upward.join("\n"));
    }
}

#[test]
fn an_arrow_that_runs_up_is_found_between_folders_and_not_within_one() {
    let root = ("lib.rs", "mod a; mod b; pub use b::c::C;");
    let found = |a: &str, c: &str| {
        let files = [root, ("a.rs", a), ("b.rs", "pub mod c; pub mod d;"), ("b/c.rs", c)];
        let all = [&files[..], &[("b/d.rs", "pub struct D;")]].concat();
        upward(&crate_of(&all).needs(), &["a", "b"])
    };
    assert!(found("pub struct A;", "use crate::a::A; use super::d::D;").is_empty());
    assert_eq!(found("use crate::C;", "pub struct C;"), ["a.rs -> b/c.rs"]);
    let without = upward(&crate_of(&[root, ("a.rs", ""), ("b.rs", "")]).needs(), &["a"]);
    assert_eq!(without, ["b.rs has no layer"]);
}

/// The crates that this one depends on outside its tests, by others too.
fn reached(krate: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![krate.to_owned()];
    while let Some(one) = open.pop() {
        let needed = dependencies(&read(&format!("crates/{one}/Cargo.toml")));
        open.extend(needed.into_iter().filter(|other| found.insert(other.clone())));
    }
    found
}

#[test]
fn crates_that_are_apart_do_not_need_each_other() {
    for (krate, other, why) in APART {
        assert!(read("Cargo.toml").contains(&format!("path = \"crates/{other}\"")), "{other}");
        assert!(!reached(krate).contains(*other), "{krate} depends on {other}, but {why}");
    }
    assert!(reached("gate").contains("seal"), "what others depend on is reached too");
}
