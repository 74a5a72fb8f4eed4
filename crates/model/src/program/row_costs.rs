//! What a row of a program costs over the runs: the first run by itself, the later ones as a set.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use pathmeter_stats::Histogram;
use pathmeter_trace::{Event, RowKind};

use crate::program::work::{Calls, Counts, FirstRun, Work, per_call, typical_per_call};
use crate::{Measurement, PathResult};

/// What a row costs in one run, or typically in some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCost {
    /// How often the work was done.
    pub calls: Calls,
    /// Instructions retired in a run: the row's value.
    pub instructions: u64,
    /// Number of typical values of `instructions`; 1 means single-valued.
    pub values: usize,
    /// Instructions a call, rounded; None without calls. Of several values the lower median.
    pub per_call: Option<u64>,
    /// How many there were of each event that was counted, in a run; of several values the lower
    /// median. Those that there were none of are left out.
    pub events: BTreeMap<Event, u64>,
}

/// A row of a program over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCosts<'a> {
    pub kind: RowKind,
    pub name: &'a str,
    /// What it cost in the first run.
    pub first: RowCost,
    /// What it costs in the later runs; None if there are none.
    pub later: Option<RowCost>,
}

impl RowCosts<'_> {
    /// What the row typically costs: in the later runs, or in the first if there are no others.
    pub fn typical(&self) -> &RowCost {
        self.later.as_ref().unwrap_or(&self.first)
    }
}

impl RowCost {
    /// How many there were of an event.
    pub fn of_event(&self, event: Event) -> u64 {
        self.events.get(&event).copied().unwrap_or(0)
    }

    /// What the row cost in this one run.
    fn once(run: &Counts) -> Self {
        Self {
            calls: Calls { least: run.calls, most: run.calls },
            instructions: run.instructions,
            values: 1,
            per_call: per_call(run.instructions, run.calls),
            events: run.events.clone(),
        }
    }

    /// What these runs cost; None without runs.
    fn of(runs: &[Counts]) -> Option<Self> {
        let instructions: Histogram = runs.iter().map(|run| run.instructions).collect();
        let calls: Vec<u64> = runs.iter().map(|run| run.calls).collect();
        Some(Self {
            calls: Calls::of(&calls),
            instructions: instructions.median()?,
            values: instructions.typical().len(),
            per_call: typical_per_call(runs.iter().map(|run| (run.instructions, run.calls))),
            events: medians(runs),
        })
    }
}

impl Measurement {
    /// What each row of the program cost, without the totals.
    pub fn row_costs(&self) -> impl Iterator<Item = RowCosts<'_>> {
        let rows = self.paths.iter().filter_map(PathResult::costs);
        rows.filter(|row| !row.kind.is_total())
    }

    /// The program's total of this kind.
    pub fn total(&self, kind: RowKind) -> Option<RowCosts<'_>> {
        self.paths.iter().filter_map(PathResult::costs).find(|row| row.kind == kind)
    }

    /// Whether functions were counted in the rows of the program.
    pub fn has_functions(&self) -> bool {
        self.paths.iter().any(|path| !path.functions.is_empty())
    }

    /// Whether it was counted which events are in which function.
    pub fn has_function_events(&self) -> bool {
        self.paths.iter().any(PathResult::has_function_events)
    }

    /// Whether this event was counted in the rows of the program.
    pub fn counts_in_rows(&self, event: Event) -> bool {
        let row = self.paths.iter().find(|path| path.work.is_some());
        row.is_some_and(|row| self.has_counted(row, event))
    }
}

impl PathResult {
    /// Whether some of its functions have events.
    pub(crate) fn has_function_events(&self) -> bool {
        self.functions.iter().any(|function| !function.events.is_empty())
    }

    /// What a row of a program costs; None for anything else.
    pub fn costs(&self) -> Option<RowCosts<'_>> {
        let kind = self.work.as_ref()?.kind;
        let counts = self.counts();
        let (first, later) = counts.split_first()?;
        let (first, later) = (RowCost::once(first), RowCost::of(later));
        Some(RowCosts { kind, name: &self.path, first, later })
    }

    /// The kind of work, if this is a row of a program.
    pub fn work_kind(&self) -> Option<RowKind> {
        self.work.as_ref().map(|work| work.kind)
    }

    /// The events that this row of a program has beside its instructions and steps.
    pub(crate) fn further_events(&self) -> Vec<Event> {
        let names = self.events.iter().flat_map(|events| &events.names);
        let events = names.filter_map(|name| Event::from_name(name));
        events.filter(|it| !matches!(it, Event::User | Event::Kernel | Event::Clock)).collect()
    }

    /// The numbers of a row of a program, run by run, the first run's at the beginning; none of
    /// anything else.
    pub(crate) fn counts(&self) -> Vec<Counts> {
        let Some(Work { calls, first, .. }) = &self.work else { return Vec::new() };
        let FirstRun { instructions, ref events } = *first;
        let calls_of = |run: usize| calls.get(run).copied().unwrap_or(0);
        let first = Counts { calls: calls_of(0), instructions, events: events.clone() };
        let later = (1..calls.len()).zip(&self.samples).map(|(run, instructions)| {
            let events = self.events.as_ref().map(|events| events.of_sample(run - 1));
            let events = events.unwrap_or_default();
            Counts { calls: calls_of(run), instructions: *instructions, events }
        });
        iter::once(first).chain(later).collect()
    }
}

/// The median of each event.
fn medians(runs: &[Counts]) -> BTreeMap<Event, u64> {
    let events: BTreeSet<Event> = runs.iter().flat_map(|run| run.events.keys().copied()).collect();
    let of = |run: &Counts, event| run.events.get(&event).copied().unwrap_or(0);
    let median =
        |event| runs.iter().map(|run| of(run, event)).collect::<Histogram>().median().unwrap_or(0);
    let medians = events.into_iter().map(|event| (event, median(event)));
    medians.filter(|(_, median)| *median > 0).collect()
}
