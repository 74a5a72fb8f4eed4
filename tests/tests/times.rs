//! What the end-to-end tests take: `times.txt` has a line for each, with its tier.
//!
//! A tier's sum is bounded, so that `make test` and CI stay as quick as CONTRIBUTING.md says.

use std::collections::BTreeSet;
use std::process::Command;

const TABLE: &str = include_str!("../times.txt");
/// Seconds of all tests of `make test`, one after another; three are executed at a time.
const CORE: f64 = 640.0;
/// Seconds of the tests of the rest that CI runs for one commit, one after another.
const PART: f64 = 600.0;
/// How many parts there are, as `scripts/tests.sh` has them; three are other checks.
const PARTS: usize = 20;
/// The longest test of `make test`, in seconds.
const LONGEST: f64 = 40.0;

struct Line {
    tier: &'static str,
    seconds: f64,
    name: &'static str,
}

fn read_table() -> Vec<Line> {
    let line = |line: &'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [tier, seconds, name] = words[..] else { panic!("{line}") };
        assert!(["core", "rest"].contains(&tier), "{line}");
        Line { tier, seconds: seconds.parse().unwrap(), name }
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

fn list_tests(arguments: &[&str]) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/tests.sh");
    let output = Command::new(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_test_is_in_the_table_once() {
    let list = Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let tests: BTreeSet<&str> =
        list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let lines = read_table();
    let table: BTreeSet<&str> = lines.iter().map(|line| line.name).collect();
    let only = |one: &BTreeSet<&'static str>, other: &BTreeSet<&str>| {
        one.iter().filter(|name| !other.contains(**name)).map(|name| (*name).to_owned()).collect()
    };
    let gone: Vec<String> = only(&table, &tests);
    let new: Vec<&&str> = tests.iter().filter(|name| !table.contains(**name)).collect();
    assert!(gone.is_empty() && new.is_empty(), "tests/times.txt: gone: {gone:?}, new: {new:?}");
    assert_eq!(table.len(), lines.len());
}

#[test]
fn the_tiers_are_within_their_budgets() {
    let lines = read_table();
    let sum = |names: &[String]| -> f64 {
        let of = lines.iter().filter(|line| names.iter().any(|name| name == line.name));
        of.map(|line| line.seconds).sum()
    };
    let core = list_tests(&["core"]);
    assert!(sum(&core) <= CORE, "make test: {} s of {CORE} s", sum(&core));
    let of_core = lines.iter().filter(|line| line.tier == "core");
    let long: Vec<&str> =
        of_core.filter(|line| line.seconds > LONGEST).map(|line| line.name).collect();
    assert!(long.is_empty(), "longer than {LONGEST} s: {long:?}");
    let parts: Vec<Vec<String>> =
        (0..PARTS).map(|part| list_tests(&["part", &part.to_string()])).collect();
    for part in &parts {
        assert!(sum(part) <= PART, "a part of the rest: {} s of {PART} s", sum(part));
    }
    let mut all: Vec<String> = [core, parts.concat()].concat();
    all.sort_unstable();
    let mut names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    names.sort_unstable();
    assert_eq!(all, names, "each test is in core or in one part");
}
