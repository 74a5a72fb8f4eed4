//! Histories that are damaged anywhere: every read is right, or refused by an error that names the
//! file; every document that is whole is given back; what is told to be added can be read.
//!
//! A hundred files; a thousand in the tests' long form (`make soak`). Their damage follows from
//! their numbers alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]
#![allow(clippy::print_stdout, reason = "it prints what came of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use pathmeter_history::{Added, Date, HistoryError, NewResult, Pruned, Store, blame};
use pathmeter_model::{
    Blame, Configuration, History, Measurement, PathEvents, PathResult, Times, Unit, example,
};
use pathmeter_seal::to_document;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

/// So many that documents have more than one base.
const RESULTS: usize = 70;
const PATHS: [&str; 4] = ["file.stat", "rare.path", "switch.yield", "syscall.getppid"];
const PAGE: usize = 4096;

/// Numbers that look random and are the same every time: Marsaglia's xorshift64.
struct Numbers(u64);

impl Numbers {
    fn of(file: usize) -> Self {
        let mut numbers = Self(0x9e37_79b9_7f4a_7c15 ^ ((file as u64 + 1) << 20));
        for _ in 0..8 {
            numbers.below(2);
        }
        numbers
    }

    fn below(&mut self, limit: usize) -> usize {
        for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << shift } else { self.0 >> shift };
        }
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Changes a file's bytes, and says how.
fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) -> &'static str {
    let pages = bytes.len() / PAGE;
    let at = numbers.below(bytes.len());
    let page = numbers.below(pages) * PAGE;
    match numbers.below(12) {
        0..5 => {
            bytes[at] ^= 1 << numbers.below(8);
            "a bit"
        }
        5..7 => {
            for _ in 0..=numbers.below(30) {
                let at = numbers.below(bytes.len());
                bytes[at] ^= 1 << numbers.below(8);
            }
            "bits"
        }
        7..9 => {
            let end = (at + 1 + numbers.below(60)).min(bytes.len());
            bytes[at..end].fill_with(|| u8::try_from(numbers.below(256)).unwrap());
            "bytes"
        }
        9 => {
            bytes[page..page + PAGE].fill(0);
            "a page of zeros"
        }
        10 => {
            let other = numbers.below(pages) * PAGE;
            bytes.copy_within(other..other + PAGE, page);
            "a page in another's place"
        }
        _ => {
            bytes.truncate(at);
            "cut"
        }
    }
}

/// A result of these paths, of which one is only in some.
fn result(number: usize) -> Measurement {
    let level = 3000 + (number as u64 / 5) * 7;
    let samples = |base: u64| -> Vec<u64> { (0..60).map(|at| base + at % 3).collect() };
    let path = |name: &str, samples: Vec<u64>| {
        PathResult::ok(name, Unit::Instructions, &[samples], vec![])
    };
    let mut paths = vec![
        path(PATHS[2], samples(level)),
        path(PATHS[3], vec![330; 40]),
        path(PATHS[0], samples(1691 + number as u64)),
    ];
    let rows_of = |sample: &u64| vec![7, sample - 7];
    let distinct: Vec<Vec<u64>> = paths[2].samples[..3].iter().map(rows_of).collect();
    paths[2].events = Some(PathEvents {
        names: ["user", "kernel"].map(str::to_owned).to_vec(),
        distinct,
        of_samples: (0..60).map(|at| at % 3).collect(),
        placement: vec![u8::try_from(number % 64).unwrap(); 6],
    });
    if number.is_multiple_of(3) {
        paths.push(path(PATHS[1], vec![number as u64 + 10; 9]));
    }
    let name = format!("vmlinuz-{number}");
    let configuration = Configuration {
        image_sha256: format!("{number:064x}"),
        ..example::configuration(&name, 1)
    };
    example::measurement(&name, configuration, paths)
}

/// Times of three of these paths.
fn times(number: usize) -> Times {
    let of = |ticks: u64| -> Vec<u64> { (0..8).map(|at| ticks + at % 3).collect() };
    let levels = [900, 300, 500].map(|ticks| of(ticks + number as u64));
    let paths: Vec<_> = PATHS.iter().skip(1).zip(&levels).collect();
    let mut times =
        example::times(&paths.iter().map(|(path, of)| (**path, 9, &of[..])).collect::<Vec<_>>());
    times.host.boot_id = number.to_string();
    times
}

/// A result; every tenth is one of times.
fn document(number: usize) -> Vec<u8> {
    let text = match number % 10 {
        9 => to_document(&times(number)),
        _ => to_document(&result(number)),
    };
    text.unwrap().into_bytes()
}

fn add(file: &Path, bytes: &[u8], day: usize) -> Result<Added, HistoryError> {
    let date = Date::from_seconds(i64::try_from(day).unwrap() * 86_400).unwrap();
    Store::create(file)?.add(NewResult { bytes, label: None, commit: None, date })
}

/// The history that is damaged, and what it answers.
struct Original {
    bytes: Vec<u8>,
    documents: Vec<Vec<u8>>,
    history: History,
    steps: Vec<Blame>,
    rows: BTreeMap<u64, Rows>,
}

/// What a document hangs on: its row and that of its base, and of its row in `result` the hash.
type Rows = Vec<Vec<Value>>;

impl Original {
    fn new(file: &Path) -> Self {
        let documents: Vec<Vec<u8>> = (0..RESULTS).map(document).collect();
        for (number, bytes) in documents.iter().enumerate() {
            // Not in the order of their dates.
            add(file, bytes, number * 7 % RESULTS).unwrap();
        }
        let store = Store::open(file).unwrap();
        let connection = Connection::open(file).unwrap();
        let numbers = 1..=RESULTS as u64;
        Self {
            bytes: fs::read(file).unwrap(),
            documents,
            history: store.history(None, &PATHS).unwrap(),
            steps: PATHS.iter().map(|path| blame(&store, path, None, false).unwrap()).collect(),
            rows: numbers.map(|number| (number, rows(&connection, number).unwrap())).collect(),
        }
    }

    fn number(&self, document: &[u8]) -> Option<u64> {
        Some(self.documents.iter().position(|it| it == document)? as u64 + 1)
    }

    fn document(&self, number: u64) -> Option<&Vec<u8>> {
        self.documents.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The documents of which a database has all rows, as SQLite alone finds them.
    fn whole(&self, file: &Path) -> Vec<u64> {
        let Ok(connection) = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
        else {
            return Vec::new();
        };
        let same = |(number, original): (&u64, &Rows)| {
            (rows(&connection, *number).as_ref() == Some(original)).then_some(*number)
        };
        self.rows.iter().filter_map(same).collect()
    }
}

/// None if SQLite can't read one of them.
fn rows(connection: &Connection, number: u64) -> Option<Rows> {
    let row = |sql: &str, id: i64| -> Option<Vec<Value>> {
        let mut query = connection.prepare_cached(sql).ok()?;
        let columns = query.column_count();
        query.query_row([id], |row| (0..columns).map(|at| row.get(at)).collect()).ok()
    };
    let document = "SELECT id, base, packed FROM document WHERE id = ?";
    let number = number.cast_signed();
    let own = row(document, number)?;
    let result = row("SELECT id, sha256 FROM result WHERE id = ?", number)?;
    match own[1] {
        Value::Integer(base) => Some(vec![result, row(document, base)?, own]),
        _ => Some(vec![result, own]),
    }
}

/// What came of all files.
#[derive(Debug, Default)]
struct Tally {
    right: u32,
    refused: u32,
    documents: usize,
    /// The file as a whole is refused, though SQLite finds documents in it.
    closed: u32,
    added: u32,
    not_added: u32,
    pruned: u32,
    faults: Vec<String>,
}

impl Tally {
    /// A read that is right, or refused by name.
    fn read<T: PartialEq>(&mut self, what: &str, read: Result<T, HistoryError>, expected: &T) {
        match read {
            Ok(found) if found == *expected => self.right += 1,
            Ok(_) => self.faults.push(format!("{what}: another answer")),
            Err(error) => {
                self.refused += 1;
                if !names_the_file(&error) {
                    self.faults.push(format!("{what}: {error}"));
                }
            }
        }
    }
}

fn names_the_file(error: &HistoryError) -> bool {
    let text = error.to_string();
    let printable = text.chars().all(|c| !c.is_control());
    text.contains("history.sqlite: ") && error.help().is_some() && printable
}

/// All that can be read of a file. The numbers of the documents that it gives back.
fn read_all(file: &Path, original: &Original, tally: &mut Tally) -> Option<Vec<u64>> {
    let store = match Store::open(file) {
        Ok(store) => store,
        Err(error) => {
            tally.read("open", Err(error), &());
            return None;
        }
    };
    tally.read("show", store.history(None, &PATHS), &original.history);
    for (path, steps) in PATHS.iter().zip(&original.steps) {
        tally.read("blame", blame(&store, path, None, false), steps);
    }
    let (found, mut damage) = store.find_results(None);
    let mut given = Vec::new();
    for entry in found {
        match store.document(entry.number) {
            Ok(bytes) => match original.number(&bytes) {
                Some(number) => given.push(number),
                None => tally.faults.push(format!("export: result {} is new", entry.number)),
            },
            Err(error) => damage.push(error),
        }
    }
    if damage.iter().any(|error| !names_the_file(error)) {
        tally.faults.push(format!("export: {damage:?}"));
    }
    if given.len() < RESULTS && damage.is_empty() {
        tally.faults.push("export: documents are missing, and nothing is named".into());
    }
    Some(given)
}

/// Adds a result, and one that is there: what is told to be there can be read, and what was whole
/// before still is.
fn change(file: &Path, original: &Original, whole: &[u64], tally: &mut Tally) {
    for (what, bytes) in [("new", &document(RESULTS)), ("known", &original.documents[5])] {
        let number = match add(file, bytes, 999) {
            Ok(Added::New(kept) | Added::Known(kept)) => kept.number,
            Err(error) => {
                tally.not_added += 1;
                if !names_the_file(&error) {
                    tally.faults.push(format!("add: {error}"));
                }
                continue;
            }
        };
        tally.added += 1;
        let store = Store::open(file).unwrap();
        let listed = store.find_results(None).0.iter().any(|found| found.number == number);
        if !listed || store.document(number).ok().as_ref() != Some(bytes) {
            tally.faults.push(format!("add: the {what} document can't be read"));
        }
    }
    let Ok(store) = Store::open(file) else { return };
    // As an export reads them.
    store.find_results(None);
    for &number in whole {
        if store.document(number).ok().as_ref() != original.document(number) {
            tally.faults.push(format!("add: document {number} was whole before"));
        }
    }
    drop(store);
    prune(file, original, whole, tally);
}

/// Removes one result: the others' documents that were whole still are.
fn prune(file: &Path, original: &Original, whole: &[u64], tally: &mut Tally) {
    // The first is the base of others.
    let Ok(mut store) = Store::create(file) else { return };
    match store.prune(Pruned::Numbered(&[1]), None, false).and_then(|_| store.shrink()) {
        Ok(()) => tally.pruned += 1,
        Err(error) if names_the_file(&error) => {}
        Err(error) => tally.faults.push(format!("prune: {error}")),
    }
    // As an export reads them.
    store.find_results(None);
    for &number in whole.iter().filter(|number| **number != 1) {
        if store.document(number).ok().as_ref() != original.document(number) {
            tally.faults.push(format!("prune: document {number} was whole before"));
        }
    }
}

/// Does something with each of the damaged files.
fn with_each(act: impl Fn(&Path, &Original, &mut Tally)) {
    static ORIGINAL: LazyLock<Original> = LazyLock::new(|| {
        let folder = folder();
        Original::new(&folder.path().join("history.sqlite"))
    });
    let long = std::env::var_os("PATHMETER_SOAK").is_some_and(|value| value == "1");
    let folder = folder();
    let file = folder.path().join("history.sqlite");
    let (mut tally, mut kinds) = (Tally::default(), BTreeMap::<&str, u32>::new());
    for number in 0..if long { 1000 } else { 100 } {
        let mut bytes = ORIGINAL.bytes.clone();
        let kind = damage(&mut bytes, &mut Numbers::of(number));
        *kinds.entry(kind).or_default() += 1;
        fs::write(&file, &bytes).unwrap();
        let faults = tally.faults.len();
        act(&file, &ORIGINAL, &mut tally);
        for fault in &mut tally.faults[faults..] {
            *fault = format!("file {number}, {kind}: {fault}");
        }
    }
    let faults = std::mem::take(&mut tally.faults);
    println!("{kinds:?}\n{tally:?}");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// In memory where that can be: nothing here is about the disk.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

#[test]
fn a_damaged_history_answers_rightly_or_not_at_all_and_gives_back_what_is_whole() {
    with_each(|file, original, tally| {
        let bytes = fs::read(file).unwrap();
        let whole = original.whole(file);
        match read_all(file, original, tally) {
            Some(given) => {
                tally.documents += given.len();
                let kept_back: Vec<_> = whole.iter().filter(|it| !given.contains(it)).collect();
                if !kept_back.is_empty() {
                    tally.faults.push(format!("export: whole, but not given: {kept_back:?}"));
                }
            }
            None => tally.closed += u32::from(!whole.is_empty()),
        }
        if fs::read(file).unwrap() != bytes {
            tally.faults.push("reading changed it".into());
        }
    });
}

#[test]
fn what_is_added_to_a_damaged_history_can_be_read_and_spoils_nothing() {
    with_each(|file, original, tally| change(file, original, &original.whole(file), tally));
}
