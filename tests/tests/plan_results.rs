//! Results of a plan in place of measurements: the same bytes, and nothing that is measured.

use std::fs;

use pathmeter_e2e::{Run, Scene, built};
use pathmeter_seal::sealed;

use crate::programs::program;

/// Answers what a QEMU is asked beforehand, and runs no guest.
const NO_GUEST: &str = "#!/bin/sh\n\
    case \"$*\" in --version|'-cpu help'|'-M none '*) exec qemu-system-x86_64 \"$@\" ;; esac\n\
    exit 1\n";

/// A scene with the results of a plan of these wishes, and a QEMU that runs no guest.
fn planned(scene: Scene, wishes: &str, cells: usize) -> Scene {
    scene.executable("no-guest", NO_GUEST);
    scene.write("wishes.toml", wishes);
    scene.run(&["plan", "wishes.toml", "-o", "plan.json"]).succeeded();
    let run = ["plan", "run", "plan.json", "--no-cache", "--results", "results", "--jobs", "2"];
    let told = format!("{cells} cells: {cells} measured\n");
    assert_eq!(scene.run(&run).succeeded().stdout, told);
    scene
}

/// Runs a command on the plan's results, with a QEMU that can't run any guest.
fn run_on_results(scene: &Scene, words: &[&str], program: &[&str]) -> Run {
    let more = ["--results", "results", "--no-cache", "--qemu", "./no-guest"];
    scene.run(&[words, &more, program].concat())
}

/// The names in the folder of results.
fn names(scene: &Scene) -> Vec<String> {
    let entries = fs::read_dir(scene.path("results")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

const LABS: &str = "subjects = [\"lab\", \"lab:iobitmap=lazy\", \"lab:iobitmap=full-copy\"]\n\
                    cpus = [\"skylake\", \"zen2\"]\nperturb = 1\n";

#[test]
fn what_was_planned_is_not_measured_again_by_any_verb() {
    let scene = planned(Scene::cold(), LABS, 6);
    let before = names(&scene);
    let (lazy, full) = ("lab:iobitmap=lazy", "lab:iobitmap=full-copy");
    for (words, sought) in [
        (&["measure", lazy][..], 1),
        (&["measure", lazy, "--cpu", "zen2", "--under", "default"], 1),
        (&["compare", full, lazy, "--under", "cpu:zen2"], 2),
        (&["compare", lazy, "--cpu", "skylake", "--cpu", "zen2"], 2),
        (&["bisect", full, "lab", "--path", "switch.yield"], 2),
    ] {
        let words = [words, &["--perturb", "1", "--json"]].concat();
        let (alone, taken) = (scene.run(&words), run_on_results(&scene, &words, &[]));
        assert_eq!((taken.code, &taken.stdout), (alone.code, &alone.stdout), "{}", taken.stderr);
        let results = if sought == 1 { "result" } else { "results" };
        let counts = format!("{sought} from the folder, 0 measured here");
        let told = format!("note: --results results: {sought} {results}: {counts}\n");
        assert!(taken.stderr.contains(&told), "{words:?}: {}", taken.stderr);
    }
    assert_eq!(names(&scene), before, "something was written there");
}

#[test]
fn what_is_missing_is_measured_and_what_is_damaged_or_of_another_kernel_is_named() {
    let scene = planned(Scene::cold(), LABS, 6);
    let lazy = ["measure", "lab:iobitmap=lazy", "--perturb", "1", "--json"];
    let whole = run_on_results(&scene, &lazy, &[]).succeeded().stdout.clone();
    let read = |name: &String| fs::read_to_string(scene.path("results").join(name)).unwrap();
    let (names, others): (Vec<String>, Vec<String>) =
        names(&scene).into_iter().filter(|it| it.len() == 37).partition(|it| read(it) == whole);
    let place = format!("results/{}", names[0]);

    // Of another kernel, and the same with this one's name; of this kernel on another CPU.
    let name = "\"name\":\"lab:iobitmap=lazy\"";
    let (on_zen2, others): (Vec<String>, Vec<String>) =
        others.iter().map(read).partition(|it| it.contains(name));
    let (_, rest) = others[0].split_once("\"name\":\"").unwrap();
    let of_other = format!("\"name\":\"{}\"", rest.split_once('"').unwrap().0);
    let forged = sealed(&others[0].replacen(&of_other, name, 1)).unwrap();
    let other_options =
        "this is a result of lab:iobitmap=lazy, but of another kernel or with other";
    for (text, why) in [
        (&others[0], "under the name of the result of lab:iobitmap=lazy"),
        (&forged, other_options),
        (&on_zen2[0], other_options),
    ] {
        scene.write(&place, text);
        let refused = run_on_results(&scene, &lazy, &[]);
        refused.assert_unmeasured(&[&place, why, "help: remove it"]);
        assert!(!refused.stderr.contains("note: "), "{}", refused.stderr);
    }
    scene.write(&place, &whole[..whole.len() / 2]);
    let refused = run_on_results(&scene, &lazy, &[]);
    refused.assert_unmeasured(&[&place, "no result: ", "pathmeter plan run PLAN --results FOLDER"]);
    // Where a kernel that can't be measured is passed over, this is no reason to.
    let bisect = ["bisect", "lab", "lab:iobitmap=lazy", "--path", "switch.yield", "--perturb", "1"];
    run_on_results(&scene, &bisect, &[]).assert_unmeasured(&[&place, "no result: "]);

    fs::remove_file(scene.path(&place)).unwrap();
    let measured = scene.run(&[&lazy[..], &["--results", "results"]].concat());
    assert_eq!(measured.succeeded().stdout, whole);
    measured.assert_printed(&["1 result: 1 measured here"]);
    let cached = scene.run(&[&lazy[..], &["--results", "results"]].concat());
    assert_eq!(cached.succeeded().stdout, whole);
    cached.assert_printed(&["1 result: 1 from the cache, 0 measured here"]);
    assert!(!scene.path(&place).exists(), "it was written there");
}

const SET: &str = r#"
title = "of three kinds"
[all]
condition = "boot:mitigations=off"
source = "kernel-parameters.txt, mitigations="
[[setting]]
condition = "boot:nopti"
source = "kernel-parameters.txt, nopti"
[[setting]]
condition = "sysctl:kernel.kptr_restrict=2"
source = "kernel.rst, kptr_restrict"
[[setting]]
condition = "boot:nosmt"
source = "kernel-parameters.txt, nosmt"
unseen = "the guest has one CPU"
"#;

#[test]
fn the_settings_of_a_planned_set_have_the_same_bytes_without_a_guest() {
    let scene = Scene::cold();
    fs::copy(built("base"), scene.path("kernel")).unwrap();
    scene.write("set.toml", SET);
    let program = program("processes");
    let wishes = format!(
        "subjects = [\"kernel\"]\nsets = [\"set.toml\"]\n[[program]]\ncommand = [\"{program}\"]\n"
    );
    // The default and three settings, each with and without the program.
    let scene = planned(scene, &wishes, 8);
    let words = ["settings", "kernel", "--set", "set.toml", "--json"];
    let program = ["--", &program];
    let alone = scene.run(&[&words[..], &program].concat());
    let taken = run_on_results(&scene, &words, &program);
    assert_eq!((taken.code, &taken.stdout), (0, &alone.stdout), "{}{}", alone.stderr, taken.stderr);
    taken.assert_printed(&["--results results: 8 results: 8 from the folder, 0 measured here"]);
}
