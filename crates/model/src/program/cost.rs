//! What a row costs over the runs: the first run by itself, the later ones as a set.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_stats::Histogram;
use pathmeter_trace::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProgramResult, ProgramRow, ProgramRun, RowKind};

/// What a row, or several together, cost in one run, or typically in some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowCost {
    /// How often the work was done.
    pub calls: Calls,
    /// Instructions retired in a run. Of several values the lower median, or in a comparison the
    /// one that carries the verdict.
    pub instructions: u64,
    /// Number of typical values of `instructions`; 1 means single-valued.
    pub values: usize,
    /// Instructions a call, rounded; null without calls. Of several values the lower median.
    pub per_call: Option<u64>,
    /// How many there were of each event that was counted, in a run; of several values the lower
    /// median. Those that there were none of are left out.
    #[serde(default)]
    pub events: BTreeMap<Event, u64>,
}

/// How often work was done in some runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// In the run with the fewest calls.
    pub least: u64,
    /// In the run with the most calls.
    pub most: u64,
}

/// A row of a program's result over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCosts<'a> {
    /// The kind of work.
    pub kind: RowKind,
    /// Which work of that kind.
    pub name: &'a str,
    /// What it cost in the first run.
    pub first: RowCost,
    /// What it costs in the later runs; None if there are none.
    pub later: Option<RowCost>,
}

/// The numbers of one row in one run, or of several together; all 0 in a run without the row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) instructions: u64,
    pub(crate) events: BTreeMap<Event, u64>,
}

impl RowCost {
    /// How many there were of an event.
    pub fn of_event(&self, event: Event) -> u64 {
        self.events.get(&event).copied().unwrap_or(0)
    }
}

impl ProgramResult {
    /// What each row cost, sorted by kind and name.
    pub fn costs(&self) -> Vec<RowCosts<'_>> {
        let rows = self.series().into_iter();
        rows.map(|((kind, name), runs)| RowCosts::of(kind, name, &runs)).collect()
    }

    /// What all rows together cost, as a row of kind `other` without a name.
    pub fn sum(&self) -> RowCosts<'static> {
        RowCosts::of(RowKind::Other, "", &self.total(|_| true))
    }

    /// The highest typical number of instructions that the rows of which `wanted` holds take
    /// together in a later run; 0 if there is none.
    pub fn highest(&self, wanted: impl Fn(RowKind, &str) -> bool) -> u64 {
        let of_run = |run: &ProgramRun| {
            let rows = run.rows.iter().filter(|row| wanted(row.kind, &row.name));
            rows.fold(0_u64, |sum, row| sum.saturating_add(row.instructions))
        };
        let later: Histogram = self.runs.iter().skip(1).map(of_run).collect();
        later.typical().last().copied().unwrap_or(0)
    }

    /// The numbers of each row, run by run, the first run's at the beginning.
    pub(crate) fn series(&self) -> BTreeMap<(RowKind, &str), Vec<Counts>> {
        let mut rows = BTreeMap::new();
        for (at, run) in self.runs.iter().enumerate() {
            for row in &run.rows {
                let nothing = || vec![Counts::default(); self.runs.len()];
                rows.entry(row.key()).or_insert_with(nothing)[at].add(row);
            }
        }
        rows
    }

    /// The numbers of all rows of these kinds together.
    pub(crate) fn total(&self, wanted: impl Fn(RowKind) -> bool) -> Vec<Counts> {
        let of_run = |run: &ProgramRun| {
            let mut counts = Counts::default();
            run.rows.iter().filter(|row| wanted(row.kind)).for_each(|row| counts.add(row));
            counts
        };
        self.runs.iter().map(of_run).collect()
    }
}

impl<'a> RowCosts<'a> {
    fn of(kind: RowKind, name: &'a str, runs: &[Counts]) -> Self {
        let (first, later) = split(runs);
        Self { kind, name, first: RowCost::once(&first), later: RowCost::of(later) }
    }
}

/// The first run and the later ones. Every result has a first run; none would have cost nothing.
pub(crate) fn split(runs: &[Counts]) -> (Counts, &[Counts]) {
    runs.split_first().map_or((Counts::default(), &[]), |(first, later)| (first.clone(), later))
}

impl Counts {
    fn add(&mut self, row: &ProgramRow) {
        self.calls = self.calls.saturating_add(row.calls);
        self.instructions = self.instructions.saturating_add(row.instructions);
        for (event, number) in &row.events {
            let sum = self.events.entry(*event).or_default();
            *sum = sum.saturating_add(*number);
        }
    }

    /// How many there were of an event.
    pub(crate) fn of(&self, event: Event) -> u64 {
        self.events.get(&event).copied().unwrap_or(0)
    }

    /// Rounded half up.
    pub(crate) fn per_call(&self) -> Option<u64> {
        let rounded = u128::from(self.instructions) + u128::from(self.calls / 2);
        rounded.checked_div(u128::from(self.calls)).and_then(|it| u64::try_from(it).ok())
    }
}

impl RowCost {
    /// What this run cost.
    pub(crate) fn once(run: &Counts) -> Self {
        Self {
            calls: Calls { least: run.calls, most: run.calls },
            instructions: run.instructions,
            values: 1,
            per_call: run.per_call(),
            events: run.events.clone(),
        }
    }

    /// What these runs cost; None without runs.
    pub(crate) fn of(runs: &[Counts]) -> Option<Self> {
        let instructions = histogram(runs, |run| Some(run.instructions));
        let calls = runs.iter().map(|run| run.calls);
        Some(Self {
            calls: Calls { least: calls.clone().min()?, most: calls.max()? },
            instructions: instructions.median()?,
            values: instructions.typical().len(),
            per_call: histogram(runs, Counts::per_call).median(),
            events: medians(runs),
        })
    }
}

/// The median of each event.
fn medians(runs: &[Counts]) -> BTreeMap<Event, u64> {
    let events: BTreeSet<Event> = runs.iter().flat_map(|run| run.events.keys().copied()).collect();
    let median = |event| histogram(runs, |run| Some(run.of(event))).median().unwrap_or(0);
    let medians = events.into_iter().map(|event| (event, median(event)));
    medians.filter(|(_, median)| *median > 0).collect()
}

/// How often which value of a number was counted in these runs.
pub(crate) fn histogram(runs: &[Counts], number: impl Fn(&Counts) -> Option<u64>) -> Histogram {
    runs.iter().filter_map(number).collect()
}
