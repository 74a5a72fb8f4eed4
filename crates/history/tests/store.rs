//! A history from outside: what is added comes back, whatever happens to the file.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::fs;
use std::path::PathBuf;
use std::thread;

use pathmeter_history::{Added, Date, HistoryError, NewResult, Pruned, Store, blame};
use pathmeter_model::{
    Configuration, Measurement, PathEvents, Status, Threshold, Verdict, compare, differences,
    example,
};
use pathmeter_seal::{sealed, to_document};
use proptest::prelude::*;

/// A folder with a history in it.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("history.sqlite")
    }

    /// A history of these results, a day apart.
    fn with(results: &[Measurement]) -> Self {
        let scene = Self::new();
        let mut store = Store::create(&scene.file()).unwrap();
        for (day, result) in results.iter().enumerate() {
            add(&mut store, &bytes(result), day);
        }
        scene
    }
}

fn bytes(result: &Measurement) -> Vec<u8> {
    to_document(result).unwrap().into_bytes()
}

/// The document as an editor lays it out.
fn pretty(result: &Measurement) -> String {
    sealed(&serde_json::to_string_pretty(result).unwrap()).unwrap()
}

fn date(day: usize) -> Date {
    Date::from_seconds(i64::try_from(day).unwrap() * 86_400).unwrap()
}

fn add(store: &mut Store, bytes: &[u8], day: usize) -> Added {
    store.add(NewResult { bytes, label: None, commit: None, date: date(day) }).unwrap()
}

/// A result of one path with these samples, and one that is the same in all.
fn result(name: &str, samples: &[u64]) -> Measurement {
    let configuration = Configuration {
        image_sha256: format!("{:064x}", samples.iter().sum::<u64>()),
        ..example::configuration(name, 1)
    };
    let paths = vec![
        example::in_runs("switch.yield", &[samples]),
        example::in_runs("syscall.getppid", &[&[330; 40]]),
    ];
    example::measurement(name, configuration, paths)
}

fn failing(name: &str) -> Measurement {
    let mut result = result(name, &[1]);
    result.paths[0] = example::failed("switch.yield", "it hangs");
    result
}

#[test]
fn documents_come_back_byte_by_byte() {
    let one = result("one", &[3300; 20]);
    let documents = [
        bytes(&one),
        [bytes(&result("two", &[3301; 20])), b"\n".to_vec()].concat(),
        pretty(&one).into_bytes(),
        [b"\xef\xbb\xbf  ".to_vec(), bytes(&one)].concat(),
        bytes(&Measurement { paths: vec![], ..one }),
    ];
    let scene = Scene::new();
    let mut store = Store::create(&scene.file()).unwrap();
    for document in &documents {
        add(&mut store, document, 0);
    }
    let store = Store::open(&scene.file()).unwrap();
    let kept = store.results(None).unwrap();
    let back: Vec<Vec<u8>> = kept.iter().map(|it| store.document(it.number).unwrap()).collect();
    assert_eq!(back, documents);
}

#[test]
fn the_same_document_is_kept_once_and_as_it_was() {
    let scene = Scene::new();
    let mut store = Store::create(&scene.file()).unwrap();
    let document = bytes(&result("one", &[1]));
    let Added::New(first) = add(&mut store, &document, 3) else { panic!() };
    assert_eq!(add(&mut store, &document, 9), Added::Known(first.clone()));
    assert_eq!(store.results(None).unwrap(), [first]);
}

#[test]
fn results_are_in_the_order_of_their_dates_then_as_they_were_added() {
    let scene = Scene::new();
    let mut store = Store::create(&scene.file()).unwrap();
    for (name, day) in [("c", 5), ("a", 1), ("d", 5), ("b", 2)] {
        add(&mut store, &bytes(&result(name, &[day as u64])), day);
    }
    let labels: Vec<String> = store.results(None).unwrap().into_iter().map(|it| it.label).collect();
    assert_eq!(labels, ["a", "b", "c", "d"]);
    assert_eq!(store.results(Some("d")).unwrap().len(), 1);
}

#[test]
fn labels_that_a_terminal_would_obey_are_refused() {
    let scene = Scene::new();
    let mut store = Store::create(&scene.file()).unwrap();
    let document = bytes(&result("one", &[1]));
    for label in ["", "a\x1b[31m", &"ä".repeat(201)] {
        let new = NewResult { bytes: &document, label: Some(label), commit: None, date: date(0) };
        assert!(matches!(store.add(new), Err(HistoryError::Label { .. })), "{label:?}");
    }
    let not_a_result = NewResult { bytes: b"{}", label: None, commit: None, date: date(0) };
    assert!(matches!(store.add(not_a_result), Err(HistoryError::Document(_))));
}

/// Number of the result, verdict and difference of each step.
fn steps(scene: &Scene, across: bool) -> Vec<(u64, Option<Verdict>, Option<i64>)> {
    let store = Store::open(&scene.file()).unwrap();
    let blame = blame(&store, "switch.yield", None, across).unwrap();
    let step = |step: &pathmeter_model::Step| {
        let comparison = step.comparison.as_ref();
        let (verdict, difference) =
            (comparison.map(|it| it.verdict), comparison.and_then(|it| it.difference));
        (step.result.number, verdict, difference)
    };
    blame.steps.iter().map(step).collect()
}

#[test]
fn blame_names_the_first_result_of_each_step() {
    let samples = [[10; 10], [10; 10], [14; 10], [14; 10], [9; 10]];
    let names = ["a", "b", "c", "d", "e"];
    let results: Vec<Measurement> =
        names.iter().zip(samples).map(|(name, samples)| result(name, &samples)).collect();
    let scene = Scene::with(&results);
    let expected = [(3, Some(Verdict::Higher), Some(4)), (5, Some(Verdict::Lower), Some(-5))];
    assert_eq!(steps(&scene, false), expected);
}

#[test]
fn a_path_that_ceases_to_run_is_compared_with_when_it_last_ran() {
    let results =
        [result("a", &[10; 9]), failing("b"), failing("c"), result("d", &[12; 9]), failing("e")];
    let expected = [
        (2, Some(Verdict::Broken), None),
        (4, Some(Verdict::Higher), Some(2)),
        (5, Some(Verdict::Broken), None),
    ];
    assert_eq!(steps(&Scene::with(&results), false), expected);
}

#[test]
fn results_measured_differently_are_compared_only_if_asked_for() {
    let mut results = [result("a", &[10; 9]), result("b", &[12; 9]), result("c", &[13; 9])];
    results[1].configuration.qemu = "9.0.0".into();
    results[2].configuration.qemu = "9.0.0".into();
    let scene = Scene::with(&results);
    assert_eq!(steps(&scene, false), [(2, None, None), (3, Some(Verdict::Higher), Some(1))]);
    assert_eq!(steps(&scene, true)[0], (2, Some(Verdict::Higher), Some(2)));
    let store = Store::open(&scene.file()).unwrap();
    let blamed = blame(&store, "switch.yield", None, false).unwrap();
    assert_eq!(blamed.steps[0].configuration_differences, differences(&results[0], &results[1]));
}

#[test]
fn a_history_that_is_not_there_is_not_made_by_looking_for_it() {
    let scene = Scene::new();
    assert!(matches!(Store::open(&scene.file()), Err(HistoryError::Missing { .. })));
    assert!(!scene.file().exists());
}

#[test]
fn a_path_that_no_result_has_is_named() {
    let scene = Scene::with(&[result("a", &[1])]);
    let store = Store::open(&scene.file()).unwrap();
    let error = blame(&store, "no.such", None, false).unwrap_err();
    assert!(error.to_string().starts_with("no.such: no result"), "{error}");
}

#[test]
fn what_is_pruned_is_gone_and_the_rest_is_whole() {
    let all: Vec<Measurement> =
        (0..30).map(|day| result(&format!("k{day}"), &[3300 + day; 30])).collect();
    let scene = Scene::with(&all);
    let mut store = Store::create(&scene.file()).unwrap();
    let would = store.prune(Pruned::AllBut(4), None, true).unwrap();
    assert_eq!((would.len(), store.results(None).unwrap().len()), (26, 30));
    assert_eq!(store.prune(Pruned::AllBut(4), None, false).unwrap(), would);
    assert_eq!(store.prune(Pruned::Before(date(28)), Some("k27"), false).unwrap().len(), 1);
    let before = fs::metadata(scene.file()).unwrap().len();
    store.shrink().unwrap();
    assert!(fs::metadata(scene.file()).unwrap().len() <= before);
    let kept = store.results(None).unwrap();
    let labels: Vec<&str> = kept.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["k26", "k28", "k29"]);
    for (kept, day) in kept.iter().zip([26, 28, 29]) {
        assert_eq!(store.document(kept.number).unwrap(), bytes(&all[day]));
    }
    // A number is never given twice.
    assert!(matches!(
        add(&mut store, &bytes(&all[0]), 99),
        Added::New(kept) if kept.number == 31
    ));
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let scene = Scene::new();
    let file = scene.file();
    thread::scope(|scope| {
        for writer in 0..2_u64 {
            let file = &file;
            scope.spawn(move || {
                for number in 0..20 {
                    let mut store = Store::create(file).unwrap();
                    let name = format!("w{writer}-{number}");
                    add(&mut store, &bytes(&result(&name, &[number; 5])), 0);
                }
            });
        }
    });
    let store = Store::open(&file).unwrap();
    let kept = store.results(None).unwrap();
    assert_eq!(kept.len(), 40);
    for it in &kept {
        store.document(it.number).unwrap();
    }
}

/// A part of the usual cases: each waits for the disk.
fn few() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.div_ceil(8), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn blame_agrees_with_comparing_each_result_with_the_one_before(
        kinds in proptest::collection::vec((0_u64..5, 0_u64..4, any::<bool>()), 2..12)
    ) {
        // Two that are alike are two results.
        let result_of_day = |(day, kind): (usize, (u64, u64, bool))| {
            Measurement { notes: vec![day.to_string()], ..result_with_events(kind) }
        };
        let results: Vec<Measurement> = kinds.into_iter().enumerate().map(result_of_day).collect();
        let mut expected = Vec::new();
        for (number, pair) in (2..).zip(results.windows(2)) {
            let compared = compare(&pair[0], &pair[1], Threshold::default()).paths.remove(0);
            if compared.verdict != Verdict::Same {
                expected.push((number, Some(compared)));
            }
        }
        let store = Store::open(&Scene::with(&results).file()).unwrap();
        let steps = blame(&store, "switch.yield", None, false).unwrap().steps;
        let found: Vec<_> =
            steps.into_iter().map(|step| (step.result.number, step.comparison)).collect();
        prop_assert_eq!(found, expected);
    }
}

/// A result of a path with events: its level, how many values it has, whether there is an `lfence`.
fn result_with_events((level, spread, fenced): (u64, u64, bool)) -> Measurement {
    let samples: Vec<u64> = (0..24).map(|at| 100 + level + at % (spread + 1)).collect();
    let fences = u64::from(fenced);
    let mut distinct: Vec<Vec<u64>> = samples.iter().map(|it| vec![10, it - 10, fences]).collect();
    distinct.dedup();
    distinct.truncate(usize::try_from(spread).unwrap() + 1);
    let row = |sample: &u64| distinct.iter().position(|it| it[1] == sample - 10).unwrap();
    let of_samples = samples.iter().map(|sample| u32::try_from(row(sample)).unwrap()).collect();
    let names = ["user", "kernel", "lfence"].map(str::to_owned).to_vec();
    let placement = vec![u8::try_from(level).unwrap(); 3];
    let mut result = result("k", &samples);
    result.paths[0].events = Some(PathEvents { names, distinct, of_samples, placement });
    result
}

#[test]
fn a_result_that_lacks_the_path_has_no_point() {
    let mut lacking = result("b", &[1]);
    lacking.paths.remove(0);
    let scene = Scene::with(&[result("a", &[10; 9]), lacking, result("c", &[10; 9])]);
    let store = Store::open(&scene.file()).unwrap();
    let history = store.history(None, &["switch.yield"]).unwrap();
    let status: Vec<Option<Status>> =
        history.paths[0].points.iter().map(|point| point.map(|it| it.status)).collect();
    assert_eq!(status, [Some(Status::Ok), None, Some(Status::Ok)]);
    assert_eq!(blame(&store, "switch.yield", None, false).unwrap().results, 2);
}
