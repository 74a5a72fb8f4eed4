//! The cache: what is broken is noticed, reported and made again. It may be shared, or missing.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use pathmeter_e2e::{Run, Running, Scene, assert_identical, built};

fn arguments(kernel: &str) -> [&str; 5] {
    ["measure", kernel, "--perturb", "2", "--json"]
}

fn measure(scene: &Scene) -> Run {
    scene.run(&arguments(&built("base")))
}

/// Changes one byte in the middle of a file.
fn flip(file: &Path) {
    let mut byte = [0];
    let middle = fs::metadata(file).unwrap().len() / 2;
    let file = File::options().read(true).write(true).open(file).unwrap();
    file.read_exact_at(&mut byte, middle).unwrap();
    file.write_all_at(&[byte[0] ^ 1], middle).unwrap();
}

fn cut_in_half(file: &Path) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

/// Measures, breaks the kept file of this kind, and measures again: the same result, and a note
/// with `words`; and then again, without a note.
fn remade(kind: &str, harm: fn(&Path), words: &str) {
    let scene = Scene::cold();
    let first = measure(&scene);
    let broken = scene.cached_file(kind);
    if kind == ".snapshot" {
        fs::remove_file(scene.cached_file(".result")).unwrap();
    }
    harm(&broken);
    let second = measure(&scene);
    second.assert_printed(&[&broken.display().to_string(), words]);
    assert_identical(&second.json(), &first.json());
    let third = measure(&scene);
    assert_identical(&third.json(), &second.json());
    assert_eq!(third.stderr, "");
    scene.assert_cache_is_tidy();
}

#[test]
fn a_changed_result_is_measured_again() {
    remade(".result", flip, "was corrupt; measuring again");
}

#[test]
fn a_result_cut_short_is_measured_again() {
    remade(".result", cut_in_half, "was corrupt; measuring again");
}

#[test]
fn a_changed_snapshot_is_made_again() {
    remade(".snapshot", flip, "was corrupt; booting the kernel again");
}

#[test]
fn a_snapshot_cut_short_is_made_again() {
    remade(".snapshot", cut_in_half, "was corrupt; booting the kernel again");
}

#[test]
fn changed_symbols_are_asked_for_again() {
    for harm in [flip, cut_in_half] {
        let scene = Scene::cold();
        let explain = || scene.run(&["explain", "file.stat", &built("base"), "--json"]);
        let first = explain();
        let broken = scene.cached_file(".symbols");
        harm(&broken);
        let second = explain();
        second.assert_printed(&[
            &broken.display().to_string(),
            "was corrupt; asking the kernel again",
        ]);
        let third = explain();
        assert_eq!([&second.stdout, &third.stdout], [&first.succeeded().stdout; 2]);
        assert!(!third.stderr.contains("note"), "{}", third.stderr);
        scene.assert_cache_is_tidy();
    }
}

#[test]
fn without_a_cache_nothing_is_written_and_the_result_is_the_same() {
    let scene = Scene::cold();
    let without = scene.run(&[&arguments(&built("base"))[..], &["--no-cache"]].concat());
    assert_eq!(scene.cached(), [""; 0]);
    let cold = measure(&scene);
    let from_snapshot = {
        fs::remove_file(scene.cached_file(".result")).unwrap();
        measure(&scene)
    };
    let from_result = measure(&scene);
    for run in [cold, from_snapshot, from_result] {
        assert_identical(&run.json(), &without.json());
    }
}

#[test]
fn two_runs_at_once_share_a_cold_cache() {
    let scene = Scene::cold();
    let kernel = built("base");
    let runs = [(); 2].map(|()| scene.start(&arguments(&kernel)));
    let [one, other] = runs.map(Running::wait);
    assert_identical(&one.json(), &other.json());
    scene.assert_nothing_running();
    scene.assert_cache_is_tidy();
    assert_eq!(scene.cached().len(), 2, "a snapshot and a result");
}
