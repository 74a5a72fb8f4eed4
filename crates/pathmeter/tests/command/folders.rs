//! `compare` of two folders of a plan's results, cell by cell.

use pathmeter_model::Measurement;

use crate::results::{base, cheaper, leaking, measured_otherwise, more_expensive, unchanged};
use crate::scene::{Ran, Scene, document};

const COMPARE: &[&str] = &["compare", "old", "new"];

/// A result on this CPU.
fn on(cpu: &str, mut result: Measurement) -> Measurement {
    result.configuration.cpu = format!("{cpu}: what it can");
    result
}

/// The folders `old` and `new` of these results.
fn scene(old: &[Measurement], new: &[Measurement]) -> Scene {
    let scene = Scene::new();
    for (folder, results) in [("old", old), ("new", new)] {
        std::fs::create_dir(scene.path(folder)).unwrap();
        for (number, result) in results.iter().enumerate() {
            // The names of files say nothing of their cells' order.
            let id = format!("{:032x}", 99 - number);
            scene.write(&format!("{folder}/{id}.json"), document(result));
        }
    }
    scene
}

/// Two cells that both have, of which one has changes, and one that only each has.
fn usual() -> Scene {
    let old = ["skylake", "zen2", "zen3"].map(|cpu| on(cpu, base()));
    let new = [on("zen2", more_expensive()), on("skylake", unchanged()), on("max", unchanged())];
    scene(&old, &new)
}

fn with(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[COMPARE, more].concat())
}

#[test]
fn the_answer_comes_first_then_a_line_for_each_cell_of_either_folder() {
    let ran = with(&usual(), &[]);
    insta::assert_snapshot!(ran.stdout);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
}

#[test]
fn all_tables_follow_if_they_are_wanted() {
    let ran = with(&usual(), &["--all"]);
    assert!(ran.stdout.contains("\nskylake\nNothing differs"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("path             ").count(), 2, "{}", ran.stdout);
}

#[test]
fn the_document_has_all_comparisons_and_what_was_not_compared() {
    let ran = with(&usual(), &["--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["schema"], "pathmeter.folder-comparison/1");
    let comparisons = document["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    assert_eq!(comparisons[1]["base"]["measured_with"]["cpu"], "zen2: what it can");
    assert_eq!(comparisons[1]["summary"]["higher"], 1);
    let cpu = |side: &str| document[side][0]["measured_with"]["cpu"].clone();
    assert_eq!((cpu("only_base"), cpu("only_new")).0, "zen3: what it can");
    assert_eq!(cpu("only_new"), "max: what it can");
}

#[test]
fn a_check_fails_by_the_worst_cell_and_names_it() {
    let cpus = ["skylake", "zen2"];
    let old = cpus.map(|cpu| on(cpu, base()));
    let worse = scene(&old, &[on("skylake", unchanged()), on("zen2", more_expensive())]);
    let ran = with(&worse, &["--check"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("--check fails: zen2: switch.yield"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("skylake"), "{}", ran.stderr);
    assert_eq!(with(&worse, &["--check", "--only", "switch.pipe"]).code, Some(0));
    let passing = scene(&old, &[on("skylake", cheaper()), on("zen2", unchanged())]);
    assert_eq!(with(&passing, &["--check"]).code, Some(0));
    // Nor does a cell pass that NEW lacks; one that only NEW has gives a note.
    let ran = with(&usual(), &["--check=loads"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("--check could not compare zen3 (only in BASE)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: max was not compared"), "{}", ran.stderr);
}

#[test]
fn what_is_broken_in_one_cell_is_the_exit_code_of_all() {
    let old = ["skylake", "zen2"].map(|cpu| on(cpu, base()));
    let ran = with(&scene(&old, &[on("skylake", unchanged()), on("zen2", leaking())]), &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 is broken; the worst, in zen2, is flags.isolation is broken"));
}

#[test]
fn cells_that_were_measured_otherwise_are_refused_unless_they_are_admitted() {
    let old = ["skylake", "zen2"].map(|cpu| on(cpu, base()));
    let mut other = on("zen2", measured_otherwise());
    other.configuration.runs = 2;
    let scene = scene(&old, &[on("skylake", unchanged()), other]);
    let ran = with(&scene, &[]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert!(ran.stderr.contains("qemu: \"7.2.22\" in base, \"9.0.0\" in new"), "{}", ran.stderr);
    let ran = with(&scene, &["--across"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Measured differently: qemu: \"7.2.22\" in base"));
    assert!(ran.stderr.contains("not compared, since two versions of QEMU"), "{}", ran.stderr);
}

#[test]
fn what_is_about_one_comparison_and_folders_without_a_pair_are_refused() {
    let scene = usual();
    for more in [["--format", "csv"], ["--write", "csv=made"], ["--times", "times.json"]] {
        let ran = with(&scene, &more);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{more:?}");
        assert!(ran.stderr.contains(more[0]), "{}", ran.stderr);
    }
    let old = ["skylake", "zen2"].map(|cpu| on(cpu, base()));
    let ran = with(&self::scene(&old, &[on("max", unchanged())]), &[]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    let told = "no result of old was measured like one of new, but for the kernel";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn two_folders_of_one_result_are_these_results() {
    let scene = scene(&[base()], &[more_expensive()]);
    let folders = with(&scene, &[]);
    scene.write("base.json", document(&base()));
    scene.write("new.json", document(&more_expensive()));
    assert_eq!(folders.stdout, scene.run(&["compare", "base.json", "new.json"]).stdout);
}

#[test]
fn a_folder_of_files_with_any_names_is_one_of_results_and_a_build_folder_is_not() {
    let plans = usual();
    let own = Scene::new();
    for folder in ["old", "new"] {
        std::fs::create_dir(own.path(folder)).unwrap();
        let files = std::fs::read_dir(plans.path(folder)).unwrap().map(|file| file.unwrap().path());
        for (number, file) in files.enumerate() {
            std::fs::copy(file, own.path(folder).join(format!("v{number}.json"))).unwrap();
        }
        own.write(&format!("{folder}/notes.txt"), "no result\n");
    }
    assert_eq!(with(&own, &[]).stdout, with(&plans, &[]).stdout);
    own.write("new/other.json", "{}");
    let ran = with(&own, &[]);
    assert!(ran.stderr.contains("new/other.json: the schema is missing"), "{}", ran.stderr);
    std::fs::remove_file(own.path("new/other.json")).unwrap();
    std::fs::create_dir(own.path("old").join("arch")).unwrap();
    let ran = with(&own, &[]);
    assert!(ran.stderr.contains("new has 3 results, and one is wanted here"), "{}", ran.stderr);
}

#[test]
fn a_budget_judges_each_cell() {
    let old = ["skylake", "zen2"].map(|cpu| on(cpu, base()));
    let scene = scene(&old, &[on("skylake", unchanged()), on("zen2", more_expensive())]);
    let limited = |limit: &str| {
        scene.write("budget.toml", format!("[paths.\"switch.yield\"]\nmax-increase = {limit}\n"));
        let ran = with(&scene, &["--budget", "budget.toml", "--check"]);
        (ran.code, ran.stderr)
    };
    let (code, told) = limited("0");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("--check fails: zen2: switch.yield: budget: instructions"), "{told}");
    assert!(!told.contains("skylake"), "{told}");
    let (_, told) = limited("\"99%\"");
    assert!(!told.contains("switch.yield: budget"), "{told}");
}

#[test]
fn where_one_result_is_wanted_the_error_says_which_verbs_take_a_folder() {
    let scene = usual();
    for verb in [&["measure", "old"][..], &["compare", "old", "new.json"], &["run", "old", "new"]] {
        let ran = scene.run(verb);
        assert_eq!(ran.code, Some(2), "{verb:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("old has 3 results, and one is wanted here"));
        let told = "a verb that takes all of it: `report`, `bisect`, `history add`, or `compare`";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}
