//! What differs between two kernels shows in the rows that it is in, and nowhere else.

use pathmeter_e2e::{Scene, built};
use serde_json::Value;

use super::{compare_program, program, run};

/// The rows without the totals.
fn rows(comparison: &Value) -> Vec<&Value> {
    let paths = comparison["paths"].as_array().unwrap().iter();
    paths.filter(|row| row["work"]["kind"] != "own-work" && row["work"]["kind"] != "sum").collect()
}

/// The verdicts of the program's own work that are not `same`.
fn changed(comparison: &Value) -> Vec<&Value> {
    rows(comparison).into_iter().filter(|row| row["verdict"] != "same").collect()
}

#[test]
fn another_layout_is_the_same() {
    for variant in ["reordered", "moved-entry"] {
        let (code, comparison) =
            compare_program(&built("base"), &built(variant), &[], &[&program("faults")]);
        assert_eq!(code, 0);
        assert!(changed(&comparison).is_empty(), "{variant}: {:?}", changed(&comparison));
    }
}

#[test]
fn too_few_runs_to_tell_layout_from_a_change_are_refused_of_kernels_and_of_results() {
    let scene = Scene::warm();
    let (base, new, faults) = (built("base"), built("reordered"), program("faults"));
    let refused = |arguments: &[&str]| {
        let run = scene.run(arguments);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("by 2 later runs"), "{}", run.stderr);
        assert!(run.stderr.contains("--perturb 5"), "{}", run.stderr);
    };
    refused(&["run", &base, &new, "--perturb", "2", "--", &faults]);
    run(&scene, &[&base], &["--json", "-o", "few.json"], &[&faults]).succeeded();
    refused(&["run", "few.json", "few.json"]);
}

/// Another instruction, and as many of them: what it costs is no number of instructions, and shows
/// in no other rows than those that execute it. Lines are counted where that is asked for.
#[test]
fn as_many_instructions_of_another_kind_differ_in_their_events() {
    for (variant, options) in [("lock", &[][..]), ("four-lines", &[]), ("four-lines", &["--lines"])]
    {
        let (code, comparison) =
            compare_program(&built("base"), &built(variant), options, &[&program("faults")]);
        let differing = changed(&comparison);
        let unseen = variant == "four-lines" && options.is_empty();
        // A locked instruction more in each call fails the usual gate, and so do four lines.
        assert_eq!(code, i32::from(!unseen), "{variant}");
        assert_eq!(differing.is_empty(), unseen, "{variant}: {differing:?}");
        for row in differing {
            let kind = &row["work"]["kind"];
            assert_eq!((kind, &row["verdict"]), (&"syscall".into(), &"events-differ".into()));
        }
    }
}

#[test]
fn one_nop_more_a_system_call_is_in_the_rows_of_system_calls_and_explained_by_its_function() {
    let (code, comparison) =
        compare_program(&built("base"), &built("nop"), &["--explain"], &[&program("faults")]);
    assert_eq!(code, 1);
    let mut explained = 0;
    for row in rows(&comparison) {
        // The difference that most runs have: in a single one the tick may switch tasks within a
        // page fault on one of the kernels.
        let is_call = row["work"]["kind"] == "syscall";
        let calls = ["least", "most"].map(|end| row["work"]["base_calls"][end].as_i64().unwrap());
        let [least, most] = if is_call { calls } else { [0, 0] };
        assert!((least..=most).contains(&row["difference"].as_i64().unwrap()), "{row}");
        if is_call && row["difference"] != 0 {
            let functions = row["functions"].to_string();
            assert!(functions.contains("entry_SYSCALL_64"), "{functions}");
            explained += 1;
        }
    }
    assert!(explained > 3, "{explained}");
}

#[test]
fn results_that_were_explained_have_causes_on_the_page_and_others_say_how() {
    let scene = Scene::warm();
    let (base, nop, program) = (built("base"), built("nop"), program("faults"));
    let table = run(&scene, &[&base, &nop], &[], &[&program]);
    let step = "causes and call tree of a row: pathmeter explain ";
    let step = table.stdout.lines().find_map(|line| line.strip_prefix(step));
    assert!(
        step.is_some_and(|it| it.contains(" base.bzImage nop.bzImage -- ")),
        "{}",
        table.stdout
    );
    let report = |options: &[&str]| {
        for (kernel, file) in [(&base, "base.json"), (&nop, "nop.json")] {
            let words = [&["run", kernel, "-o", file], options, &["--", &program]];
            scene.run(&words.concat()).succeeded();
        }
        let run = scene.run(&["report", "base.json", "nop.json", "-o", "page.html"]);
        run.succeeded();
        (std::fs::read_to_string(scene.path("page.html")).unwrap(), run.stderr)
    };
    let caption = "What the differences come from, over all rows";
    let (page, said) = report(&[]);
    assert!(!page.contains(caption) && said.contains("with `pathmeter run --explain`"), "{said}");
    let (page, said) = report(&["--explain"]);
    assert!(page.contains(caption) && page.contains("entry_SYSCALL_64"));
    assert!(!said.contains("--explain"), "{said}");
}
