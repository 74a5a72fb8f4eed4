//! `--check`: the exit code says whether anything is worse.

use pathmeter_model::Measurement;

use crate::results::{
    base, bimodal, cheaper, leaking, more_expensive, nothing_measured, unchanged, with_a_new_path,
    without_a_path, without_paths,
};
use crate::scene::{Ran, Scene};

fn code(new: &Measurement, more: &[&str]) -> Option<i32> {
    let arguments = [&["compare", "base.json", "new.json"], more].concat();
    Scene::with(&base(), new).run(&arguments).code
}

#[test]
fn higher_a_new_mode_and_broken_are_worse() {
    for (new, unchecked) in [(more_expensive(), 0), (bimodal(), 0), (leaking(), 3)] {
        assert_eq!(code(&new, &["--check"]), Some(1));
        assert_eq!(code(&new, &[]), Some(unchecked), "broken is not measured");
    }
}

#[test]
fn same_lower_and_unsupported_are_not() {
    for new in [unchanged(), cheaper()] {
        assert_eq!(code(&new, &["--check"]), Some(0));
    }
}

#[test]
fn only_what_is_shown_and_counts_is_checked() {
    assert_eq!(code(&more_expensive(), &["--check", "--only", "syscall.*"]), Some(0));
    assert_eq!(code(&more_expensive(), &["--check", "--threshold", "2"]), Some(0));
}

#[test]
fn results_can_not_be_explained() {
    let ran = Scene::with(&base(), &more_expensive()).run(&[
        "compare",
        "base.json",
        "new.json",
        "--explain",
    ]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("does not hold a kernel to explain"), "{}", ran.stderr);
}

/// `--check`, of these two in this order.
fn check(base: &Measurement, new: &Measurement, more: &[&str]) -> Ran {
    let arguments = [&["compare", "base.json", "new.json", "--check"], more].concat();
    Scene::with(base, new).run(&arguments)
}

fn assert_unchecked(ran: &Ran, words: &str) {
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
}

#[test]
fn where_nothing_was_compared_nothing_was_checked() {
    for (one, other) in [(without_paths(), without_paths()), (nothing_measured(), base())] {
        let ran = check(&one, &other, &[]);
        assert_unchecked(&ran, "--check: no path was compared");
        assert!(ran.stdout.contains("\nbase  "), "the table is shown: {}", ran.stdout);
    }
    assert_unchecked(&check(&base(), &base(), &["--only", "getcpu.*"]), "no path was compared");
    assert_eq!(code(&without_paths(), &[]), Some(0), "nobody asked for a check");
}

#[test]
fn a_path_that_base_could_run_must_be_compared() {
    let lost = "--check could not compare switch.pipe (new: no pipes)";
    assert_unchecked(&check(&base(), &without_a_path(), &[]), lost);
    let dropped = "could not compare switch.futex (new: not measured)";
    assert_unchecked(&check(&with_a_new_path(), &base(), &[]), dropped);
    let all = check(&base(), &without_paths(), &["--json"]);
    assert_unchecked(&all, "syscall.getppid (new: not measured), switch.yield (new: not");
    assert!(all.stdout.starts_with('{'), "the document is written: {}", all.stdout);
}

#[test]
fn a_path_that_only_new_can_run_is_a_note() {
    for (older, name) in [(base(), "switch.futex"), (without_a_path(), "switch.pipe")] {
        let ran = check(&older, &with_a_new_path(), &[]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("note: {name} was not compared")), "{}", ran.stderr);
    }
}

#[test]
fn a_path_that_is_named_must_be_compared() {
    for only in ["switch.futex", "switch.*,switch.futex"] {
        let ran = check(&base(), &with_a_new_path(), &["--only", only]);
        assert_unchecked(&ran, "could not compare switch.futex (base: not measured)");
    }
    let ran = check(&base(), &base(), &["--only", "syscall.*,getcpu.rdpid"]);
    assert_unchecked(&ran, "could not compare getcpu.rdpid (both: ");
    assert_eq!(check(&base(), &with_a_new_path(), &["--only", "switch.*"]).code, Some(0));
}

#[test]
fn what_is_worse_counts_more_than_what_was_not_compared() {
    let mut worse = more_expensive();
    worse.paths.remove(0);
    let ran = check(&base(), &worse, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("could not compare syscall.getppid"), "{}", ran.stderr);
}

#[test]
fn a_document_that_cannot_be_written_does_not_hide_the_verdict() {
    let lost = &["-o", "/dev/full"];
    let worse = check(&base(), &more_expensive(), lost);
    assert_eq!(worse.code, Some(1), "{}", worse.stderr);
    assert!(worse.stderr.contains("writing /dev/full: "), "{}", worse.stderr);
    assert!(worse.stdout.contains("\nbase  "), "the table is lost: {}", worse.stdout);
    let same = check(&base(), &unchanged(), lost);
    assert_eq!(same.code, Some(3), "{}", same.stderr);
}

#[test]
fn a_check_that_fails_ends_with_which_path_in_what_and_by_how_much() {
    let why = "--check fails: switch.yield: instructions 3,300 → 3,333 (+33, higher)\n";
    for output in [&[][..], &["--json"], &["--format", "markdown"], &["--quiet"]] {
        let ran = check(&base(), &more_expensive(), output);
        assert!(ran.code == Some(1) && ran.stderr.ends_with(why), "{}", ran.stderr);
    }
    let document = check(&base(), &more_expensive(), &["--json"]).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let reason = &document["gate"]["worse"][0];
    assert_eq!(reason["row"], "switch.yield");
    assert_eq!(reason["why"], "instructions 3,300 → 3,333 (+33, higher)");
    assert_eq!((&reason["event"], &reason["difference"]), (&"instructions".into(), &33.into()));
    assert_eq!((&reason["base"], &reason["new"]), (&3300.into(), &3333.into()));
    assert_eq!((&reason["max_increase"], &reason["line"]), (&"0".into(), &().into()));
    let ran = check(&base(), &leaking(), &[]);
    assert!(ran.stderr.contains("--check fails: flags.isolation: broken: new: "), "{}", ran.stderr);
    assert_eq!(check(&base(), &cheaper(), &[]).stderr, "pathmeter: note: --check passes\n");
    assert_eq!(check(&base(), &cheaper(), &["--quiet"]).stderr, "");
}
