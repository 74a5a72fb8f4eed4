//! What a comparison with the default says of a setting.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{measurement, path};
use pathmeter_model::{
    EventSpread, Measurement, PathSum, SettingCost, SettingOutcome, SettingRow, SettingsSet,
    Verdict, example,
};
use pathmeter_trace::{SettingProof, SettingState};

fn measurement_with_values(name: &str, values: [u64; 3]) -> Measurement {
    let names = ["a.a", "b.b", "c.c"];
    let paths = names.iter().zip(values).map(|(name, value)| path(name, &[value; 6])).collect();
    measurement(name, paths)
}

const BASE: [u64; 3] = [100, 1000, 50];

fn row_of([base, new]: [&Measurement; 2]) -> SettingRow {
    SettingRow::compare(("boot:x".to_owned(), "a source".to_owned()), [base, new])
}

fn row(new: [u64; 3]) -> SettingRow {
    row_of([&measurement_with_values("default", BASE), &measurement_with_values("set", new)])
}

#[test]
fn the_largest_change_in_percent_is_first_and_the_median_is_of_all_paths() {
    let row = row([110, 1020, 50]);
    assert_eq!((row.outcome, row.compared), (SettingOutcome::Changed, 3));
    let changed: Vec<_> = row.changed.iter().map(|it| (&*it.path, it.difference)).collect();
    assert_eq!(changed, [("a.a", 10), ("b.b", 20)]);
    assert_eq!(row.median_percent, Some(2.0));
}

#[test]
fn what_the_parts_leave_over_is_told_of_each_path_that_all_change() {
    let all = SettingRow { all: true, ..row([60, 1000, 50]) };
    let parts = [row([90, 1000, 50]), row([80, 1000, 51])];
    let rows = [&[all][..], &parts].concat();
    let set = SettingsSet::new("s".to_owned(), "t".to_owned(), rows);
    let sum = PathSum { path: "a.a".to_owned(), parts: -30, all: -40, left_over: -10 };
    assert_eq!(set.sums, [sum]);
    // The setting that stands for all comes first, then those that change more.
    let changes: Vec<f64> = set.rows.iter().map(|row| row.changed[0].percent).collect();
    assert_eq!(changes, [-40.0, -20.0, -10.0]);
}

/// A path of as many instructions whatever it moves by string instructions.
fn moving(string_bytes: u64, lfences: u64) -> Measurement {
    let events =
        [("user", 30), ("kernel", 70), ("string-bytes", string_bytes), ("lfence", lfences)];
    let path = example::counting(path("a.a", &[100; 6]), &events, &[0, 16]);
    measurement("moving", vec![path])
}

#[test]
fn what_differs_without_an_instruction_is_told() {
    let row = row_of([&moving(96, 2), &moving(72, 2)]);
    let [change] = &row.changed[..] else { panic!("{row:?}") };
    assert_eq!((change.verdict, change.difference), (Verdict::EventsDiffer, 0));
    let events: Vec<_> = change.events.iter().map(|it| (&*it.event, it.difference)).collect();
    assert_eq!(events, [("string-bytes", -24)]);
    let spread = EventSpread { event: "string-bytes".into(), paths: 1, least: -24, most: -24 };
    assert_eq!(row.events, [spread]);
}

#[test]
fn what_changed_nothing_had_no_effect_only_if_it_was_in_force() {
    let proof = |state| {
        let (setting, shown) = ("boot:a".to_owned(), "a file reads 1".to_owned());
        SettingProof { setting, state, shown }
    };
    let outcome = |costs, states: &[SettingState]| {
        row(costs).with_proofs(states.iter().copied().map(proof).collect()).outcome
    };
    let (same, changed) = (BASE, [90, 900, 45]);
    let (moot, proved, unproved) =
        (SettingState::Moot, SettingState::Proved, SettingState::Unproved);
    assert_eq!(outcome(same, &[proved, moot]), SettingOutcome::NoEffect);
    assert_eq!(outcome(same, &[proved, unproved]), SettingOutcome::Unproved);
    assert_eq!(outcome(same, &[moot]), SettingOutcome::Unseen);
    assert_eq!(outcome(changed, &[unproved]), SettingOutcome::Changed);
    let reason = row(same).with_proofs(vec![proof(unproved)]).reason;
    assert_eq!(reason.as_deref(), Some("a file reads 1"));
}

#[test]
fn a_price_stands_beside_the_difference_and_a_changed_one_is_noticed() {
    let off = Some("all of it".to_owned());
    let row = row([80, 1000, 40]).with_price_of(off).with_program(program_cost());
    // Of the default they are 20 % and 20 %; without the thing 25 %.
    let changed: Vec<_> = row.changed.iter().map(|it| (it.difference, it.price.unwrap())).collect();
    assert_eq!(changed[0].0, -20);
    assert_eq!((changed[0].1.difference, changed[0].1.percent), (20, 25.0));
    assert_eq!((row.median_percent, row.median_price_percent), (Some(-20.0), Some(25.0)));
    assert_eq!(row.program.as_ref().unwrap().price.unwrap().difference, 500);
    let checked = |row: SettingRow| {
        let set = SettingsSet::new("s".to_owned(), "t".to_owned(), vec![row]);
        example::settings(&measurement_with_values("d", BASE), set).check()
    };
    assert_eq!(checked(row.clone()), Ok(()));
    let mut wrong = row.clone();
    wrong.changed[0].price.as_mut().unwrap().difference = -20;
    assert!(checked(wrong).unwrap_err().contains("boot:x: a price"));
    let mut without = row;
    without.turns_off = None;
    assert!(checked(without).is_err(), "prices of nothing");
}

fn program_cost() -> SettingCost {
    SettingCost {
        verdict: Verdict::Lower,
        base: 10_000,
        difference: -500,
        percent: -5.0,
        price: None,
        row: None,
        events: vec![],
    }
}
