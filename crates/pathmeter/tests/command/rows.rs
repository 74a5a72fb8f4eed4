//! `run --check --budget`: limits of a program's rows and regions.

use std::collections::BTreeMap;

use pathmeter_model::{
    Ended, Output, PathResult, Program, ProgramResult, ProgramRow, ProgramRun, ProgramSchema,
    RowKind, Unit, Written,
};

use crate::results::{base, unchanged};
use crate::scene::{Ran, Scene};

fn row(kind: RowKind, name: &str, instructions: u64) -> ProgramRow {
    ProgramRow {
        kind,
        name: name.into(),
        calls: 1,
        instructions,
        steps: instructions,
        events: BTreeMap::new(),
    }
}

/// A program of which `openat` and one region cost so much, six times.
pub(crate) fn program(openat: u64, region: u64) -> ProgramResult {
    let rows = vec![
        row(RowKind::User, "", 5000),
        row(RowKind::Syscall, "openat", openat),
        row(RowKind::PageFault, "write, not present", 2000),
        row(RowKind::Interrupt, "sysvec_apic_timer_interrupt", 700),
    ];
    let run = ProgramRun::new(rows.iter().map(|row| row.steps).sum(), 0, rows);
    let of_kernel = if openat == 1000 { base() } else { unchanged() };
    let program = Program {
        command: vec!["/bin/true".into()],
        environment: vec![],
        packed_sha256: "d3".repeat(32),
        files: 1,
        bytes: 2_000,
        modules: vec![],
        windows: vec![],
    };
    ProgramResult {
        schema: ProgramSchema::V1,
        subject: of_kernel.subject,
        configuration: of_kernel.configuration,
        program,
        ended: Ended::Code(0),
        output: Output { stdout: Written::default(), stderr: Written::default() },
        runs: vec![run; 6],
        regions: vec![PathResult::ok("user.parse", Unit::Instructions, &[vec![region; 6]], vec![])],
        events: Vec::new(),
        functions: None,
        notes: vec![],
    }
}

fn run(new: &ProgramResult, budget: &str, more: &[&str]) -> Ran {
    let scene = Scene::new();
    scene.write("base.json", serde_json::to_vec(&program(1000, 70)).unwrap());
    scene.write("new.json", serde_json::to_vec(new).unwrap());
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
        assert!(ran.stdout.contains("limits are kept"), "{}", ran.stdout);
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
    let died = ProgramResult { ended: Ended::Signal(11), ..program(1000, 70) };
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

/// `run` of two results.
fn compared(base: &ProgramResult, new: &ProgramResult, more: &[&str]) -> Ran {
    let scene = Scene::new();
    scene.write("base.json", serde_json::to_vec(base).unwrap());
    scene.write("new.json", serde_json::to_vec(new).unwrap());
    scene.run(&[&["run", "base.json", "new.json"], more].concat())
}

#[test]
fn a_check_that_fails_ends_with_why_on_every_output() {
    let new = program(1010, 77);
    let rows = "--check fails: openat: instructions 1,000 → 1,010 (+10, higher)\n";
    let region = "--check fails: user.parse: instructions 70 → 77 (+7, higher)\n";
    for output in [&[][..], &["--json"], &["-o", "out.json", "--quiet"]] {
        let ran = compared(&program(1000, 70), &new, &[&["--check"], output].concat());
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains(rows) && ran.stderr.ends_with(region), "{}", ran.stderr);
    }
    let ran = compared(&program(1000, 70), &new, &["--check=regions"]);
    assert!(!ran.stderr.contains("openat") && ran.stderr.contains(region), "{}", ran.stderr);
    let ran = run(&new, "[rows.openat]\nmax-increase = 9", &[]);
    let why = "--check fails: openat: budget: instructions over (+9), line 1\n";
    assert!(ran.stderr.contains(why) && ran.stderr.contains(region), "{}", ran.stderr);
    let died = ProgramResult { ended: Ended::Signal(11), ..program(1000, 70) };
    let ran = compared(&program(1000, 70), &died, &["--check"]);
    assert!(ran.stderr.contains("ended with signal 11, and on BASE with exit code 0"));
}

#[test]
fn two_versions_of_a_program_are_compared_on_one_kernel() {
    let base = program(1000, 70);
    let mut new = base.clone();
    new.program.packed_sha256 = "ee".repeat(32);
    // What was packed is the initramfs.
    new.configuration.initramfs_sha256 = new.program.packed_sha256.clone();
    let ran = compared(&base, &new, &["--check"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let head = "program  /bin/true, files d3d3d3d3d3d3 → eeeeeeeeeeee";
    assert!(ran.stdout.contains(head) && !ran.stdout.contains("differently"), "{}", ran.stdout);
    new.program.command = vec!["/bin/false".into()];
    let ran = compared(&base, &new, &[]);
    assert!(ran.stdout.contains("program  /bin/true → /bin/false\n"), "{}", ran.stdout);
    // Two programs on two kernels are refused: a difference could come from either.
    let elsewhere = ProgramResult { program: new.program.clone(), ..program(1010, 70) };
    assert_eq!(compared(&base, &elsewhere, &[]).code, Some(2));
    assert_eq!(compared(&base, &elsewhere, &["--across"]).code, Some(0));
    new.program.environment = vec!["A=b".into()];
    assert_eq!(compared(&base, &new, &[]).code, Some(2));
}

#[test]
fn a_check_of_one_kernel_alone_has_nothing_to_compare() {
    let scene = Scene::new();
    scene.write("base.json", serde_json::to_vec(&program(1000, 70)).unwrap());
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
    let rows = "openat: budget: instructions over (max 999), line 1\n";
    let region = "user.parse: budget: instructions over (max 69), line 3\n";
    assert!(over.stderr.contains(rows) && over.stderr.ends_with(region), "{}", over.stderr);
    let refused = with("[rows.openat]\nmax-increase = 1\n");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("rows.toml:1: openat has a max-increase"));
}
