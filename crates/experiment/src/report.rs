//! An experiment with what was measured for it, judged: the document `pathmeter.experiment/1`.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{
    definition::{Expectation, Experiment, Place, Rule},
    observed::{Cell, Metric, Observed},
};

/// The name and version of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReportSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.experiment/1")]
    V1,
}

/// An experiment, run and judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `pathmeter.experiment/1`.
    pub schema: ReportSchema,
    /// What was to be done.
    pub experiment: Experiment,
    /// What was measured.
    pub observed: Observed,
    /// What came of each expectation, in the experiment's order.
    pub judged: Vec<Judged>,
}

/// An expectation, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The expectation in words.
    pub says: String,
    /// Whether it came true.
    pub outcome: Outcome,
    /// The figures that it was judged by.
    pub seen: String,
}

/// Whether an expectation came true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did.
    Holds,
    /// It did not.
    Fails,
    /// What it is about was not measured.
    Untold,
}

impl Report {
    /// Judges `observed` by what `experiment` expects.
    pub fn new(experiment: Experiment, observed: Observed) -> Self {
        let judge = |expectation: &Expectation| {
            let (outcome, seen) = judged(&experiment, &observed, &expectation.rule);
            Judged { says: expectation.says.clone(), outcome, seen }
        };
        let judged = experiment.expectations.iter().map(judge).collect();
        Self { schema: ReportSchema::V1, experiment, observed, judged }
    }

    /// Whether every expectation holds.
    pub fn holds(&self) -> bool {
        self.judged.iter().all(|judged| judged.outcome == Outcome::Holds)
    }
}

fn judged(experiment: &Experiment, observed: &Observed, rule: &Rule) -> (Outcome, String) {
    match rule {
        Rule::Difference { left, right, metric, at_least, at_most } => {
            let right = right.as_ref().map(|place| value(experiment, observed, place, *metric));
            let sides = value(experiment, observed, left, *metric)
                .and_then(|left| right.transpose().map(|right| (left, right)));
            match sides {
                Ok((left, right)) => difference(left, right, *at_least, *at_most),
                Err(reason) => (Outcome::Untold, reason),
            }
        }
        Rule::Check { subject, check, value } => {
            let checks = experiment.subject_index(subject).and_then(|i| observed.checks.get(i));
            let found = checks.into_iter().flatten().find(|seen| seen.name == *check);
            match found {
                None => (Outcome::Untold, format!("{check} was not told")),
                Some(seen) => (told(seen.value == *value), seen.value.clone()),
            }
        }
        Rule::Unsupported { subject } => {
            let cells = experiment.subject_index(subject).and_then(|i| observed.cells.get(i));
            let cells = cells.map(Vec::as_slice).unwrap_or_default();
            let reason = cells.iter().find_map(|cell| match cell {
                Cell::Unsupported(reason) => Some(reason.clone()),
                _ => None,
            });
            let all = cells.iter().all(|cell| matches!(cell, Cell::Unsupported(_)));
            (told(all && !cells.is_empty()), reason.unwrap_or_else(|| "it runs".to_owned()))
        }
    }
}

fn told(holds: bool) -> Outcome {
    if holds { Outcome::Holds } else { Outcome::Fails }
}

/// The number in a cell, or why there is none.
fn value(
    experiment: &Experiment,
    observed: &Observed,
    place: &Place,
    metric: Metric,
) -> Result<u64, String> {
    let row = experiment.subject_index(&place.subject);
    let column = experiment.path_index(&place.path);
    let cell = row.zip(column).and_then(|(row, column)| observed.cells.get(row)?.get(column));
    match cell {
        Some(Cell::Measured(measured)) => Ok(measured.value(metric)),
        Some(Cell::Unsupported(reason) | Cell::Failed(reason)) => {
            Err(format!("{}, {}: {reason}", place.subject, place.path))
        }
        None => Err(format!("{}, {}: not measured", place.subject, place.path)),
    }
}

fn difference(
    left: u64,
    right: Option<u64>,
    at_least: Option<i64>,
    at_most: Option<i64>,
) -> (Outcome, String) {
    let difference = i128::from(left) - i128::from(right.unwrap_or(0));
    let enough = at_least.is_none_or(|least| difference >= i128::from(least));
    let not_too_much = at_most.is_none_or(|most| difference <= i128::from(most));
    let bounds = match (at_least, at_most) {
        (Some(least), Some(most)) => format!("{least} to {most} expected"),
        (Some(least), None) => format!("at least {least} expected"),
        (None, Some(most)) => format!("at most {most} expected"),
        (None, None) => String::new(),
    };
    let seen = match right {
        Some(right) => format!("{left} - {right} = {difference}; {bounds}"),
        None => format!("{left}; {bounds}"),
    };
    (told(enough && not_too_much), seen)
}

/// The document's schema, published as `docs/schemas/pathmeter.experiment-1.json`.
pub fn report_schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report>()
}
