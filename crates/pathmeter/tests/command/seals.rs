//! Seals: a document of which one digit has changed is refused by name, whatever kind it is and
//! whichever verb reads it; one that was edited on purpose is taken with `--accept-edited`, which
//! is said wherever its numbers stand.
//!
//! 120 digits; 1,000 in the tests' long form (`make soak`).

use pathmeter_model::{Boots, Joined, SettingsSet, Threshold, TimeComparison, compare, example};
use pathmeter_trace::Explain;
use serde_json::{Value, json};

use crate::history::Numbers;
use crate::report::window;
use crate::results::{base, more_expensive};
use crate::rows::program;
use crate::scene::{Ran, Scene, document, soak};

/// A kind of document: its name, one of the kind, and the verbs that read it.
type Kind = (&'static str, String, &'static [&'static [&'static str]]);

const REPORT: &[&str] = &["report", "it.json", "-o", "page.html"];
const PAGE: &[&[&str]] = &[REPORT];
const RESULTS: &[&[&str]] = &[
    REPORT,
    &["measure", "it.json"],
    &["compare", "whole.json", "it.json", "--check", "--across"],
    &["compare", "it.json", "whole.json", "--json", "--across"],
    &["bisect", "whole.json", "it.json", "--path", "switch.yield"],
    &["history", "add", "it.json", "--db", "h.sqlite"],
];
const TIMES: &[&[&str]] = &[
    REPORT,
    &["host", "it.json"],
    &["host", "compare", "it.json", "it.json"],
    &[
        "compare",
        "whole.json",
        "whole.json",
        "--times",
        "it.json",
        "--times",
        "it.json",
        "--across",
    ],
    &["history", "add", "it.json", "--db", "h.sqlite"],
];

/// One document of each kind that a verb reads.
fn kinds() -> Vec<Kind> {
    let explain = Explain::new(window(&base(), 3300), Some(window(&more_expensive(), 3333)));
    let comparison = compare(&base(), &more_expensive(), Threshold::default());
    let explained = json!({
        "schema": "pathmeter.explained-comparison/1", "comparison": comparison,
        "explanations": [explain],
    });
    let set =
        SettingsSet { name: "s".into(), title: "t".into(), rows: Vec::new(), sums: Vec::new() };
    let settings = example::settings(&base(), set);
    let paths: [(&str, u64, &[u64]); 2] =
        [("syscall.getppid", 9, &[3000, 3010, 3001]), ("switch.yield", 9, &[9000, 9001, 9002])];
    let times = example::times(&paths);
    let mut boots = Boots::default();
    boots.add(times.clone()).unwrap();
    let sessions = [std::slice::from_ref(&times); 2];
    let timed = TimeComparison::of_two(sessions, |_| true, 0.02).unwrap();
    let joined = Joined::new(comparison.clone(), timed.clone(), (&base(), &times));
    let experiment = json!({"schema": "pathmeter.experiment/1", "judged": [{"outcome": 1234}]});
    vec![
        ("a result", document(&base()), RESULTS),
        ("a program's result", document(&program(1000, 70).result()), &RESULTS[..4]),
        ("a comparison", document(&comparison), PAGE),
        ("an explained comparison", document(&explained), PAGE),
        ("an explanation", document(&explain), PAGE),
        ("settings", document(&settings), PAGE),
        ("settings of two CPUs", document(&[&settings, &settings]), PAGE),
        ("an experiment", document(&experiment), PAGE),
        ("times", document(&times), TIMES),
        ("boots", document(&boots), TIMES),
        ("a comparison of times", document(&timed), PAGE),
        ("counts and times", document(&joined), PAGE),
    ]
}

/// The document with another digit at a place that the numbers choose.
fn with_another_digit(text: &str, numbers: &mut Numbers) -> String {
    let digits: Vec<usize> =
        text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|it| it.0).collect();
    let at = digits[usize::try_from(numbers.below(digits.len() as u64)).unwrap()];
    let by = 1 + u8::try_from(numbers.below(9)).unwrap();
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = b'0' + (bytes[at] - b'0' + by) % 10;
    String::from_utf8(bytes).unwrap()
}

/// Whether both have the same numbers: the last of a fraction's seventeen digits may be any of two.
fn is_same_document(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    read(one).is_some_and(|one| read(other) == Some(one))
}

/// That a run named the document, and gave nothing of it.
fn assert_refused(ran: &Ran, what: &str, scene: &Scene) {
    assert!(ran.code != Some(0) && ran.code != Some(1), "{what}: {ran:?}");
    assert_eq!(ran.stdout, "", "{what}");
    assert!(ran.stderr.contains("it.json: "), "{what}: {}", ran.stderr);
    assert!(!scene.path("page.html").exists() && !scene.path("h.sqlite").exists(), "{what}");
}

#[test]
fn a_changed_digit_is_refused_by_name_in_every_kind_of_document() {
    let digits = if soak() { 1000 } else { 120 };
    let (kinds, mut numbers) = (kinds(), Numbers(0x5ea1));
    let (mut sealed, mut same, scene) = (0, 0, Scene::new());
    scene.write("whole.json", document(&base()));
    for number in 0..digits {
        let (kind, text, verbs) = &kinds[number % kinds.len()];
        let verb = verbs[number / kinds.len() % verbs.len()];
        let changed = with_another_digit(text, &mut numbers);
        if is_same_document(text, &changed) {
            same += 1;
            continue;
        }
        scene.write("it.json", &changed);
        let what = format!("{kind}, {verb:?}, {changed}");
        let ran = scene.run(verb);
        assert_refused(&ran, &what, &scene);
        // Some are no JSON any more: a number does not begin with 0.
        sealed += usize::from(ran.stderr.contains("seal"));
    }
    assert!(sealed * 10 > digits * 9, "{sealed} of {digits} were refused for their seals");
    assert!(same * 100 < digits, "{same} of {digits} change no number");
}

#[test]
fn whole_documents_of_every_kind_are_taken() {
    for (kind, text, _) in kinds().iter().filter(|(kind, ..)| *kind != "an experiment") {
        let scene = Scene::new();
        scene.write("it.json", text);
        let ran = scene.run(REPORT);
        assert_eq!(ran.code, Some(0), "{kind}: {}", ran.stderr);
        // Laid out otherwise, with its fields in another order, it is the same document.
        let value: Value = serde_json::from_str(text).unwrap();
        scene.write("it.json", serde_json::to_string_pretty(&value).unwrap());
        let again = scene.run(REPORT);
        assert_eq!(again.code, Some(0), "{kind}: {}", again.stderr);
    }
}

/// A result that somebody edited.
fn edited() -> String {
    document(&base()).replace("the CPU has no rdpid", "there is no rdpid")
}

#[test]
fn an_edited_document_is_taken_if_that_is_asked_for_and_said_wherever_it_stands() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.write("it.json", edited());
    let compare = ["compare", "it.json", "new.json"];
    let refused = scene.run(&compare);
    assert_eq!((refused.code, &refused.stdout[..]), (Some(3), ""));
    for told in ["it.json: \"pathmeter.result/1\" whose seal", "--accept-edited"] {
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    let taken = |line: &[&str]| {
        let ran = scene.run(&[line, &["--accept-edited"]].concat());
        assert_eq!(ran.code, Some(0), "{line:?}: {}", ran.stderr);
        ran.stdout
    };
    let table = taken(&compare);
    assert!(table.contains("\nbase  vmlinuz-old (edited), "), "{table}");
    assert!(taken(&["measure", "it.json"]).contains("vmlinuz-old (edited)"));
    taken(&["report", "it.json", "-o", "page.html"]);
    let page = scene.read("page.html");
    assert!(page.contains("this document was edited after pathmeter wrote it"), "{page}");
    // What is written of it says so too, and needs nobody's consent any more.
    taken(&["compare", "it.json", "new.json", "-o", "compared.json"]);
    assert_eq!(scene.run(&["report", "compared.json", "-o", "page.html"]).code, Some(0));
    // A line may end after a name's hyphen.
    let page = scene.read("page.html").replace("<wbr>", "");
    assert!(page.contains("vmlinuz-old (edited)"), "{page}");
    taken(&["history", "add", "it.json", "--db", "h.sqlite"]);
    let kept = scene.run(&["history", "show", "--db", "h.sqlite"]).stdout;
    assert!(kept.contains("vmlinuz-old (edited)"), "{kept}");
    let export = ["history", "export", "--db", "h.sqlite", "-o", "exported.json"];
    assert_eq!(scene.run(&export).code, Some(0));
    assert_eq!(scene.run(&["measure", "exported.json"]).code, Some(0));
}

#[test]
fn one_without_a_seal_is_refused_likewise_and_without_a_document_nothing_is_accepted() {
    let scene = Scene::new();
    scene.write("it.json", serde_json::to_string(&base()).unwrap());
    let refused = scene.run(&["measure", "it.json"]);
    assert!(refused.stderr.contains("without a seal"), "{}", refused.stderr);
    assert_eq!(refused.code, Some(3));
    assert_eq!(scene.run(&["measure", "it.json", "--accept-edited"]).code, Some(0));
    let idle = scene.run(&["measure", "lab", "--accept-edited"]);
    assert_eq!(idle.code, Some(2));
    assert!(idle.stderr.contains("no document is named"), "{}", idle.stderr);
}
