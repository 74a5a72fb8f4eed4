//! Times in a history: kept like counts, and never in one line with them or with another machine's.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::path::PathBuf;

use pathmeter_history::{Added, Date, HistoryError, KeptDocument, NewResult, Pruned, Store, blame};
use pathmeter_model::{
    Blame, Boots, KeptKind, ParseError, Status, TimeVerdict, Times, Unit, example,
};
use pathmeter_seal::{sealed, to_document};

const PATH: &str = "switch.yield";

struct Scene {
    folder: tempfile::TempDir,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("history.sqlite")).unwrap();
        Self { folder, store }
    }

    /// A history of these documents, a day apart.
    fn with(documents: &[Vec<u8>]) -> Self {
        let mut scene = Self::new();
        for (day, bytes) in (0..).zip(documents) {
            scene.add(bytes, day).unwrap();
        }
        scene
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("history.sqlite")
    }

    fn add(&mut self, bytes: &[u8], day: i64) -> Result<Added, HistoryError> {
        let date = Date::from_seconds(day * 86_400).unwrap();
        self.store.add(NewResult { bytes, label: None, commit: None, date })
    }

    fn blame(&self, across: bool) -> Blame {
        blame(&self.store, PATH, None, across).unwrap()
    }

    /// Number of the result and verdict of each step.
    fn steps(&self, across: bool) -> Vec<(u64, Option<TimeVerdict>)> {
        let steps = self.blame(across).steps.into_iter();
        steps.map(|it| (it.result.number, it.times.map(|times| times.verdict))).collect()
    }
}

/// A session of 20 processes whose levels lie at and above `ticks`.
fn session(boot: &str, ticks: u64) -> Times {
    let of = |ticks: u64| (0..20).map(|at| ticks + at % 5).collect::<Vec<u64>>();
    let mut times = example::times(&[(PATH, 1, &of(ticks)), ("file.stat", 1, &of(700))]);
    boot.clone_into(&mut times.host.boot_id);
    times
}

fn bytes(times: &Times) -> Vec<u8> {
    to_document(times).unwrap().into_bytes()
}

fn boots(name: &str, ticks: u64) -> Vec<u8> {
    let sessions = (0..12).map(|at| session(&format!("{name}{at}"), ticks + at % 5));
    let boots = Boots { boots: sessions.collect(), ..Boots::default() };
    to_document(&boots).unwrap().into_bytes()
}

fn counts(value: u64) -> Vec<u8> {
    let paths = vec![example::in_runs(PATH, &[&[value; 9]])];
    let configuration = example::configuration("6.1.0", 1);
    to_document(&example::measurement("k", configuration, paths)).unwrap().into_bytes()
}

#[test]
fn times_come_back_byte_by_byte_and_their_rows_are_levels_in_picoseconds() {
    let pretty = serde_json::to_string_pretty(&session("b", 10_050)).unwrap();
    let pretty = sealed(&pretty).unwrap().into_bytes();
    let documents = [bytes(&session("a", 10_050)), pretty, boots("c", 10_050), counts(3300)];
    let scene = Scene::with(&documents);
    for (number, document) in (1..).zip(&documents) {
        assert_eq!(scene.store.document(number).unwrap(), *document);
    }
    let history = scene.store.history(None, &[PATH]).unwrap();
    let points: Vec<_> = history.paths[0].points.iter().map(|point| point.unwrap()).collect();
    assert_eq!(
        points.iter().map(|it| it.unit).collect::<Vec<_>>()[2..],
        [Unit::Ps, Unit::Instructions]
    );
    // A tick is a nanosecond, and 50 of them are the clock's.
    let [one, .., several, count] = &points[..] else { panic!() };
    assert_eq!((one.value, count.value), (Some(10_002_000), Some(3300)));
    assert!(several.low < several.value && several.value < several.high, "{several:?}");
    let kept = &history.results[0];
    assert_eq!((kept.kind, &*kept.subject, kept.ok), (KeptKind::Host, "host", 2));
    assert!(kept.machine.is_some() && history.results[3].machine.is_none());
}

#[test]
fn a_step_is_what_is_slower_or_faster_and_nothing_else() {
    let sessions = [("a", 10_000), ("b", 10_000), ("c", 11_000), ("d", 11_000), ("e", 9_000)];
    let documents = sessions.map(|(boot, ticks)| bytes(&session(boot, ticks)));
    let scene = Scene::with(&documents);
    let expected = [(3, Some(TimeVerdict::Slower)), (5, Some(TimeVerdict::Faster))];
    assert_eq!(scene.steps(false), expected);
    let notes = scene.blame(false).notes.concat();
    assert!(notes.contains("not paired") && notes.contains("a session is one boot"), "{notes}");
}

#[test]
fn of_several_boots_the_boot_is_the_replicate() {
    let scene = Scene::with(&[boots("a", 10_000), boots("b", 10_500), boots("c", 10_500)]);
    assert_eq!(scene.steps(false), [(2, Some(TimeVerdict::Slower))]);
    assert!(!scene.blame(false).notes.concat().contains("a session is one boot"));
}

#[test]
fn one_boot_is_not_compared_with_several_nor_with_another_machine() {
    let mut other = session("z", 20_000);
    other.host.processor = "another".to_owned();
    let documents = [bytes(&session("a", 10_000)), bytes(&other), boots("b", 20_000)];
    let scene = Scene::with(&documents);
    let steps = scene.blame(false).steps;
    assert_eq!(scene.steps(false), [(2, None), (3, None)]);
    assert_eq!(steps[0].configuration_differences[0].field, "processor");
    let fields = steps[1].configuration_differences.iter().map(|it| &*it.field);
    assert!(fields.collect::<Vec<_>>().contains(&"boots"));
    assert_eq!(scene.steps(true), [(2, Some(TimeVerdict::Slower)), (3, None)]);
}

#[test]
fn counts_and_times_are_followed_apart_and_drawn_in_lines_of_their_own() {
    let mut other = session("z", 20_000);
    other.host.cpu += 1;
    let documents = [
        counts(3300),
        bytes(&session("a", 10_000)),
        counts(3310),
        bytes(&session("b", 11_000)),
        bytes(&other),
    ];
    let scene = Scene::with(&documents);
    let blame = scene.blame(false);
    let compared: Vec<_> = blame
        .steps
        .iter()
        .map(|it| (it.result.number, it.comparison.is_some(), it.times.is_some()))
        .collect();
    assert_eq!(compared, [(3, true, false), (4, false, true), (5, false, false)]);
    assert!(blame.notes.concat().contains("followed each by themselves"));
    let history = scene.store.history(None, &[PATH]).unwrap().by_series();
    let names: Vec<&str> = history.paths.iter().map(|path| &*path.path).collect();
    let named = |what| format!("{PATH} ({what})");
    let expected = ["instructions", "ns, machine of #2", "ns, machine of #5"].map(named);
    assert_eq!(names, expected);
    let of = |path: usize| history.paths[path].points.iter().flatten().count();
    assert_eq!([0, 1, 2].map(of), [2, 2, 1]);
}

#[test]
fn a_path_that_no_longer_runs_is_a_step() {
    let mut ceased = session("b", 10_000);
    ceased.paths[0].status = Status::Unsupported;
    ceased.paths[0].reason = Some("no such call".to_owned());
    ceased.paths[0].replicates.clear();
    let documents = [bytes(&session("a", 10_000)), bytes(&ceased), bytes(&session("c", 10_000))];
    let scene = Scene::with(&documents);
    let steps = scene.blame(false).steps;
    let [first, second] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!(first.times.as_ref().unwrap().verdict, TimeVerdict::Unmeasured);
    assert_eq!(first.times.as_ref().unwrap().reason.as_deref(), Some("no such call"));
    assert_eq!((second.result.number, second.against.number), (3, 1));
}

#[test]
fn what_is_removed_leaves_nothing_and_what_stays_is_whole() {
    let documents = [boots("a", 10_000), bytes(&session("b", 10_000)), boots("c", 10_500)];
    let mut scene = Scene::with(&documents);
    scene.store.prune(Pruned::Numbered(&[1, 2]), None, false).unwrap();
    assert_eq!(scene.store.document(3).unwrap(), documents[2]);
    let history = scene.store.history(None, &[PATH, "file.stat"]).unwrap();
    assert_eq!(history.results.len(), 1);
    scene.store.prune(Pruned::AllBut(0), None, false).unwrap();
    let connection = rusqlite::Connection::open(scene.file()).unwrap();
    let left = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let tables = ["result", "measured", "document", "configuration", "paths"];
    assert_eq!(tables.map(left), [0; 5]);
}

#[test]
fn a_configuration_that_is_lost_is_no_answer() {
    let scene = Scene::with(&[bytes(&session("a", 10_000)), bytes(&session("b", 11_000))]);
    let connection = rusqlite::Connection::open(scene.file()).unwrap();
    connection.execute_batch("DELETE FROM configuration").unwrap();
    let store = Store::open(&scene.file()).unwrap();
    let Err(HistoryError::Corrupt { detail, .. }) = store.results(None) else { panic!() };
    assert!(detail.contains("the configuration or the paths of result 1 are missing"), "{detail}");
    assert!(blame(&store, PATH, None, false).is_err());
    let (found, damage) = store.find_results(None);
    assert_eq!((found.len(), damage.len()), (2, 1));
    assert_eq!(store.document(2).unwrap(), bytes(&session("b", 11_000)));
}

#[test]
fn what_contradicts_itself_is_not_kept_and_a_session_knows_its_date() {
    let mut scene = Scene::new();
    let mut wrong = session("a", 10_000);
    wrong.method.ticks_per_second = 0;
    let refused = scene.add(&bytes(&wrong), 0);
    assert!(matches!(refused, Err(HistoryError::Document(ParseError::Field { .. }))));
    assert!(scene.store.results(None).unwrap().is_empty());
    let mut later = session("b", 10_000);
    later.method.began = 1_800_000_000;
    let parsed = KeptDocument::parse(&bytes(&later)).unwrap();
    assert_eq!(parsed.began(), Some(1_800_000_000));
    assert_eq!(KeptDocument::parse(&counts(1)).unwrap().began(), None);
}
