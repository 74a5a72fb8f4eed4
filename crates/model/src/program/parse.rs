//! Reading a program's result back: sizes are bounded, and the rows of every run add up.

use std::collections::{BTreeSet, HashSet};

use pathmeter_trace::Event;

use crate::measurement::REGION_PREFIX;
use crate::parse::{bounded, check_paths, quoted, read};
use crate::{
    Document, MAX_NAME_BYTES, MAX_SAMPLE, Output, ParseError, PathResult, ProgramResult,
    ProgramRow, ProgramRun, RunInconsistency,
};

/// Most runs in a program's result.
pub const MAX_PROGRAM_RUNS: usize = 1 << 10;
/// Most different rows in all runs; with the bound for runs it bounds the time of a comparison.
pub const MAX_ROWS: usize = 1 << 10;
/// Most functions of all rows together: every function of a kernel in several rows.
const MAX_FUNCTIONS: usize = 1 << 18;
/// Longest name of a function, in bytes; the kernel's own bound (`KSYM_NAME_LEN`).
const MAX_FUNCTION_BYTES: usize = 512;

/// Reads a program's result from the bytes of a file.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do. The caller adds the file's name.
pub fn parse_program(bytes: &[u8]) -> Result<ProgramResult, ParseError> {
    let result: ProgramResult = read(bytes, Document::Program)?;
    check_sizes(&result)?;
    if result.program.command.is_empty() {
        return Err(field("program.command", "it is empty, so nothing was executed"));
    }
    if result.runs.is_empty() {
        return Err(field("runs", "there are none"));
    }
    for (run, counts) in result.runs.iter().enumerate() {
        counts.check().map_err(|what| ParseError::Run { run, what })?;
        check_events(counts, &result.events)
            .map_err(|what| field(&format!("runs[{run}].rows"), &what))?;
    }
    for row in result.functions.iter().flatten() {
        let of_row = || {
            let kind = serde_json::to_string(&row.kind).unwrap_or_default();
            format!("functions of {} {}", kind.trim_matches('"'), quoted(&row.name))
        };
        row.check(&result.runs).map_err(|what| field(&of_row(), &what))?;
    }
    check_regions(&result.regions, &result.program.windows)?;
    check_paths(&result.regions, result.configuration.clock)?;
    Ok(result)
}

fn field(field: &str, what: &str) -> ParseError {
    ParseError::Field { field: field.into(), what: what.into() }
}

fn check_sizes(result: &ProgramResult) -> Result<(), ParseError> {
    bounded("number of runs", result.runs.len(), MAX_PROGRAM_RUNS)?;
    let mut rows = HashSet::new();
    for (at, run) in result.runs.iter().enumerate() {
        rows.extend(run.rows.iter().map(ProgramRow::key));
        let longest = run.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        bounded(
            &format!("length of a row's name in runs[{at}] in bytes"),
            longest,
            MAX_NAME_BYTES,
        )?;
    }
    bounded("number of different rows in runs", rows.len(), MAX_ROWS)?;
    let functions = result.functions.iter().flatten().flat_map(|row| &row.functions);
    bounded("number of functions in all rows", functions.clone().count(), MAX_FUNCTIONS)?;
    let longest = functions.map(|function| function.function.len()).max().unwrap_or(0);
    bounded("length of a function's name in bytes", longest, MAX_FUNCTION_BYTES)?;
    let Output { stdout, stderr } = &result.output;
    // No number of steps or instructions in a run exceeds its clock if the rows add up.
    let clocks = result.runs.iter().enumerate();
    let clocks = clocks.map(|(at, run)| (format!("runs[{at}].clock"), run.clock));
    let others = [
        ("program.files", result.program.files),
        ("program.bytes", result.program.bytes),
        ("output.stdout.bytes", stdout.bytes),
        ("output.stderr.bytes", stderr.bytes),
    ];
    let others = others.map(|(what, found)| (what.to_owned(), found));
    match clocks.chain(others).find(|&(_, found)| found > MAX_SAMPLE) {
        Some((what, found)) => Err(ParseError::TooLarge { what, found, limit: MAX_SAMPLE }),
        None => Ok(()),
    }
}

impl ProgramRun {
    /// Whether the run can be what a guest did: its rows are sorted and unique, and every step of
    /// the clock is in one of them or idle.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), RunInconsistency> {
        let name = |row: &ProgramRow| quoted(&row.name);
        let mut pairs = self.rows.iter().zip(self.rows.iter().skip(1));
        if let Some((_, next)) = pairs.find(|(row, next)| row.key() >= next.key()) {
            return Err(RunInconsistency::Order { name: name(next) });
        }
        if let Some(row) = self.rows.iter().find(|row| row.instructions > row.steps) {
            return Err(RunInconsistency::Instructions { name: name(row) });
        }
        let sum = u128::from(self.idle) + self.sum_of(|row| row.steps);
        if sum != u128::from(self.clock) {
            return Err(RunInconsistency::Sum { sum, clock: self.clock });
        }
        let sums =
            [("steps", self.sum_of(|row| row.steps)), ("calls", self.sum_of(|row| row.calls))];
        let sum_of_event = |event| (Event::word(event), self.sum_of(|row| row.of_event(event)));
        let events: BTreeSet<Event> =
            self.rows.iter().flat_map(|row| row.events.keys().copied()).collect();
        let mut sums = sums.into_iter().chain(events.into_iter().map(sum_of_event));
        match sums.find(|&(_, sum)| sum > u128::from(MAX_SAMPLE)) {
            Some((what, _)) => Err(RunInconsistency::TooMany { what }),
            None => Ok(()),
        }
    }

    fn sum_of(&self, number: impl Fn(&ProgramRow) -> u64) -> u128 {
        self.rows.iter().map(|row| u128::from(number(row))).sum()
    }
}

/// Whether all events of the rows are among those that were counted.
fn check_events(run: &ProgramRun, counted: &[Event]) -> Result<(), String> {
    let mut events = run.rows.iter().flat_map(|row| row.events.keys());
    match events.find(|event| !counted.contains(event)) {
        Some(event) => Err(format!("{event} is not among the events that were counted")),
        None => Ok(()),
    }
}

/// Whether all regions are named `user.NAME`, or as one of these windows is.
fn check_regions(regions: &[PathResult], windows: &[String]) -> Result<(), ParseError> {
    let names: HashSet<&str> =
        windows.iter().filter_map(|window| Some(window.split_once('=')?.0)).collect();
    let is_region = |name: &str| {
        names.contains(name) || name.strip_prefix(REGION_PREFIX).is_some_and(|it| !it.is_empty())
    };
    match regions.iter().enumerate().find(|(_, region)| !is_region(&region.path)) {
        Some((at, PathResult { path, .. })) => {
            let what = format!("{} is neither user.NAME nor a window", quoted(path));
            Err(field(&format!("regions[{at}].path"), &what))
        }
        None => Ok(()),
    }
}
