//! What a comparison with the default says of a setting.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::{measurement, path};
use pathmeter_model::{
    Comparison, PathSum, SettingOutcome, SettingRow, SettingsSet, Threshold, compare, layout_of,
};

fn compared(new: [u64; 3]) -> Comparison {
    let paths = |values: [u64; 3]| {
        let names = ["a.a", "b.b", "c.c"];
        names.iter().zip(values).map(|(name, value)| path(name, &[value; 6])).collect()
    };
    let base = measurement("default", paths([100, 1000, 50]));
    compare(&base, &measurement("set", paths(new)), Threshold::default())
}

fn row(name: &str, new: [u64; 3], layout: &BTreeMap<String, u64>) -> SettingRow {
    SettingRow::of((name.to_owned(), "a source".to_owned()), &compared(new), layout)
}

#[test]
fn the_largest_change_in_percent_is_first_and_the_median_is_of_all_paths() {
    let row = row("boot:x", [110, 1020, 50], &BTreeMap::new());
    assert_eq!((row.outcome, row.compared), (SettingOutcome::Changed, 3));
    let changed: Vec<_> = row.changed.iter().map(|it| (&*it.path, it.difference)).collect();
    assert_eq!(changed, [("a.a", 10), ("b.b", 20)]);
    assert_eq!(row.median_percent, Some(2.0));
}

#[test]
fn what_a_setting_without_meaning_also_changes_is_no_effect() {
    let layout = layout_of(&compared([100, 1008, 50]));
    assert_eq!(layout, BTreeMap::from([("b.b".to_owned(), 8)]));
    assert_eq!(row("boot:x", [100, 992, 50], &layout).outcome, SettingOutcome::NoEffect);
    assert_eq!(row("boot:x", [100, 1009, 50], &layout).changed.len(), 1);
    assert_eq!(row("boot:x", [101, 1000, 50], &layout).changed.len(), 1);
}

#[test]
fn what_the_parts_leave_over_is_told_of_each_path_that_all_change() {
    let none = BTreeMap::new();
    let all = SettingRow { all: true, ..row("boot:all", [60, 1000, 50], &none) };
    let parts = [row("boot:x", [90, 1000, 50], &none), row("boot:y", [80, 1000, 51], &none)];
    let rows = [&[all][..], &parts].concat();
    let set = SettingsSet::new("s".to_owned(), "t".to_owned(), rows);
    let sum = PathSum { path: "a.a".to_owned(), parts: -30, all: -40, left_over: -10 };
    assert_eq!(set.sums, [sum]);
}
