//! Histories: killed while results are added, removed or given back, on a small disk, damaged. What
//! was told to be added is given back; what is shown is right, or refused.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use pathmeter_e2e::{Run, Running, pathmeter};
use pathmeter_seal::sealed;
use rustix::process::Signal;
use serde_json::Value;

use super::entries::{cut, flip, zero};
use super::outcome::{Ended, assert_names_a_cause, assert_no_panic};
use super::stage::Stage;
use crate::disk;

const FILE: &str = "out/h.sqlite";
/// Results that a round adds.
const RESULTS: usize = 6;
/// Longer than the commands that are ended take.
const SPAN_MS: f64 = 400.0;
/// Results that a round leaves.
const KEPT: usize = 2;

/// Ends `history add` at any moment; then the rest is added.
pub(super) fn killed(stage: &Stage, rng: &mut Rng) -> Ended {
    let documents = documents(stage);
    let (name, signal) = [("KILL", Signal::KILL), ("TERM", Signal::TERM)][rng.usize(..2)];
    let run = ended_by(stage, rng, (name, signal), &adding(&documents));
    let exported = on(stage, &["export"]);
    if exported.code == 0 {
        assert_given(&exported.stdout, &run.stdout, &documents);
    } else {
        assert!(exported.stderr.contains("no history yet"), "{}", exported.stderr);
        assert_eq!(run.stdout, "");
    }
    let whole = stage.finish(Running::start(stage.scene.command(&adding(&documents))));
    assert_eq!((whole.code, whole.stdout.lines().count()), (0, RESULTS), "{}", whole.stderr);
    let exported = on(stage, &["export"]);
    assert_eq!(assert_given(&exported.stdout, &whole.stdout, &documents), RESULTS);
    if run.code == 0 { Ended::Same } else { Ended::Stopped }
}

/// Ends `history prune` or `history export` at any moment: what should stay is whole, and what
/// was given is the beginning of it.
pub(super) fn killed_later(stage: &Stage, rng: &mut Rng) -> Ended {
    let documents = documents(stage);
    let made = stage.finish(Running::start(stage.scene.command(&adding(&documents))));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let keep = KEPT.to_string();
    let prune: &[&str] = &["history", "prune", "--db", FILE, "--keep", &keep];
    let (verb, stay) =
        [(prune, KEPT), (&["history", "export", "--db", FILE], RESULTS)][rng.usize(..2)];
    stage.tell(verb[1]);
    let run = ended_by(stage, rng, ("KILL", Signal::KILL), verb);
    let exported = on(stage, &["export"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let stayed: String = documents[RESULTS - stay..].iter().map(|it| it.0.clone() + "\n").collect();
    let given = assert_given(&exported.stdout, &stayed, &documents);
    assert!([stay, RESULTS].contains(&given), "removed in part: {given} results are left");
    assert!(stay == KEPT || exported.stdout.starts_with(&run.stdout), "another beginning");
    assert_eq!(on(stage, &["prune", "--keep", &keep]).code, 0);
    assert_eq!(on(stage, &["export"]).stdout.lines().count(), KEPT);
    if run.code == 0 { Ended::Same } else { Ended::Stopped }
}

/// Adds to a history on a disk of any size, which is read before the disk vanishes.
pub(super) fn on_a_small_disk(stage: &Stage, rng: &mut Rng) -> Ended {
    let documents = documents(stage);
    let highest = 1_u64 << rng.u32(..8);
    let pages = highest | rng.u64(..highest);
    stage.tell(format!("{pages} pages"));
    for name in documents.iter().map(|it| &it.0) {
        fs::copy(stage.scene.path(name), stage.scene.path(&name.replace("out/", "tmp/"))).unwrap();
    }
    let mut command = disk::on_disk(&stage.scene, "out", &format!("size={}", pages * 4096));
    let script = "program=$1; shift; \"$program\" history add --db out/h.sqlite \"$@\"; code=$?
        echo end; \"$program\" history export --db out/h.sqlite; exit $code";
    command.args(["sh", "-c", script, "sh"]).arg(pathmeter());
    command.args(documents.iter().map(|it| it.0.replace("out/", "tmp/")));
    let run = stage.finish(Running::start(command));
    for name in documents.iter().map(|it| &it.0) {
        fs::remove_file(stage.scene.path(&name.replace("out/", "tmp/"))).unwrap();
    }
    assert_no_panic(&run);
    let (told, given) = run.stdout.split_once("end\n").unwrap();
    assert_given(given, told, &documents);
    if run.code == 0 {
        assert_eq!(given.lines().count(), RESULTS);
        return Ended::Same;
    }
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert_names_a_cause(&run);
    Ended::Refused
}

/// Damages a history: every read of it is as before, or refused.
pub(super) fn damaged(stage: &Stage, rng: &mut Rng) -> Ended {
    let documents = documents(stage);
    let (new, old) = documents.split_last().unwrap();
    let made = stage.finish(Running::start(stage.scene.command(&adding(old))));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let reads: [&[&str]; 3] = [&["show"], &["show", "*"], &["blame", "syscall.getppid"]];
    let before = reads.map(|read| on(stage, read).stdout);
    let kinds = [("flipped", flip as fn(_, _)), ("cut", cut), ("zeroed", zero)];
    let (name, damage) = kinds[rng.usize(..kinds.len())];
    stage.tell(name);
    damage(&stage.scene.path(FILE), rng);
    let mut ended = Ended::Same;
    for (read, before) in reads.iter().zip(before) {
        let run = on(stage, read);
        if run.code == 0 {
            assert!(run.stdout == before, "{read:?}: another answer:\n{}", run.stdout);
        } else {
            assert_eq!((run.code, &run.stdout[..]), (3, ""), "{read:?}: {}", run.stderr);
            ended = Ended::Refused;
        }
    }
    let exported = on(stage, &["export"]);
    let given = assert_given(&exported.stdout, "", &documents);
    assert!(exported.code == 3 || given == old.len(), "{given} documents, nothing is named");
    let added =
        stage.finish(Running::start(stage.scene.command(&adding(std::slice::from_ref(new)))));
    assert!([0, 3].contains(&added.code), "{}", added.stderr);
    assert_given(&on(stage, &["export"]).stdout, &added.stdout, &documents);
    ended
}

/// A run that a signal ends at any moment.
fn ended_by(
    stage: &Stage,
    rng: &mut Rng,
    (name, signal): (&str, Signal),
    arguments: &[&str],
) -> Run {
    let running = Running::start(stage.scene.command(arguments));
    let time = Duration::from_secs_f64(SPAN_MS.powf(rng.f64()) / 1000.0);
    stage.tell(format!("{name} after {} ms", time.as_millis()));
    sleep(time);
    running.signal(signal);
    let run = stage.finish(running);
    assert_no_panic(&run);
    run
}

/// Results of the lab kernel that differ in the subject's name, each in a file.
fn documents(stage: &Stage) -> Vec<(String, String)> {
    let measure = ["measure", "lab", "--perturb", "1", "--json"];
    let run = stage.finish(Running::start(stage.scene.command(&measure)));
    let mut document: Value = serde_json::from_str(&run.succeeded().stdout).unwrap();
    let written = |number: usize| {
        document["subject"]["name"] = format!("lab {number}").into();
        let text = sealed(&document.to_string()).unwrap();
        let name = format!("out/{number}.json");
        stage.scene.write(&name, &text);
        (name, text)
    };
    (0..RESULTS).map(written).collect()
}

fn adding(documents: &[(String, String)]) -> Vec<&str> {
    let names = documents.iter().map(|it| &it.0[..]);
    ["history", "add", "--db", FILE].into_iter().chain(names).collect()
}

fn on(stage: &Stage, arguments: &[&str]) -> Run {
    let arguments = [&["history"], arguments, &["--db", FILE]].concat();
    let run = stage.finish(Running::start(stage.scene.command(&arguments)));
    assert_no_panic(&run);
    if run.code != 0 {
        assert_names_a_cause(&run);
    }
    run
}

/// All that an export gives are documents, and all that were told to be added are among them. How
/// many it gives.
fn assert_given(exported: &str, told: &str, documents: &[(String, String)]) -> usize {
    for line in exported.lines() {
        assert!(documents.iter().any(|it| it.1 == line), "another document: {line:.200}");
    }
    for told in told.lines() {
        let name = told.split(": ").next().unwrap().rsplit('/').next().unwrap();
        let document = documents.iter().find(|it| it.0.ends_with(&format!("/{name}"))).unwrap();
        assert!(exported.lines().any(|line| line == document.1), "it is not given back: {told}");
    }
    exported.lines().count()
}
