//! Checks of a program's result that came from outside: sizes are bounded, and the rows of every
//! run add up.

use std::collections::{BTreeMap, HashSet};

use pathmeter_trace::{Event, RowKind};

use crate::program::row_name::row_name;
use crate::program::work::Counts;
use crate::reading::bounds::{bounded, field, quoted};
use crate::result::path_result::REGION_PREFIX;
use crate::{Execution, MAX_SAMPLE, Measurement, Output, ParseError, PathResult, RunClock, Work};

/// Most runs in a program's result.
pub const MAX_PROGRAM_RUNS: usize = 1 << 10;
/// Most rows in a program's result; with the bound for runs it bounds the time of a comparison.
pub const MAX_ROWS: usize = 1 << 10;
/// Most functions of all rows together: every function of a kernel in several rows.
const MAX_FUNCTIONS: usize = 1 << 18;
/// Longest name of a function, in bytes; the kernel's own bound (`KSYM_NAME_LEN`).
const MAX_FUNCTION_BYTES: usize = 512;

/// Checks what the result of a program has beyond that of paths; a result of paths has none of it.
/// Its paths were checked before.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do.
pub(crate) fn check_execution(result: &Measurement) -> Result<(), ParseError> {
    let rows: Vec<&PathResult> = result.paths.iter().filter(|it| it.work.is_some()).collect();
    let Some(execution) = &result.execution else {
        return match rows.first() {
            Some(row) => {
                Err(field(&format_row_name(row), "it is a row of a program, but none was executed"))
            }
            None => Ok(()),
        };
    };
    check_sizes(result, execution, &rows)?;
    check_program(result)?;
    check_names(result)?;
    for row in &rows {
        check_row(row, execution.runs.len()).map_err(|what| field(&format_row_name(row), &what))?;
    }
    let counts: Vec<(RowKind, Vec<Counts>)> =
        rows.iter().filter_map(|row| Some((row.work_kind()?, row.counts()))).collect();
    for (run, clock) in execution.runs.iter().enumerate() {
        check_run(&counts, run, *clock)
            .map_err(|what| field(&format!("execution.runs[{run}]"), &what))?;
    }
    check_totals(&counts, execution.runs.len()).map_err(|what| field("paths", &what))
}

fn format_row_name(row: &PathResult) -> String {
    format!("row {}", quoted(&row.path))
}

fn check_sizes(
    result: &Measurement,
    Execution { output: Output { stdout, stderr }, runs, .. }: &Execution,
    rows: &[&PathResult],
) -> Result<(), ParseError> {
    bounded("number of runs", runs.len(), MAX_PROGRAM_RUNS)?;
    bounded("number of a program's rows", rows.len(), MAX_ROWS)?;
    let functions = result.paths.iter().flat_map(|row| &row.functions);
    bounded("number of functions in all rows", functions.clone().count(), MAX_FUNCTIONS)?;
    let longest = functions.map(|function| function.function.len()).max().unwrap_or(0);
    bounded("length of a function's name in bytes", longest, MAX_FUNCTION_BYTES)?;
    let events = result.paths.iter().flat_map(|row| &row.functions).flat_map(|it| &it.events);
    let most = events.map(|(_, number)| *number).max().unwrap_or(0);
    let clocks = runs.iter().enumerate();
    let clocks = clocks.map(|(at, run)| (format!("execution.runs[{at}].clock"), run.clock));
    let program = result.configuration.program.as_ref();
    let others = [
        ("an event of a function", most),
        ("configuration.program.files", program.map_or(0, |program| program.files)),
        ("configuration.program.bytes", program.map_or(0, |program| program.bytes)),
        ("execution.output.stdout.bytes", stdout.bytes),
        ("execution.output.stderr.bytes", stderr.bytes),
    ];
    let others = others.map(|(what, found)| (what.to_owned(), found));
    match clocks.chain(others).find(|&(_, found)| found > MAX_SAMPLE) {
        Some((what, found)) => Err(ParseError::TooLarge { what, found, limit: MAX_SAMPLE }),
        None => Ok(()),
    }
}

/// That there is a program, and that it was executed at least once.
fn check_program(result: &Measurement) -> Result<(), ParseError> {
    let runs = result.execution.as_ref().map_or(0, |execution| execution.runs.len());
    match &result.configuration.program {
        None => Err(field("configuration.program", "it is missing, but a program was executed")),
        Some(program) if program.command.is_empty() => {
            Err(field("configuration.program.command", "it is empty, so nothing was executed"))
        }
        Some(_) if runs == 0 => Err(field("execution.runs", "there are none")),
        Some(_) => Ok(()),
    }
}

/// That everything but the rows is named `user.NAME`, or as one of the windows is.
fn check_names(result: &Measurement) -> Result<(), ParseError> {
    let windows = result.configuration.program.iter().flat_map(|program| &program.windows);
    let windows: HashSet<&str> =
        windows.filter_map(|window| Some(window.split_once('=')?.0)).collect();
    let is_region = |name: &str| {
        windows.contains(name) || name.strip_prefix(REGION_PREFIX).is_some_and(|it| !it.is_empty())
    };
    let mut others = result.paths.iter().filter(|path| path.work.is_none());
    match others.find(|path| !is_region(&path.path)) {
        Some(path) => {
            let what = format!("{} is no row, nor user.NAME, nor a window", quoted(&path.path));
            Err(field("paths", &what))
        }
        None => Ok(()),
    }
}

/// That a row has a sample for each later run, or for the only one, and that its functions add up
/// to what it typically costs.
pub(crate) fn check_row(row: &PathResult, runs: usize) -> Result<(), String> {
    let Some(Work { calls, first, .. }) = &row.work else { return Ok(()) };
    let samples = runs.saturating_sub(1).max(1);
    if calls.len() != runs || row.samples_per_run != vec![1; samples] {
        return Err(format!("it does not have the calls and samples of {runs} runs"));
    }
    let Some(events) = &row.events else { return Err("it has no events".to_owned()) };
    if let Some(event) = first.events.keys().find(|event| !events.has(**event)) {
        return Err(format!("{event} is not among the events that were counted"));
    }
    if runs == 1 && *events != events.with_one_sample(first.instructions, &first.events) {
        return Err("its only run is not its first".to_owned());
    }
    let has_more = |run: &Counts| run.instructions > steps(run);
    if row.counts().iter().any(has_more) {
        return Err("it has more instructions than steps".to_owned());
    }
    let sum: u128 = row.functions.iter().map(|one| u128::from(one.instructions)).sum();
    let value = row.value().unwrap_or(0);
    if !row.functions.is_empty() && sum != u128::from(value) {
        return Err(format!("its functions add up to {sum}, but it typically has {value}"));
    }
    check_events_of_functions(row, value)
}

/// That the events of a row's functions add up to what the row has in one of the runs in which it
/// costs `value`. A document of an earlier version has none.
fn check_events_of_functions(row: &PathResult, value: u64) -> Result<(), String> {
    let mut sums: BTreeMap<Event, u64> = BTreeMap::new();
    for (event, number) in row.functions.iter().flat_map(|function| &function.events) {
        let sum = sums.entry(*event).or_default();
        *sum = sum.saturating_add(*number);
    }
    let counts = row.counts();
    let runs = counts.iter().skip(usize::from(counts.len() > 1));
    let mut of_value = runs.filter(|run| run.instructions == value);
    let has_these = |run: &Counts| {
        let some = run.events.iter().filter(|(event, number)| event.is_class() && **number > 0);
        some.eq(sums.iter().filter(|(_, sum)| **sum > 0))
    };
    if !sums.is_empty() && !of_value.any(has_these) {
        return Err("the events of its functions are not those of a typical run".to_owned());
    }
    Ok(())
}

fn steps(run: &Counts) -> u64 {
    run.events.get(&Event::Clock).copied().unwrap_or(0)
}

/// The numbers of a run by what they count, summed over the rows that `total` has together.
fn sums(
    rows: &[(RowKind, Vec<Counts>)],
    run: usize,
    wanted: impl Fn(RowKind) -> bool,
) -> BTreeMap<String, u128> {
    let mut sums: BTreeMap<String, u128> = BTreeMap::new();
    let rows = rows.iter().filter(|(kind, _)| wanted(*kind)).filter_map(|(_, runs)| runs.get(run));
    for Counts { calls, instructions, events } in rows {
        let events = events.iter().map(|(event, number)| (event.word(), *number));
        for (what, number) in events.chain([("calls", *calls), ("instructions", *instructions)]) {
            *sums.entry(what.to_owned()).or_default() += u128::from(number);
        }
    }
    sums.retain(|_, sum| *sum > 0);
    sums
}

/// That every step of the clock is in one of the rows, or idle.
fn check_run(
    rows: &[(RowKind, Vec<Counts>)],
    run: usize,
    RunClock { clock, idle }: RunClock,
) -> Result<(), String> {
    let sums = sums(rows, run, |kind| kind.is_part_of(RowKind::Sum));
    let steps = sums.get(Event::Clock.word()).copied().unwrap_or(0);
    let sum = steps + u128::from(idle);
    if sum != u128::from(clock) {
        return Err(format!("the steps of all rows and idle add up to {sum}, not to {clock}"));
    }
    match sums.iter().find(|(_, sum)| **sum > u128::from(MAX_SAMPLE)) {
        Some((what, _)) => Err(format!("the {what} of all rows exceed {MAX_SAMPLE}")),
        None => Ok(()),
    }
}

/// That there is one row of own work and one sum, and that they are what their rows add up to.
fn check_totals(rows: &[(RowKind, Vec<Counts>)], runs: usize) -> Result<(), String> {
    for total in [RowKind::OwnWork, RowKind::Sum] {
        let name = row_name(total, "");
        if rows.iter().filter(|(kind, _)| *kind == total).count() != 1 {
            return Err(format!("there is not one row of {name}"));
        }
        let differs = |run: &usize| {
            sums(rows, *run, |kind| kind.is_part_of(total)) != sums(rows, *run, |it| it == total)
        };
        if let Some(run) = (0..runs).find(differs) {
            return Err(format!("{name} is not what its rows add up to in execution.runs[{run}]"));
        }
    }
    Ok(())
}
