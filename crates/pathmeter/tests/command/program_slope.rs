//! `run --slope`: what is refused before a guest starts, and the page of its document.

use pathmeter_model::ProgramSlopeResult;

use crate::rows::{bytes, program};
use crate::scene::{Scene, document, kernel, qemu};

/// That this is refused, with these words, and that no guest was asked for.
fn assert_refused(slope: &str, more: &[&str], program_words: &[&str], words: &str) {
    let scene = Scene::new();
    scene.write("k", std::fs::read(kernel("vmlinux.elf")).unwrap());
    let told = scene.path("told");
    let qemu = qemu("tells");
    let given = ["run", "k", "--qemu", &qemu, "--slope", slope];
    let mut command = scene.command(&[&given[..], more, &["--"], program_words].concat());
    let output = command.env("PATHMETER_TOLD", &told).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{slope} {more:?}: {stderr}");
    assert!(stderr.contains(words), "{slope} {more:?}: {stderr}");
    assert!(!told.exists(), "a guest was asked for: {slope} {more:?}");
}

#[test]
fn what_is_no_word_with_numbers_is_refused() {
    for (slope, words) in [
        ("25,50", "N=25,50,100"),
        ("landlock:{1,2}", "N=25,50,100"),
        ("N=25,x", "\"x\" is no number"),
        ("N=25,25", "each number must be larger than the one before"),
        ("N=25", "a slope needs 2 to 64 numbers"),
    ] {
        assert_refused(slope, &[], &["/bin/true", "N"], words);
    }
}

/// A slope whose function is not that of its values was edited.
#[test]
fn its_document_is_a_page_and_one_that_contradicts_itself_is_refused() {
    let numbers = [25_u64, 50, 100];
    let results: Vec<_> = numbers.iter().map(|it| program(1000 + 7 * it, 70).result()).collect();
    let steps: Vec<_> = numbers.iter().map(|it| (*it, it.to_string())).collect();
    let command = vec!["./loop".to_owned(), "N".to_owned()];
    let slope = ProgramSlopeResult::of(("N", command), &steps, &results).unwrap();
    let scene = Scene::new();
    scene.write("slope.json", document(&slope));
    let ran = scene.run(&["report", "slope.json", "-o", "page.html"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), "pathmeter: note: page.html: written\n"));
    assert!(
        scene
            .read("page.html")
            .contains("One more N costs 7 instructions of the program and its system calls")
    );
    let mut other = slope;
    other.rows[0].values[1] += 1;
    scene.write("other.json", document(&other));
    let ran = scene.run(&["report", "other.json", "-o", "page.html"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("its function is not that of its values"), "{}", ran.stderr);
}

#[test]
fn a_program_without_the_word_is_refused() {
    assert_refused("N=1,2", &[], &["/bin/true", "n", "NN"], "no argument of the program is N");
    assert_refused("N=1,2", &[], &["N"], "no argument of the program is N");
    assert_refused("N=1,2", &[], &[], "no program is named");
}

#[test]
fn what_has_no_slope_is_refused_by_its_name() {
    let cases: [(&[&str], &str); 15] = [
        (&["k"], "[NEW]"),
        (&["--against", "/bin/true 5"], "--against"),
        (&["--cpu", "skylake", "--cpu", "zen2"], "--cpu"),
        (&["--under", "default", "--under", "boot:nopti"], "--under"),
        (&["--explain"], "--explain"),
        (&["--lines"], "--lines"),
        (&["--returns"], "--returns"),
        (&["--check"], "--check"),
        (&["--threshold", "5"], "--threshold"),
        (&["--across"], "--across"),
        (&["--results", "."], "--results"),
        (&["--benchmarks", "go"], "--benchmarks"),
        (&["--format", "csv"], "--format"),
        (&["--write", "csv=x"], "--write"),
        (&["--perturb", "4"], "4 later runs"),
    ];
    for (more, words) in cases {
        assert_refused("N=1,2", more, &["/bin/true", "N"], words);
    }
}

#[test]
fn an_earlier_result_has_no_slope() {
    let scene = Scene::new();
    scene.write("program.json", bytes(&program(1000, 70)));
    let ran = scene.run(&["run", "program.json", "--slope", "N=1,2"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let why = "--slope would change nothing: program.json is a document";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}
