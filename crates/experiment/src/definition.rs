//! The definition of an experiment, and reading it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::observed::Metric;

/// One experiment: the form that every mailing-list thread of its kind has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name, `what-year`.
    pub name: String,
    /// One line.
    pub title: String,
    /// Where it was reported: author, list, date, message.
    pub source: String,
    /// What was noticed.
    pub symptom: String,
    /// Why.
    pub cause: String,
    /// What was proposed.
    pub cure: String,
    /// The figures that the source gives, as it gives them.
    pub published: Published,
    /// The kernels, each by its subject.
    #[serde(rename = "subject")]
    pub subjects: Vec<SubjectOf>,
    /// The paths walked in each.
    #[serde(rename = "path")]
    pub paths: Vec<PathOf>,
    /// What is shown of each path, a table each.
    pub metrics: Vec<Metric>,
    /// A path without windows whose checks are shown, subject by subject.
    #[serde(default)]
    pub checks_of: Option<String>,
    /// Which of its checks.
    #[serde(default)]
    pub checks: Vec<String>,
    /// What must come out.
    #[serde(rename = "expect")]
    pub expectations: Vec<Expectation>,
    /// What the columns can show and can't, a line each.
    pub caveats: Vec<String>,
}

/// Figures of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Their unit, and on which machine, as far as the source says.
    pub unit: String,
    /// Headings behind the first column.
    pub columns: Vec<String>,
    /// The rows.
    #[serde(rename = "row")]
    pub rows: Vec<PublishedRow>,
}

/// A row of the source's table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// What the row is about.
    pub label: String,
    /// A figure for each column.
    pub figures: Vec<String>,
}

/// A kernel of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubjectOf {
    /// A short name, used as a heading and in expectations.
    pub label: String,
    /// The subject, as on the command line: `lab:policy=value,…`.
    pub subject: String,
    /// What it stands for, such as `before` or `the cure`.
    pub role: String,
}

/// A path of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathOf {
    /// A short name, used as a heading and in expectations.
    pub label: String,
    /// The path's name.
    pub path: String,
}

/// One cell of the experiment's tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The subject's label.
    pub subject: String,
    /// The path's label.
    pub path: String,
}

/// Something that must come out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// It in words.
    pub says: String,
    /// What makes it true.
    #[serde(flatten)]
    pub rule: Rule,
}

/// What makes an expectation true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// `at_least` ≤ `left` − `right` ≤ `at_most`; without `right`, of `left` alone.
    Difference {
        /// The cell that is looked at.
        left: Place,
        /// The cell that is taken away.
        #[serde(default)]
        right: Option<Place>,
        /// What is compared.
        #[serde(default)]
        metric: Metric,
        /// Least difference, in the metric's unit.
        #[serde(default)]
        at_least: Option<i64>,
        /// Most difference, in the metric's unit.
        #[serde(default)]
        at_most: Option<i64>,
    },
    /// A check of `checks_of` in `subject` has this value.
    Check {
        /// The subject's label.
        subject: String,
        /// The check's name.
        check: String,
        /// Its value.
        value: String,
    },
    /// The subject can't run here, or this path not in it.
    Unsupported {
        /// The subject's label.
        subject: String,
    },
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
        /// Where.
        in_what: String,
        /// The name.
        name: String,
    },
    /// A label stands twice.
    #[error("the label {0:?} stands twice")]
    Twice(String),
    /// A row of figures has not one for each column.
    #[error("the row {0:?} has not a figure for each column")]
    Ragged(String),
    /// It has no bound, so it holds always.
    #[error("the expectation {0:?} can't fail")]
    Unbounded(String),
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
        let columns = self.published.columns.len();
        if let Some(row) = self.published.rows.iter().find(|row| row.figures.len() != columns) {
            return Err(ExperimentError::Ragged(row.label.clone()));
        }
        self.expectations.iter().try_for_each(|expectation| self.check_expectation(expectation))
    }

    fn check_expectation(&self, expectation: &Expectation) -> Result<(), ExperimentError> {
        match &expectation.rule {
            Rule::Difference { at_least: None, at_most: None, .. } => {
                Err(ExperimentError::Unbounded(expectation.says.clone()))
            }
            Rule::Difference { left, right, .. } => {
                self.check_place(left, expectation)?;
                right.iter().try_for_each(|right| self.check_place(right, expectation))
            }
            Rule::Check { subject, .. } | Rule::Unsupported { subject } => {
                self.subject_index(subject).map(drop).ok_or_else(|| unknown(expectation, subject))
            }
        }
    }

    fn check_place(&self, place: &Place, by: &Expectation) -> Result<(), ExperimentError> {
        self.subject_index(&place.subject).ok_or_else(|| unknown(by, &place.subject))?;
        self.path_index(&place.path).ok_or_else(|| unknown(by, &place.path))?;
        Ok(())
    }

    /// Where the subject with this label stands.
    pub fn subject_index(&self, label: &str) -> Option<usize> {
        self.subjects.iter().position(|subject| subject.label == label)
    }

    /// Where the path with this label stands.
    pub fn path_index(&self, label: &str) -> Option<usize> {
        self.paths.iter().position(|path| path.label == label)
    }
}

fn unknown(expectation: &Expectation, name: &str) -> ExperimentError {
    let in_what = format!("the expectation {:?}", expectation.says);
    ExperimentError::Unknown { in_what, name: name.to_owned() }
}

fn unique<'a>(labels: impl Iterator<Item = &'a String>) -> Result<(), ExperimentError> {
    let mut seen = BTreeSet::new();
    for label in labels {
        if !seen.insert(label) {
            return Err(ExperimentError::Twice(label.clone()));
        }
    }
    Ok(())
}
