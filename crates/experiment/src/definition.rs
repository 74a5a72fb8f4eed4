//! The definition of an experiment, and reading it.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_trace::SlowInstruction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::observed::Metric;

/// One experiment: the form that every mailing-list thread of its kind has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name, `what-year`.
    pub name: String,
    pub title: String,
    /// Where it was reported: author, list, date, message.
    pub source: String,
    pub symptom: String,
    pub cause: String,
    pub cure: String,
    /// The source's own results, as it gives them.
    pub published: Published,
    /// What a program of the thread's kind shows on a live host; null in reports of versions that
    /// did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostTable>,
    /// How many perturbed runs each subject has: as many as the expected results need. More change
    /// none of them, and take longer.
    pub perturb: u32,
    /// The kernels, each by its subject.
    #[serde(rename = "subject")]
    pub subjects: Vec<ExperimentSubject>,
    /// The paths run in each.
    #[serde(rename = "path")]
    pub paths: Vec<ExperimentPath>,
    /// What is shown of each path, a table each.
    pub metrics: Vec<Metric>,
    /// Paths run once more without the exact clock, by one CPU and by two at once.
    #[serde(default)]
    pub elapsed: Vec<ExperimentPath>,
    /// A path whose checks are shown, for each subject that has them.
    #[serde(default)]
    pub checks_of: Option<String>,
    #[serde(default)]
    pub checks: Vec<String>,
    #[serde(rename = "expect")]
    pub expectations: Vec<Expectation>,
    /// What the columns can and can't show, a line each.
    pub caveats: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Their unit and the machine, as far as the source gives them.
    pub unit: String,
    /// Headings after the first column.
    pub columns: Vec<String>,
    #[serde(rename = "row")]
    pub rows: Vec<PublishedRow>,
}

/// A row of the source's table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// What the row is about.
    pub label: String,
    /// A value for each column.
    pub values: Vec<String>,
}

/// Times that are taken on a live host, beside the source's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostTable {
    /// The unit, which is the source's where it can be.
    pub unit: HostUnit,
    /// How these times differ from the source's.
    pub caveat: String,
    #[serde(rename = "row")]
    pub rows: Vec<HostRow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostUnit {
    Cycles,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostRow {
    /// What it is, in the source's words.
    pub label: String,
    /// The path that is measured.
    pub path: String,
}

/// A kernel of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSubject {
    /// A short name, used as a heading and in expectations.
    pub label: String,
    /// The subject, as on the command line: `lab:mechanism=variant,…`.
    pub subject: String,
    /// What it stands for, such as `before` or `the cure`.
    pub role: String,
}

/// A path of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentPath {
    /// A short name, used as a heading and in expectations.
    pub label: String,
    pub path: String,
    /// The labels of the subjects that it is for; empty if for all.
    #[serde(default)]
    pub subjects: Vec<String>,
}

impl ExperimentPath {
    /// Whether it is for the subject with this label.
    pub fn is_for(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|label| label == subject)
    }
}

/// One cell of the experiment's tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellPlace {
    pub subject: String,
    pub path: String,
}

impl CellPlace {
    pub(crate) fn new(subject: &str, path: &str) -> Self {
        Self { subject: subject.to_owned(), path: path.to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    pub statement: String,
    #[serde(flatten)]
    pub rule: Rule,
    /// Its counter-example: labels of subjects, at least one, each with the subject that is
    /// measured instead, as on the command line. Measured like that, the expectation must fail.
    #[serde(default)]
    pub counter_example: BTreeMap<String, String>,
}

/// What makes an expectation true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// `at_least` ≤ `left` − `right` ≤ `at_most`; without `right`, of `left` alone.
    Difference {
        /// The cell that is judged.
        left: CellPlace,
        /// The cell that is subtracted.
        #[serde(default)]
        right: Option<CellPlace>,
        #[serde(default)]
        metric: Metric,
        /// The metric of the subtracted cell, if it is another one.
        #[serde(default)]
        right_metric: Option<Metric>,
        /// Of [`Metric::Census`]: the slow instructions that are counted; empty if all are.
        #[serde(default)]
        classes: Vec<String>,
        /// Least difference, in the metric's unit.
        #[serde(default)]
        at_least: Option<i64>,
        /// Most difference, in the metric's unit.
        #[serde(default)]
        at_most: Option<i64>,
    },
    /// A check of `checks_of` in `subject` has this value, or is a number within these bounds.
    Check {
        subject: String,
        check: String,
        /// Its value; then there are no bounds.
        #[serde(default)]
        value: Option<String>,
        /// The least number that it may be.
        #[serde(default)]
        at_least: Option<i64>,
        #[serde(default)]
        at_most: Option<i64>,
    },
    /// What two CPUs at once need for a call against one alone, in `left` against that in `right`,
    /// is within these bounds, in percent. The host's time, not the exact clock's: it decides no
    /// exit code, and is inconclusive where two CPUs hinder each other in `right`, too.
    ElapsedRatio {
        /// The cell of `elapsed` that is judged.
        left: CellPlace,
        /// The one that it is divided by: the control, in which two CPUs should share nothing.
        right: CellPlace,
        /// Least quotient.
        #[serde(default)]
        at_least_percent: Option<u32>,
        /// Most quotient.
        #[serde(default)]
        at_most_percent: Option<u32>,
    },
    /// The subject can't run here, or this path not in it.
    Unsupported {
        subject: String,
        /// The path's label; without it, of all that the subject is for.
        #[serde(default)]
        path: Option<String>,
    },
}

impl Rule {
    /// Whether it judges by the exact clock, and so gives the same result on every host.
    pub fn exact(&self) -> bool {
        !matches!(self, Self::ElapsedRatio { .. })
    }

    /// The least and the most that it allows.
    fn bounds(&self) -> [Option<i64>; 2] {
        match self {
            Self::Difference { at_least, at_most, .. } | Self::Check { at_least, at_most, .. } => {
                [*at_least, *at_most]
            }
            Self::ElapsedRatio { at_least_percent, at_most_percent, .. } => {
                [at_least_percent, at_most_percent].map(|bound| bound.map(i64::from))
            }
            Self::Unsupported { .. } => [None, None],
        }
    }
}

/// Why a text is no experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExperimentError {
    /// It is not TOML, or not of the form.
    #[error("{0}")]
    Form(String),
    /// It refers to something that it does not have.
    #[error("{in_what} names {name:?}, which the experiment does not have")]
    Unknown {
        /// The part of the experiment that names it.
        in_what: String,
        name: String,
    },
    /// Two entries have the same label.
    #[error("two entries have the label {0:?}")]
    DuplicateLabel(String),
    /// A row lacks a value for a column, or has too many.
    #[error("the row {0:?} needs exactly one value for each column")]
    RowLength(String),
    /// It has no bound, so it always holds.
    #[error("the expectation {0:?} can't fail")]
    Unbounded(String),
    /// Its least is above its most, so it never holds.
    #[error("the expectation {0:?} can't hold: its least is above its most")]
    EmptyRange(String),
    /// It names no subjects under which it must fail, or one of them is the same as without.
    #[error("the expectation {0:?} needs a counter_example: subjects under which it must fail")]
    NoCounterExample(String),
    /// It expects a text and a number at once.
    #[error("the expectation {0:?} has a value and bounds")]
    ValueAndBounds(String),
    /// It is about a cell that is left empty.
    #[error("the expectation {statement:?} is about {path:?} in {subject:?}, which it is not for")]
    NotAsked {
        statement: String,
        /// The path, by its label in the experiment.
        path: String,
        /// The subject, by its label in the experiment.
        subject: String,
    },
    /// It is about something that is not shown.
    #[error("the expectation {statement:?} is about {metric:?}, which `metrics` does not list")]
    NotShown { statement: String, metric: Metric },
    /// It is about slow instructions that there are not, or that the metric does not count.
    #[error("the expectation {statement:?}: {class:?} is no slow instruction of its metric")]
    NoSuchClass {
        statement: String,
        /// The name of the slow instruction.
        class: String,
    },
    /// It is about a check that is not shown.
    #[error(
        "the expectation {statement:?} is about {check:?}, which `checks` of `checks_of` lacks"
    )]
    CheckNotShown { statement: String, check: String },
}

impl Experiment {
    /// Reads and checks an experiment.
    pub fn parse(text: &str) -> Result<Self, ExperimentError> {
        let experiment: Self =
            toml::from_str(text).map_err(|error| ExperimentError::Form(error.to_string()))?;
        experiment.check()?;
        Ok(experiment)
    }

    fn check(&self) -> Result<(), ExperimentError> {
        unique(self.subjects.iter().map(|subject| &subject.label))?;
        unique(self.paths.iter().map(|path| &path.label))?;
        unique(self.elapsed.iter().map(|path| &path.label))?;
        self.paths.iter().chain(&self.elapsed).try_for_each(|path| self.check_path(path))?;
        let columns = self.published.columns.len();
        if let Some(row) = self.published.rows.iter().find(|row| row.values.len() != columns) {
            return Err(ExperimentError::RowLength(row.label.clone()));
        }
        self.expectations.iter().try_for_each(|expectation| self.check_expectation(expectation))
    }

    fn check_path(&self, path: &ExperimentPath) -> Result<(), ExperimentError> {
        let stranger = path.subjects.iter().find(|label| self.subject_index(label).is_none());
        let in_what = || format!("the path {:?}", path.label);
        stranger.map_or(Ok(()), |label| Err(unknown(in_what(), label)))
    }

    fn check_expectation(&self, expectation: &Expectation) -> Result<(), ExperimentError> {
        let statement = &expectation.statement;
        check_bounds(&expectation.rule, statement)?;
        self.check_counter_example(expectation)?;
        match &expectation.rule {
            Rule::Difference { left, right, metric, right_metric, classes, .. } => {
                self.check_metric(*metric, statement)?;
                check_classes(*metric, classes, statement)?;
                right_metric.iter().try_for_each(|metric| self.check_metric(*metric, statement))?;
                let mut places = [left].into_iter().chain(right);
                places.try_for_each(|place| self.check_place(place, &self.paths, statement))
            }
            Rule::ElapsedRatio { left, right, .. } => [left, right]
                .into_iter()
                .try_for_each(|place| self.check_place(place, &self.elapsed, statement)),
            Rule::Check { subject, check, .. } => {
                self.check_shown(check, statement)?;
                self.check_subject(subject, statement)
            }
            Rule::Unsupported { subject, path } => {
                let place = path.as_ref().map(|path| CellPlace::new(subject, path));
                place.map_or_else(
                    || self.check_subject(subject, statement),
                    |place| self.check_place(&place, &self.paths, statement),
                )
            }
        }
    }

    fn check_counter_example(&self, expectation: &Expectation) -> Result<(), ExperimentError> {
        let Expectation { statement, counter_example, .. } = expectation;
        counter_example.keys().try_for_each(|label| self.check_subject(label, statement))?;
        let is_other = |(label, instead): (&String, &String)| {
            self.subjects.iter().all(|one| one.label != *label || one.subject != *instead)
        };
        if counter_example.is_empty() || !counter_example.iter().all(is_other) {
            return Err(ExperimentError::NoCounterExample(statement.clone()));
        }
        Ok(())
    }

    fn check_shown(&self, check: &str, statement: &str) -> Result<(), ExperimentError> {
        if self.checks_of.is_some() && self.checks.iter().any(|shown| shown == check) {
            return Ok(());
        }
        let (statement, check) = (statement.to_owned(), check.to_owned());
        Err(ExperimentError::CheckNotShown { statement, check })
    }

    fn check_metric(&self, metric: Metric, statement: &str) -> Result<(), ExperimentError> {
        if self.metrics.contains(&metric) {
            return Ok(());
        }
        Err(ExperimentError::NotShown { statement: statement.to_owned(), metric })
    }

    fn check_subject(&self, label: &str, statement: &str) -> Result<(), ExperimentError> {
        let found = self.subject_index(label).map(drop);
        found.ok_or_else(|| unknown(format!("the expectation {statement:?}"), label))
    }

    fn check_place(
        &self,
        place: &CellPlace,
        paths: &[ExperimentPath],
        statement: &str,
    ) -> Result<(), ExperimentError> {
        self.check_subject(&place.subject, statement)?;
        let path = paths.iter().find(|path| path.label == place.path);
        let path =
            path.ok_or_else(|| unknown(format!("the expectation {statement:?}"), &place.path))?;
        if path.is_for(&place.subject) {
            return Ok(());
        }
        let CellPlace { subject, path } = place.clone();
        Err(ExperimentError::NotAsked { statement: statement.to_owned(), path, subject })
    }

    /// One for each expectation: the same with the subjects of its counter-example, and no other
    /// expectation.
    pub fn countered(&self) -> Vec<Self> {
        let expectations = self.expectations.iter();
        expectations
            .map(|expectation| {
                let mut other = Self { expectations: vec![expectation.clone()], ..self.clone() };
                for subject in &mut other.subjects {
                    if let Some(instead) = expectation.counter_example.get(&subject.label) {
                        subject.subject.clone_from(instead);
                    }
                }
                other
            })
            .collect()
    }

    /// Whether anything is shown that only a recording tells.
    pub fn recorded(&self) -> bool {
        self.metrics.iter().any(|metric| metric.recorded())
    }

    /// Where the subject with this label stands.
    pub fn subject_index(&self, label: &str) -> Option<usize> {
        self.subjects.iter().position(|subject| subject.label == label)
    }
}

/// Refuses a rule that can't both hold and fail, by its bounds or its value.
fn check_bounds(rule: &Rule, statement: &str) -> Result<(), ExperimentError> {
    let free = matches!(rule, Rule::Check { value: Some(_), .. } | Rule::Unsupported { .. });
    let error = match rule.bounds() {
        [None, None] if free => return Ok(()),
        [None, None] => ExperimentError::Unbounded,
        _ if free => ExperimentError::ValueAndBounds,
        [Some(least), Some(most)] if least > most => ExperimentError::EmptyRange,
        _ => return Ok(()),
    };
    Err(error(statement.to_owned()))
}

/// Refuses classes that would count nothing.
fn check_classes(
    metric: Metric,
    classes: &[String],
    statement: &str,
) -> Result<(), ExperimentError> {
    let slow = |class: &str| SlowInstruction::ALL.iter().any(|slow| slow.word() == class);
    let counted = |class: &&String| metric == Metric::Census && slow(class);
    let stranger = classes.iter().find(|class| !counted(class));
    stranger.map_or(Ok(()), |class| {
        let (statement, class) = (statement.to_owned(), class.clone());
        Err(ExperimentError::NoSuchClass { statement, class })
    })
}

fn unknown(in_what: String, name: &str) -> ExperimentError {
    ExperimentError::Unknown { in_what, name: name.to_owned() }
}

fn unique<'a>(labels: impl Iterator<Item = &'a String>) -> Result<(), ExperimentError> {
    let mut seen = BTreeSet::new();
    for label in labels {
        if !seen.insert(label) {
            return Err(ExperimentError::DuplicateLabel(label.clone()));
        }
    }
    Ok(())
}
