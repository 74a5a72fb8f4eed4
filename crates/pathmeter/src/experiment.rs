//! `pathmeter experiment`: a mechanism's old and new form, measured on the lab kernel, as one page.
//!
//! Every subject is measured as `measure` does it, and if the page shows what only a recording
//! holds, each path of the experiment is recorded as `explain` does. A subject or path that can't
//! run here is a cell that states it, never a number; the other pages are printed all the same.
//! Elapsed times come last and one after another, since each needs two of the host's CPUs; they
//! never decide the exit code.

use std::path::Path;
use std::sync::Mutex;

use pathmeter_experiment::{
    ElapsedCell, ExactCell, ExpectationOutcome, Experiment, ExperimentPath, ExperimentReport,
    ExperimentSubject, Measured, Observed, ObservedCell, ObservedCheck,
};
use pathmeter_model::{Measurement, PathResult, Status};
use pathmeter_report::experiment_page;
use pathmeter_trace::NoSymbols;
use pathmeter_vm::{Progress, VmError};

use crate::cli::ExperimentArgs;
use crate::elapsed;
use crate::failure::{Exit, Failure};
use crate::image::Image;
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::{Board, Line};
use crate::recording::{RecordablePath, recorded};
use crate::session::{Report, Session};
use crate::setup;
use crate::threads::at_once;

/// The experiments that are bundled, in the order of their subjects' history.
const ALL: &[&str] = &[
    include_str!("../../../experiments/softirq-2001.toml"),
    include_str!("../../../experiments/ioperm-2004.toml"),
    include_str!("../../../experiments/compat-ioctl-2004.toml"),
    include_str!("../../../experiments/eflags-2006.toml"),
    include_str!("../../../experiments/vgetcpu-2007.toml"),
];

/// Runs the experiment of this name, or all.
pub(crate) fn run(args: &ExperimentArgs, screen: &Screen) -> Result<Exit, Failure> {
    let chosen = chosen(args.name.as_deref())?;
    if args.list {
        return list(&chosen);
    }
    let guests = Guests { session: setup::session(&args.guest, interrupt::listen())?, screen };
    let mut verdict = ExpectationOutcome::Holds;
    let mut failures = Vec::new();
    let mut reports = Vec::new();
    for (index, experiment) in chosen.into_iter().enumerate() {
        let observed = guests.observe(&experiment, &mut failures)?;
        let report = ExperimentReport::new(experiment, observed);
        verdict = verdict.max(report.verdict());
        if !args.json {
            let gap = if index == 0 { "" } else { "\n\n" };
            output::print(format!("{gap}{}", experiment_page(&report, screen.style())).as_bytes())?;
        }
        reports.push(report);
    }
    if args.json {
        output::print(&output::json(&reports)?)?;
    }
    if !failures.is_empty() {
        screen.report(&Failure::all(failures));
    }
    Ok(exit(verdict))
}

fn exit(verdict: ExpectationOutcome) -> Exit {
    match verdict {
        ExpectationOutcome::Holds => Exit::Done,
        ExpectationOutcome::Inconclusive => Exit::Unmeasured,
        ExpectationOutcome::Fails => Exit::Worse,
    }
}

fn chosen(name: Option<&str>) -> Result<Vec<Experiment>, Failure> {
    let all = ALL.iter().map(|text| Experiment::parse(text)).collect::<Result<Vec<_>, _>>();
    // They are tested to be well-formed.
    let all = all.map_err(|error| Failure::Usage {
        message: format!("an experiment that is bundled is damaged: {error}"),
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
    let widest = chosen.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let lines = chosen.iter().map(|one| format!("{:<widest$}  {}\n", one.name, one.title));
    output::print(lines.collect::<String>().as_bytes())?;
    Ok(Exit::Done)
}

/// How guests run, for all subjects.
struct Guests<'a> {
    session: Session,
    screen: &'a Screen,
}

/// What came of one subject.
#[derive(Default)]
struct Row {
    cells: Vec<ExactCell>,
    checks: Vec<ObservedCheck>,
    /// Why some of the cells failed.
    failures: Vec<Failure>,
}

impl Guests<'_> {
    /// Measures all subjects. Why one could not be is added to `failures`; the error is what stands
    /// in the way of all.
    fn observe(
        &self,
        experiment: &Experiment,
        failures: &mut Vec<Failure>,
    ) -> Result<Observed, Failure> {
        let board = Board::new(self.screen);
        let mut observed = Observed::default();
        for row in self.rows(experiment, &board)? {
            observed.cells.push(row.cells);
            observed.checks.push(row.checks);
            failures.extend(row.failures);
        }
        for subject in &experiment.subjects {
            let line = board.line(subject.subject.clone());
            observed.elapsed.push(self.elapsed(experiment, subject, &line)?);
        }
        Ok(observed)
    }

    /// The exact measurements, two at a time; in the subjects' order.
    fn rows(&self, experiment: &Experiment, board: &Board) -> Result<Vec<Row>, Failure> {
        let lines: Vec<Line<'_>> =
            experiment.subjects.iter().map(|subject| board.line(subject.subject.clone())).collect();
        let waiting = Mutex::new(experiment.subjects.iter().zip(lines).enumerate());
        let next = || waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        let work = || {
            let mut done = Vec::new();
            while let Some((index, (subject, line))) = next() {
                done.push((index, self.row(experiment, subject, &line)));
            }
            done
        };
        // A guest's QEMU keeps to one CPU.
        let (mut done, others) = at_once(work, work);
        done.extend(others);
        done.sort_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, row)| row).collect()
    }

    fn row(
        &self,
        experiment: &Experiment,
        subject: &ExperimentSubject,
        line: &Line<'_>,
    ) -> Result<Row, Failure> {
        let mut row = Row::default();
        let image = Image::open(Path::new(&subject.subject))?;
        let progress = |progress: Progress<'_>| line.show(progress);
        let measurement = match self.session.measure(&image, &progress) {
            Ok(measurement) => measurement,
            Err(failure) => {
                let cell = unmeasured(failure, &mut row.failures)?;
                row.cells = cells(&experiment.paths, subject, |_| Ok(cell.clone()))?;
                return Ok(row);
            }
        };
        row.cells =
            cells(&experiment.paths, subject, |path| Ok(measured(&measurement, &path.path)))?;
        row.checks = checks(experiment, &measurement);
        if experiment.recorded() {
            self.record(&image, &experiment.paths, &mut row, &progress)?;
        }
        Ok(row)
    }

    /// Adds to the measured cells what their windows touched: all are recorded in one guest.
    fn record(
        &self,
        image: &Image,
        paths: &[ExperimentPath],
        row: &mut Row,
        progress: Report<'_>,
    ) -> Result<(), Failure> {
        let is_measured = |cell: &ExactCell| matches!(cell, ObservedCell::Measured(_));
        let cells = row.cells.iter_mut().zip(paths).filter(|(cell, _)| is_measured(cell));
        let (cells, paths): (Vec<_>, Vec<_>) = cells.unzip();
        let found = paths.iter().map(|path| RecordablePath::find(&path.path));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            return Ok(());
        }
        let windows = recorded(&self.session, image, &found, &NoSymbols, progress)?;
        for (cell, window) in cells.into_iter().zip(windows) {
            *cell = match (std::mem::replace(cell, ObservedCell::NotAsked), window) {
                (ObservedCell::Measured(measured), Ok(window)) => {
                    ObservedCell::Measured(measured.recorded(&window.window))
                }
                (cell, Ok(_)) => cell,
                (_, Err(failure)) => unmeasured(failure, &mut row.failures)?,
            };
        }
        Ok(())
    }

    /// The elapsed times of one subject. Why there are none stands in the cells alone: nothing
    /// depends on them.
    fn elapsed(
        &self,
        experiment: &Experiment,
        subject: &ExperimentSubject,
        line: &Line<'_>,
    ) -> Result<Vec<ElapsedCell>, Failure> {
        let paths = &experiment.elapsed;
        if !paths.iter().any(|path| path.is_for(&subject.label)) {
            return Ok(vec![ObservedCell::NotAsked; paths.len()]);
        }
        let image = Image::open(Path::new(&subject.subject))?;
        let progress = |progress: Progress<'_>| line.show(progress);
        let times = match elapsed::measure(&self.session, &image, &progress) {
            Ok(times) => times,
            Err(failure) => {
                let cell = unmeasured(failure, &mut Vec::new())?;
                return cells(paths, subject, |_| Ok(cell.clone()));
            }
        };
        cells(paths, subject, |path| {
            let found = times.iter().find(|(name, _)| *name == path.path);
            Ok(found.map_or_else(no_such_path, |(_, cell)| cell.clone()))
        })
    }
}

/// A cell for each path: `cell`, if it is for this subject.
fn cells<T>(
    paths: &[ExperimentPath],
    subject: &ExperimentSubject,
    mut cell: impl FnMut(&ExperimentPath) -> Result<ObservedCell<T>, Failure>,
) -> Result<Vec<ObservedCell<T>>, Failure> {
    let cell = |path: &ExperimentPath| {
        if path.is_for(&subject.label) { cell(path) } else { Ok(ObservedCell::NotAsked) }
    };
    paths.iter().map(cell).collect()
}

fn no_such_path<T>() -> ObservedCell<T> {
    ObservedCell::Failed("no such path".to_owned())
}

/// The cell of what could not be measured, the failure kept for later. What would meet every other
/// cell too ends the run: an interrupt, and a recorder that QEMU does not take.
fn unmeasured<T>(
    failure: Failure,
    failures: &mut Vec<Failure>,
) -> Result<ObservedCell<T>, Failure> {
    match failure {
        Failure::UnsupportedHere { reason, .. } => Ok(ObservedCell::Unsupported(reason)),
        Failure::Interrupted | Failure::Host(VmError::Recorder { .. }) => Err(failure),
        failure => {
            let cell = ObservedCell::Failed(reason(&failure));
            failures.push(failure);
            Ok(cell)
        }
    }
}

/// The first line of why, without the subject, whose label stands before it on the page.
fn reason(failure: &Failure) -> String {
    let text = match failure {
        Failure::Kernel { error, .. } => error.to_string(),
        Failure::Unexplained { path, what, .. } => format!("{path}: {what}"),
        failure => failure.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// What the path did: its samples' median and highest.
fn measured(measurement: &Measurement, path: &str) -> ExactCell {
    let Some(row) = row(measurement, path) else { return no_such_path() };
    let reason = || row.reason.clone().unwrap_or_default();
    match (&row.status, &row.estimate, row.samples.iter().max()) {
        (Status::Ok, Some(estimate), Some(&worst)) => {
            ObservedCell::Measured(Measured::new(estimate.median, worst))
        }
        (Status::Ok, ..) => ObservedCell::Failed("it has no samples".to_owned()),
        (Status::Unsupported, ..) => ObservedCell::Unsupported(reason()),
        (Status::Failed, ..) => ObservedCell::Failed(reason()),
    }
}

fn checks(experiment: &Experiment, measurement: &Measurement) -> Vec<ObservedCheck> {
    let row = experiment.checks_of.as_deref().and_then(|path| row(measurement, path));
    let checks = row.map(|row| row.checks.clone()).unwrap_or_default();
    let checks = checks.into_iter();
    checks.map(|check| ObservedCheck { name: check.name, value: check.value }).collect()
}

fn row<'a>(measurement: &'a Measurement, path: &str) -> Option<&'a PathResult> {
    measurement.paths.iter().find(|row| row.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_catalogue::Suite;

    #[test]
    fn every_path_and_check_of_an_experiment_exists() {
        let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        for experiment in chosen(None).unwrap() {
            let paths = experiment.paths.iter().map(|path| &path.path);
            for path in paths.chain(&experiment.checks_of) {
                assert!(names.contains(&path.as_str()), "{}: {path}", experiment.name);
            }
            for path in experiment.elapsed.iter().map(|path| &path.path) {
                let found = Suite::Elapsed.find(path).is_some();
                assert!(found, "{}: {path}", experiment.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all() {
        let Err(failure) = chosen(Some("ioperm")) else { panic!() };
        assert!(failure.advice().unwrap().contains("ioperm-2004, compat-ioctl-2004, eflags-2006"));
    }

    #[test]
    fn a_failure_is_a_cell_unless_it_would_meet_all() {
        let mut failures = Vec::new();
        let subject = Path::new("lab:cpus=2").to_owned();
        let broken = |error| Failure::Kernel { subject: subject.clone(), error };
        let source = std::io::Error::other("no memory\n  | and more");
        let no_memory = VmError::Host { what: "starting QEMU", source };
        let cell = unmeasured::<Measured>(broken(no_memory), &mut failures).unwrap();
        assert_eq!(cell.reason(), Some("starting QEMU: no memory"));
        assert_eq!(failures.len(), 1);
        let recorder = VmError::Recorder { how: "too old".to_owned() };
        for failure in [Failure::Interrupted, Failure::Host(recorder)] {
            assert!(unmeasured::<Measured>(failure, &mut failures).is_err());
        }
        assert_eq!(failures.len(), 1);
    }

    #[test]
    fn the_exit_code_is_the_verdicts() {
        let codes = [
            ExpectationOutcome::Holds,
            ExpectationOutcome::Fails,
            ExpectationOutcome::Inconclusive,
        ]
        .map(|v| exit(v) as u8);
        assert_eq!(codes, [0, 1, 3]);
    }
}
