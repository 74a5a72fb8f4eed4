//! The runs of a program as rows of a result, so that a program's result is one like any other.
//!
//! The samples of a row are the instructions of the later runs, one each; the first run is cold,
//! and its instructions are the sample only if there is no other run.

use std::collections::{BTreeMap, HashMap, HashSet};

use pathmeter_trace::{Event, RowKind};

use crate::program::row_name::{OWN_WORK, SUM, row_name};
use crate::program::work::{Calls, Counts};
use crate::{Check, FirstRun, FunctionCost, PathEvents, PathResult, RunClock, Unit, Work};

/// One run of a program: its clock, and where the steps went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRun {
    pub clock: RunClock,
    /// The work that was done, each kind and name once.
    pub rows: Vec<ProgramRow>,
    /// The program's processes, each name once. None if they were not told apart.
    pub processes: Vec<ProcessRun>,
}

/// What a process of a program cost in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRun {
    /// Its program, and where it stands in the tree of processes: `sh/redis-benchmark[2]`.
    pub process: String,
    /// How many threads it had, the first one included; 0 if it stands for several processes.
    pub threads: u64,
    /// Its own work, each kind and name once.
    pub rows: Vec<ProgramRow>,
    /// Its threads, the first one included, each name once. None if they were not told apart.
    pub by_thread: Vec<ThreadRun>,
}

/// What a thread of a process cost in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRun {
    /// Its process, and its number among that one's threads: `sh/redis-server:2`.
    pub thread: String,
    /// What the kernel called it last; empty if that is not known, or if it stands for several.
    pub name: String,
    /// Its own work, each kind and name once.
    pub rows: Vec<ProgramRow>,
}

/// What one kind of work cost in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRow {
    pub kind: RowKind,
    /// Which work of that kind, for example the system call; empty where a kind has one row only.
    pub name: String,
    /// How often it was done.
    pub calls: u64,
    /// Instructions retired. A repeated string instruction is one.
    pub instructions: u64,
    /// Steps of the guest's clock: instructions, and iterations of string instructions.
    pub steps: u64,
    /// How many there were of each event that was counted. Lines and pages of data are distinct in
    /// each call, and summed over the calls.
    pub events: BTreeMap<Event, u64>,
}

/// The functions of one row, or of one region, in the first later run in which the row has its
/// median; in the first run, if that is the only one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFunctions {
    pub kind: RowKind,
    /// Which row or region of that kind it is.
    pub name: String,
    /// Its functions, sorted by name; a name occurs once.
    pub functions: Vec<FunctionCost>,
}

/// What tells a row from the others.
type Key = (RowKind, String);

/// The rows of these runs, of all own work, and of all work together; then the regions. Of each
/// row the events `counted` were counted.
pub fn program_rows(
    runs: &[ProgramRun],
    counted: &[Event],
    functions: Vec<RowFunctions>,
    regions: Vec<PathResult>,
) -> Vec<PathResult> {
    let mut functions: HashMap<Key, Vec<FunctionCost>> =
        functions.into_iter().map(|row| ((row.kind, row.name), row.functions)).collect();
    let mut of = |key: &Key| functions.remove(key).unwrap_or_default();
    let mut names = Names(regions.iter().map(|region| region.path.clone()).collect());
    let mut rows: Vec<PathResult> = Vec::new();
    for (key, numbers) in series(runs) {
        let name = names.unique(row_name(key.0, &key.1), &key.1);
        rows.push(PathResult { functions: of(&key), ..row(&name, key.0, &numbers, counted) });
    }
    for (name, kind) in [(OWN_WORK, RowKind::OwnWork), (SUM, RowKind::Sum)] {
        let name = names.unique(name.to_owned(), "all rows");
        let numbers = runs.iter().map(|run| total(run, kind)).collect::<Vec<_>>();
        rows.push(row(&name, kind, &numbers, counted));
    }
    rows.extend(regions.into_iter().map(|region| {
        let functions = of(&(RowKind::Region, region.path.clone()));
        PathResult { functions, ..region }
    }));
    rows
}

/// The rows of these runs without totals, of which the events `counted` were counted.
pub(crate) fn rows(runs: &[ProgramRun], counted: &[Event]) -> Vec<PathResult> {
    let mut names = Names(HashSet::new());
    let rows = series(runs).into_iter();
    let row_of_work = |((kind, name), numbers): (Key, Vec<Counts>)| {
        row(&names.unique(row_name(kind, &name), &name), kind, &numbers, counted)
    };
    rows.map(row_of_work).collect()
}

/// The names that were given.
struct Names(HashSet<String>);

impl Names {
    /// The name, or a longer one that has not been given.
    fn unique(&mut self, name: String, full: &str) -> String {
        let name = if self.0.contains(&name) { format!("{name} ({full})") } else { name };
        self.0.insert(name.clone());
        name
    }
}

/// The numbers of each row, run by run.
fn series(runs: &[ProgramRun]) -> BTreeMap<Key, Vec<Counts>> {
    let mut all: BTreeMap<Key, Vec<Counts>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for row in &run.rows {
            let nothing = || vec![Counts::default(); runs.len()];
            let of_row = all.entry((row.kind, row.name.clone())).or_insert_with(nothing);
            of_row[at].add(row);
        }
    }
    all
}

/// What the rows of a run that `kind` is the total of cost together.
pub(crate) fn total(run: &ProgramRun, kind: RowKind) -> Counts {
    let mut counts = Counts::default();
    let parts = run.rows.iter().filter(|row| row.kind.is_part_of(kind));
    parts.for_each(|row| counts.add(row));
    counts
}

pub(crate) fn row(name: &str, kind: RowKind, numbers: &[Counts], counted: &[Event]) -> PathResult {
    let calls: Vec<u64> = numbers.iter().map(|run| run.calls).collect();
    let Some(first) = numbers.first() else {
        return PathResult::failed(name, Unit::Instructions, "there was no run");
    };
    let first = FirstRun { instructions: first.instructions, events: first.events.clone() };
    let work = Work { kind, calls, first };
    let sampled = if numbers.len() > 1 { &numbers[1..] } else { numbers };
    let samples: Vec<Vec<u64>> = sampled.iter().map(|run| vec![run.instructions]).collect();
    let check = calls_noticed(work.sampled_calls());
    let row = PathResult::ok(name, Unit::Instructions, &samples, vec![check]);
    let row = row.counting(events(kind, sampled, counted));
    PathResult { work: Some(work), ..row }
}

/// The events of these runs. Which of the instructions are the program's own is known of its own
/// code alone, so those of other rows are all the kernel's.
fn events(kind: RowKind, runs: &[Counts], counted: &[Event]) -> PathEvents {
    let retired = if kind == RowKind::User { Event::User } else { Event::Kernel };
    let others = || counted.iter().copied().chain([Event::Clock]).filter(|it| *it != retired);
    let numbers = runs.iter().map(|run| {
        let others = others().map(|event| run.events.get(&event).copied().unwrap_or(0));
        [run.instructions].into_iter().chain(others).collect::<Vec<u64>>()
    });
    PathEvents::of_numbers([retired].into_iter().chain(others()), numbers)
}

impl Counts {
    /// Adds the numbers of another row in the same run.
    pub(crate) fn include(&mut self, more: &Self) {
        self.calls = self.calls.saturating_add(more.calls);
        self.instructions = self.instructions.saturating_add(more.instructions);
        for (event, number) in &more.events {
            let sum = self.events.entry(*event).or_default();
            *sum = sum.saturating_add(*number);
        }
    }

    fn add(&mut self, row: &ProgramRow) {
        self.calls = self.calls.saturating_add(row.calls);
        self.instructions = self.instructions.saturating_add(row.instructions);
        let steps = [(Event::Clock, row.steps)].into_iter().filter(|(_, steps)| *steps > 0);
        for (event, number) in row.events.iter().map(|(event, it)| (*event, *it)).chain(steps) {
            let sum = self.events.entry(event).or_default();
            *sum = sum.saturating_add(number);
        }
    }
}

/// How often the work was done in a run.
fn calls_noticed(runs: &[u64]) -> Check {
    let Calls { least, most } = Calls::of(runs);
    let value = if least == most { least.to_string() } else { format!("{least} to {most}") };
    Check { name: "calls".to_owned(), value }
}
