//! The runs of a program, from what the program plugin counted: each row with its name.

use std::fmt::Display;

use pathmeter_model::{
    Check, PathResult, ProgramRow, ProgramRun, RowFunctions, RunClock, Unit, lower_median,
};
use pathmeter_trace::{
    Account, AccountProcesses, AccountRegion, AccountRow, AccountSleeps, Accounts, AlsoCounted,
    Event, KernelPlaces, RegionWindow, Sleepless, counted_events,
};

use crate::program::executions::gather_executions;
use crate::program::functions::{Cells, check_functions, functions};
use crate::program::kernel_names::{KernelNames, row_name};
use crate::program::point_windows::LINES;
use crate::program::processes::{self, include, processes};
use crate::program::threads::{self, add_threads};

/// What a document has of the runs of a program.
pub(super) struct Accounted {
    /// The runs, each split into its rows.
    pub runs: Vec<ProgramRun>,
    /// The program's own regions, and the windows between two points of the kernel.
    pub regions: Vec<PathResult>,
    /// The functions of the rows and regions; none if the plugin did not tell them.
    pub functions: Vec<RowFunctions>,
    /// What is said of processes that were not told apart, in the first run in which some were not;
    /// and the same of threads.
    pub notes: Vec<String>,
    /// Where tasks slept in each run.
    pub slept: Vec<Slept>,
    /// The names of regions, by number.
    pub names: Vec<String>,
}

/// Where tasks slept in a run.
pub(super) struct Slept {
    pub processes: AccountProcesses,
    pub sleeps: AccountSleeps,
    /// Steps of the clock in which the CPU idled.
    pub idle: u64,
}

impl Slept {
    /// Whether the kernel's wake-ups were seen, without which no switch is known to be a sleep.
    pub(crate) fn has_wake_ups(&self) -> bool {
        self.sleeps.sleepless != Some(Sleepless::WakeUp)
    }
}

/// What was counted in runs whose steps of the guest's clock the guest itself counted as `clocks`,
/// with what was counted besides.
///
/// # Errors
/// Why there is no account of a run, that it is not what the clock says, or that a region is marked
/// wrongly.
pub(super) fn account_runs(
    accounts: Accounts,
    clocks: &[u64],
    kernel: &KernelNames,
    also: AlsoCounted,
) -> Result<Accounted, String> {
    let places = &kernel.places;
    if let Some(fault) = accounts.fault {
        return Err(format!("the plugin's stream can't be read: {fault}"));
    }
    if accounts.runs.len() != clocks.len() {
        let (seen, runs) = (accounts.runs.len(), clocks.len());
        return Err(format!("the plugin saw {seen} runs, the guest {runs}"));
    }
    let names = accounts.names;
    let mut runs = Vec::new();
    let (mut all, mut cells, mut windows) = (Vec::new(), Vec::new(), Vec::new());
    let (mut of_processes, mut of_threads, mut slept) = (None, None, Vec::new());
    for ((account, clock), number) in accounts.runs.into_iter().zip(clocks).zip(1..) {
        let in_run = |what: &dyn Display| format!("run {number}: {what}");
        let account = account.map_err(|lost| in_run(&lost))?;
        if let Some(misuse) = account.misuses.first() {
            return Err(in_run(misuse));
        }
        let counted = run(&account, *clock, places, also).map_err(|what| in_run(&what))?;
        let executed = Cells { steps: account.cells, events: account.event_cells };
        check_functions(&counted, &executed, places).map_err(|what| in_run(&what))?;
        of_processes = of_processes.or_else(|| processes::note(&account.processes));
        of_threads = of_threads.or_else(|| threads::note(&account.threads));
        all.push(account.regions);
        cells.push(executed);
        windows.push(account.windows);
        let idle = counted.clock.idle;
        slept.push(Slept { processes: account.processes, sleeps: account.sleeps, idle });
        runs.push(counted);
    }
    let known = slept.iter().all(Slept::has_wake_ups);
    let is_named = |event: &Event| {
        known && event.is_of_tasks() || also.lines && LINES.iter().any(|(_, one)| one == event)
    };
    let named: Vec<Event> = Event::all().filter(is_named).collect();
    let mut regions = regions(&all, &named);
    regions.extend(kernel.windows.rows(&windows, also.lines));
    let functions = functions(&cells, &names, kernel);
    let notes = of_processes.into_iter().chain(of_threads).collect();
    Ok(Accounted { runs, regions, functions, notes, slept, names })
}

/// The regions of all runs, as paths: their samples are of the later runs, if there are any, since
/// those of the first one are cold.
fn regions(runs: &[Vec<AccountRegion>], named: &[Event]) -> Vec<PathResult> {
    let mut names: Vec<&str> = Vec::new();
    for region in runs.iter().flatten() {
        if !names.contains(&&*region.name) {
            names.push(&region.name);
        }
    }
    let region = |name: &&str| {
        let of_run =
            |run: &'_ Vec<AccountRegion>| run.iter().find(|region| region.name == **name).cloned();
        let all: Vec<AccountRegion> = runs.iter().filter_map(of_run).collect();
        let sampled = if runs.len() > 1 { &runs[1..] } else { runs };
        let windows = |run| of_run(run).map(|region| region.windows).unwrap_or_default();
        let samples: Vec<Vec<RegionWindow>> = sampled.iter().map(windows).collect();
        path(name, &all, &samples, named)
    };
    names.iter().map(region).collect()
}

fn path(
    name: &str,
    all: &[AccountRegion],
    samples: &[Vec<RegionWindow>],
    named: &[Event],
) -> PathResult {
    let path = format!("user.{name}");
    let failed: Vec<&str> =
        all.iter().flat_map(|region| &region.failed).map(String::as_str).collect();
    if let Some(text) = failed.first() {
        let reason = format!("an expectation of the program did not hold: {text}");
        return PathResult::failed(&path, Unit::Instructions, &reason);
    }
    let executions: u64 = all.iter().map(|region| region.count).sum();
    let unproved: u64 = all.iter().map(|region| region.unproved).sum();
    let proved = match unproved {
        0 => "in every execution".to_owned(),
        unproved if unproved == executions => "no: the region has no expectation".to_owned(),
        unproved => format!("unproved in {unproved} of {executions} executions"),
    };
    let windows = || samples.iter().flatten();
    let user = lower_median(windows().map(|window| window.user));
    let lines =
        LINES.into_iter().filter(|(_, event)| named.contains(event)).map(|(name, event)| {
            Check::new(name, &lower_median(windows().map(|window| window.events.of(event))))
        });
    let mut checks = vec![Check::new("executions", &executions), Check::new("user code", &user)];
    checks.extend(lines);
    checks.push(Check::new("proved", &proved));
    if samples.iter().all(Vec::is_empty) {
        let reason = "it was executed in the first run only, which is cold";
        return PathResult::failed(&path, Unit::Instructions, reason).noticing(checks);
    }
    gather_executions(&path, samples, named, checks)
}

/// One run: all that it executed must be what the clock says. Only a CPU that waits lets the clock
/// advance by more.
fn run(
    account: &Account,
    clock: u64,
    places: &KernelPlaces,
    also: AlsoCounted,
) -> Result<ProgramRun, String> {
    let steps = account.rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.steps));
    let idle = match clock.checked_sub(steps) {
        Some(0) => 0,
        Some(idle) if account.idled > 0 => idle,
        _ => {
            return Err(format!(
                "{steps} steps were counted, but the guest's clock advanced by {clock}: a program \
                 that overwrites the very code that it executes can't be counted, and any other \
                 that shows this is worth a report"
            ));
        }
    };
    let mut rows: Vec<ProgramRow> = Vec::new();
    for row in &account.rows {
        include(&mut rows, to_program_row(row, places, also));
    }
    let to_row = |row: &AccountRow| to_program_row(row, places, also);
    let mut processes = processes(&account.processes, &rows, to_row)?;
    add_threads(&mut processes, account, to_row)?;
    Ok(ProgramRun { clock: RunClock { clock, idle }, rows, processes })
}

fn to_program_row(row: &AccountRow, places: &KernelPlaces, also: AlsoCounted) -> ProgramRow {
    let AccountRow { kind, id, calls, steps, instructions, .. } = *row;
    let counted = counted_events(also).map(|event| (event, row.events.of(event)));
    ProgramRow {
        kind,
        name: row_name(kind, id, places),
        calls,
        instructions,
        steps,
        events: counted.filter(|(_, number)| *number > 0).collect(),
    }
}

#[cfg(test)]
mod tests;
