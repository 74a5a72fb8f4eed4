//! From a trace to waits: each raise of a softirq with the entry of its handler.
//!
//! Which raises count is decided by their context and by when they came, never by how long they
//! waited: a raise counts if a good part of the observation was still to come. One that was not
//! entered by the end of the observation has waited for at least that long, and is kept as such.
//! Were it dropped, a kernel in which some softirqs wait for long would show the others only.

use core::ops::Range;

use crate::{
    failure::{Outcome, broken},
    report::ProbeReport,
    tracefs::Event,
};

/// From a raise to its entry, or to the end of the observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// By the trace's stamps.
    pub(super) cost: u64,
    /// Events recorded in it: the pair counts once, since the raise is stamped early in its
    /// recording and the entry late.
    pub(super) recorded: u64,
    /// Whether the entry was seen; else the wait is at least this long.
    pub(super) ended: bool,
}

impl Wait {
    /// Records the wait without what recording its events cost, unless the report is full.
    pub(super) fn record(self, recording: u64, report: &mut ProbeReport) -> Outcome {
        let Self { cost, recorded, ended } = self;
        let Some(cost) = cost.checked_sub(recording.saturating_mul(recorded)) else {
            return broken!(
                "{recorded} events in a wait of {cost}: recording can't cost that much"
            );
        };
        match (report.is_full(), ended) {
            (true, _) => {}
            (false, true) => report.push(cost),
            (false, false) => report.push_at_least(cost),
        }
        Ok(())
    }
}

/// What is observed.
pub(super) struct Observation<C> {
    /// The softirq, as the tracepoints print it: `vec=1 `.
    pub(super) vector: &'static str,
    /// When a raise must come to count, by the TSC.
    pub(super) counted: Range<u64>,
    /// The end: entries later than this are not looked at.
    pub(super) end: u64,
    /// Whether a raise came in the context that the path names.
    pub(super) context: C,
}

/// A softirq that is pending.
#[derive(Clone, Copy)]
struct Raised {
    /// When it was raised, if that counts.
    since: Option<u64>,
    /// Events recorded since, itself included.
    recorded: u64,
}

impl<C: Fn(&Event<'_>) -> bool> Observation<C> {
    /// Hands the wait of each raise that counts to `sink`, in the order of the raises.
    ///
    /// Another raise of a softirq that is pending changes nothing. An entry without a raise belongs
    /// to one from before the trace, whose wait nobody knows.
    pub(super) fn waits<'a>(
        &self,
        events: impl Iterator<Item = Event<'a>>,
        mut sink: impl FnMut(Wait) -> Outcome,
    ) -> Outcome {
        let mut pending: Option<Raised> = None;
        for event in events.take_while(|event| event.stamp <= self.end) {
            let ours = event.detail.starts_with(self.vector);
            match (event.name, pending) {
                ("softirq_raise", None) if ours => {
                    let since = self.counts(&event).then_some(event.stamp);
                    pending = Some(Raised { since, recorded: 1 });
                }
                ("softirq_entry", Some(raised)) if ours => {
                    raised.wait(event.stamp, true).map_or(Ok(()), &mut sink)?;
                    pending = None;
                }
                (_, Some(raised)) => {
                    pending = Some(Raised { recorded: raised.recorded + 1, ..raised });
                }
                _ => {}
            }
        }
        pending.and_then(|raised| raised.wait(self.end, false)).map_or(Ok(()), sink)
    }

    fn counts(&self, raise: &Event<'_>) -> bool {
        self.counted.contains(&raise.stamp) && (self.context)(raise)
    }
}

impl Raised {
    /// The wait until `end`, if the raise counts.
    fn wait(self, end: u64, ended: bool) -> Option<Wait> {
        let cost = end.saturating_sub(self.since?);
        Some(Wait { cost, recorded: self.recorded, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracefs::parse;

    /// The waits of TIMER (1) in a trace of (`r`aise or `e`ntry, vector, stamp), raised by the tick
    /// from 100 to 199 and observed until 300.
    fn waits(trace: &[(char, u32, u64)]) -> Vec<Wait> {
        let lines: Vec<String> = trace
            .iter()
            .map(|(kind, vector, stamp)| match kind {
                'r' => format!("a-7 [000] d.h.. {stamp}: softirq_raise: vec={vector} [action=X]"),
                's' => format!("a-7 [000] d.... {stamp}: softirq_raise: vec={vector} [action=X]"),
                _ => format!("a-7 [000] ..s.. {stamp}: softirq_entry: vec={vector} [action=X]"),
            })
            .collect();
        let events = lines.iter().map(|line| parse(line).expect("a line of a trace"));
        let observation = Observation {
            vector: "vec=1 ",
            counted: 100..200,
            end: 300,
            context: |event: &Event<'_>| event.hard_irq,
        };
        let mut found = vec![];
        let outcome = observation.waits(events, |wait| {
            found.push(wait);
            Ok(())
        });
        assert!(outcome.is_ok());
        found
    }

    const fn ended(cost: u64, recorded: u64) -> Wait {
        Wait { cost, recorded, ended: true }
    }

    const fn at_least(cost: u64, recorded: u64) -> Wait {
        Wait { cost, recorded, ended: false }
    }

    #[test]
    fn a_raise_is_paired_with_the_entry_that_follows() {
        assert_eq!(
            waits(&[('r', 1, 110), ('e', 1, 115), ('r', 1, 150), ('e', 1, 190)]),
            [ended(5, 1), ended(40, 1)]
        );
    }

    #[test]
    fn a_raise_without_an_entry_waited_at_least_until_the_end() {
        assert_eq!(waits(&[('r', 1, 110)]), [at_least(190, 1)]);
        assert_eq!(
            waits(&[('r', 1, 110), ('e', 1, 115), ('r', 1, 199)]),
            [ended(5, 1), at_least(101, 1)]
        );
    }

    #[test]
    fn an_entry_after_the_end_is_none() {
        assert_eq!(waits(&[('r', 1, 110), ('e', 1, 301)]), [at_least(190, 1)]);
        assert_eq!(waits(&[('r', 1, 110), ('e', 1, 300)]), [ended(190, 1)]);
    }

    #[test]
    fn an_entry_without_a_raise_is_no_wait() {
        assert_eq!(waits(&[('e', 1, 105)]), []);
        assert_eq!(waits(&[('e', 1, 105), ('r', 1, 110), ('e', 1, 112)]), [ended(2, 1)]);
        assert_eq!(waits(&[('r', 1, 110), ('e', 1, 112), ('e', 1, 180)]), [ended(2, 1)]);
    }

    #[test]
    fn a_softirq_that_is_pending_is_raised_once() {
        // What waits for the tick is raised by each tick.
        assert_eq!(waits(&[('r', 1, 110), ('r', 1, 150), ('e', 1, 190)]), [ended(80, 2)]);
        assert_eq!(waits(&[('r', 1, 110), ('r', 1, 150)]), [at_least(190, 2)]);
    }

    #[test]
    fn other_softirqs_in_between_are_counted_and_no_more() {
        let nested = [('r', 1, 110), ('r', 3, 111), ('e', 3, 113), ('e', 1, 120), ('e', 9, 121)];
        assert_eq!(waits(&nested), [ended(10, 3)]);
        // Vector 1 is not vector 10.
        assert_eq!(waits(&[('r', 10, 110), ('e', 10, 112)]), []);
        let raised_as_it_runs = [('r', 1, 110), ('e', 1, 111), ('r', 1, 112), ('e', 1, 118)];
        assert_eq!(waits(&raised_as_it_runs), [ended(1, 1), ended(6, 1)]);
    }

    #[test]
    fn when_and_where_a_raise_came_decides_whether_it_counts() {
        // Before and after the time that counts, however long they wait.
        assert_eq!(waits(&[('r', 1, 99), ('e', 1, 190)]), []);
        assert_eq!(waits(&[('r', 1, 99)]), []);
        assert_eq!(waits(&[('r', 1, 200), ('e', 1, 201)]), []);
        assert_eq!(waits(&[('r', 1, 200)]), []);
        // In a system call; then one that another context's raise left pending is not raised.
        assert_eq!(waits(&[('s', 1, 110), ('e', 1, 111)]), []);
        assert_eq!(waits(&[('s', 1, 110), ('r', 1, 120), ('e', 1, 190)]), []);
    }

    #[test]
    fn recording_is_subtracted_from_either_kind_of_wait() {
        let mut report = ProbeReport::default();
        report.reset(2, 1);
        assert!(ended(40, 2).record(15, &mut report).is_ok());
        assert!(at_least(40, 1).record(15, &mut report).is_ok());
        assert!(ended(9999, 1).record(15, &mut report).is_ok(), "full");
        assert_eq!((report.samples(), report.lower_bounds()), (&[10, 25][..], &[0b10][..]));
        assert!(ended(40, 3).record(15, &mut report).is_err(), "less than was subtracted");
    }
}
