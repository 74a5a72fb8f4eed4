//! What came of one path, and a summary of its samples.

use std::cmp::Reverse;
use std::fmt;

use pathmeter_stats::Histogram;
use pathmeter_trace::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::result::function::FunctionCost;
use crate::{PairShown, PathEvents, Unit, Work};

/// Before the name of each region of a user's program.
pub(crate) const REGION_PREFIX: &str = "user.";

/// Whether a path ran and was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The probe ran the path and proved it.
    Ok,
    /// This kernel or CPU can't run the path.
    Unsupported,
    /// The path was tried and its proof failed, or the guest died on it.
    Failed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
        })
    }
}

/// What came of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathResult {
    /// The path's name, `group.what[+variant]`.
    pub path: String,
    pub unit: Unit,
    /// Whether the path ran and was proven.
    pub status: Status,
    /// Why there are no samples; null when the status is ok.
    pub reason: Option<String>,
    /// Every sample, run by run, in the order taken.
    pub samples: Vec<u64>,
    /// How many of the samples each perturbed run gave.
    pub samples_per_run: Vec<u32>,
    /// Positions in `samples`, from 0 and ascending, of those that are lower bounds: what was
    /// measured had not ended when its observation did, so it costs at least this. Mostly empty.
    #[serde(default)]
    pub lower_bounds: Vec<u32>,
    /// A summary of the samples; null without samples.
    pub estimate: Option<Estimate>,
    /// What was counted beside the instructions; null where nothing else was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<PathEvents>,
    /// What the probe proved or noticed.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// What else is known if this is a row of a program; rows are judged in pairs of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// The kernel's functions that a row of a program is in, in the first run in which it costs as
    /// it typically does, sorted by name; they add up to that. Of a region those of all executions
    /// in a run. Empty where they were not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionCost>,
}

impl PathResult {
    /// A path that ran and was proven, with the samples of each run in `runs` (all empty for a
    /// check). The estimate is made here.
    pub fn ok(path: &str, unit: Unit, runs: &[Vec<u64>], checks: Vec<Check>) -> Self {
        let samples = runs.concat();
        let per_run = runs.iter().map(|run| u32::try_from(run.len()).unwrap_or(u32::MAX));
        Self {
            path: path.to_owned(),
            unit,
            status: Status::Ok,
            reason: None,
            samples_per_run: if samples.is_empty() { Vec::new() } else { per_run.collect() },
            lower_bounds: Vec::new(),
            estimate: Estimate::of(&samples),
            events: None,
            samples,
            checks,
            work: None,
            functions: Vec::new(),
        }
    }

    /// A path that this kernel or CPU can't run, and why.
    pub fn unsupported(path: &str, unit: Unit, reason: &str) -> Self {
        Self::without_samples(path, unit, Status::Unsupported, reason)
    }

    /// A path whose proof failed or on which the guest died, and how.
    pub fn failed(path: &str, unit: Unit, reason: &str) -> Self {
        Self::without_samples(path, unit, Status::Failed, reason)
    }

    /// The same with what the probe noticed before.
    #[must_use]
    pub fn noticing(self, checks: Vec<Check>) -> Self {
        Self { checks, ..self }
    }

    /// The same with the samples at these positions, ascending, as lower bounds.
    #[must_use]
    pub fn with_lower_bounds(self, lower_bounds: Vec<u32>) -> Self {
        Self { lower_bounds, ..self }
    }

    /// The row's number of instructions, or of what else its samples count; None without samples.
    pub fn value(&self) -> Option<u64> {
        self.estimate.as_ref().map(|estimate| estimate.value)
    }

    /// The row's number of this event; 0 where it was not counted.
    pub fn event(&self, event: Event) -> u64 {
        self.events.as_ref().map_or(0, |events| events.value(event))
    }

    /// The sample that stands for all: in the first run that has the row's value, of the samples
    /// with this value the first that has most of the row's numbers of events.
    pub fn typical_sample(&self) -> Option<PairShown> {
        let value = self.value()?;
        let of_row: Vec<(Event, u64)> =
            Event::all().map(|event| (event, self.event(event))).collect();
        let agreement = |position: usize| {
            let number = |event| self.events.as_ref().map_or(0, |it| it.number(event, position));
            of_row.iter().filter(|(event, of_row)| number(*event) == *of_row).count()
        };
        let mut before = 0;
        self.runs().into_iter().enumerate().find_map(|(run, samples)| {
            let begin = before;
            before += samples.len();
            let with_value = (0..samples.len()).filter(|at| samples[*at] == value);
            let at = with_value.max_by_key(|at| (agreement(begin + at), Reverse(*at)))?;
            Some(PairShown { run, execution: Some(at) })
        })
    }

    /// Whether a sample of this value is a lower bound.
    pub fn is_lower_bound(&self, value: u64) -> bool {
        let mut bounds = self.lower_bounds.iter();
        bounds.any(|&position| self.samples.get(position as usize) == Some(&value))
    }

    /// The same with what was counted of its samples.
    #[must_use]
    pub fn counting(self, events: PathEvents) -> Self {
        Self { events: Some(events), ..self }
    }

    fn without_samples(path: &str, unit: Unit, status: Status, reason: &str) -> Self {
        let mut result = Self::ok(path, unit, &[], Vec::new());
        result.status = status;
        result.reason = Some(reason.to_owned());
        result
    }

    /// The samples of each run, in their order.
    pub(crate) fn runs(&self) -> Vec<&[u64]> {
        let mut rest = &self.samples[..];
        let run = |&samples: &u32| {
            let (run, others) = rest.split_at(rest.len().min(samples as usize));
            rest = others;
            run
        };
        self.samples_per_run.iter().map(run).collect()
    }

    /// Whether it is a region of a program of the user's.
    pub(crate) fn is_region(&self) -> bool {
        self.path.starts_with(REGION_PREFIX)
    }

    /// The samples as a histogram.
    pub fn histogram(&self) -> Histogram {
        self.samples.iter().copied().collect()
    }
}

/// What the probe proved or noticed, for example the entry instruction it used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub value: String,
}

impl Check {
    /// What was found, as text.
    pub fn new(name: &str, value: &impl ToString) -> Self {
        Self { name: name.to_owned(), value: value.to_string() }
    }
}

/// A summary of a path's samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The value of the row, the lower median: always a value that was sampled. Every table, page
    /// and format shows this one.
    pub value: u64,
    /// All exact values over all runs, ascending, with their frequencies.
    pub values: Vec<ValueCount>,
    /// The typical values, ascending: the fewest that cover 90 % of the samples. More than one
    /// means that the path is not single-valued.
    pub typical: Vec<u64>,
}

impl Estimate {
    /// The estimate from `samples`; None if there are none.
    pub fn of(samples: &[u64]) -> Option<Self> {
        let histogram: Histogram = samples.iter().copied().collect();
        Some(Self {
            value: histogram.median()?,
            values: histogram.iter().map(|(value, count)| ValueCount { value, count }).collect(),
            typical: histogram.typical(),
        })
    }

    /// Whether this is the estimate of samples with the estimate `own`, as a version of pathmeter
    /// made it. Earlier ones had the most frequent value, the lowest of several, as the row's.
    pub(crate) fn is_of(&self, own: &Self) -> bool {
        let most = own.values.iter().max_by_key(|it| (it.count, Reverse(it.value)));
        let is_known = |value| value == own.value || most.is_some_and(|it| it.value == value);
        is_known(self.value) && Self { value: own.value, ..self.clone() } == *own
    }
}

/// An exact value and how often it was sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueCount {
    /// The value, in the path's unit.
    pub value: u64,
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_trace::Events;

    #[test]
    fn an_estimate_holds_every_value_and_its_frequency() {
        let estimate = Estimate::of(&[331, 330, 330, 2711]).unwrap();
        assert_eq!(estimate.value, 330);
        let counts: Vec<(u64, u64)> = estimate.values.iter().map(|v| (v.value, v.count)).collect();
        assert_eq!(counts, [(330, 2), (331, 1), (2711, 1)]);
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn six_different_samples_have_the_middle_one_as_value_and_not_the_lowest() {
        let estimate = Estimate::of(&[654, 659, 661, 655, 660, 662]).unwrap();
        assert_eq!(estimate.value, 659);
        let earlier = Estimate { value: 654, ..estimate.clone() };
        assert!(earlier.is_of(&estimate), "what an earlier version wrote");
        assert!(!Estimate { value: 655, ..estimate.clone() }.is_of(&estimate));
        assert!(!Estimate { typical: vec![659], ..earlier }.is_of(&estimate));
    }

    #[test]
    fn the_sample_that_stands_for_all_has_the_rows_value_and_its_events() {
        let row = |loads: u64, retired: u64| {
            [(Event::Kernel, retired), (Event::Loads, loads)].into_iter().collect::<Events>()
        };
        let events = [row(1, 9), row(4, 7), row(2, 7), row(2, 5), row(2, 7)];
        let path = PathResult::ok("a.b", Unit::Instructions, &[vec![9, 7], vec![7, 5, 7]], vec![])
            .counting(PathEvents::new(events.iter(), Vec::new()));
        assert_eq!((path.value(), path.event(Event::Loads)), (Some(7), 2));
        let of_first_run = PairShown { run: 0, execution: Some(1) };
        assert_eq!(path.typical_sample(), Some(of_first_run));
        let one_run = PathResult { samples_per_run: vec![5], ..path };
        let with_its_events = PairShown { run: 0, execution: Some(2) };
        assert_eq!(one_run.typical_sample(), Some(with_its_events));
        let check = PathResult::ok("flags.isolation", Unit::Check, &[], vec![]);
        assert_eq!((check.value(), check.typical_sample()), (None, None));
    }

    #[test]
    fn a_check_has_neither_samples_nor_starts() {
        let check = PathResult::ok("flags.isolation", Unit::Check, &[vec![], vec![]], vec![]);
        assert_eq!((check.samples_per_run.len(), check.estimate), (0, None));
    }

    #[test]
    fn a_value_is_a_lower_bound_if_one_of_its_samples_is() {
        let path = PathResult::ok("a.b", Unit::Instructions, &[vec![1, 2, 2]], vec![]);
        let path = path.with_lower_bounds(vec![2]);
        assert_eq!([1, 2, 3].map(|value| path.is_lower_bound(value)), [false, true, false]);
    }

    #[test]
    fn starts_stay_apart_in_the_flat_samples() {
        let path = PathResult::ok("a.b", Unit::Instructions, &[vec![1, 2], vec![3]], vec![]);
        assert_eq!((path.samples, path.samples_per_run), (vec![1, 2, 3], vec![2, 1]));
    }
}
