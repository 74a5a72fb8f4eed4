//! `--budget`, and the formats for CI: files, exit codes and messages.

use crate::results::{base, cheaper, leaking, more_expensive, unchanged, without_a_path};
use crate::scene::{Ran, Scene};
use pathmeter_model::Measurement;

fn check(new: &Measurement, budget: &str, more: &[&str]) -> Ran {
    let scene = Scene::with(&base(), new);
    scene.write("budget.toml", budget);
    let arguments = ["compare", "base.json", "new.json", "--check", "--budget", "budget.toml"];
    scene.run(&[&arguments[..], more].concat())
}

#[test]
fn a_limit_takes_the_place_of_the_gate() {
    // switch.yield goes from 3300 to 3333, by exactly one percent.
    let cases = [
        ("max = 3333", 0),
        ("max = 3332", 1),
        ("max-increase = 33", 0),
        ("max-increase = 32", 1),
        ("max-increase = \"1%\"", 0),
        ("max-increase = \"0.999%\"", 1),
        ("max = 4000\nmax-increase = 32", 1),
        ("max = 3000\nmax-increase = 100", 1),
    ];
    for (limit, code) in cases {
        let ran = check(&more_expensive(), &format!("[paths.\"switch.yield\"]\n{limit}\n"), &[]);
        assert_eq!(ran.code, Some(code), "{limit}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout.contains("over"), code == 1, "{limit}: {}", ran.stdout);
    }
}

#[test]
fn what_no_rule_is_about_is_judged_as_without_one() {
    let ran = check(&more_expensive(), "[paths.\"switch.pipe\"]\nmax = 99999\n", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("budget.toml: 1 of 1 limits are met"), "{}", ran.stdout);
}

#[test]
fn a_limit_holds_even_if_nothing_changed() {
    let budget = "[paths.\"switch.yield\"]\nmax = 3000\n";
    assert_eq!(check(&unchanged(), budget, &[]).code, Some(1));
    assert_eq!(check(&cheaper(), budget, &[]).code, Some(1));
}

#[test]
fn the_most_specific_rule_decides() {
    let rules = "[paths.\"switch.*\"]\nmax = 1\n[paths.\"*\"]\nmax = 2\n";
    let named = "[paths.\"switch.yield\"]\nmax = 4000\n[paths.\"switch.p*\"]\nmax = 20000\n";
    let rest = "[paths.\"sys*\"]\nmax = 330\n";
    let ran = check(&more_expensive(), &[rules, named, rest].concat(), &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let ran = check(&more_expensive(), &[rules, rest].concat(), &[]);
    assert_eq!(ran.code, Some(1));
    let tie = "[paths.\"switch.y*\"]\nmax = 1\n[paths.\"swit*yield\"]\nmax = 1\n";
    assert_eq!(check(&unchanged(), tie, &[]).code, Some(1), "the second is more specific");
    let tie = "[paths.\"switch.y*\"]\nmax = 1\n[paths.\"*ch.yield\"]\nmax = 1\n";
    let tie = check(&unchanged(), tie, &[]);
    assert_eq!(tie.code, Some(2));
    let words = "budget.toml:3: for switch.yield this is as specific as the rule of line 1";
    assert!(tie.stderr.contains(words), "{}", tie.stderr);
}

#[test]
fn an_acceptance_holds_until_it_expires() {
    let accept = |day: &str| {
        format!(
            "[[accept]]\npath = \"switch.*\"\nreason = \"known, fixed in rc3\"\nexpires = {day}\n"
        )
    };
    let ran = check(&more_expensive(), &accept("9999-12-31"), &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("until 9999-12-31, known, fixed in rc3"), "{}", ran.stdout);
    let ran = check(&more_expensive(), &accept("2020-01-01"), &[]);
    assert_eq!(ran.code, Some(1));
    let note = "note: budget.toml:2: switch.* is accepted no longer: that expired after 2020-01-01";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    assert!(ran.stdout.contains("expired"), "{}", ran.stdout);
}

#[test]
fn what_is_broken_is_accepted_by_nothing() {
    let accept = "[[accept]]\npath = \"*\"\nreason = \"all of it\"\nexpires = 9999-12-31\n";
    assert_eq!(check(&leaking(), accept, &[]).code, Some(1));
    assert_eq!(check(&leaking(), "[paths.\"flags.isolation\"]\nmax = 5\n", &[]).code, Some(1));
}

#[test]
fn a_limit_that_can_not_be_judged_does_not_pass() {
    let budget = "[paths.\"switch.yield\".events]\nlfence = { max = 0 }\n";
    let ran = check(&unchanged(), budget, &[]);
    assert_eq!(ran.code, Some(3), "the results have no events");
    assert!(ran.stderr.contains("switch.yield with its budget of lfence"), "{}", ran.stderr);
    let ran = check(&without_a_path(), "[paths.\"switch.pipe\"]\nmax = 20000\n", &[]);
    assert_eq!(ran.code, Some(3));
    let ran = check(&unchanged(), "[paths.\"getcpu.rdpid\"]\nmax = 20000\n", &[]);
    assert_eq!(ran.code, Some(3), "neither side can run it, and it is named in full");
    assert_eq!(check(&unchanged(), "[paths.\"*\"]\nmax = 20000\n", &[]).code, Some(0));
}

#[test]
fn wrong_budgets_are_refused_with_their_line() {
    let cases = [
        ("[paths.\"switch.yeild\"]\nmax = 1\n", "budget.toml:1: no path has the name switch.yeild"),
        ("[paths.\"switch.yield\"]\nmux = 1\n", "budget.toml:2: unknown field `mux`"),
        ("[paths.\"switch.yield/wake\"]\nmax = 1\n", "budget.toml:1: no path has the name"),
        ("", "budget.toml: there is no rule in it"),
    ];
    for (budget, words) in cases {
        let ran = check(&unchanged(), budget, &[]);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{budget}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        let form = ran.stderr.contains("max-increase = \"1%\"     # of BASE");
        assert_eq!(form, words.contains("unknown") || words.contains("no rule"), "{}", ran.stderr);
    }
    let scene = Scene::with(&base(), &unchanged());
    let missing = ["compare", "base.json", "new.json", "--check", "--budget", "none.toml"];
    assert_eq!(scene.run(&missing).code, Some(3));
    assert_eq!(scene.run(&["compare", "base.json", "new.json", "--budget", "b"]).code, Some(2));
}

#[test]
fn the_document_has_the_outcomes() {
    let budget = "[paths.\"switch.yield\"]\nmax-increase = \"0.50%\"\n";
    let ran = check(&more_expensive(), budget, &["--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let row = &document["budget"]["rows"][0];
    assert_eq!((&row["outcome"], &row["max_increase"]), (&"over".into(), &"0.5%".into()));
    assert_eq!((&row["base"], &row["new"], &row["line"]), (&3300.into(), &3333.into(), &1.into()));
}

#[test]
fn one_comparison_gives_a_table_and_many_files() {
    let scene = Scene::with(&base(), &more_expensive());
    let files = ["--write", "junit=j.xml", "--write", "markdown=m.md", "--write", "csv=c.csv"];
    let compare = ["compare", "base.json", "new.json", "-o", "d.json", "--check"];
    let ran = scene.run(&[&compare[..], &files].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("\nbase  ") && scene.read("d.json").starts_with('{'));
    assert!(scene.read("j.xml").contains("failures=\"1\"") && scene.read("m.md").contains("❌"));
    assert_eq!(scene.read("c.csv").lines().count(), 6);
}

#[test]
fn a_format_takes_the_place_of_the_table() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&["compare", "base.json", "new.json", "--format", "ktap"]);
    assert_eq!(ran.code, Some(0), "nobody asked for a check");
    assert!(ran.stdout.starts_with("KTAP version 1\n") && ran.stdout.contains("\nnot ok 2 "));
}

#[test]
fn formats_that_can_not_be_are_refused() {
    let scene = Scene::with(&base(), &unchanged());
    let compare = ["compare", "base.json", "new.json"];
    for more in [
        &["--format", "sarif"][..],
        &["--format", "csv", "--json"],
        &["--write", "csv"],
        &["--write", "csv="],
        &["--write", "csv=a", "--write", "junit=./a"],
        &["--write", "csv=base.json"],
        &["--bisect"],
    ] {
        let ran = scene.run(&[&compare[..], more].concat());
        let code = if more == ["--bisect"] { 128 } else { 2 };
        assert_eq!((ran.code, &*ran.stdout), (Some(code), ""), "{more:?}: {}", ran.stderr);
    }
    assert!(scene.read("base.json").starts_with('{'));
}

#[test]
fn git_bisect_run_is_told_what_to_skip() {
    let code = |new: &Measurement, more: &[&str]| {
        let compare = ["compare", "base.json", "new.json", "--check", "--bisect"];
        Scene::with(&base(), new).run(&[&compare[..], more].concat()).code
    };
    assert_eq!((code(&unchanged(), &[]), code(&more_expensive(), &[])), (Some(0), Some(1)));
    assert_eq!(code(&without_a_path(), &[]), Some(125));
    assert_eq!(code(&unchanged(), &["--only", "none"]), Some(128), "no commit is bad for that");
    let scene = Scene::with(&base(), &base());
    let broken = ["compare", "base.json", "no-such-file", "--check", "--bisect"];
    assert_eq!(scene.run(&broken).code, Some(125));
}

#[test]
fn one_subject_is_held_to_the_largest_values_of_a_budget() {
    let scene = Scene::with(&base(), &unchanged());
    let ran = |budget: &str| {
        scene.write("max.toml", budget);
        scene.run(&["measure", "base.json", "--check", "--budget", "max.toml"])
    };
    let kept = ran("[paths.\"switch.yield\"]\nmax = 3300\n");
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);
    assert!(kept.stdout.contains("1 of 1 limits are met"), "{}", kept.stdout);
    let over = ran("[paths.\"switch.yield\"]\nmax = 3299\n");
    assert_eq!(over.code, Some(1), "{}", over.stderr);
    assert!(over.stderr.contains("--check fails: switch.yield: budget"), "{}", over.stderr);
    let increase = ran("[paths.\"switch.yield\"]\nmax-increase = 1\n");
    assert_eq!(increase.code, Some(2), "{}", increase.stderr);
}

#[test]
fn the_document_of_one_subject_says_why_it_fails_and_is_a_result_all_the_same() {
    let scene = Scene::with(&base(), &unchanged());
    scene.write("max.toml", "[paths.\"switch.yield\"]\nmax = 3299\n");
    let gate = ["measure", "base.json", "--check", "--budget", "max.toml", "-o", "checked.json"];
    assert_eq!(scene.run(&gate).code, Some(1));
    let document: serde_json::Value = serde_json::from_str(&scene.read("checked.json")).unwrap();
    let reason = &document["gate"]["worse"][0];
    assert_eq!((&reason["row"], &reason["max"]), (&"switch.yield".into(), &3299.into()));
    assert_eq!((&reason["new"], &reason["line"]), (&3300.into(), &1.into()));
    assert_eq!(document["budget"]["rows"][0]["outcome"], "over");
    let ran = scene.run(&["compare", "checked.json", "base.json", "--check"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let plain = scene.run(&["measure", "base.json", "--json"]).stdout;
    assert!(!plain.contains("\"gate\"") && !plain.contains("\"budget\""));
}

#[test]
fn a_rule_that_fails_by_its_increase_shows_the_pair_that_the_table_shows() {
    let budget = "[paths.\"switch.yield\"]\nmax = 9000\nmax-increase = 5\n";
    let ran = check(&more_expensive(), budget, &[]);
    assert_eq!(ran.code, Some(1));
    let why =
        "budget: instructions 3,300 → 3,333 (+1.00 %) over (limit: max 9,000, +5), budget.toml:1";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    let budget = "[paths.\"switch.yield\"]\nmax = 3000\nmax-increase = 50\n";
    let ran = check(&more_expensive(), budget, &[]);
    assert!(
        ran.stderr.contains("instructions 3,333 over (limit: max 3,000, +50)"),
        "{}",
        ran.stderr
    );
}
