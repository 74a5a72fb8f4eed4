//! What a result keeps of the events, and what a comparison makes of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{measurement, path};
use pathmeter_model::{
    EventComparison, Inconsistency, Measurement, Moved, ParseError, PathComparison, PathEvents,
    PathResult, Threshold, Verdict, compare, example, parse_measurement,
};
use pathmeter_trace::Event;

const EVERY_CHANGE: Threshold = Threshold { percent: 0.0 };

/// A path of four samples of 330 instructions, 30 of them the program's, and these further events.
fn path_with_events(further: &[(&str, u64)]) -> PathResult {
    let events = [&[("user", 30), ("kernel", 300)], further].concat();
    example::counting(path("a.b", &[330, 330]), &events, &[0, 16, 48])
}

fn compare_single_paths(base: PathResult, new: PathResult) -> PathComparison {
    let (base, new) = (measurement("old", vec![base]), measurement("new", vec![new]));
    compare(&base, &new, EVERY_CHANGE).paths.remove(0)
}

/// The verdict and the shown events of a change of one event.
fn changed(name: &str, base: u64, new: u64) -> (Verdict, usize) {
    let row =
        compare_single_paths(path_with_events(&[(name, base)]), path_with_events(&[(name, new)]));
    (row.verdict, row.events.iter().filter(|event| event.is_shown()).count())
}

#[test]
fn what_costs_without_an_instruction_makes_a_path_differ() {
    for name in ["lfence", "string-bytes", "split-accesses", "indirect-branches"] {
        assert_eq!(changed(name, 1, 2), (Verdict::EventsDiffer, 1), "{name} more");
        assert_eq!(changed(name, 2, 1), (Verdict::EventsDiffer, 1), "{name} less");
        assert_eq!(changed(name, 2, 2), (Verdict::Same, 0), "{name} as many");
    }
    let row = compare_single_paths(path_with_events(&[]), path_with_events(&[("lfence", 1)]));
    let lfence = EventComparison {
        event: "lfence".into(),
        base: 0,
        new: 1,
        difference: 1,
        verdict: Verdict::Higher,
    };
    assert_eq!(row.events, [lfence]);
}

#[test]
fn of_as_many_instructions_every_event_is_shown_that_layout_alone_does_not_move() {
    let shown = |name, base, new| {
        let row = compare_single_paths(
            path_with_events(&[(name, base)]),
            path_with_events(&[(name, new)]),
        );
        (row.verdict, row.shown_events().map(|event| event.difference).collect::<Vec<_>>())
    };
    for name in ["loads", "stores", "taken-branches", "store-bytes", "string-steps"] {
        assert_eq!(shown(name, 40, 41), (Verdict::EventsDiffer, vec![1]), "{name}");
        assert_eq!(shown(name, 40, 40), (Verdict::Same, vec![]), "{name}");
    }
    for name in ["code-lines", "code-pages"] {
        assert_eq!(shown(name, 40, 47), (Verdict::Same, vec![]), "{name}");
    }
    // Of a path that changed they follow from its instructions.
    let more = path_with_events(&[("kernel", 340), ("loads", 50)]);
    let more = PathResult { samples: vec![340; 4], ..more };
    let row = compare_single_paths(path_with_events(&[("kernel", 330), ("loads", 40)]), more);
    assert_eq!((row.verdict, row.shown_events().count()), (Verdict::Higher, 0));
}

#[test]
fn lines_and_pages_count_beyond_what_layout_explains() {
    assert_eq!(changed("data-lines", 40, 41), (Verdict::Same, 0));
    assert_eq!(changed("data-lines", 40, 42), (Verdict::EventsDiffer, 1));
    assert_eq!(changed("data-lines", 300, 303), (Verdict::Same, 0));
    assert_eq!(changed("data-lines", 300, 304), (Verdict::EventsDiffer, 1));
    assert_eq!(changed("data-pages", 10, 12), (Verdict::Same, 1));
    assert_eq!(changed("data-pages", 10, 7), (Verdict::EventsDiffer, 1));
}

#[test]
fn what_instructions_are_made_of_is_a_difference_and_where_they_stand_is_none() {
    for name in ["loads", "stores", "taken-branches", "returns"] {
        assert_eq!(changed(name, 10, 11).0, Verdict::EventsDiffer, "{name}");
    }
    for name in ["code-lines", "code-pages"] {
        assert_eq!(changed(name, 10, 90), (Verdict::Same, 0), "{name}");
    }
    assert_eq!(
        compare_single_paths(path_with_events(&[("clock", 5)]), path_with_events(&[("clock", 9)]))
            .events,
        []
    );
}

#[test]
fn two_versions_of_qemu_are_not_compared_in_what_they_count_differently() {
    let of = |name, number| measurement("k", vec![path_with_events(&[(name, number)])]);
    let with = |qemu: &str, measurement: Measurement| {
        let mut other = measurement;
        other.configuration.qemu = qemu.into();
        other
    };
    for (name, verdict) in [("data-lines", Verdict::Same), ("lfence", Verdict::EventsDiffer)] {
        let (base, new) = (of(name, 10), with("11.1.3", of(name, 20)));
        assert_eq!(compare(&base, &new, EVERY_CHANGE).paths[0].verdict, verdict, "{name}");
    }
}

#[test]
fn functions_that_moved_are_counted_if_both_sides_enter_as_many() {
    let at = |placement: &[u8]| {
        let mut path = path_with_events(&[]);
        path.events.as_mut().unwrap().placement = placement.to_vec();
        path
    };
    let row = compare_single_paths(at(&[0, 16, 48]), at(&[0, 32, 0]));
    assert_eq!((row.verdict, row.moved), (Verdict::Same, Some(Moved { functions: 2, of: 3 })));
    assert_eq!(compare_single_paths(at(&[0, 16]), at(&[0, 16, 48])).moved, None);
}

#[test]
fn a_path_is_identical_only_if_everything_is() {
    let identical = |new: PathResult| {
        let (base, new) =
            (measurement("old", vec![path_with_events(&[])]), measurement("new", vec![new]));
        compare(&base, &new, EVERY_CHANGE).summary.identical
    };
    assert_eq!(identical(path_with_events(&[])), 1);
    assert_eq!(identical(path_with_events(&[("loads", 1)])), 0, "an event without a verdict");
}

#[test]
fn equal_combinations_are_kept_once_and_told_sample_by_sample() {
    let mut path = path_with_events(&[("lfence", 2)]);
    let events = path.events.as_mut().unwrap();
    events.distinct.push(vec![30, 300, 7]);
    events.of_samples = vec![1, 0, 1, 1];
    assert_eq!(events.value(Event::from_name("lfence").unwrap()), 7);
    assert_eq!(events.value(Event::Kernel), 300);
    assert_eq!(events.value(Event::Loads), 0, "one that no sample had");
}

type Change = fn(&mut PathEvents);

/// The inconsistency for which a result with changed events is refused; None if it is read.
fn find_inconsistency(change: Change) -> Option<Inconsistency> {
    let mut path = path_with_events(&[("lfence", 2)]);
    change(path.events.as_mut().unwrap());
    let document = serde_json::to_vec(&measurement("k", vec![path])).unwrap();
    match parse_measurement(&document) {
        Ok(_) => None,
        Err(ParseError::Inconsistent { what, .. }) => Some(what),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn events_that_are_not_those_of_the_samples_are_refused() {
    assert_eq!(find_inconsistency(|_| ()), None);
    let changes: [(&str, Change); 7] = [
        ("a sample without events", |events| events.of_samples.truncate(3)),
        ("events that there are not", |events| events.of_samples[1] = 1),
        ("other instructions than the sample", |events| events.distinct[0][1] = 301),
        ("a number without a name", |events| events.distinct[0].push(1)),
        ("a name without a number", |events| events.names.push("loads".into())),
        ("one name twice", |events| {
            events.names.push("lfence".into());
            events.distinct[0].push(3);
        }),
        ("a sum beyond 64 bits", |events| events.distinct[0] = vec![331, u64::MAX, 2]),
    ];
    for (what, change) in changes {
        assert_eq!(find_inconsistency(change), Some(Inconsistency::Events), "{what}");
    }
}
