//! A program's result as any other: its rows and regions as paths, so that whatever is done with
//! the results of kernels can be done with those of programs.
//!
//! The samples of a row are the instructions of the later runs, one each; the first run is cold,
//! and counts only if it is the only one. A run in which a row's work was not done cost nothing.

use std::collections::HashSet;

use pathmeter_trace::{Event, RowKind};

use super::cost::Counts;
use super::name::row_name;
use super::parse::parse_program;
use crate::parse::{parse_measurement, schema_of};
use crate::{
    Check, Configuration, Document, FunctionCost, MAX_DOCUMENT_BYTES, Measurement, ParseError,
    PathEvents, PathResult, ProgramResult, ResultSchema, Unit,
};

/// The name of what a program does itself: all rows that do not depend on the timer.
pub const OWN_WORK: &str = "own work";
/// The name of all rows together.
pub const SUM: &str = "sum";

impl ProgramResult {
    /// The result as one of paths: the rows, all of own work and all rows together, then the
    /// regions and windows. How the program ended is a note.
    pub fn measured(&self) -> Measurement {
        let mut notes = self.notes.clone();
        notes.push(format!("the program ended with {}", self.ended));
        Measurement {
            schema: ResultSchema::V1,
            subject: self.subject.clone(),
            configuration: self.whole_configuration(),
            guest: None,
            paths: self.rows_as_paths(),
            notes,
        }
    }

    /// All that the counts depend on, with the program.
    pub(crate) fn whole_configuration(&self) -> Configuration {
        Configuration { program: Some(self.program.clone()), ..self.configuration.clone() }
    }

    fn rows_as_paths(&self) -> Vec<PathResult> {
        let mut seen: HashSet<String> =
            self.regions.iter().map(|region| region.path.clone()).collect();
        let mut unique = |name: String, full: &str| {
            let name = if seen.contains(&name) { format!("{name} ({full})") } else { name };
            seen.insert(name.clone());
            name
        };
        let rows = self.series().into_iter();
        let rows = rows.map(|((kind, name), runs)| {
            let row = self.row_as_path(&unique(row_name(kind, name), name), kind, &runs);
            PathResult { functions: self.functions_of(kind, name), ..row }
        });
        let mut paths: Vec<PathResult> = rows.collect();
        for (name, own_only) in [(OWN_WORK, true), (SUM, false)] {
            let name = unique(name.to_owned(), "all rows");
            let total = self.total(|kind| !own_only || kind.is_own_work());
            paths.push(self.row_as_path(&name, RowKind::Other, &total));
        }
        paths.extend(self.regions.iter().cloned());
        paths
    }

    fn row_as_path(&self, name: &str, kind: RowKind, runs: &[Counts]) -> PathResult {
        let runs = if runs.len() > 1 { &runs[1..] } else { runs };
        let samples: Vec<Vec<u64>> = runs.iter().map(|run| vec![run.instructions]).collect();
        let row = PathResult::ok(name, Unit::Instructions, &samples, vec![calls(runs)]);
        let row = row.counting(self.events_of(kind, runs));
        PathResult { work: Some(kind), ..row }
    }

    /// The functions of a row, if they were counted.
    fn functions_of(&self, kind: RowKind, name: &str) -> Vec<FunctionCost> {
        let mut rows = self.functions.iter().flatten();
        let row = rows.find(|row| (row.kind, &*row.name) == (kind, name));
        row.map(|row| row.functions.clone()).unwrap_or_default()
    }

    /// The events of these runs. Which of the instructions are the program's own is known of its
    /// own code alone, so those of other rows are all the kernel's.
    fn events_of(&self, kind: RowKind, runs: &[Counts]) -> PathEvents {
        let retired = if kind == RowKind::User { Event::User } else { Event::Kernel };
        let counted: Vec<Event> =
            self.events.iter().copied().filter(|event| *event != retired).collect();
        let numbers = runs.iter().map(|run| {
            let others = counted.iter().map(|event| run.of(*event));
            [run.instructions].into_iter().chain(others).collect::<Vec<u64>>()
        });
        PathEvents::of_numbers([retired].into_iter().chain(counted.iter().copied()), numbers)
    }
}

/// The paths of a side, with a row that cost nothing for each row of a program that only the other
/// side has: there the work was not done.
pub(crate) fn with_absent_rows(side: &Measurement, other: &Measurement) -> Vec<PathResult> {
    let mut paths = side.paths.clone();
    let runs = paths.iter().find(|path| path.work.is_some()).map(|path| path.samples.len());
    let Some(runs) = runs else { return paths };
    let there: HashSet<&str> = side.paths.iter().map(|path| &*path.path).collect();
    let absent = |path: &&PathResult| path.work.is_some() && !there.contains(&*path.path);
    for row in other.paths.iter().filter(absent) {
        let nothing = PathResult::ok(&row.path, row.unit, &vec![vec![0]; runs], Vec::new());
        let events = row.events.as_ref().map(|events| PathEvents {
            names: events.names.clone(),
            distinct: vec![vec![0; events.names.len()]],
            of_samples: vec![0; runs],
            placement: Vec::new(),
        });
        paths.push(PathResult { events, work: row.work, ..nothing });
    }
    paths
}

/// Reads a result from the bytes of a file: one of paths, or a program's as one of paths.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do. The caller adds the file's name.
pub fn parse_result(bytes: &[u8]) -> Result<Measurement, ParseError> {
    let of_program = bytes.len() <= MAX_DOCUMENT_BYTES
        && schema_of(bytes).as_deref() == Some(Document::Program.schema());
    if of_program {
        return parse_program(bytes).map(|result| result.measured());
    }
    parse_measurement(bytes)
}

/// How often the work was done in a run.
fn calls(runs: &[Counts]) -> Check {
    let calls = || runs.iter().map(|run| run.calls);
    let (least, most) = (calls().min().unwrap_or(0), calls().max().unwrap_or(0));
    let value = if least == most { least.to_string() } else { format!("{least} to {most}") };
    Check { name: "calls".to_owned(), value }
}
