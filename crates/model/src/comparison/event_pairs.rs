//! The events of a path judged in pairs, and the one pair that its row shows: of the pairs with the
//! row's difference one that has the events' differences too.

use pathmeter_stats::{self as stats, Judgement, PairJudgement, Place};
use pathmeter_trace::{Event, Role};

use crate::{
    EventComparison, Verdict,
    comparison::events::{EventsByRun, compared_columns},
};

/// The events that differ between two kernels in a path, each judged in pairs.
pub(crate) struct EventPairs {
    events: Vec<EventPair>,
}

/// An event that differs between the two kernels, with its judgement.
struct EventPair {
    event: Event,
    judgement: Judgement,
    /// Base's numbers and new's, run by run.
    runs: [Vec<Vec<u64>>; 2],
}

impl EventPairs {
    /// The events of both sides; of two versions of QEMU those that both count alike.
    pub(crate) fn of([base, new]: [EventsByRun<'_>; 2], one_qemu: bool) -> Self {
        let columns = compared_columns([base, new], one_qemu);
        let pair = |(event, [of_base, of_new]): (Event, [Option<usize>; 2])| {
            EventPair::of(event, [base.0.by_run(of_base, base.1), new.0.by_run(of_new, new.1)])
        };
        Self { events: columns.into_iter().filter_map(pair).collect() }
    }

    /// How many of the events have their difference in the pair at `place`.
    pub(crate) fn agreement(&self, place: Place) -> usize {
        self.events.iter().filter(|pair| pair.agrees(place)).count()
    }

    /// The rows of the events: their numbers in the pair at `place`, where that differs in the
    /// judged direction, or else in a pair of their own.
    pub(crate) fn compare(&self, place: Option<Place>) -> Vec<EventComparison> {
        self.events.iter().filter_map(|pair| pair.compare(place)).collect()
    }
}

impl EventPair {
    /// None if it does not differ.
    fn of(event: Event, runs: [Vec<Vec<u64>>; 2]) -> Option<Self> {
        let judged = stats::judge_pairs(&runs[0], &runs[1])?;
        let differs = Verdict::from(judged.judgement.verdict) != Verdict::Same;
        (differs && holds(event, &judged)).then_some(Self {
            event,
            judgement: judged.judgement,
            runs,
        })
    }

    /// Base's number and new's in the pair at `place`.
    fn at(&self, Place { run, execution }: Place) -> Option<[u64; 2]> {
        let number = |runs: &Vec<Vec<u64>>| runs.get(run)?.get(execution?).copied();
        let [base, new] = self.runs.each_ref().map(number);
        Some([base?, new?])
    }

    fn agrees(&self, place: Place) -> bool {
        let judged = [self.judgement.base, self.judgement.new];
        self.at(place).is_some_and(|there| difference(there) == difference(judged))
    }

    fn compare(&self, place: Option<Place>) -> Option<EventComparison> {
        let judged = [self.judgement.base, self.judgement.new];
        let direction = difference(judged).signum();
        let there = place.and_then(|place| self.at(place));
        // A mode that appeared is shown by the number that appeared, wherever it did.
        let is_mode = self.judgement.verdict == stats::Verdict::ModeAppeared;
        let there = there.filter(|there| {
            difference(*there).signum() == direction && (!is_mode || there[1] == judged[1])
        });
        let [base, new] = there.unwrap_or(judged);
        EventComparison::of(self.event, Judgement { base, new, ..self.judgement })
    }
}

/// Whether the verdict holds for this event. Lines and pages of data, and accesses that cross
/// lines, scatter by the addresses of what the kernel allocates, so all runs can differ in one
/// direction by chance: they must differ evenly.
fn holds(event: Event, judged: &PairJudgement) -> bool {
    let scatters = event.role() == Role::Footprint || event == Event::SplitAccesses;
    !scatters || judged.is_even()
}

fn difference([base, new]: [u64; 2]) -> i128 {
    i128::from(new) - i128::from(base)
}
