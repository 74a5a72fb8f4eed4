//! `run --check --budget`: limits of a program's rows and regions.

use pathmeter_model::example::runs::{self as example, ProgramExample, row};
use pathmeter_model::{Ended, PathEvents, PathResult, RowKind, Unit};

use pathmeter_trace::{AlsoCounted, Event, Events, counted_events};

use crate::results::{base, unchanged};
use crate::scene::{Ran, Scene, document};

/// A program of which `openat` and one region cost so much, six times.
pub(crate) fn program(openat: u64, region: u64) -> ProgramExample {
    let rows = vec![
        row(RowKind::User, "", 1, 5000),
        row(RowKind::Syscall, "openat", 1, openat),
        row(RowKind::PageFault, "write, not present", 1, 2000),
        row(RowKind::Interrupt, "sysvec_apic_timer_interrupt", 1, 700),
    ];
    let of_kernel = if openat == 1000 { base() } else { unchanged() };
    let runs = vec![example::run(0, rows); 6];
    ProgramExample {
        subject: of_kernel.subject,
        regions: vec![PathResult::ok("user.parse", Unit::Instructions, &[vec![region; 6]], vec![])],
        ..example::program("", of_kernel.configuration, runs)
    }
}

/// The document of its result.
pub(crate) fn bytes(program: &ProgramExample) -> Vec<u8> {
    document(&program.result()).into_bytes()
}

fn run(new: &ProgramExample, budget: &str, more: &[&str]) -> Ran {
    let scene = Scene::new();
    scene.write("base.json", bytes(&program(1000, 70)));
    scene.write("new.json", bytes(new));
    scene.write("rows.toml", budget);
    let arguments = ["run", "base.json", "new.json", "--check", "--budget", "rows.toml"];
    scene.run(&[&arguments[..], more].concat())
}

#[test]
fn a_rows_limit_takes_the_place_of_the_gate() {
    // openat goes from 1000 to 1010; own work from 8000 to 8010, and the sum from 8700 to 8710.
    let cases = [
        ("[rows.openat]\nmax-increase = 10", 0),
        ("[rows.openat]\nmax-increase = 9", 1),
        ("[rows.openat]\nmax-increase = \"1%\"", 0),
        ("[rows.openat]\nmax = 1009", 1),
        ("[rows.\"open*\"]\nmax = 1010", 0),
        ("[rows.\"*\"]\nmax = 9000\nmax-increase = 10", 0),
        ("[rows.\"*\"]\nmax = 9000\n[rows.\"own work\"]\nmax = 8009", 1),
        ("[rows.\"*\"]\nmax = 9000\n[rows.\"own work\"]\nmax = 8010", 0),
        ("[rows.\"*\"]\nmax = 9000\n[rows.sum]\nmax-increase = 9", 1),
        ("[rows.\"page fault: *\"]\nmax = 2000", 1),
        ("[rows.\"timer interrupt*\"]\nmax = 699\n[rows.openat]\nmax = 2000", 1),
    ];
    for (budget, code) in cases {
        let ran = run(&program(1010, 70), budget, &[]);
        assert_eq!(ran.code, Some(code), "{budget}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("limits are met"), "{}", ran.stdout);
    }
}

#[test]
fn regions_have_limits_as_paths_have() {
    let more = program(1000, 77);
    for (budget, code) in [
        ("[paths.\"user.parse\"]\nmax-increase = \"10%\"", 0),
        ("[paths.\"user.*\"]\nmax-increase = 6", 1),
        ("[rows.openat]\nmax = 1000", 1),
        ("[paths.\"user.parse\".events]\nlfence = { max = 0 }\n[paths.\"user.*\"]\nmax = 80", 3),
    ] {
        let ran = run(&more, budget, &[]);
        assert_eq!(ran.code, Some(code), "{budget}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn what_a_row_costs_is_accepted_until_it_expires() {
    let accept = |key: &str, day: &str| {
        format!("[[accept]]\n{key}\nreason = \"known, fixed in rc3\"\nexpires = {day}\n")
    };
    let ran = run(&program(1010, 70), &accept("row = \"openat\"", "9999-12-31"), &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("until 9999-12-31, known, fixed in rc3"), "{}", ran.stdout);
    let ran = run(&program(1010, 70), &accept("row = \"openat\"", "2020-01-01"), &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("rows.toml:2: openat is accepted no longer"), "{}", ran.stderr);
    let both = accept("row = \"openat\"\npath = \"user.parse\"", "9999-12-31");
    let ran = run(&program(1010, 70), &both, &[]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let died = ProgramExample { ended: Ended::Signal(11), ..program(1000, 70) };
    let ran = run(&died, &accept("row = \"*\"", "9999-12-31"), &[]);
    assert_eq!(ran.code, Some(1), "nothing accepts another end");
}

#[test]
fn limits_of_nothing_are_refused() {
    let cases = [
        ("[rows.opennat]\nmax = 1", "rows.toml:1: no row has the name opennat"),
        ("[paths.\"user.pars\"]\nmax = 1", "rows.toml:1: no path has the name user.pars"),
        ("[rows.openat]\nmax = \"1%\"", "rows.toml:2: invalid type"),
        ("[rows.openat.events]\nlfense = { max = 1 }", "rows.toml:2: lfense is no event"),
    ];
    for (budget, words) in cases {
        let ran = run(&program(1000, 70), budget, &[]);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{budget}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let scene = Scene::with(&base(), &unchanged());
    scene.write("rows.toml", "[rows.openat]\nmax = 1\n");
    let ran = scene.run(&["compare", "base.json", "new.json", "--check", "--budget", "rows.toml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("rows.toml:1: rows are those of a program"), "{}", ran.stderr);
    let one = ["run", "base.json", "--check"];
    assert_eq!(scene.run(&one).code, Some(2), "there is nothing to check with one kernel");
    let ran = scene.run(&["run", "base.json", "new.json", "--budget", "rows.toml"]);
    assert_eq!(ran.code, Some(2), "a budget belongs to --check");
}

#[test]
fn the_document_has_the_outcomes() {
    let ran = run(&program(1010, 70), "[rows.openat]\nmax-increase = 9\n", &["--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let rule = &document["budget"]["rows"][0];
    assert_eq!((rule["path"].as_str(), rule["outcome"].as_str()), (Some("openat"), Some("over")));
    assert_eq!((rule["base"].as_u64(), rule["new"].as_u64()), (Some(1000), Some(1010)));
}

/// Runs `pathmeter run` on these two results, with more arguments.
fn run_on_results(base: &ProgramExample, new: &ProgramExample, more: &[&str]) -> Ran {
    let scene = Scene::new();
    scene.write("base.json", bytes(base));
    scene.write("new.json", bytes(new));
    scene.run(&[&["run", "base.json", "new.json"], more].concat())
}

#[test]
fn a_check_that_fails_ends_with_why_on_every_output() {
    let new = program(1010, 77);
    let rows = "--check fails: openat: instructions 1,000 → 1,010 (+10, higher)\n";
    let region = "--check fails: user.parse: instructions 70 → 77 (+7, higher)\n";
    for output in [&[][..], &["--json"], &["-o", "out.json", "--quiet"]] {
        let ran = run_on_results(&program(1000, 70), &new, &[&["--check"], output].concat());
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains(rows) && ran.stderr.ends_with(region), "{}", ran.stderr);
    }
    let ran = run_on_results(&program(1000, 70), &new, &["--check=regions"]);
    assert!(!ran.stderr.contains("openat") && ran.stderr.contains(region), "{}", ran.stderr);
    let ran = run(&new, "[rows.openat]\nmax-increase = 9", &[]);
    let why =
        "--check fails: openat: budget: instructions 1,000 → 1,010 (+1.00 %) over (limit: +9), ";
    assert!(ran.stderr.contains(why) && ran.stderr.contains(region), "{}", ran.stderr);
    let died = ProgramExample { ended: Ended::Signal(11), ..program(1000, 70) };
    let ran = run_on_results(&program(1000, 70), &died, &["--check"]);
    assert!(ran.stderr.contains("ended with signal 11, and on BASE with exit code 0"));
}

#[test]
fn two_versions_of_a_program_are_compared_on_one_kernel() {
    let base = program(1000, 70);
    let mut new = base.clone();
    new.program.packed_sha256 = "ee".repeat(32);
    // What was packed is the initramfs.
    new.configuration.initramfs_sha256 = new.program.packed_sha256.clone();
    let ran = run_on_results(&base, &new, &["--check"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let head = "program  /bin/true, files d3d3d3d3d3d3 → eeeeeeeeeeee";
    assert!(ran.stdout.contains(head) && !ran.stdout.contains("differently"), "{}", ran.stdout);
    new.program.command = vec!["/bin/false".into()];
    let ran = run_on_results(&base, &new, &[]);
    assert!(ran.stdout.contains("program  /bin/true → /bin/false\n"), "{}", ran.stdout);
    // Two programs on two kernels are refused: a difference could come from either.
    let elsewhere = ProgramExample { program: new.program.clone(), ..program(1010, 70) };
    assert_eq!(run_on_results(&base, &elsewhere, &[]).code, Some(2));
    assert_eq!(run_on_results(&base, &elsewhere, &["--across"]).code, Some(0));
    new.program.environment = vec!["A=b".into()];
    assert_eq!(run_on_results(&base, &new, &[]).code, Some(2));
}

#[test]
fn a_row_of_results_is_bisected_as_a_path_is() {
    let scene = Scene::new();
    for (name, openat) in [("a", 1000), ("b", 1000), ("c", 1010), ("d", 1010)] {
        let of_one_machine = ProgramExample {
            subject: base().subject,
            configuration: base().configuration,
            ..program(openat, 70)
        };
        scene.write(name, bytes(&of_one_machine));
    }
    let ran = scene.run(&["bisect", "a", "b", "c", "d", "--path", "openat", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&document["first"], &document["comparison"]["paths"][0]["difference"]),
        (&"c".into(), &10.into())
    );
    let ran = scene.run(&["bisect", "a", "c", "--path", "openat", "--file", "/bin/true"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--file") && ran.stderr.contains("--program"), "{}", ran.stderr);
}

#[test]
fn a_check_of_one_kernel_alone_has_nothing_to_compare() {
    let scene = Scene::new();
    scene.write("base.json", bytes(&program(1000, 70)));
    let ran = scene.run(&["run", "base.json", "--check"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("nothing to compare"), "{}", ran.stderr);
    let with = |budget: &str| {
        scene.write("rows.toml", budget);
        scene.run(&["run", "base.json", "--check", "--budget", "rows.toml"])
    };
    assert_eq!(with("[rows.openat]\nmax = 1000\n").code, Some(0));
    let over = with("[rows.openat]\nmax = 999\n[paths.\"user.parse\"]\nmax = 69\n");
    assert_eq!(over.code, Some(1));
    let rows = "openat: budget: instructions 1,000 over (limit: max 999), rows.toml:1\n";
    let region = "user.parse: budget: instructions 70 over (limit: max 69), rows.toml:3\n";
    assert!(over.stderr.contains(rows) && over.stderr.ends_with(region), "{}", over.stderr);
    let meant = with("[paths.\"*at\"]\nmax = 1000\n");
    assert_eq!(meant.code, Some(2));
    let words = "no path has the name *at: for the rows of a program use [rows]";
    assert!(meant.stderr.contains(words), "{}", meant.stderr);
    let refused = with("[rows.openat]\nmax-increase = 1\n");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("rows.toml:1: openat has a max-increase"));
}

/// The program, of which `openat` has so many `lfence` and its region so many `verw`, in as many
/// instructions.
fn fenced(lfence: u64, verw: u64) -> ProgramExample {
    let slow = |name| Event::from_name(name).unwrap();
    let mut result = program(1000, 70);
    result.events = counted_events(AlsoCounted::default()).collect();
    for row in result.runs.iter_mut().flat_map(|run| &mut run.rows) {
        if row.name == "openat" {
            row.events.insert(slow("lfence"), lfence);
        }
    }
    let window = |verw| -> Events {
        [(Event::Kernel, 70), (Event::Clock, 70), (slow("verw"), verw)].into_iter().collect()
    };
    let windows: [Events; 6] = std::array::from_fn(|_| window(verw));
    result.regions[0].events = Some(PathEvents::new(windows.iter(), vec![]));
    result
}

#[test]
fn rows_and_regions_fail_by_the_events_that_the_user_names() {
    let lfence = "--check fails: openat: lfence 2 → 5 (+3, higher)\n";
    let verw = "--check fails: user.parse: verw 1 → 2 (+1, higher)\n";
    let cases = [
        ("--check", vec![lfence, verw]),
        ("--check=slow", vec![lfence, verw]),
        ("--check=lfence", vec![lfence]),
        ("--check=lfence:3,verw", vec![verw]),
        ("--check=regions", vec![verw]),
        ("--check=instructions", vec![]),
        ("--check=lfence:3,verw:1", vec![]),
    ];
    for (check, lines) in cases {
        let ran = run_on_results(&fenced(2, 1), &fenced(5, 2), &[check, "--quiet"]);
        assert_eq!(ran.code, Some(i32::from(!lines.is_empty())), "{check}: {}", ran.stderr);
        for line in [lfence, verw] {
            assert_eq!(ran.stderr.contains(line), lines.contains(&line), "{check}: {}", ran.stderr);
        }
    }
    let fewer = run_on_results(&fenced(5, 2), &fenced(2, 1), &["--check"]);
    assert_eq!(fewer.code, Some(0), "{}", fewer.stderr);
}

#[test]
fn limits_of_events_hold_for_rows_and_regions() {
    let limit = |limit: &str| format!("[rows.openat.events]\nlfence = {{ {limit} }}\n");
    let region = "[paths.\"user.*\".events]\nverw = { max-increase = 1 }\n";
    for (budget, code) in [
        (limit("max-increase = 3") + region, 0),
        (limit("max-increase = 2") + region, 1),
        (limit("max = 5") + region, 0),
        (limit("max = 4") + region, 1),
        (limit("max-increase = 3"), 1),
    ] {
        let scene = Scene::new();
        scene.write("base.json", bytes(&fenced(2, 1)));
        scene.write("new.json", bytes(&fenced(5, 2)));
        scene.write("rows.toml", &budget);
        let gate = ["--check", "--budget", "rows.toml"];
        let ran = scene.run(&[&["run", "base.json", "new.json"], &gate[..]].concat());
        assert_eq!(ran.code, Some(code), "{budget}: {}", ran.stderr);
    }
}

#[test]
fn a_programs_reasons_are_in_the_document_and_in_every_format() {
    let scene = Scene::new();
    scene.write("base.json", bytes(&fenced(2, 1)));
    scene.write("new.json", bytes(&fenced(5, 2)));
    let formats = ["text", "markdown", "junit", "ktap", "csv", "openmetrics"];
    let files = formats.map(|format| format!("{format}={format}"));
    let mut words = vec!["run", "base.json", "new.json", "--check", "-o", "d.json"];
    words.extend(files.iter().flat_map(|file| ["--write", file]));
    assert_eq!(scene.run(&words).code, Some(1));
    for format in formats {
        let text = scene.read(format).replace("->", "→");
        assert!(text.contains("lfence 2 → 5 (+3, higher)"), "{format}: {text}");
    }
    let document: serde_json::Value = serde_json::from_str(&scene.read("d.json")).unwrap();
    let worse = document["gate"]["worse"].as_array().unwrap();
    let reason = worse.iter().find(|reason| reason["row"] == "openat").unwrap();
    assert_eq!((&reason["event"], &reason["difference"]), (&"lfence".into(), &3.into()));
}

/// Of a program some events are not counted: none that were seen is not the same as none.
#[test]
fn what_was_not_counted_of_a_program_does_not_pass_for_none() {
    for (event, words) in [
        ("split-accesses", "split-accesses (they were not counted of the program)"),
        ("data-lines", "data-lines (they were not counted of the program; --lines counts them)"),
    ] {
        let check = format!("--check={event}");
        let ran = run_on_results(&fenced(2, 1), &fenced(2, 1), &[&check]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        let rules = ["[rows.openat.events]", "[paths.\"user.*\".events]"];
        for rule in rules {
            let scene = Scene::new();
            scene.write("new.json", bytes(&fenced(2, 1)));
            scene.write("rows.toml", format!("{rule}\n{event} = {{ max = 0 }}\n"));
            let ran = scene.run(&["run", "new.json", "--check", "--budget", "rows.toml"]);
            assert_eq!(ran.code, Some(3), "{rule}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!("its budget of {event}")), "{}", ran.stderr);
        }
    }
    for counted in ["lfence", "string-bytes", "indirect-branches", "user"] {
        let ran = run_on_results(&fenced(2, 1), &fenced(2, 1), &[&format!("--check={counted}")]);
        assert_eq!(ran.code, Some(0), "{counted}: {}", ran.stderr);
    }
    let clock = run_on_results(&fenced(2, 1), &fenced(2, 1), &["--check=clock"]);
    assert_eq!(clock.code, Some(2), "{}", clock.stderr);
}
