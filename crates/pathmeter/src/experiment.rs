//! `pathmeter experiment`: a mechanism's old and new form, measured on the lab kernel, as one page.
//!
//! Every subject is measured as `measure` does it, and each path of the experiment recorded as `explain`
//! does; a subject or path that can't be had here is a cell that says so, never a figure.

use std::path::Path;
use std::sync::Mutex;
use std::thread;

use pathmeter_experiment::{Cell, Experiment, Measured, Observed, ObservedCheck, Report};
use pathmeter_model::{Measurement, PathResult, Status};
use pathmeter_report::experiment_page;
use pathmeter_trace::NoSymbols;
use pathmeter_vm::{Interrupt, VmError};

use crate::cli::{ExperimentArgs, GuestArgs};
use crate::exact::{self, Exact, Image};
use crate::explain;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::{Board, Line};

/// The experiments that come along, in the order of their subjects' history.
const ALL: &[&str] = &[
    include_str!("../../../experiments/ioperm-2004.toml"),
    include_str!("../../../experiments/eflags-2006.toml"),
    include_str!("../../../experiments/vgetcpu-2007.toml"),
];

/// Subjects that are measured at once: a guest's QEMU keeps to one CPU.
const AT_ONCE: usize = 2;

/// Runs the experiment of this name, or all.
pub(crate) fn run(args: &ExperimentArgs, screen: &Screen) -> Result<Exit, Failure> {
    let chosen = chosen(args.name.as_deref())?;
    if args.list {
        return list(&chosen);
    }
    let interrupt = interrupt::listen()?;
    let mut exit = Exit::Done;
    let mut reports = Vec::new();
    for (index, experiment) in chosen.into_iter().enumerate() {
        let observed = observe(&experiment, &args.guest, &interrupt, screen)?;
        let report = Report::new(experiment, observed);
        if !report.holds() {
            exit = Exit::Worse;
        }
        if !args.json {
            let gap = if index == 0 { "" } else { "\n\n" };
            output::print(format!("{gap}{}", experiment_page(&report, screen.style())).as_bytes())?;
        }
        reports.push(report);
    }
    if args.json {
        output::print(&output::json(&reports)?)?;
    }
    Ok(exit)
}

fn chosen(name: Option<&str>) -> Result<Vec<Experiment>, Failure> {
    let all = ALL.iter().map(|text| Experiment::parse(text)).collect::<Result<Vec<_>, _>>();
    // They are tested to be well-formed.
    let all = all.map_err(|error| Failure::Usage {
        message: format!("an experiment that comes along is damaged: {error}"),
        help: "report this".to_owned(),
    })?;
    let Some(name) = name else { return Ok(all) };
    let names: Vec<String> = all.iter().map(|experiment| experiment.name.clone()).collect();
    let found = all.into_iter().find(|experiment| experiment.name == name);
    found.map(|experiment| vec![experiment]).ok_or_else(|| Failure::Usage {
        message: format!("{name}: no experiment has this name"),
        help: format!("there are {}", names.join(", ")),
    })
}

fn list(chosen: &[Experiment]) -> Result<Exit, Failure> {
    let lines = chosen.iter().map(|one| format!("{:<16}{}\n", one.name, one.title));
    output::print(lines.collect::<String>().as_bytes())?;
    Ok(Exit::Done)
}

/// Measures all subjects, [`AT_ONCE`] at a time.
fn observe(
    experiment: &Experiment,
    args: &GuestArgs,
    interrupt: &Interrupt,
    screen: &Screen,
) -> Result<Observed, Failure> {
    let board = Board::new(screen);
    let lines: Vec<Line<'_>> =
        experiment.subjects.iter().map(|subject| board.line(subject.subject.clone())).collect();
    let waiting = Mutex::new(experiment.subjects.iter().zip(lines).enumerate());
    let next = || waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((index, (subject, line))) = next() {
            let name = Path::new(&subject.subject);
            done.push((index, of_subject(experiment, name, args, interrupt, &line)));
        }
        done
    };
    let mut done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(exact::joined).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    let mut observed = Observed::default();
    for (_, subject) in done {
        let (cells, checks) = subject?;
        observed.cells.push(cells);
        observed.checks.push(checks);
    }
    Ok(observed)
}

/// A row of cells, and the checks.
type Row = (Vec<Cell>, Vec<ObservedCheck>);

fn of_subject(
    experiment: &Experiment,
    subject: &Path,
    args: &GuestArgs,
    interrupt: &Interrupt,
    line: &Line<'_>,
) -> Result<Row, Failure> {
    let (exact, [image]) = exact::prepare(args, interrupt.clone(), [subject])?;
    let measurement = match exact.measure(&image, &|progress| line.show(progress)) {
        Ok(measurement) => measurement,
        Err(Failure::UnsupportedHere { reason, .. }) => {
            let cell = Cell::Unsupported(reason);
            return Ok((vec![cell; experiment.paths.len()], Vec::new()));
        }
        Err(failure) => return Err(failure),
    };
    let cells =
        experiment.paths.iter().map(|path| cell(&exact, &image, &measurement, &path.path, line));
    let cells = cells.collect::<Result<Vec<_>, _>>()?;
    let checks = experiment.checks_of.as_deref().and_then(|path| row(&measurement, path));
    let checks = checks.map(|row| row.checks.clone()).unwrap_or_default();
    let checks =
        checks.into_iter().map(|check| ObservedCheck { name: check.name, value: check.value });
    Ok((cells, checks.collect()))
}

fn row<'a>(measurement: &'a Measurement, path: &str) -> Option<&'a PathResult> {
    measurement.paths.iter().find(|row| row.path == path)
}

/// What the path did: its samples' median, and what its recorded window touched.
fn cell(
    exact: &Exact,
    image: &Image,
    measurement: &Measurement,
    path: &str,
    line: &Line<'_>,
) -> Result<Cell, Failure> {
    let Some(row) = row(measurement, path) else {
        return Ok(Cell::Failed("no such path".to_owned()));
    };
    let reason = || row.reason.clone().unwrap_or_default();
    let median = match (&row.status, &row.estimate) {
        (Status::Ok, Some(estimate)) => estimate.median,
        (Status::Ok, None) => return Ok(Cell::Failed("it has no samples".to_owned())),
        (Status::Unsupported, _) => return Ok(Cell::Unsupported(reason())),
        (Status::Failed, _) => return Ok(Cell::Failed(reason())),
    };
    match explain::recorded(exact, image, path, NoSymbols, line) {
        Ok(recorded) => Ok(Cell::Measured(Measured::new(median, &recorded.window))),
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        // Without a recorder there is no footprint, and half a cell would mislead.
        Err(failure @ Failure::Kernel { error: VmError::Recorder { .. }, .. }) => Err(failure),
        Err(failure) => Ok(Cell::Failed(failure.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_and_check_of_an_experiment_exists() {
        let names: Vec<&str> = pathmeter_probes::paths().map(|path| path.name).collect();
        for experiment in chosen(None).unwrap() {
            let paths = experiment.paths.iter().map(|path| &path.path);
            for path in paths.chain(&experiment.checks_of) {
                assert!(names.contains(&path.as_str()), "{}: {path}", experiment.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all() {
        let Err(failure) = chosen(Some("ioperm")) else { panic!() };
        assert!(failure.advice().unwrap().contains("ioperm-2004, eflags-2006, vgetcpu-2007"));
    }
}
