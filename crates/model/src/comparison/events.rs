//! What was counted of a path beside its samples.
//!
//! Most samples of a path have the same numbers of everything, so each combination of numbers is
//! kept once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathmeter_stats::{Histogram, Judgement};
use pathmeter_trace::{Event, Events, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;

/// Most names of events in a result.
const MAX_NAMES: usize = 256;

/// By how much lines and pages of data may differ and count as the same: in percent of base, ...
const SLACK_PERCENT: u64 = 1;
/// ... or so many lines ...
const SLACK_LINES: u64 = 1;
/// ... or so many pages, whatever base is.
const SLACK_PAGES: u64 = 2;

/// The events of a path's samples. `docs/reference/events.md` has the meaning of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathEvents {
    /// The names of the events that any sample had, in the order of the document.
    pub names: Vec<String>,
    /// The combinations of numbers that were counted, each in the order of `names`; they differ.
    pub distinct: Vec<Vec<u64>>,
    /// For each sample, which of `distinct` it had, from 0.
    pub of_samples: Vec<u32>,
    /// The kernel's functions that the first sample's window entered, in the order of the first
    /// time: for each, its entry's address modulo 64.
    pub placement: Vec<u8>,
}

impl PathEvents {
    /// Of samples with these events, of which the first entered functions at `placement`.
    pub fn new<'a>(samples: impl Iterator<Item = &'a Events> + Clone, placement: Vec<u8>) -> Self {
        Self::naming(&[], samples, placement)
    }

    /// Of samples with these events, of which those `counted` are named even if there were none.
    pub fn naming<'a>(
        counted: &[Event],
        samples: impl Iterator<Item = &'a Events> + Clone,
        placement: Vec<u8>,
    ) -> Self {
        let some = |event: &Event| {
            counted.contains(event) || samples.clone().any(|events| events.of(*event) > 0)
        };
        let met: Vec<Event> = Event::all().filter(some).collect();
        let mut numbers: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut distinct = Vec::new();
        let of_samples = samples.map(|events| {
            let row: Vec<u64> = met.iter().map(|event| events.of(*event)).collect();
            let next = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
            *numbers.entry(row).or_insert_with_key(|row| {
                distinct.push(row.clone());
                next
            })
        });
        let of_samples = of_samples.collect();
        let names = met.iter().map(|event| event.word().to_owned()).collect();
        Self { names, distinct, of_samples, placement }
    }

    /// Of samples with these numbers, each those of all of `events` in their order.
    pub(crate) fn of_numbers(
        events: impl Iterator<Item = Event>,
        numbers: impl Iterator<Item = Vec<u64>>,
    ) -> Self {
        let mut distinct: Vec<Vec<u64>> = Vec::new();
        let place = |row: Vec<u64>| {
            let known = distinct.iter().position(|other| *other == row);
            let place = known.unwrap_or(distinct.len());
            if known.is_none() {
                distinct.push(row);
            }
            u32::try_from(place).unwrap_or(u32::MAX)
        };
        let of_samples = numbers.map(place).collect();
        let names = events.map(|event| event.word().to_owned()).collect();
        Self { names, distinct, of_samples, placement: Vec::new() }
    }

    /// The same events of one sample with so many retired instructions and these others.
    pub(crate) fn with_one_sample(&self, retired: u64, others: &BTreeMap<Event, u64>) -> Self {
        let number = |name: &String| match Event::from_name(name) {
            Some(Event::User | Event::Kernel) => retired,
            event => event.and_then(|event| others.get(&event)).copied().unwrap_or(0),
        };
        Self {
            distinct: vec![self.names.iter().map(number).collect()],
            of_samples: vec![0],
            names: self.names.clone(),
            placement: Vec::new(),
        }
    }

    /// How often the samples had which number of `event`.
    pub fn histogram(&self, event: Event) -> Histogram {
        self.of_column(self.column(event), &self.count_samples_per_combination())
    }

    /// The number of samples that had each row of `distinct`, then the number of those that have
    /// none of these rows.
    ///
    /// Most samples have one of a few combinations of counts, so each is counted once for all
    /// events.
    fn count_samples_per_combination(&self) -> Vec<u64> {
        let mut counts = vec![0; self.distinct.len() + 1];
        for row in &self.of_samples {
            counts[(*row as usize).min(self.distinct.len())] += 1;
        }
        counts
    }

    /// How often the samples had each number in this column; `counts` are those of
    /// [`Self::count_samples_per_combination`].
    fn of_column(&self, column: Option<usize>, counts: &[u64]) -> Histogram {
        self.numbers(column).chain([0]).zip(counts.iter().copied()).collect()
    }

    /// The numbers in this column, one for each of `distinct`; 0 where there is none.
    fn numbers(&self, column: Option<usize>) -> impl Iterator<Item = u64> + '_ {
        let number = move |row: &Vec<u64>| column.and_then(|column| row.get(column)).copied();
        self.distinct.iter().map(move |row| number(row).unwrap_or(0))
    }

    /// The events of the sample at this position but for the retired instructions; those that it
    /// had none of are left out.
    pub(crate) fn of_sample(&self, position: usize) -> BTreeMap<Event, u64> {
        let place = self.of_samples.get(position).map(|place| *place as usize);
        let row = place.and_then(|place| self.distinct.get(place));
        let number = |column: usize| row.and_then(|row| row.get(column)).copied().unwrap_or(0);
        let counted = self.columns().map(|(event, column)| (event, number(column)));
        let is_retired = |event| matches!(event, Event::User | Event::Kernel);
        counted.filter(|(event, number)| *number > 0 && !is_retired(*event)).collect()
    }

    /// How many of `event` the sample at this position had.
    pub(crate) fn number(&self, event: Event, position: usize) -> u64 {
        let place = self.of_samples.get(position).map(|place| *place as usize);
        let row = place.and_then(|place| self.distinct.get(place));
        let number = self.column(event).and_then(|column| row?.get(column).copied());
        number.unwrap_or(0)
    }

    /// The numbers in this column, run by run, each of which had so many samples; 0 without one.
    pub(crate) fn by_run(&self, column: Option<usize>, samples_per_run: &[u32]) -> Vec<Vec<u64>> {
        let number = |row: &u32| self.distinct.get(*row as usize)?.get(column?).copied();
        let mut numbers = self.of_samples.iter().map(|row| number(row).unwrap_or(0));
        let run = |samples: &u32| numbers.by_ref().take(*samples as usize).collect();
        samples_per_run.iter().map(run).collect()
    }

    /// The steps of the guest's clock from begin to end of each sample, run by run, with those in
    /// which the CPU idled. None if it never did.
    pub(crate) fn durations(&self, samples_per_run: &[u32]) -> Option<Vec<Vec<u64>>> {
        let column = |event: Event| {
            let column = self.column(event)?;
            Some(self.by_run(Some(column), samples_per_run))
        };
        let (mut steps, idle) = (column(Event::Clock)?, column(Event::Idle)?);
        let pairs = steps.iter_mut().flatten().zip(idle.iter().flatten());
        pairs.for_each(|(steps, idle)| *steps = steps.saturating_add(*idle));
        Some(steps)
    }

    /// Whether this column is that of `other`, number by number.
    fn has_column_of(&self, column: Option<usize>, other: &Self, its: Option<usize>) -> bool {
        let mut rows = self.distinct.iter().zip(&other.distinct);
        match (column, its) {
            (Some(one), Some(two)) => rows.all(|(row, other)| row.get(one) == other.get(two)),
            _ => self.numbers(column).eq(other.numbers(its)),
        }
    }

    /// The events that are known here, each with its column.
    fn columns(&self) -> impl Iterator<Item = (Event, usize)> + '_ {
        let names = self.names.iter().enumerate();
        names.filter_map(|(column, name)| Some((Event::from_name(name)?, column)))
    }

    fn column(&self, event: Event) -> Option<usize> {
        self.names.iter().position(|name| name == event.word())
    }

    /// Whether `event` is named here.
    pub(crate) fn has(&self, event: Event) -> bool {
        self.column(event).is_some()
    }

    /// The row's number of `event`: the lower median, as of its samples.
    pub fn value(&self, event: Event) -> u64 {
        self.histogram(event).median().unwrap_or(0)
    }

    /// The samples that have these events: of each the retired instructions. None if one has no
    /// events, or more instructions than can be counted.
    pub fn samples(&self) -> Option<Vec<u64>> {
        let modes = [Event::User, Event::Kernel].map(|event| self.column(event));
        let number = |row: &[u64], column: usize| row.get(column).copied();
        let retired = |row: &Vec<u64>| {
            let mut both = modes.iter().flatten();
            both.try_fold(0_u64, |sum, &column| sum.checked_add(number(row, column)?))
        };
        let of_rows: Vec<Option<u64>> = self.distinct.iter().map(retired).collect();
        let mut samples = Vec::with_capacity(self.of_samples.len());
        for row in &self.of_samples {
            samples.push((*of_rows.get(*row as usize)?)?);
        }
        Some(samples)
    }

    /// Whether these are events of `samples`: the retired instructions of each are its sample.
    pub(crate) fn is_consistent_with(&self, samples: &[u64]) -> bool {
        let unique: BTreeSet<&String> = self.names.iter().collect();
        self.names.len() <= MAX_NAMES
            && unique.len() == self.names.len()
            && self.distinct.iter().all(|row| row.len() == self.names.len())
            && self.samples().is_some_and(|own| own == samples)
    }
}

/// An event of which two kernels have different numbers in a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventComparison {
    pub event: String,
    /// Base's number. Of several the one that decides the verdict.
    pub base: u64,
    pub new: u64,
    pub difference: i64,
    /// The verdict of the sets of numbers, by the same rules as that of the instructions.
    pub verdict: Verdict,
}

/// How many of the functions that a path enters stand at another place in their line of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    pub functions: usize,
    pub of: usize,
}

/// The events of a side, and how many samples each of its runs has.
pub(crate) type EventsByRun<'a> = (&'a PathEvents, &'a [u32]);

/// The events in which the sets of the two sides differ, in the order of [`Event::all`].
pub(crate) fn differing_as_sets(
    sides: [EventsByRun<'_>; 2],
    one_qemu: bool,
) -> Vec<EventComparison> {
    let [(base, _), (new, _)] = sides;
    let (base_counts, new_counts) =
        (base.count_samples_per_combination(), new.count_samples_per_combination());
    let judged = |(event, [of_base, of_new]): (Event, [Option<usize>; 2])| {
        let (of_base, of_new) =
            (base.of_column(of_base, &base_counts), new.of_column(of_new, &new_counts));
        EventComparison::of(event, pathmeter_stats::judge(&of_base, &of_new)?)
    };
    compared_columns(sides, one_qemu).into_iter().filter_map(judged).collect()
}

/// The events whose numbers are not the same on both sides, sample for sample, each with its column
/// of either; the clock is not among them, nor, in results of two versions of QEMU, what the two
/// count differently.
pub(crate) fn compared_columns(
    [(base, base_runs), (new, new_runs)]: [EventsByRun<'_>; 2],
    one_qemu: bool,
) -> BTreeMap<Event, [Option<usize>; 2]> {
    let compared = |event: &Event| *event != Event::Clock && (one_qemu || !event.depends_on_qemu());
    // Of an event that neither has there are none in both.
    let mut columns: BTreeMap<Event, [Option<usize>; 2]> = BTreeMap::new();
    for (side, events) in [base, new].into_iter().enumerate() {
        for (event, column) in events.columns().filter(|(event, _)| compared(event)) {
            columns.entry(event).or_default()[side].get_or_insert(column);
        }
    }
    let as_often = base.of_samples == new.of_samples && base_runs == new_runs;
    // Whether these were counted, only their names tell.
    columns.retain(|event, sides| !event.is_of_programs() || sides.iter().all(Option::is_some));
    columns
        .retain(|_, [of_base, of_new]| !(as_often && base.has_column_of(*of_base, new, *of_new)));
    columns
}

/// The events that both sides name and in which they differ, judged in pairs.
pub(crate) fn differing_in_both(
    [(base, base_runs), (new, new_runs)]: [EventsByRun<'_>; 2],
    one_qemu: bool,
) -> Vec<EventComparison> {
    let common = |event: &Event| {
        let retired = matches!(event, Event::User | Event::Kernel | Event::Clock);
        !retired && (one_qemu || !event.depends_on_qemu()) && base.has(*event) && new.has(*event)
    };
    let judged = |event: Event| {
        let of_base = base.by_run(base.column(event), base_runs);
        let of_new = new.by_run(new.column(event), new_runs);
        let judged = pathmeter_stats::judge_pairs(&of_base, &of_new)?;
        EventComparison::of(event, judged.judgement)
    };
    Event::all().filter(common).filter_map(judged).collect()
}

/// The events of which `compared` holds in which one run of each side differs.
pub(crate) fn first_runs(
    base: &BTreeMap<Event, u64>,
    new: &BTreeMap<Event, u64>,
    compared: impl Fn(Event) -> bool,
) -> Vec<EventComparison> {
    let of = |run: &BTreeMap<Event, u64>, event| run.get(&event).copied().unwrap_or(0);
    let differing = |event| {
        let runs = [base, new].map(|run| [[of(run, event)]]);
        let judged = pathmeter_stats::judge_pairs(&runs[0], &runs[1])?;
        EventComparison::of(event, judged.judgement)
    };
    let wanted = |event: &Event| *event != Event::Clock && compared(*event);
    Event::all().filter(wanted).filter_map(differing).collect()
}

/// How far the functions that both sides enter have moved; None if they don't enter as many.
pub(crate) fn moved(base: &PathEvents, new: &PathEvents) -> Option<Moved> {
    let (base, new) = (&base.placement, &new.placement);
    let functions = base.iter().zip(new).filter(|(base, new)| base != new).count();
    (base.len() == new.len()).then_some(Moved { functions, of: base.len() })
}

impl EventComparison {
    /// None if the judgement is that the numbers are the same.
    pub(crate) fn of(event: Event, judgement: Judgement) -> Option<Self> {
        let difference = i128::from(judgement.new) - i128::from(judgement.base);
        let comparison = Self {
            event: event.word().to_owned(),
            base: judgement.base,
            new: judgement.new,
            difference: i64::try_from(difference).ok()?,
            verdict: judgement.verdict.into(),
        };
        (comparison.verdict != Verdict::Same).then_some(comparison)
    }

    /// What the change means where the instructions are the same.
    pub fn role(&self) -> Role {
        Event::from_name(&self.event).map_or(Role::Detail, Event::role)
    }

    /// Whether it makes two paths of equally many instructions differ.
    ///
    /// Lines and pages of data vary by a few where only the layout differs
    /// (docs/reference/events.md), so they count beyond that, and if the whole set has moved.
    pub fn counts(&self) -> bool {
        match self.role() {
            Role::Cost => true,
            Role::Footprint => self.has_moved() && self.difference.unsigned_abs() > self.slack(),
            Role::Placement | Role::Detail => false,
        }
    }

    /// Whether it is a detail, as loads and taken branches are, of which one side has more: two
    /// paths of equally many instructions differ by it.
    pub(crate) fn has_moved_detail(&self) -> bool {
        self.role() == Role::Detail && self.has_moved()
    }

    /// Whether it makes rows of a program differ. A mode that appears does not: of a
    /// few slow instructions, one more in some of the runs is one.
    pub(crate) fn moves_cost(&self) -> bool {
        self.counts() && self.has_moved()
    }

    /// Whether it is worth showing where the instructions are the same: what counts; a page more or
    /// less, which may be layout and may be not; and preemptions, which may be the timer's.
    pub fn is_shown(&self) -> bool {
        let may_be_chance =
            [Event::DataPages, Event::Preemptions].map(Event::word).contains(&&*self.event);
        self.counts() || (may_be_chance && self.has_moved())
    }

    fn has_moved(&self) -> bool {
        matches!(self.verdict, Verdict::Higher | Verdict::Lower)
    }

    /// The largest difference that may be layout.
    fn slack(&self) -> u64 {
        let least = if self.event == Event::DataPages.word() { SLACK_PAGES } else { SLACK_LINES };
        least.max(self.base.saturating_mul(SLACK_PERCENT) / 100)
    }
}
