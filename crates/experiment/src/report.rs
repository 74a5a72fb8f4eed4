//! An experiment with what was measured for it, judged: the document `pathmeter.experiment/1`.

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    definition::{CellPlace, Expectation, Experiment, ExperimentPath, Rule},
    observed::{ExactCell, Metric, Observed, ObservedCell},
};

schema_name!(pub ReportSchema = "pathmeter.experiment/1");

/// Two CPUs that share nothing need 100 percent of what one needs. Where the control needs more
/// than this percentage, they had not a CPU of the host each.
const MOST_OF_CONTROL: u64 = 150;

/// An experiment, run and judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentReport {
    pub schema: ReportSchema,
    /// What was to be done.
    pub experiment: Experiment,
    pub observed: Observed,
    /// The outcome of each expectation, in the experiment's order.
    pub judged: Vec<JudgedExpectation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedExpectation {
    pub statement: String,
    /// Whether it is by the exact clock, the same on every host; else it decides nothing.
    pub exact: bool,
    pub outcome: ExpectationOutcome,
    /// The values that it was judged by.
    pub seen: String,
    /// The same under its counter-example; null if that was not measured.
    pub counter_example: Option<JudgedCounterExample>,
}

/// An expectation, judged under its counter-example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedCounterExample {
    /// Whether it came true: it must not.
    pub outcome: ExpectationOutcome,
    /// The values that it was judged by.
    pub seen: String,
}

impl JudgedExpectation {
    /// What it means for the whole: it holds if it came true, and not under its counter-example.
    pub fn verdict(&self) -> ExpectationOutcome {
        let turned = self.counter_example.as_ref().map(|counter| match counter.outcome {
            ExpectationOutcome::Fails => ExpectationOutcome::Holds,
            ExpectationOutcome::Holds => ExpectationOutcome::Fails,
            ExpectationOutcome::Inconclusive => ExpectationOutcome::Inconclusive,
        });
        self.outcome.max(turned.unwrap_or(ExpectationOutcome::Holds))
    }
}

/// Whether an expectation came true; the worse is the greater.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectationOutcome {
    Holds,
    /// What it is about was not measured, or the values don't decide it.
    Inconclusive,
    Fails,
}

impl ExperimentReport {
    /// Judges `observed` by what `experiment` expects.
    pub fn new(experiment: Experiment, observed: Observed) -> Self {
        let judge = |expectation: &Expectation| {
            let (outcome, seen) = judged(&experiment, &observed, &expectation.rule);
            let exact = expectation.rule.exact();
            let statement = expectation.statement.clone();
            JudgedExpectation { statement, exact, outcome, seen, counter_example: None }
        };
        let judged = experiment.expectations.iter().map(judge).collect();
        Self { schema: ReportSchema::V1, experiment, observed, judged }
    }

    /// The same with each expectation's counter-example judged: the experiments of
    /// [`Experiment::countered`], in their order, with what was measured for them.
    #[must_use]
    pub fn with_counter_examples(
        mut self,
        countered: impl Iterator<Item = (Observed, Experiment)>,
    ) -> Self {
        for (judged, (observed, experiment)) in self.judged.iter_mut().zip(countered) {
            let other = Self::new(experiment, observed).judged.into_iter().next();
            judged.counter_example = other.map(|JudgedExpectation { outcome, seen, .. }| {
                JudgedCounterExample { outcome, seen }
            });
        }
        self
    }

    /// The whole, by the exact clock alone: fails if one expectation fails, or holds under its
    /// counter-example; is inconclusive if one is, or if a measurement failed.
    pub fn verdict(&self) -> ExpectationOutcome {
        let exact = self.judged.iter().filter(|judged| judged.exact);
        let exact = exact.map(JudgedExpectation::verdict);
        let failed = self
            .observed
            .cells
            .iter()
            .flatten()
            .any(|cell| matches!(cell, ObservedCell::Failed(_)));
        let unmeasured =
            if failed { ExpectationOutcome::Inconclusive } else { ExpectationOutcome::Holds };
        exact.fold(unmeasured, ExpectationOutcome::max)
    }
}

fn judged(
    experiment: &Experiment,
    observed: &Observed,
    rule: &Rule,
) -> (ExpectationOutcome, String) {
    let seen = match rule {
        Rule::Difference { left, right, metric, right_metric, classes, at_least, at_most } => {
            let value_of = |place, metric| value(experiment, observed, place, metric, classes);
            let right_metric = right_metric.unwrap_or(*metric);
            let right = right.as_ref().map(|place| value_of(place, right_metric)).transpose();
            let sides = value_of(left, *metric).and_then(|left| Ok((left, right?)));
            sides.map(|(left, right)| difference(left, right, *at_least, *at_most))
        }
        Rule::ElapsedRatio { left, right, at_least_percent, at_most_percent } => {
            let sides = [left, right].map(|place| percent(experiment, observed, place));
            quotient(sides, *at_least_percent, *at_most_percent)
        }
        Rule::Check { subject, check, value, at_least, at_most } => {
            let checks = experiment.subject_index(subject).and_then(|i| observed.checks.get(i));
            let found = checks.into_iter().flatten().find(|seen| seen.name == *check);
            let found = found.ok_or_else(|| format!("{check} was not told"));
            found.and_then(|seen| match value {
                Some(value) => Ok((to_outcome(seen.value == *value), seen.value.clone())),
                None => bounded(&seen.value, *at_least, *at_most),
            })
        }
        Rule::Unsupported { subject, path } => {
            let row = experiment.subject_index(subject).and_then(|i| observed.cells.get(i));
            let cells = experiment.paths.iter().zip(row.into_iter().flatten());
            let meant = |label: &str| path.as_ref().is_none_or(|path| path == label);
            Ok(unsupported(cells.filter(|(path, _)| meant(&path.label)).map(|(_, cell)| cell)))
        }
    };
    seen.unwrap_or_else(|reason| (ExpectationOutcome::Inconclusive, reason))
}

fn to_outcome(holds: bool) -> ExpectationOutcome {
    if holds { ExpectationOutcome::Holds } else { ExpectationOutcome::Fails }
}

/// The number in a cell, or why there is none.
fn value(
    experiment: &Experiment,
    observed: &Observed,
    place: &CellPlace,
    metric: Metric,
    classes: &[String],
) -> Result<u64, String> {
    let measured = find_cell(experiment, &experiment.paths, &observed.cells, place)?;
    let value =
        if metric == Metric::Census { measured.met(classes) } else { measured.value(metric) };
    value.ok_or_else(|| format!("{}, {}: not recorded", place.subject, place.path))
}

/// What two CPUs need for calls in percent of what one needs, or why that is not known.
fn percent(experiment: &Experiment, observed: &Observed, place: &CellPlace) -> Result<u64, String> {
    find_cell(experiment, &experiment.elapsed, &observed.elapsed, place)
        .map(|elapsed| elapsed.percent)
}

/// Finds what was measured at `place`, where `rows` has a cell for each of `paths`.
fn find_cell<'a, T>(
    experiment: &Experiment,
    paths: &[ExperimentPath],
    rows: &'a [Vec<ObservedCell<T>>],
    place: &CellPlace,
) -> Result<&'a T, String> {
    let row = experiment.subject_index(&place.subject).and_then(|row| rows.get(row));
    let column = paths.iter().position(|path| path.label == place.path);
    let cell = row.zip(column).and_then(|(row, column)| row.get(column));
    match cell {
        Some(ObservedCell::Measured(measured)) => Ok(measured),
        cell => {
            let reason = cell.and_then(ObservedCell::reason).unwrap_or("not measured");
            Err(format!("{}, {}: {reason}", place.subject, place.path))
        }
    }
}

/// One path that runs is enough to fail, and one that failed can't tell.
fn unsupported<'a>(cells: impl Iterator<Item = &'a ExactCell>) -> (ExpectationOutcome, String) {
    let each = cells.filter_map(|cell| match cell {
        ObservedCell::Measured(_) => Some((ExpectationOutcome::Fails, "it runs")),
        ObservedCell::Failed(reason) => Some((ExpectationOutcome::Inconclusive, reason)),
        ObservedCell::Unsupported(reason) => Some((ExpectationOutcome::Holds, reason)),
        ObservedCell::NotAsked => None,
    });
    let worst = each.max_by_key(|(outcome, _)| *outcome);
    let (outcome, seen) = worst.unwrap_or((ExpectationOutcome::Inconclusive, "not measured"));
    (outcome, seen.to_owned())
}

fn difference(
    left: u64,
    right: Option<u64>,
    at_least: Option<i64>,
    at_most: Option<i64>,
) -> (ExpectationOutcome, String) {
    let (left, right) = (i128::from(left), right.map(i128::from));
    let difference = left - right.unwrap_or(0);
    let holds = at_least.is_none_or(|least| difference >= i128::from(least))
        && at_most.is_none_or(|most| difference <= i128::from(most));
    let seen = match right {
        Some(right) => format!("{} - {} = {}", grouped(left), grouped(right), grouped(difference)),
        None => grouped(left),
    };
    let bounds = expected([at_least, at_most].map(|bound| bound.map(|b| grouped(b.into()))));
    (to_outcome(holds), format!("{seen}; {bounds}"))
}

/// Judges the number that a check tells.
fn bounded(
    value: &str,
    at_least: Option<i64>,
    at_most: Option<i64>,
) -> Result<(ExpectationOutcome, String), String> {
    let number: u64 = value.parse().map_err(|_| format!("{value:?} is no number"))?;
    Ok(difference(number, None, at_least, at_most))
}

fn quotient(
    [left, right]: [Result<u64, String>; 2],
    at_least: Option<u32>,
    at_most: Option<u32>,
) -> Result<(ExpectationOutcome, String), String> {
    let (left, right) = (left?, right?);
    if right > MOST_OF_CONTROL {
        let right = factor(right.into());
        return Err(format!(
            "the control took {right} times as long: this host had not two CPUs to spare"
        ));
    }
    let (left, right) = (u128::from(left), u128::from(right));
    let quotient = (left * 100).checked_div(right).ok_or("two CPUs at once took no time")?;
    let holds = at_least.is_none_or(|least| quotient >= u128::from(least))
        && at_most.is_none_or(|most| quotient <= u128::from(most));
    let [left, right, seen] = [left, right, quotient].map(factor);
    let bounds = expected([at_least, at_most].map(|bound| bound.map(|b| factor(b.into()))));
    Ok((to_outcome(holds), format!("{left} / {right} = {seen}; {bounds}")))
}

/// `-1234567` as `-1,234,567`.
fn grouped(number: i128) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{:03}", grouped(thousands), rest.abs()),
    }
}

/// A percentage as a factor: 210 as `2.10`.
fn factor(percent: u128) -> String {
    format!("{}.{:02}", percent / 100, percent % 100)
}

/// The least and the most in words.
fn expected(bounds: [Option<String>; 2]) -> String {
    match bounds {
        [Some(least), Some(most)] => format!("{least} to {most} expected"),
        [Some(least), None] => format!("at least {least} expected"),
        [None, Some(most)] => format!("at most {most} expected"),
        [None, None] => String::new(),
    }
}
