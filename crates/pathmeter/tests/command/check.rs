//! `--check`: the exit code says whether anything is worse.

use pathmeter_model::Measurement;

use crate::results::{base, bimodal, cheaper, leaking, more_expensive, unchanged};
use crate::scene::Scene;

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
    assert!(ran.stderr.contains("base.json: a result does not hold a kernel"), "{}", ran.stderr);
}
