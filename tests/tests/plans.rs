//! Plans on the lab kernel: the same bytes from one machine and from several, whatever happened on
//! the way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pathmeter_e2e::{Run, Running, Scene, built, pathmeter};
use pathmeter_seal::sealed;
use rustix::process::Signal;
use serde_json::Value;

use crate::disk::on_disk;

/// Three variants of the lab kernel.
pub(crate) const LABS: &str =
    "subjects = [\"lab\", \"lab:iobitmap=lazy\", \"lab:iobitmap=full-copy\"]\nperturb = 1\n";

/// A scene with a plan of these wishes.
pub(crate) fn planned(wishes: &str) -> Scene {
    let scene = Scene::cold();
    scene.write("wishes.toml", wishes);
    scene.run(&["plan", "wishes.toml", "-o", "plan.json"]).succeeded();
    scene
}

/// Measures cells into `results`, each anew.
pub(crate) fn run(scene: &Scene, results: &str, more: &[&str]) -> Run {
    let fixed = ["plan", "run", "plan.json", "--no-cache", "--results", results];
    scene.run(&[&fixed[..], more].concat())
}

/// The results of a folder, by their names; what else it has is left out.
pub(crate) fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    let is_result = |name: &str| name.len() == 37 && Path::new(name).extension().is_some();
    let named = named.filter(|(name, _)| is_result(name));
    named.map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}

#[test]
fn three_machines_and_one_write_the_same_bytes_as_measure_does() {
    let scene = planned(LABS);
    assert_eq!(run(&scene, "one", &["--jobs", "2"]).succeeded().stdout, "3 cells: 3 measured\n");
    for shard in ["1/3", "2/3", "3/3"] {
        let folder = format!("part-{}", &shard[..1]);
        run(&scene, &folder, &["--shard", shard]).succeeded();
    }
    let merge = ["plan", "merge", "part-3", "part-1", "part-2", "-o", "merged"];
    assert_eq!(scene.run(&merge).succeeded().stdout, "3 results, 3 of them new\n");
    let one = results(&scene.path("one"));
    assert!(one.len() == 3 && results(&scene.path("merged")) == one);
    let status = ["plan", "status", "plan.json", "--results", "merged"];
    assert!(scene.run(&status).succeeded().stdout.starts_with("3 cells: 3 done"));

    let measure = ["measure", "lab:iobitmap=lazy", "--perturb", "1", "--no-cache"];
    scene.run(&[&measure[..], &["-o", "alone.json"]].concat()).succeeded();
    let alone = fs::read(scene.path("alone.json")).unwrap();
    assert!(one.values().any(|bytes| *bytes == alone), "no cell is what measure writes");
    // All that is there is skipped.
    assert_eq!(run(&scene, "one", &[]).succeeded().stdout, "3 cells: 3 there already\n");
}

/// Starts a run, and waits until a guest of it lives.
fn start(scene: &Scene, results: &str) -> Running {
    let mut running =
        scene.start(&["plan", "run", "plan.json", "--no-cache", "--results", results]);
    running.until("a guest", || !scene.guests_at_work().is_empty());
    running
}

#[test]
fn what_was_killed_or_ended_in_a_cell_goes_on_and_leaves_no_trace() {
    let scene = planned(LABS);
    let running = start(&scene, "results");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, 128 + 9);
    scene.assert_nothing_running_soon();
    let running = start(&scene, "results");
    running.signal(Signal::TERM);
    let ended = running.wait();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    let left = fs::read_dir(scene.path("results")).unwrap().map(|entry| entry.unwrap().file_name());
    for name in left.map(|name| name.into_string().unwrap()) {
        assert!(name.starts_with("nodes-") || name.len() == 37, "{name} was left");
    }
    run(&scene, "results", &[]).succeeded();
    run(&scene, "undisturbed", &[]).succeeded();
    assert!(results(&scene.path("results")) == results(&scene.path("undisturbed")));
}

#[test]
fn a_cell_over_its_limit_fails_for_the_moment_and_is_measured_without_it() {
    // So many runs take a few seconds.
    let scene = planned("subjects = [\"lab\"]\nperturb = 20\n");
    let late = run(&scene, "results", &["--limit", "1"]);
    assert_eq!((late.code, &*late.stdout), (75, "1 cell: 1 failed\n"), "{}", late.stderr);
    late.assert_printed(&["lab: the cell exceeded its limit of 1 s", "a longer --limit"]);
    scene.assert_nothing_running_soon();
    assert!(results(&scene.path("results")).is_empty());
    let status = scene.run(&["plan", "status", "plan.json", "--results", "results", "--json"]);
    assert_eq!(status.code, 75, "{}", status.stderr);
    let about: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(about["failed"][0]["class"], "transient");
    let message = about["failed"][0]["message"].as_str().unwrap();
    assert!(message.contains("exceeded its limit"), "{message}");
    // The failure before is no reason to leave it out, and the limit none to measure otherwise.
    let again = run(&scene, "results", &["--limit", "600"]);
    assert_eq!(again.succeeded().stdout, "1 cell: 1 measured\n");
}

#[test]
fn a_full_disk_of_results_ends_the_run_with_whole_files_only_and_another_may_help() {
    let scene = planned(LABS);
    let mut command = on_disk(&scene, "results", "size=64k");
    command.arg(pathmeter()).args(["plan", "run", "plan.json", "--no-cache"]);
    command.args(["--results", "results"]);
    let run = scene.run_command(command);
    assert_eq!(run.code, 75, "{}", run.stderr);
    run.assert_printed(&["No space left on device", "make room there"]);
    let left: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("results/")).collect();
    let is_list = |line: &str| line.starts_with("results/nodes-");
    let is_whole = |line: &str| line.len() == "results/".len() + 37 || is_list(line);
    assert!(left.iter().all(|line| is_whole(line)), "{left:?}");
    let measured = left.iter().filter(|line| !is_list(line)).count();
    assert!(measured < 3, "all had room: {left:?}");
    assert!(run.stdout.contains(&format!("{} left", 3 - measured)), "{}", run.stdout);
}

#[test]
fn another_result_of_a_cell_is_a_finding_that_names_the_first_sample() {
    let scene = planned("subjects = [\"lab\"]\nperturb = 1\n");
    run(&scene, "results", &[]).succeeded();
    let (name, bytes) = results(&scene.path("results")).pop_first().unwrap();
    let sha256 = |bytes: &[u8]| -> String {
        let document: Value = serde_json::from_slice(bytes).unwrap();
        document["configuration"]["image_sha256"].as_str().unwrap().to_owned()
    };
    let measure = ["measure", "lab:iobitmap=full-copy", "--perturb", "1", "-o", "other.json"];
    scene.run(&measure).succeeded();
    let other = fs::read(scene.path("other.json")).unwrap();
    let forged =
        String::from_utf8(other.clone()).unwrap().replace(&sha256(&other), &sha256(&bytes));
    let forged = sealed(&forged).unwrap() + "\n";
    fs::write(scene.path("results").join(&name), &forged).unwrap();
    // Without the list of who wrote what, a run believes it, for it is a result of this kernel.
    let lists = fs::read_dir(scene.path("results")).unwrap().map(|it| it.unwrap().path());
    let mut lists = lists.filter(|path| path.extension() == Some("jsonl".as_ref()));
    fs::remove_file(lists.next().unwrap()).unwrap();
    run(&scene, "results", &[]).succeeded();
    let recheck = ["plan", "recheck", "plan.json", "--results", "results", "--sample", "5"];
    let found = scene.run(&recheck);
    assert_eq!(found.code, 1, "{}", found.stderr);
    found.assert_printed(&["finding: cell ", ": sample "]);
    assert!(found.stdout.starts_with("0 of 1 cells"), "{}", found.stdout);
    let of = |part: &str| {
        let files = fs::read_dir(scene.path("results")).unwrap().map(|it| it.unwrap().path());
        files.into_iter().find(|path| path.to_string_lossy().contains(part)).unwrap()
    };
    assert!(fs::read(of(".conflict-")).unwrap() == bytes, "the other result is not kept");
    assert!(fs::read(scene.path("results").join(&name)).unwrap() == forged.as_bytes());
    let finding: Value = serde_json::from_slice(&fs::read(of(".finding-")).unwrap()).unwrap();
    assert_eq!(finding["first"]["file"], name);
    let status = scene.run(&["plan", "status", "plan.json", "--results", "results"]);
    assert_eq!(status.code, 1, "{}", status.stdout);
    assert_eq!(scene.run(&["plan", "merge", "results", "-o", "merged"]).code, 1);
}

/// A scene with a plan of two kernels, of which one has changed since.
pub(crate) fn planned_before_a_change() -> Scene {
    let scene = Scene::cold();
    fs::copy(built("base"), scene.path("kernel")).unwrap();
    scene.write("wishes.toml", "subjects = [\"kernel\", \"lab\"]\nperturb = 1\n");
    scene.run(&["plan", "wishes.toml", "-o", "plan.json"]).succeeded();
    let whole = fs::read(scene.path("kernel")).unwrap();
    scene.write("kernel", [&whole[..], b"\0"].concat());
    scene
}

#[test]
fn a_kernel_that_changed_since_it_was_planned_is_not_measured() {
    let scene = planned_before_a_change();
    let run = run(&scene, "results", &[]);
    assert_eq!((run.code, &run.stdout[..]), (3, "2 cells: 1 measured, 1 failed\n"));
    run.assert_printed(&["kernel: its SHA-256 is ", "plan again"]);
}

#[test]
fn make_and_parallel_execute_what_is_emitted_for_them() {
    let scene = planned("subjects = [\"lab\", \"lab:iobitmap=lazy\"]\nperturb = 1\n");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", pathmeter().parent().unwrap().display());
    for (engine, program) in [("make", "make"), ("parallel", "parallel")] {
        if Command::new(program).arg("--version").output().is_err() {
            println!("left out: there is no {program} here");
            continue;
        }
        let emit = ["plan", "emit", engine, "plan.json", "--results", engine, "--seconds", "200"];
        scene.write("emitted", &scene.run(&emit).succeeded().stdout);
        let (program, arguments) = match engine {
            "make" => ("make", &["-f", "emitted", "-k", "-j2"][..]),
            _ => ("sh", &["emitted"][..]),
        };
        let mut command = scene.marked(program, arguments);
        command.env("PATH", &path).env("JOBS", "2");
        scene.run_command(command).succeeded();
        assert_eq!(results(&scene.path(engine)).len(), 2, "{engine}");
    }
}
