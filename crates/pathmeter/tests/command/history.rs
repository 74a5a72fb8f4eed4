//! `history`: what was acknowledged is kept, whatever happens; and what it shows.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pathmeter_model::example::path;
use pathmeter_model::example::runs::ProgramExample;
use pathmeter_model::{FunctionCost, Measurement, RowFunctions};
use pathmeter_trace::RowKind;

use crate::results::{base, cheaper, leaking, measured_otherwise, more_expensive, unchanged};
use crate::rows::program;
use crate::scene::{Ran, Scene, document, kernel, qemu, soak};

/// A scene with a history of these results, a day apart.
fn history(results: &[Measurement]) -> Scene {
    let scene = Scene::new();
    for (number, result) in (1..).zip(results) {
        let name = format!("{number}.json");
        scene.write(&name, document(result));
        let date = format!("2026-01-{number:02}");
        let commit = number.to_string().repeat(40);
        let ran = on(&scene, &["add", &name, "--date", &date, "--commit", &commit]);
        assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""));
    }
    scene
}

fn on(scene: &Scene, arguments: &[&str]) -> Ran {
    scene.run(&[&["history"], arguments, &["--db", "h.sqlite"]].concat())
}

fn changing() -> Scene {
    history(&[base(), unchanged(), more_expensive(), leaking()])
}

#[test]
fn a_row_a_result_and_a_column_a_path() {
    let scene = changing();
    insta::assert_snapshot!(on(&scene, &["show"]).stdout);
    insta::assert_snapshot!(on(&scene, &["show", "switch.*", "flags.*"]).stdout);
}

#[test]
fn blame_names_the_first_result_of_each_step() {
    insta::assert_snapshot!(on(&changing(), &["blame", "switch.yield"]).stdout);
    let scene = history(&[base(), cheaper(), measured_otherwise()]);
    let ran = on(&scene, &["blame", "syscall.getppid"]);
    assert!(ran.stdout.contains("not compared") && ran.stdout.contains("qemu"), "{}", ran.stdout);
    let across = on(&scene, &["blame", "syscall.getppid", "--across"]);
    assert!(across.stdout.contains("higher"), "{}", across.stdout);
}

#[test]
fn blame_takes_a_pattern_of_one_path_and_names_those_of_another() {
    let scene = changing();
    let named = on(&scene, &["blame", "switch.yield"]).stdout;
    assert_eq!(on(&scene, &["blame", "switch.y*"]).stdout, named);
    let ran = on(&scene, &["blame", "s*"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("s* matches") && ran.stderr.contains("switch.yield"));
    assert!(ran.stderr.contains("pathmeter history plot 's*'"), "{}", ran.stderr);
}

#[test]
fn the_history_is_named_before_the_verb_too() {
    let scene = changing();
    let before = scene.run(&["history", "--db", "h.sqlite", "show"]);
    assert_eq!((before.code, before.stdout), (Some(0), on(&scene, &["show"]).stdout));
}

#[test]
fn blame_tells_what_the_largest_steps_come_to_in_all_rows() {
    let costs = [100, 101, 103, 106, 110, 115, 121].map(|cost| {
        let mut result = base();
        result.paths = vec![path("switch.yield", &[cost; 4]), path("file.stat", &[2 * cost; 4])];
        result
    });
    let scene = history(&costs);
    let text = on(&scene, &["blame", "switch.yield"]).stdout;
    let told = |from: u64| {
        text.contains(&format!("\n#{from} to #{}: 2 of 2 rows differ: 2 higher.\n", from + 1))
    };
    assert_eq!([1, 2, 3, 4, 5, 6].map(told), [false, true, true, true, true, true], "{text}");
    assert!(text.contains("name the kernels of two results after the path"), "{text}");
    let document = on(&scene, &["blame", "switch.yield", "--json"]).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert!(document["steps"][0]["whole"].is_null());
    assert_eq!(document["steps"][5]["whole"]["summary"]["higher"], 2);
}

#[test]
fn blame_of_a_program_names_the_causes_if_its_functions_were_counted() {
    let counted = |openat: u64| {
        let function = "do_filp_open".to_owned();
        let functions =
            vec![FunctionCost { function, instructions: openat, ..FunctionCost::default() }];
        let name = "openat".to_owned();
        let functions = vec![RowFunctions { kind: RowKind::Syscall, name, functions }];
        ProgramExample { functions, ..program(openat, 70) }.result()
    };
    let scene = history(&[counted(1000), counted(1039)]);
    let text = on(&scene, &["blame", "openat"]).stdout;
    assert!(text.contains("do_filp_open"), "{text}");
    assert!(!text.contains("name the kernels"), "{text}");
}

#[test]
fn the_same_result_is_added_once() {
    let scene = history(&[base()]);
    let ran = on(&scene, &["add", "1.json", "--label", "other"]);
    assert_eq!(ran.code, Some(0));
    let known = "1.json: already in h.sqlite: #1, vmlinuz-old, 2026-01-01T00:00:00Z\n";
    assert_eq!(ran.stdout, known);
    let kept = format!(
        "pathmeter: note: #1 stays as it is, with the label vmlinuz-old, the date \
                        2026-01-01T00:00:00Z and the commit {}",
        "1".repeat(40)
    );
    assert!(ran.stderr.starts_with(&kept) && ran.stderr.contains("remove 1`"), "{}", ran.stderr);
    let commit = "1".repeat(40);
    let alike = on(&scene, &["add", "1.json", "--date", "2026-01-01", "--commit", &commit]);
    assert_eq!((alike.code, &alike.stderr[..]), (Some(0), ""));
    assert!(on(&scene, &["show"]).stdout.ends_with("\n1 result\n"));
}

#[test]
fn a_label_that_can_not_be_shown_is_wrong_usage() {
    let scene = history(&[base()]);
    for label in ["", "a\nb", &"x".repeat(201)] {
        let ran = on(&scene, &["add", "1.json", "--label", label]);
        assert_eq!(ran.code, Some(2), "{label:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("the label "), "{}", ran.stderr);
        let fresh = scene.run(&["history", "add", "1.json", "--db", "fresh", "--label", label]);
        assert_eq!(fresh.code, Some(2), "{label:?}: {}", fresh.stderr);
        assert!(!scene.path("fresh").exists(), "{label:?}");
    }
}

#[test]
fn a_plot_has_every_value_and_svg_escapes_what_came_from_outside() {
    let scene = changing();
    insta::assert_snapshot!(on(&scene, &["plot", "switch.yield"]).stdout);
    scene.write("evil.json", document(&cheaper()));
    let label = "<script>&'\"</title>";
    let ran = on(&scene, &["add", "evil.json", "--label", label, "--date", "2026-02-01"]);
    assert_eq!(ran.code, Some(0));
    let ran = on(&scene, &["plot", "switch.*", "syscall.getppid", "--svg", "p.svg"]);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(0), ""));
    let svg = scene.read("p.svg");
    assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&amp;&#39;&quot;"), "{svg}");
    assert_eq!(svg.matches("<g ").count(), 3);
    assert!(svg.contains("<title>3,333 instructions, #3, 2026-01-03"), "{svg}");
}

#[test]
fn documents_are_given_back_as_they_were() {
    let scene = changing();
    std::fs::create_dir(scene.path("out")).unwrap();
    assert_eq!(on(&scene, &["export", "-o", "out"]).code, Some(0));
    for (number, name) in [(1, "vmlinuz-old"), (2, "vmlinuz-new"), (4, "vmlinuz-new")] {
        let given = scene.read(&format!("out/{number:06}-{name}.json"));
        assert_eq!(given, scene.read(&format!("{number}.json")));
    }
    let lines = on(&scene, &["export"]).stdout;
    let added: String = (1..5).map(|number| scene.read(&format!("{number}.json")) + "\n").collect();
    assert_eq!(lines, added);
    for _ in 0..2 {
        let ran = on(&scene, &["export", "-o", "all.jsonl"]);
        let note = "pathmeter: note: all.jsonl: written\n\
                    pathmeter: note: all.jsonl has 4 documents\n";
        assert_eq!((ran.code, &ran.stderr[..]), (Some(0), note));
        assert_eq!(scene.read("all.jsonl"), added);
    }
}

#[test]
fn an_export_takes_the_place_of_no_document_and_is_none_itself() {
    let scene = changing();
    let before = scene.read("2.json");
    let ran = on(&scene, &["export", "-o", "2.json"]);
    assert_eq!((ran.code, scene.read("2.json")), (Some(2), before));
    assert!(ran.stderr.contains("2.json: this is a document"), "{}", ran.stderr);
    assert_eq!(on(&scene, &["export", "-o", "all.jsonl"]).code, Some(0));
    for ran in [scene.run(&["measure", "all.jsonl"]), on(&scene, &["add", "all.jsonl"])] {
        assert_eq!(ran.code, Some(3));
        assert!(ran.stderr.contains("all.jsonl: several documents, one a line"), "{}", ran.stderr);
    }
}

#[test]
fn results_are_removed_by_the_numbers_that_show_lists() {
    let scene = changing();
    let dry = on(&scene, &["remove", "2", "#4", "--dry-run"]);
    assert!(dry.stdout.ends_with("\n2 results would be removed\n"), "{}", dry.stdout);
    for wrong in [&["remove", "2", "9"][..], &["remove"], &["remove", "two"]] {
        assert_eq!(on(&scene, wrong).code, Some(2), "{wrong:?}");
    }
    assert!(on(&scene, &["show"]).stdout.ends_with("\n4 results\n"));
    let ran = on(&scene, &["remove", "2", "#4"]);
    assert_eq!(ran.stdout, dry.stdout.replace("would be removed", "removed"));
    let again = on(&scene, &["add", "2.json", "--date", "2026-03-01"]);
    assert!(again.stdout.contains(": #5, vmlinuz-new, 2026-03-01"), "{}", again.stdout);
    assert!(on(&scene, &["show"]).stdout.ends_with("\n3 results\n"));
}

#[test]
fn what_is_to_be_pruned_is_shown_first() {
    let scene = changing();
    let dry = on(&scene, &["prune", "--before", "2026-01-03", "--dry-run"]);
    assert!(dry.stdout.ends_with("\n2 results would be removed\n"), "{}", dry.stdout);
    assert!(on(&scene, &["show"]).stdout.ends_with("\n4 results\n"));
    let ran = on(&scene, &["prune", "--before", "2026-01-03"]);
    assert_eq!(ran.stdout, dry.stdout.replace("would be removed", "removed"));
    let ran = on(&scene, &["prune", "--keep", "1", "--label", "vmlinuz-new"]);
    assert!(ran.stdout.ends_with("\n1 result removed\n"), "{}", ran.stdout);
    assert!(on(&scene, &["show"]).stdout.ends_with("\n1 result\n"));
    for wrong in [&["prune"][..], &["prune", "--keep", "1", "--before", "2026-01-01"]] {
        assert_eq!(on(&scene, wrong).code, Some(2));
    }
}

#[test]
fn without_a_name_the_history_is_in_the_users_data_folder() {
    let scene = history(&[base()]);
    let run = |arguments: &[&str]| -> Ran {
        let mut command = scene.command(arguments);
        command.env("XDG_DATA_HOME", scene.path("data")).output().unwrap().into()
    };
    let ran = run(&["history", "show"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("data/pathmeter/history.sqlite: there is no history yet"));
    let added = run(&["history", "add", "1.json"]);
    assert_eq!(added.code, Some(0));
    let file = scene.path("data/pathmeter/history.sqlite");
    let told = format!("1.json: added to {}: #1, vmlinuz-old, ", file.display());
    assert!(added.stdout.starts_with(&told), "{}", added.stdout);
    assert_eq!(scene.files("data/pathmeter"), ["history.sqlite"]);
    assert!(run(&["history", "show"]).stdout.ends_with("\n1 result\n"));
}

#[test]
fn what_is_no_history_or_no_result_is_left_as_it_is() {
    let scene = history(&[base()]);
    scene.write("notes.txt", "my notes\n".repeat(500));
    for verb in [&["show"][..], &["add", "1.json"], &["prune", "--keep", "0"]] {
        let ran = scene.run(&[&["history"], verb, &["--db", "notes.txt"]].concat());
        assert_eq!(ran.code, Some(3), "{verb:?}");
        assert!(ran.stderr.contains("notes.txt: not a history of pathmeter"), "{}", ran.stderr);
    }
    assert_eq!(scene.read("notes.txt"), "my notes\n".repeat(500));
    let ran = on(&scene, &["add", "1.json", "notes.txt"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("notes.txt: not a result"), "{}", ran.stderr);
    assert!(on(&scene, &["add", "missing.json"]).stderr.contains("missing.json"));
}

/// Changes the history by a statement of SQL.
fn damage(scene: &Scene, statement: &str) {
    let connection = rusqlite::Connection::open(scene.path("h.sqlite")).unwrap();
    connection.execute_batch(statement).unwrap();
}

#[test]
fn each_document_is_exported_by_itself_and_damaged_rows_are_named() {
    let all = [1, 2, 3, 4];
    for (statement, named, given) in [
        ("UPDATE result SET date = 1 << 60 WHERE id = 2", "result 2 is not what", &all[..]),
        ("UPDATE result SET label = 'a\u{1b}[31m' WHERE id = 3", "result 3 is not what", &all),
        ("UPDATE total SET results = 7", "the count of results 1 is not what", &all),
        ("DELETE FROM result WHERE id = 1", "4 results were kept, 3 are found", &[2, 3, 4]),
        ("UPDATE result SET sha256 = x'00' WHERE id = 4", "results 4 can't be read", &[1, 2, 3]),
    ] {
        let scene = changing();
        damage(&scene, statement);
        std::fs::create_dir(scene.path("out")).unwrap();
        let ran = on(&scene, &["export", "-o", "out"]);
        assert_eq!(ran.code, Some(3), "{statement}: {}", ran.stderr);
        assert!(ran.stderr.contains(named), "{statement}: {}", ran.stderr);
        let mut files = scene.files("out");
        files.sort();
        assert_eq!(files.len(), given.len(), "{statement}: {files:?}");
        for (name, number) in files.iter().zip(given) {
            let given = scene.read(&format!("out/{name}"));
            assert_eq!(given, scene.read(&format!("{number}.json")), "{statement}");
        }
        let lines = on(&scene, &["export"]);
        assert_eq!((lines.code, lines.stdout.lines().count()), (Some(3), given.len()));
        let shown = on(&scene, &["show"]);
        assert_eq!((shown.code, &shown.stdout[..]), (Some(3), ""), "{statement}");
        assert!(shown.stderr.contains("h.sqlite: the history is damaged: "), "{}", shown.stderr);
    }
}

#[test]
fn a_damaged_document_is_named_and_the_others_are_exported() {
    for (statement, damaged) in [
        ("UPDATE document SET packed = x'00' WHERE id = 3", &[3][..]),
        ("UPDATE document SET packed = substr(packed, 2) WHERE id = 2", &[2]),
        ("UPDATE document SET base = 99 WHERE id = 4", &[4]),
        ("DELETE FROM document WHERE id = 2", &[2]),
        ("DELETE FROM document WHERE base IS NULL", &[1, 2, 3, 4]),
    ] {
        let scene = changing();
        let shown = on(&scene, &["show"]);
        damage(&scene, statement);
        let ran = on(&scene, &["export"]);
        let given = (1..=4).filter(|number| !damaged.contains(number));
        let given: String =
            given.map(|number| scene.read(&format!("{number}.json")) + "\n").collect();
        assert_eq!((ran.code, &ran.stdout), (Some(3), &given), "{statement}");
        for number in damaged {
            let named = format!("the document of result {number} is not whole: ");
            assert!(ran.stderr.contains(&named), "{statement}: {}", ran.stderr);
        }
        assert_eq!(on(&scene, &["show"]).stdout, shown.stdout);
    }
}

#[test]
fn a_number_that_changed_is_no_answer() {
    for (statement, verbs) in [
        (
            "UPDATE measured SET value = value + 2048 WHERE result = 2",
            &["show", "blame", "plot"][..],
        ),
        ("UPDATE measured SET cost = x'00' WHERE result = 3", &["show", "blame", "plot"]),
        ("DELETE FROM measured WHERE result = 3", &["show", "blame", "plot"]),
        ("UPDATE paths SET json = replace(json, 'switch', 'swatch')", &["show", "blame", "plot"]),
        ("DELETE FROM paths", &["show", "blame", "plot"]),
        ("UPDATE configuration SET json = '{}'", &["blame"]),
        ("UPDATE document SET packed = x'00'", &["blame"]),
    ] {
        let scene = changing();
        damage(&scene, statement);
        for verb in verbs {
            let ran = on(&scene, &[verb, "switch.yield"]);
            assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""), "{verb}, {statement}");
            assert!(ran.stderr.contains("h.sqlite: the history is damaged: "), "{}", ran.stderr);
        }
    }
}

#[test]
fn nothing_is_added_to_what_can_not_be_read_back() {
    let scene = history(&[base(), more_expensive()]);
    damage(&scene, "UPDATE document SET packed = x'00' WHERE id = 1");
    scene.write("3.json", document(&leaking()));
    for name in ["3.json", "1.json"] {
        let ran = on(&scene, &["add", name]);
        assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("result 1 is not whole"), "{}", ran.stderr);
    }
    assert!(on(&scene, &["show"]).stdout.ends_with("\n2 results\n"));
}

#[test]
fn a_history_of_an_earlier_version_is_refused_with_the_next_step() {
    let scene = history(&[base()]);
    damage(&scene, "PRAGMA user_version = 2");
    for verb in [&["show"][..], &["add", "1.json"], &["export"]] {
        let ran = on(&scene, verb);
        assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""));
        assert!(ran.stderr.contains("h.sqlite: made by an earlier pathmeter: "), "{}", ran.stderr);
        assert!(ran.stderr.contains("history export -o FOLDER"), "{}", ran.stderr);
    }
}

#[test]
fn a_file_that_may_not_grow_keeps_what_was_added() {
    let scene = history(&[base()]);
    let size = std::fs::metadata(scene.path("h.sqlite")).unwrap().len();
    scene.write("2.json", document(&crate::results::large()));
    let output = Command::new("prlimit")
        .arg(format!("--fsize={size}"))
        .arg(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(["history", "add", "2.json", "--db", "h.sqlite"])
        .current_dir(scene.path("."))
        .output()
        .unwrap();
    let ran: Ran = output.into();
    assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("h.sqlite: ") && ran.stderr.contains("help: "), "{}", ran.stderr);
    assert!(on(&scene, &["show"]).stdout.ends_with("\n1 result\n"));
    assert_eq!(on(&scene, &["add", "2.json"]).code, Some(0));
}

#[test]
fn its_documents_are_valid_by_their_schemas() {
    let scene = changing();
    let shown = on(&scene, &["show", "*", "--json"]).stdout;
    let blamed = on(&scene, &["blame", "flags.isolation", "--json"]).stdout;
    for (schema, text) in [("history", shown), ("blame", blamed)] {
        let document = serde_json::from_str(&text).unwrap();
        let schema = format!("pathmeter.{schema}-1.json");
        assert_eq!(crate::documents::faults(&schema, &document), [""; 0]);
    }
}

/// Rounds of kills: many in the tests' long form (`make soak`).
fn rounds() -> usize {
    if soak() { 1000 } else { 25 }
}

/// Numbers that look random and are the same every time: Marsaglia's xorshift64.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << shift } else { self.0 >> shift };
        }
        self.0 % limit
    }
}

/// A result that is like no other.
fn distinct(number: u64) -> Measurement {
    let mut result = base();
    result.subject.name = format!("k{number}");
    result.configuration.image_sha256 = format!("{number:064x}");
    result.paths[1] = pathmeter_model::example::path("switch.yield", &[3300 + number; 3]);
    result
}

/// Starts to add results, and kills that after `after`: the names that were reported.
fn killed(scene: &Scene, names: &[String], after: Duration) -> Vec<String> {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(["history", "add", "--db", "h.sqlite"])
        .args(names)
        .current_dir(scene.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    // It may have ended.
    let _ = child.kill();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let told = stdout.lines().map_while(Result::ok);
    let names = told.filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect();
    child.wait().unwrap();
    names
}

#[test]
fn killed_at_any_instant_nothing_acknowledged_is_lost_and_nothing_is_half_there() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut scene = Scene::new();
    let mut acknowledged: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let (mut cut, mut told) = (0, 0);
    // What adding three takes on this machine, so that the kills fall into all of it.
    let mut span = Duration::from_millis(40);
    for round in 0..rounds() {
        // Now and then the file itself is being made.
        if round % 10 == 0 {
            (scene, acknowledged) = (Scene::new(), BTreeMap::new());
        }
        let names: Vec<String> = (0..3).map(|part| format!("{round}-{part}.json")).collect();
        for (part, name) in (0..).zip(&names) {
            let bytes = document(&distinct(round as u64 * 3 + part));
            scene.write(name, bytes);
        }
        let limit = u64::try_from(span.as_micros()).unwrap();
        let begun = Instant::now();
        let added = killed(&scene, &names, Duration::from_micros(numbers.below(limit)));
        if added.len() == names.len() {
            span = (span * 3 + begun.elapsed() * 2) / 4;
        } else {
            span = span * 5 / 4;
            cut += 1;
        }
        span = span.clamp(Duration::from_millis(5), Duration::from_secs(2));
        told += added.len();
        for name in added {
            let bytes = std::fs::read(scene.path(&name)).unwrap();
            acknowledged.insert(name, bytes);
        }
        check(&scene, &acknowledged, round);
    }
    println!("{} rounds: {cut} cut off, {told} results acknowledged", rounds());
    assert!(cut > 0 && told > 0, "the kills came too early or too late: {cut} {told}");
}

/// All that was acknowledged is there, and all that is there is whole.
fn check(scene: &Scene, acknowledged: &BTreeMap<String, Vec<u8>>, round: usize) {
    let ran = on(scene, &["export"]);
    if ran.code != Some(0) {
        assert!(ran.stderr.contains("no history yet") && acknowledged.is_empty(), "{ran:?}");
        return;
    }
    let added: Vec<String> = scene
        .files(".")
        .iter()
        .filter(|name| !name.starts_with("h.sqlite"))
        .map(|name| scene.read(name))
        .collect();
    let there: Vec<&str> = ran.stdout.lines().collect();
    for line in &there {
        assert!(added.iter().any(|whole| whole == line), "round {round}: {line}");
    }
    for (name, bytes) in acknowledged {
        let kept = there.iter().any(|line| line.as_bytes() == bytes);
        assert!(kept, "round {round}: {name} is lost");
    }
}

#[test]
fn blame_without_a_step_says_why_it_names_no_functions() {
    let scene = Scene::with(&base(), &base());
    for date in ["2026-01-31", "2026-02-28"] {
        let added = on(&scene, &["add", "base.json", "--label", date, "--date", date]);
        assert_eq!(added.code, Some(0), "{}", added.stderr);
    }
    let (kernel, qemu) = (kernel("vmlinux.elf"), qemu("tells"));
    let ran = on(&scene, &["blame", "switch.yield", &kernel, "--qemu", &qemu]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no step, so there are no functions"), "{}", ran.stderr);
}
