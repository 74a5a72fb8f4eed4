//! The result document, `pathmeter.result/1`: what was sampled of one subject.
//!
//! Samples are kept whole and as integers; the estimate is derived from them and stored only so
//! that other readers need no statistics.

use pathmeter_seal::schema_name;
use pathmeter_trace::{AlsoCounted, Event, counted_events};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::result::path_result::REGION_PREFIX;
use crate::{Configuration, Execution, GuestReport, PathResult, Unit};

schema_name!(
    /// The name and version of the result document.
    pub ResultSchema = "pathmeter.result/1"
);

/// All that was measured of one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    pub schema: ResultSchema,
    pub subject: Subject,
    /// All that the samples depend on.
    pub configuration: Configuration,
    /// What the guest's kernel printed about its CPU; null in results of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<GuestReport>,
    /// One entry a path, in the order of measuring; names are unique. Of a program its rows by
    /// kind and name, all own work, the sum of all rows; then the regions and windows in it.
    pub paths: Vec<PathResult>,
    /// How the program was executed, if this is the result of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// What a reader must know to judge the samples, for example panics survived.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Measurement {
    /// The unit of all measured paths.
    pub fn unit(&self) -> Unit {
        self.configuration.clock
    }

    /// The framework whose benchmarks the paths are of, if they are of benchmarks.
    pub fn benchmarks(&self) -> Option<&str> {
        self.configuration.program.as_ref()?.benchmarks.as_deref()
    }

    /// The later runs of a program, or of its benchmark with the most of them: those after the
    /// first run, in which code is laid out otherwise. None of paths.
    pub fn later_runs(&self) -> Option<usize> {
        if self.benchmarks().is_some() {
            let runs = self.paths.iter().map(|path| path.samples_per_run.len());
            return Some(runs.max().unwrap_or(0));
        }
        Some(self.execution.as_ref()?.runs.len().saturating_sub(1))
    }

    /// Whether `event` was counted of `path`, one of these. Of programs' rows, regions and windows
    /// fewer are than of paths, and what was not counted is not none.
    pub fn has_counted(&self, path: &PathResult, event: Event) -> bool {
        let names = |path: &PathResult, event: Event| {
            let events = path.events.as_ref();
            events.is_some_and(|events| events.names.iter().any(|name| name == event.word()))
        };
        let retired = matches!(event, Event::User | Event::Kernel | Event::Clock);
        let row = self.paths.iter().find(|path| path.work.is_some());
        match (&path.events, row) {
            (None, _) => false,
            // A row names all that were counted of it, also those that there were none of.
            (Some(_), _) if path.work.is_some() || event.is_of_programs() => names(path, event),
            // Of regions and windows more was: whose the instructions were, and the steps.
            (Some(_), Some(row)) => retired || names(row, event),
            (Some(_), None) if path.path.starts_with(REGION_PREFIX) => {
                retired || counted_events(AlsoCounted::default()).any(|counted| counted == event)
            }
            (Some(_), None) if self.benchmarks().is_some() => names(path, event),
            (Some(_), None) => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    pub kind: SubjectKind,
    /// The file's name as given, without directories.
    pub name: String,
}

impl Subject {
    /// The kernel image in the file `path`, of which the last component is kept.
    pub fn kernel_image(path: &str) -> Self {
        let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path);
        Self { kind: SubjectKind::KernelImage, name: name.to_owned() }
    }

    /// The lab kernel, named with its variants: `lab:mechanism=variant,…`.
    pub fn lab(name: &str) -> Self {
        Self { kind: SubjectKind::Lab, name: name.to_owned() }
    }
}

/// The kinds of subject that a result can be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A kernel image file, or a package that holds one.
    KernelImage,
    /// The lab kernel that comes with pathmeter.
    Lab,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_named_without_its_directories() {
        for path in ["/boot/vmlinuz-6.1", "vmlinuz-6.1", "./boot//vmlinuz-6.1"] {
            assert_eq!(Subject::kernel_image(path).name, "vmlinuz-6.1");
        }
        assert_eq!(Subject::kernel_image("").name, "");
    }
}
