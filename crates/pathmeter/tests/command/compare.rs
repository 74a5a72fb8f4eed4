//! Comparing result files: tables, refusals, selection.

use pathmeter_model::example::in_runs;
use pathmeter_model::example::runs::ProgramExample;

use crate::results::{base, bimodal, measured_otherwise, more_expensive, unchanged};
use crate::scene::{Scene, kernel, qemu};

const COMPARE: &[&str] = &["compare", "base.json", "new.json"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [COMPARE, more].concat()
}

#[test]
fn a_row_a_path_and_a_summary() {
    let ran = Scene::with(&base(), &more_expensive()).run(COMPARE);
    insta::assert_snapshot!(ran.stdout);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""));
}

#[test]
fn a_result_file_is_a_subject_of_measure() {
    let ran = Scene::with(&base(), &bimodal()).run(&["measure", "new.json"]);
    insta::assert_snapshot!(ran.stdout);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn only_what_is_asked_for_is_shown() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran =
        scene.run(&with(&["--only", "switch.*,syscall.getppid", "--only", "flags.isolation"]));
    assert!(ran.stdout.contains("4 paths: 2 same, 1 higher, 1 lower"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("getcpu"));
    let ran = scene.run(&["measure", "base.json", "--only", "*.yield", "--json"]);
    assert!(ran.stdout.contains("switch.yield") && !ran.stdout.contains("switch.pipe"));
}

#[test]
fn a_pattern_without_a_path_is_a_usage_error_that_names_close_ones() {
    let ran = Scene::with(&base(), &more_expensive()).run(&with(&["--only", "switch.yeild"]));
    insta::assert_snapshot!(ran.stderr);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""));
}

#[test]
fn results_measured_otherwise_are_refused_with_the_differences_named() {
    let ran = Scene::with(&base(), &measured_otherwise()).run(COMPARE);
    insta::assert_snapshot!(ran.stderr);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""));
}

#[test]
fn across_compares_them_all_the_same_and_says_what_differs() {
    let ran = Scene::with(&base(), &measured_otherwise()).run(&with(&["--across"]));
    assert_eq!(ran.code, Some(0));
    let said = "measured differently: qemu: \"7.2.22\" in base, \"9.0.0\" in new";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    // The gate of --check has data lines, and passes: it must not look as if they were compared.
    let uncompared = "not compared, since two versions of QEMU may count them differently: loads, \
                      stores, load-bytes, store-bytes, split-accesses, data-lines, data-pages";
    assert!(ran.stderr.contains(uncompared), "{}", ran.stderr);
}

#[test]
fn changes_below_the_threshold_are_the_same() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&with(&["--threshold", "1.5"]));
    assert!(ran.stdout.contains("3 same, 1 lower"), "{}", ran.stdout);
    assert!(scene.run(&with(&["--threshold", "5%"])).stdout.contains("4 same, 1 unsupported"));
    for wrong in ["=-1", "=x", "=nan"] {
        assert_eq!(scene.run(&with(&[&format!("--threshold{wrong}")])).code, Some(2));
    }
}

#[test]
fn an_unchanged_kernel_is_the_same_on_every_path() {
    let ran = Scene::with(&base(), &unchanged()).run(COMPARE);
    assert!(ran.stdout.ends_with("5 paths, 4 compared: 4 same, 1 unsupported\n"), "{}", ran.stdout);
}

#[test]
fn programs_and_benchmarks_of_too_few_runs_are_not_compared() {
    let whole = |runs: usize| {
        let program = crate::rows::program(1000, 70);
        let runs = program.runs[..runs].to_vec();
        ProgramExample { runs, regions: vec![], ..program }.result()
    };
    let benchmarks = |runs: usize| {
        let mut result = whole(runs + 1);
        result.paths = vec![in_runs("read/file", &vec![&[70][..]; runs])];
        result.execution = None;
        if let Some(program) = &mut result.configuration.program {
            program.benchmarks = Some("criterion".to_owned());
        }
        result
    };
    for (few, enough) in [(whole(5), whole(6)), (benchmarks(4), benchmarks(5))] {
        let ran = Scene::with(&enough, &few).run(COMPARE);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains("can't be told apart by 4 later runs"), "{}", ran.stderr);
        let ran = Scene::with(&enough, &enough).run(COMPARE);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}

#[test]
fn a_result_of_few_paths_says_what_is_asked_of_the_kernel_beside_it() {
    let scene = Scene::with(&base(), &more_expensive());
    let (kernel, qemu) = (kernel("vmlinux.elf"), qemu("tells"));
    let compare = |more: &[&str]| {
        let line = ["compare", "--across", "base.json", &kernel, "--qemu", &qemu];
        scene.run(&[&line[..], more].concat()).stderr
    };
    let told = compare(&[]);
    assert!(told.contains("paths: no others are measured and compared"), "{told}");
    let named = compare(&["--only", "switch.yield"]);
    assert!(!named.contains("no others"), "{named}");
}
