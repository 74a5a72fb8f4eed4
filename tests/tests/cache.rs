//! The cache: what is broken is noticed, reported and made again. It may be shared, or missing.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use pathmeter_e2e::{Run, Running, Scene, assert_identical, built};
use rustix::process::Signal;

/// What a run prints that waits for another's work.
const WAITING: &str = "another pathmeter is measuring it: waiting";

/// Paths of one group, and so one result: of which some need the kernel's symbols.
const ONE_GROUP: [&str; 2] = ["--only", "syscall.*"];

fn arguments(kernel: &str) -> [&str; 7] {
    ["measure", kernel, "--perturb", "2", "--json", ONE_GROUP[0], ONE_GROUP[1]]
}

/// The lab kernel boots at once, and the cache treats all kernels alike.
fn measure(scene: &Scene) -> Run {
    scene.run(&arguments("lab"))
}

fn explain(scene: &Scene) -> Run {
    scene.run(&["explain", "file.stat", "lab", "--json"])
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
        let first = explain(&scene);
        let broken = scene.cached_file(".symbols");
        fs::remove_file(scene.cached_file(".recordings")).unwrap();
        harm(&broken);
        let second = explain(&scene);
        second.assert_printed(&[
            &broken.display().to_string(),
            "was corrupt; asking the kernel again",
        ]);
        let third = explain(&scene);
        assert_eq!([&second.stdout, &third.stdout], [&first.succeeded().stdout; 2]);
        assert!(!third.stderr.contains("note"), "{}", third.stderr);
        scene.assert_cache_is_tidy();
    }
}

#[test]
fn kept_recordings_are_read_and_changed_ones_made_again() {
    let scene = Scene::cold();
    let first = explain(&scene);
    // Nothing but the recordings is needed for a second time.
    fs::remove_file(scene.cached_file(".symbols")).unwrap();
    fs::remove_file(scene.cached_file(".snapshot")).unwrap();
    let second = explain(&scene);
    assert_eq!(second.succeeded().stdout, first.succeeded().stdout);
    assert!(scene.cached().iter().all(|name| !name.ends_with(".snapshot")));
    let broken = scene.cached_file(".recordings");
    flip(&broken);
    let third = explain(&scene);
    third.assert_printed(&[&broken.display().to_string(), "was corrupt; measuring again"]);
    assert_eq!(third.stdout, first.stdout);
    scene.assert_cache_is_tidy();
}

#[test]
fn without_a_cache_nothing_is_written_and_the_result_is_the_same() {
    let scene = Scene::cold();
    let base = built("base");
    let measure_with = |more: &[&str]| scene.run(&[&arguments(&base)[..], more].concat());
    let without = measure_with(&["--no-cache"]);
    assert_eq!(scene.cached(), [""; 0]);
    let cold = measure_with(&[]);
    let from_snapshot = {
        fs::remove_file(scene.cached_file(".result")).unwrap();
        measure_with(&[])
    };
    let from_result = measure_with(&[]);
    for run in [cold, from_snapshot, from_result] {
        assert_identical(&run.json(), &without.json());
    }
}

/// Runs `verb` on two kernels, swaps their files of this kind, and runs it again: each file is
/// noticed, and made again.
fn swapped(kind: &str, verb: &[&str], words: &str) {
    let scene = Scene::cold();
    let folder = scene.path("cache/pathmeter");
    let run = |subject: &str| scene.run(&[verb, &[subject, "--perturb", "2", "--json"]].concat());
    let one = ("lab", run("lab"), scene.cached_file(kind));
    fs::rename(&one.2, scene.path("aside")).unwrap();
    let lazy = "lab:iobitmap=lazy";
    let other = (lazy, run(lazy), scene.cached_file(kind));
    fs::rename(&other.2, &one.2).unwrap();
    fs::rename(scene.path("aside"), &other.2).unwrap();
    // What was made of these files would be read in their place.
    let made = [(".snapshot", ".result"), (".symbols", ".recordings")].into_iter();
    for (_, above) in made.filter(|(of, _)| *of == kind) {
        for name in scene.cached().iter().filter(|name| name.ends_with(above)) {
            fs::remove_file(folder.join(name)).unwrap();
        }
    }
    for (subject, first, file) in [one, other] {
        let again = run(subject);
        again.assert_printed(&[&file.display().to_string(), words]);
        assert_eq!(again.succeeded().stdout, first.stdout);
        assert!(!run(subject).stderr.contains("note"));
    }
    scene.assert_cache_is_tidy();
}

#[test]
fn another_kernels_file_is_not_believed() {
    let measure = ["measure", ONE_GROUP[0], ONE_GROUP[1]];
    swapped(".result", &measure, "was corrupt; measuring again");
    swapped(".snapshot", &measure, "was corrupt; booting the kernel again");
    swapped(".symbols", &["explain", "file.stat"], "was corrupt; asking the kernel again");
}

/// CRC-32 as in IEEE 802.3, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}

#[test]
fn another_kernels_result_under_the_right_key_is_not_believed() {
    let scene = Scene::cold();
    let first = measure(&scene);
    let file = scene.cached_file(".result");
    let entry = fs::read(&file).unwrap();
    let hash = first.json()["configuration"]["image_sha256"].as_str().unwrap().to_owned();
    let text = String::from_utf8(entry[16..].to_vec()).unwrap();
    // The key's own hash comes first, and stays.
    let place = text.rfind(&hash).unwrap();
    let forged = [&text[..place], &"0".repeat(64), &text[place + 64..]].concat();
    let summed = [&entry[12..16], forged.as_bytes()].concat();
    assert_eq!(entry[8..12], crc32(&entry[12..]).to_le_bytes());
    fs::write(&file, [&entry[..8], &crc32(&summed).to_le_bytes(), &summed].concat()).unwrap();
    let second = measure(&scene);
    second.assert_printed(&[&file.display().to_string(), "was corrupt; measuring again"]);
    assert_identical(&second.json(), &first.json());
}

#[test]
fn many_runs_at_once_share_the_work_on_a_cold_cache() {
    let scene = Scene::cold();
    let compare = ["compare", "lab", "lab:iobitmap=lazy", "--perturb", "2", "--json"];
    let compare = [&compare[..], &ONE_GROUP].concat();
    let runs: Vec<_> = (0..4).map(|_| scene.start(&compare)).collect();
    let runs: Vec<_> = runs.into_iter().map(Running::wait).collect();
    assert!(runs.iter().all(|run| run.succeeded().stdout == runs[0].stdout));
    // The guest that a kernel's symbols come from is the one whose snapshot is measured.
    for (phase, expected) in [(": booting\n", 2), (": running the paths\n", 2)] {
        let times: usize = runs.iter().map(|run| run.stderr.matches(phase).count()).sum();
        assert_eq!(times, expected, "each kernel once: {phase}");
    }
    scene.assert_nothing_running();
    scene.assert_cache_is_tidy();
    assert_eq!(scene.cached().len(), 8, "symbols, options, a snapshot and a result of each");
}

/// A run that makes what the cache lacks, and one that waits for it.
fn one_waits_for_another(scene: &Scene, more: &[&str]) -> [Running; 2] {
    let kernel = built("base");
    let arguments = [&arguments(&kernel)[..], more].concat();
    let mut first = scene.start(&arguments);
    first.until_printed("booting");
    let mut second = scene.start(&arguments);
    second.until_printed(WAITING);
    [first, second]
}

#[test]
fn whoever_waits_takes_over_from_one_that_is_killed_or_interrupted() {
    for signal in [Signal::KILL, Signal::INT] {
        let scene = Scene::cold();
        let [first, second] = one_waits_for_another(&scene, &[]);
        first.signal(signal);
        assert_ne!(first.wait().code, 0);
        second.wait().succeeded();
        scene.assert_nothing_running_soon();
        scene.assert_cache_is_tidy();
        assert_eq!(scene.cached().len(), 3, "symbols, a snapshot and a result");
    }
}

#[test]
fn one_that_is_stopped_is_not_waited_for_beyond_the_limit() {
    let scene = Scene::cold();
    let [first, second] = one_waits_for_another(&scene, &["--timeout", "20"]);
    first.signal(Signal::STOP);
    let run = second.wait();
    run.succeeded().assert_printed(&["another pathmeter takes too long"]);
    first.signal(Signal::KILL);
    assert_eq!(first.wait().code, 128 + 9);
    scene.assert_nothing_running_soon();
    // The next run removes what the dead one left.
    let next = scene.run(&arguments(&built("base")));
    assert!(!next.succeeded().stderr.contains("booting"), "it was kept");
    scene.assert_cache_is_tidy();
}

#[test]
fn one_that_waits_is_interrupted_and_leaves_the_other_alone() {
    let scene = Scene::cold();
    let [first, second] = one_waits_for_another(&scene, &[]);
    second.signal(Signal::INT);
    assert_eq!(second.wait().code, 130);
    first.wait().succeeded();
    scene.assert_cache_is_tidy();
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_and_foreign_files_stay() {
    let scene = Scene::cold();
    fs::create_dir_all(scene.path("cache/pathmeter")).unwrap();
    scene.write("cache/pathmeter/.new-notes", "mine");
    let mut running = scene.start(&arguments(&built("base")));
    running.until_printed("running the paths");
    running.signal(Signal::KILL);
    running.wait();
    scene.assert_nothing_running_soon();
    let temporary = |name: &String| name.starts_with(".new-") && name.ends_with(".result");
    assert!(scene.cached().iter().any(temporary), "{:?}", scene.cached());
    // Another kernel's run.
    scene.run(&arguments("lab")).succeeded();
    assert!(!scene.cached().iter().any(temporary), "{:?}", scene.cached());
    assert!(scene.path("cache/pathmeter/.new-notes").exists());
}

#[test]
fn a_result_beyond_the_limit_of_files_is_shown_and_not_kept() {
    let scene = Scene::cold();
    let arguments = ["measure", &built("base"), "--perturb", "40", "--only", "syscall.*"];
    scene.run(&arguments).succeeded();
    fs::remove_file(scene.cached_file(".result")).unwrap();
    // More than a plugin, which QEMU reads from a file in memory, and less than this result.
    let mut command = scene.marked("prlimit", &["--fsize=200000"]);
    command.arg(pathmeter_e2e::pathmeter()).args(arguments);
    let limited = scene.run_command(command);
    let folder = scene.path("cache/pathmeter").display().to_string();
    limited.succeeded().assert_printed(&[&folder, "File too large", "going on without keeping it"]);
    assert_eq!(scene.cached().len(), 2, "symbols and the snapshot");
    assert_eq!(scene.run(&arguments).stdout, limited.stdout);
}
