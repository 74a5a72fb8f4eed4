//! Measures what experiments need, each subject once however many of them need it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pathmeter_experiment::{
    ElapsedCell, ExactCell, Experiment, ExperimentPath, Measured, Observed, ObservedCell,
    ObservedCheck,
};
use pathmeter_model::{Measurement, PathResult, Status, Unit};
use pathmeter_trace::{MeasuredWith, NoSymbols};
use pathmeter_vm::{Progress, VmError};

use crate::failure::Failure;
use crate::screen::output::Screen;
use crate::screen::progress::{Board, Line};
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::recording::{RecordablePath, recorded};
use pathmeter_measure::session::elapsed;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::each;

/// The guests of all experiments, and what came of them.
pub(super) struct Guests<'a> {
    session: Session,
    /// The perturbed runs of all experiments, if the user wants others than theirs.
    perturb: Option<u32>,
    screen: &'a Screen,
    /// Of each subject's paths, by their names, in each experiment.
    rows: BTreeMap<Wanted, Row>,
    /// Nanoseconds of each subject's paths, by their names.
    times: BTreeMap<String, BTreeMap<String, ElapsedCell>>,
}

/// A subject, and what of it an experiment shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    subject: String,
    paths: Vec<String>,
    checks_of: Option<String>,
    recorded: bool,
    runs: u32,
}

/// What came of one subject.
#[derive(Default)]
struct Row {
    /// In the order of [`Wanted::paths`].
    cells: Vec<ExactCell>,
    checks: Vec<ObservedCheck>,
    measured_with: Option<MeasuredWith>,
    /// Why some of the cells failed.
    failures: Vec<Failure>,
}

impl Wanted {
    fn by(experiment: &Experiment, subject: &str, perturb: Option<u32>) -> Self {
        Self {
            subject: subject.to_owned(),
            paths: experiment.paths.iter().map(|path| path.path.clone()).collect(),
            checks_of: experiment.checks_of.clone(),
            recorded: experiment.recorded(),
            runs: perturb.unwrap_or(experiment.perturb),
        }
    }
}

impl<'a> Guests<'a> {
    /// None has run yet. With `perturb` each has so many runs, whatever the experiment has.
    pub(super) fn new(session: Session, perturb: Option<u32>, screen: &'a Screen) -> Self {
        Self { session, perturb, screen, rows: BTreeMap::new(), times: BTreeMap::new() }
    }

    pub(super) fn into_failures(self) -> Vec<Failure> {
        self.rows.into_values().flat_map(|row| row.failures).collect()
    }

    /// Measures all subjects of these experiments that have not been measured yet. The error is
    /// what stands in the way of all.
    pub(super) fn measure<'e>(
        &mut self,
        experiments: impl Iterator<Item = &'e Experiment> + Clone,
    ) -> Result<(), Failure> {
        let mut wanted = Vec::new();
        let mut timed = BTreeSet::new();
        for experiment in experiments {
            for subject in &experiment.subjects {
                let one = Wanted::by(experiment, &subject.subject, self.perturb);
                if !self.rows.contains_key(&one) && !wanted.contains(&one) {
                    wanted.push(one);
                }
                if experiment.elapsed.iter().any(|path| path.is_for(&subject.label)) {
                    timed.insert(subject.subject.clone());
                }
            }
        }
        let board = Board::new(self.screen);
        let rows = self.measure_rows(&wanted, &board)?;
        self.rows.extend(wanted.into_iter().zip(rows));
        // One after another: each needs two of the host's CPUs.
        for subject in timed {
            if !self.times.contains_key(&subject) {
                let line = board.line(subject.clone());
                let times = self.measure_times(&subject, &line)?;
                self.times.insert(subject, times);
            }
        }
        Ok(())
    }

    /// What was measured of the experiment's subjects.
    pub(super) fn observed(&self, experiment: &Experiment) -> Observed {
        let mut observed = Observed::default();
        for subject in &experiment.subjects {
            let row = self.rows.get(&Wanted::by(experiment, &subject.subject, self.perturb));
            let cells = row.map(|row| row.cells.clone()).unwrap_or_default();
            let asked = |(path, cell): (&ExperimentPath, _)| {
                if path.is_for(&subject.label) { cell } else { ObservedCell::NotAsked }
            };
            observed.cells.push(experiment.paths.iter().zip(cells).map(asked).collect());
            observed.checks.push(row.map(|row| row.checks.clone()).unwrap_or_default());
            observed.measured_with.extend(row.and_then(|row| row.measured_with.clone()));
            let times = self.times.get(&subject.subject);
            let time = |path: &ExperimentPath| {
                let time = times.and_then(|times| times.get(&path.path)).cloned();
                time.filter(|_| path.is_for(&subject.label)).unwrap_or(ObservedCell::NotAsked)
            };
            observed.elapsed.push(experiment.elapsed.iter().map(time).collect());
        }
        observed
    }

    /// The exact measurements, two at a time; in the order of `wanted`.
    fn measure_rows(&self, wanted: &[Wanted], board: &Board) -> Result<Vec<Row>, Failure> {
        let lined = |wanted: &'_ Wanted| board.line(wanted.subject.clone());
        let lines: Vec<Line<'_>> = wanted.iter().map(lined).collect();
        // A guest's QEMU keeps to one CPU.
        let rows = each(wanted.iter().zip(lines), 2, |(wanted, line)| self.row(wanted, &line));
        Failure::gather(rows)
    }

    /// What measures these paths and few others.
    fn session_of(&self, wanted: &Wanted) -> Session {
        self.session.with_runs(wanted.runs).narrow_to(|path| {
            wanted.paths.iter().chain(&wanted.checks_of).any(|wanted| wanted == path)
        })
    }

    fn row(&self, wanted: &Wanted, line: &Line<'_>) -> Result<Row, Failure> {
        let mut row = Row::default();
        let image = Image::open(Path::new(&wanted.subject))?;
        let progress = |progress: Progress<'_>| line.show(progress);
        let measurement = match self.session_of(wanted).measure(&image, &progress) {
            Ok(measurement) => measurement,
            Err(failure) => {
                let cell = unmeasured(failure.into(), &mut row.failures)?;
                row.cells = vec![cell; wanted.paths.len()];
                return Ok(row);
            }
        };
        row.measured_with = Some(measurement.configuration.measured_with());
        row.cells = wanted.paths.iter().map(|path| to_exact_cell(&measurement, path)).collect();
        row.checks = checks(wanted.checks_of.as_deref(), &measurement);
        if wanted.recorded {
            self.record(&image, &wanted.paths, &mut row, &progress)?;
        }
        Ok(row)
    }

    /// Adds to the measured cells what their windows touched: all are recorded in one guest.
    fn record(
        &self,
        image: &Image,
        paths: &[String],
        row: &mut Row,
        progress: Report<'_>,
    ) -> Result<(), Failure> {
        let is_measured = |cell: &ExactCell| matches!(cell, ObservedCell::Measured(_));
        let cells = row.cells.iter_mut().zip(paths).filter(|(cell, _)| is_measured(cell));
        let (cells, paths): (Vec<_>, Vec<_>) = cells.unzip();
        let found = paths.iter().map(|path| RecordablePath::find(path));
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
                (_, Err(failure)) => unmeasured(failure.into(), &mut row.failures)?,
            };
        }
        Ok(())
    }

    /// The elapsed times of one subject's paths. Why there are none stands in the cells alone:
    /// nothing depends on them.
    fn measure_times(
        &self,
        subject: &str,
        line: &Line<'_>,
    ) -> Result<BTreeMap<String, ElapsedCell>, Failure> {
        let image = Image::open(Path::new(subject))?;
        let progress = |progress: Progress<'_>| line.show(progress);
        let times = elapsed::measure(&self.session, &image, &progress);
        let times = times.or_else(|failure| {
            let cell = unmeasured(failure.into(), &mut Vec::new())?;
            Ok::<_, Failure>(elapsed::names().map(|name| (name, cell.clone())).collect())
        })?;
        Ok(times.into_iter().map(|(name, cell)| (name.to_owned(), cell)).collect())
    }
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
        Failure::Measure(MeasureError::UnsupportedHere { reason, .. }) => {
            Ok(ObservedCell::Unsupported(reason))
        }
        Failure::Interrupted | Failure::Measure(MeasureError::Host(VmError::Recorder { .. })) => {
            Err(failure)
        }
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
        Failure::Measure(MeasureError::Kernel { error, .. }) => error.to_string(),
        Failure::Measure(MeasureError::Unexplained { path, what, .. }) => format!("{path}: {what}"),
        failure => failure.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// The cell of a path in a measurement: the median and the highest of its samples, or why there are
/// none.
fn to_exact_cell(measurement: &Measurement, path: &str) -> ExactCell {
    let Some(row) = row(measurement, path) else { return no_such_path() };
    let reason_of_row = || row.reason.clone().unwrap_or_default();
    match (&row.status, &row.estimate, row.samples.iter().max()) {
        (Status::Ok, Some(estimate), Some(&worst)) => {
            let measured = Measured::new(estimate.value, worst);
            ObservedCell::Measured(measured.in_steps(row.unit == Unit::Clock))
        }
        (Status::Ok, ..) => ObservedCell::Failed("it has no samples".to_owned()),
        (Status::Unsupported, ..) => ObservedCell::Unsupported(reason_of_row()),
        (Status::Failed, ..) => ObservedCell::Failed(reason_of_row()),
    }
}

fn checks(of: Option<&str>, measurement: &Measurement) -> Vec<ObservedCheck> {
    let row = of.and_then(|path| row(measurement, path));
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

    #[test]
    fn an_interrupt_is_why_there_are_no_rows_whatever_else_failed() {
        let recorder = || Failure::from(VmError::Recorder { how: "too old".to_owned() });
        let rows = |measured: Vec<Result<u8, Failure>>| Failure::gather(measured);
        assert_eq!(rows(vec![Ok(1), Ok(2)]).unwrap(), [1, 2]);
        let failure = rows(vec![Ok(1), Err(recorder()), Err(Failure::Interrupted)]).unwrap_err();
        assert!(matches!(failure, Failure::Interrupted), "{failure}");
        let failure = rows(vec![Err(recorder())]).unwrap_err();
        assert!(matches!(failure, Failure::Measure(MeasureError::Host(_))), "{failure}");
    }

    #[test]
    fn a_failure_is_a_cell_unless_it_would_meet_all() {
        let mut failures = Vec::new();
        let subject = Path::new("lab:cpus=2").to_owned();
        let broken = |error| Failure::from(MeasureError::measuring(&subject, error));
        let source = std::io::Error::other("no memory\n  | and more");
        let no_memory = VmError::Host { what: "starting QEMU", source };
        let cell = unmeasured::<Measured>(broken(no_memory), &mut failures).unwrap();
        assert_eq!(cell.reason(), Some("starting QEMU: no memory"));
        assert_eq!(failures.len(), 1);
        let recorder = VmError::Recorder { how: "too old".to_owned() };
        for failure in [Failure::Interrupted, recorder.into()] {
            assert!(unmeasured::<Measured>(failure, &mut failures).is_err());
        }
        assert_eq!(failures.len(), 1);
    }
}
